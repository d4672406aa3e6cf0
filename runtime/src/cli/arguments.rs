//! The command line, as it is parsed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use projectionist_emulator::gateway::DEFAULT_PORT;

use super::exit;
use crate::config::Sources;

/// Runs the projections that are linked into this program.
#[derive(Debug, Parser)]
#[command(version, after_help = exit::HELP)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    /// What to do; `run` where nothing is said.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Args, Debug)]
pub(crate) struct Global {
    /// The settings file [default: projector.toml, where there is one].
    // `PROJECTOR_CONFIG` is read with the other settings, so that its origin is known.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where local data lives [setting: `data_dir`].
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<String>,
    /// Which log lines to write [setting: log].
    #[arg(long, global = true, value_name = "FILTER")]
    log: Option<String>,
}

impl Global {
    /// From where settings are read.
    pub(crate) fn sources(&self) -> Sources {
        Sources::of_process(self.config.clone())
            .flag("data_dir", self.data_dir.clone(), "--data-dir")
            .flag("log", self.log.clone(), "--log")
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reads, applies and commits until it is stopped (the default).
    Run(Run),
    /// Lists the projections that are linked in. Needs no settings.
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Checks everything that can be checked without reading a change.
    Check(Check),
    /// Shows where each projection stands, whether or not one runs.
    Status {
        #[command(flatten)]
        format: Format,
    },
    /// Shows changes that failed for good.
    #[command(alias = "dlq")]
    DeadLetters {
        #[command(subcommand)]
        command: Letters,
    },
    /// The tables of row projections.
    Schema {
        #[command(subcommand)]
        command: Schema,
    },
    /// Writes to the local emulator, also while `run` is running, or serves it to any SDK.
    Dev {
        #[command(subcommand)]
        command: Dev,
    },
    /// Shows settings.
    Config {
        #[command(subcommand)]
        command: Settings,
    },
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Prints JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug, Default)]
pub(crate) struct Run {
    /// Ends when every change that is there is applied.
    #[arg(long)]
    pub(crate) once: bool,
    /// Runs these projections only; no demonstration data is written then.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) only: Vec<String>,
    /// How long a stop waits for work in hand [setting: drain].
    #[arg(long, value_name = "DURATION")]
    pub(crate) drain: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Check {
    /// Fails with exit code 3 if not exactly these projections are linked in.
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) expect: Vec<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Letters {
    /// Lists them, oldest first. The exit code is 4 if there are any.
    List {
        /// Of this projection only.
        #[arg(long, value_name = "NAME")]
        projection: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Shows one with its errors and its document.
    Show {
        /// Its number.
        id: i64,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Schema {
    /// Prints the SQL that makes them. Needs no store.
    Print {
        /// For which database [default: sqlite].
        #[arg(long, value_enum)]
        database: Option<Database>,
    },
    /// Compares them with what is declared, and prints a fingerprint of each. The exit code is 3 if anything differs.
    Check,
    /// Makes what is missing and adds what may be added, as a start does.
    Apply,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Dev {
    /// Serves the local collections over Cosmos DB's REST protocol, on loopback, until it is stopped.
    Serve(Serve),
    /// Creates or replaces the documents of a file, one JSON object a line.
    Load {
        /// The collection.
        collection: String,
        /// The file.
        file: PathBuf,
        #[command(flatten)]
        format: Format,
    },
    /// Creates or replaces one document.
    Put {
        /// The collection.
        collection: String,
        /// The document as JSON; `-`, or nothing, reads it from stdin.
        document: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Deletes one document for good.
    Delete {
        /// The collection.
        collection: String,
        /// Its id.
        id: String,
        /// Its partition key as JSON; a text that is no JSON counts as a string.
        #[arg(long, value_name = "JSON")]
        key: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The port on 127.0.0.1; 0 for any.
    #[arg(long, default_value_t = DEFAULT_PORT)]
    pub(crate) port: u16,
    /// Speaks HTTPS, with a certificate that it makes and writes into the data directory.
    #[arg(long)]
    pub(crate) https: bool,
    /// Serves `/_control` too: splits, merges, throttling, faults, switches. For tests.
    #[arg(long)]
    pub(crate) control: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Settings {
    /// Prints every setting, its value and where that comes from. Secrets are masked.
    Show {
        #[command(flatten)]
        format: Format,
    },
}
