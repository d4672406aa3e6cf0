//! The command line: parse, read settings, do it, say how it ended.

mod arguments;
mod check;
mod dev;
mod exit;
mod letters;
mod list;
mod output;
mod progress;
mod run;
mod schema;
mod seed;
mod serve;
mod settings;
mod signals;
mod status;

use std::process::ExitCode;

use clap::Parser as _;
use projectionist::registry::Registry;

use self::arguments::{Arguments, Command, Global, Run, Settings};
use self::exit::Exit;
use crate::builder::{Projector, registry};
use crate::config::Config;
use crate::problem::{Problem, Problems, codes};
use crate::telemetry;

/// Runs the command line of this process.
pub(crate) fn main(projector: Projector) -> ExitCode {
    let arguments = Arguments::parse();
    let exit = execute(projector, arguments).unwrap_or_else(|problems| {
        output::report(&problems);
        Exit::Failed
    });
    exit.into()
}

fn execute(projector: Projector, arguments: Arguments) -> Result<Exit, Problems> {
    let Arguments { global, command } = arguments;
    let registry = registry()?;
    let load = |drain: Option<&String>| load(&global, drain, &registry);
    match command.unwrap_or_else(|| Command::Run(Run::default())) {
        Command::List { format } => list::list(&registry, format.json),
        Command::Config {
            command: Settings::Show { format },
        } => settings::show(&load(None)?, format.json),
        Command::Run(run) => {
            let config = load(run.drain.as_ref())?;
            block_on(run::run(projector, config, &registry, &run))
        }
        Command::Check(check) => block_on(check::check(projector, load(None)?, &registry, &check)),
        Command::Status { format } => {
            block_on(status::status(&load(None)?, &registry, format.json))
        }
        Command::DeadLetters { command } => {
            block_on(letters::letters(&load(None)?, &registry, &command))
        }
        Command::Schema { command } => block_on(schema::schema(&load(None)?, &registry, &command)),
        Command::Dev { command } => block_on(dev::dev(&load(None)?, command)),
    }
}

fn load(global: &Global, drain: Option<&String>, registry: &Registry) -> Result<Config, Problems> {
    let sources = global.sources().flag("drain", drain.cloned(), "--drain");
    let config = Config::load(&sources, registry)?;
    telemetry::start(&config);
    Ok(config)
}

fn block_on(command: impl Future<Output = Result<Exit, Problems>>) -> Result<Exit, Problems> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Problem::new(
                codes::RUNTIME_FAILED,
                "the process cannot start its threads",
                "A limit of the system may be reached: look at the number of processes and threads.",
            )
            .because(error)
        })?;
    let exit = runtime.block_on(command);
    // A hook that blocks its thread must not hold the process back for ever.
    runtime.shutdown_background();
    exit
}
