//! The emulator as a program of its own: local collections that any Cosmos DB SDK reads and writes.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use projectionist_emulator::gateway::{
    DEFAULT_PORT, Gateway, GatewayOptions, MovableClock, Switches, WELL_KNOWN_KEY,
};
use projectionist_emulator::{Emulator, Options};
use tracing_subscriber::EnvFilter;

/// Serves local collections over the REST protocol of Azure Cosmos DB, on loopback.
///
/// What goes wrong is logged to stderr; `RUST_LOG=debug` tells of every request that is refused.
#[derive(Debug, Parser)]
#[expect(clippy::struct_excessive_bools, reason = "flags are")]
#[command(version)]
struct Arguments {
    /// The port on 127.0.0.1; 0 for any.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Where the collections live.
    #[arg(long, default_value = ".emulator", value_name = "FOLDER")]
    data_dir: PathBuf,
    /// Keeps the collections in memory; they end with the program.
    #[arg(long, conflicts_with = "data_dir")]
    memory: bool,
    /// Speaks HTTPS, with a certificate that it makes.
    #[arg(long)]
    https: bool,
    /// The account key, in Base64 [default: the key of every Cosmos DB emulator].
    #[arg(
        long,
        env = "PROJECTIONIST_EMULATOR_KEY",
        hide_env_values = true,
        value_name = "KEY"
    )]
    key: Option<String>,
    /// How many ranges a new container has, at least.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    ranges_per_container: u32,
    /// Serves `/_control`: splits, merges, throttling, faults, the clock, switches.
    #[arg(long)]
    control: bool,
    /// New containers retain previous images.
    #[arg(long)]
    previous_images: bool,
    /// Deletes carry an empty `current`.
    #[arg(long)]
    empty_current: bool,
    /// Partition keys of deletes are arrays.
    #[arg(long)]
    array_keys: bool,
    /// Behaves as Microsoft's Linux emulator where that differs.
    #[arg(long)]
    vnext: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| "warn".to_owned());
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_target(false)
        .init();
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut text = error.to_string();
            let mut source = error.source();
            while let Some(cause) = source {
                text.push_str(": ");
                text.push_str(&cause.to_string());
                source = cause.source();
            }
            eprintln!("error: {text}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let clock = MovableClock::default();
    let options = Options::new(clock.over(Arc::new(now)))
        .seed(uuid::Uuid::new_v4().as_u64_pair().0)
        .program("projectionist-emulator");
    let emulator = if arguments.memory {
        Emulator::in_memory(options)
    } else {
        Emulator::open(&arguments.data_dir, options)?
    };
    let scratch = std::env::temp_dir().join(format!("projectionist-{}", std::process::id()));
    let gateway = Gateway::start(
        emulator,
        GatewayOptions {
            port: arguments.port,
            key: arguments.key.unwrap_or_else(|| WELL_KNOWN_KEY.to_owned()),
            https: arguments.https.then(|| {
                if arguments.memory {
                    scratch
                } else {
                    arguments.data_dir.clone()
                }
            }),
            control: arguments.control,
            ranges: arguments.ranges_per_container,
            switches: Switches {
                empty_current: arguments.empty_current,
                array_keys: arguments.array_keys,
                previous_images: arguments.previous_images,
                vnext: arguments.vnext,
            },
            clock: Some(clock),
        },
    )
    .await
    .map_err(|error| {
        format!(
            "port {} on 127.0.0.1 cannot be served: {error}",
            arguments.port
        )
    })?;
    println!("listening on {}", gateway.url());
    if let Some(certificate) = gateway.certificate() {
        println!("certificate in {}", certificate.display());
    }
    tokio::signal::ctrl_c().await?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is the program's clock")]
fn now() -> jiff::Timestamp {
    jiff::Timestamp::now()
}
