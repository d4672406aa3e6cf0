//! Log lines: on stderr, for people on a terminal, one JSON object a line elsewhere.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// Starts writing log lines as the settings say. A program that already writes its own keeps them.
pub(crate) fn start(config: &Config) {
    let is_pretty = match config.log_format {
        LogFormat::Auto => io::stderr().is_terminal(),
        LogFormat::Pretty => true,
        LogFormat::Json => false,
    };
    // The filter was checked with the other settings.
    let filter = EnvFilter::new(&config.log);
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    let started = if is_pretty {
        lines
            .compact()
            .with_target(false)
            .with_ansi(io::stderr().is_terminal())
            .try_init()
    } else {
        lines.json().flatten_event(true).try_init()
    };
    if let Err(error) = started {
        tracing::debug!("log lines are written by the program itself: {error}");
    }
}
