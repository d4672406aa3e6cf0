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
    let filter = EnvFilter::new(quieted(&config.log));
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

/// The libraries under the feed tell of each request. Unless the settings name them, only what they warn of is shown.
fn quieted(log: &str) -> String {
    let is_quieter = matches!(log.trim(), "off" | "error" | "warn");
    if is_quieter || log.contains("azure") || log.contains("typespec") {
        return log.to_owned();
    }
    format!("azure_=warn,typespec=warn,{log}")
}

#[cfg(test)]
mod tests {
    use super::quieted;

    #[test]
    fn the_libraries_under_the_feed_are_quiet_unless_they_are_named() {
        assert_eq!(quieted("info"), "azure_=warn,typespec=warn,info");
        assert_eq!(
            quieted("projectionist_runtime=debug"),
            "azure_=warn,typespec=warn,projectionist_runtime=debug"
        );
        for asked in ["off", "error", "info,azure_data_cosmos=debug"] {
            assert_eq!(quieted(asked), asked);
        }
    }
}
