//! The log of the process: written to the notes, never between the data.

use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use crate::{
    config::settings::{Log, LogFormat},
    failure::{Failure, Result},
};

/// Changes the log level while the process runs.
#[derive(Clone)]
pub(crate) struct LogLevel(Arc<dyn Fn(EnvFilter) -> Result<(), String> + Send + Sync>);

impl LogLevel {
    /// Uses this level from now on.
    pub(crate) fn turn(&self, level: &str) -> Result<()> {
        let turned = (self.0)(filter(level)?);
        turned.map_err(|error| Failure::failed(format!("log.level: {error}")))
    }
}

pub(crate) fn start(log: &Log, colour: bool) -> Result<LogLevel> {
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter(&log.level)?)
        .with_ansi(colour)
        // A line that cannot be written, on a full disk say, would be complained about where it
        // could not be written either; that panics, and ends the node.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // The two are of different types, so each has its own handle.
    let (level, started) = match log.format {
        LogFormat::Text => {
            let lines = lines.with_filter_reloading();
            let handle = lines.reload_handle();
            let turn = move |filter| handle.reload(filter).map_err(|error| error.to_string());
            (LogLevel(Arc::new(turn)), lines.try_init())
        }
        LogFormat::Json => {
            let lines = lines.json().with_filter_reloading();
            let handle = lines.reload_handle();
            let turn = move |filter| handle.reload(filter).map_err(|error| error.to_string());
            (LogLevel(Arc::new(turn)), lines.try_init())
        }
    };
    match started {
        Ok(()) => Ok(level),
        Err(error) => Err(Failure::failed(format!("start log: {error}"))),
    }
}

fn filter(level: &str) -> Result<EnvFilter> {
    EnvFilter::try_new(directives(level))
        .map_err(|error| Failure::usage(format!("log.level: {error}")))
}

/// Levels of other crates' clients. To see more of one, name it in `log.level`.
const QUIET: [(&str, &str); 2] = [
    // PostgreSQL notes at every start that existing tables need not be created.
    ("tokio_postgres", "tokio_postgres::connection=warn"),
    // Logs every attempt to connect; the node itself logs the cause once, with a hint.
    ("async_nats", "async_nats=off"),
];

fn directives(level: &str) -> String {
    let quiet = QUIET.iter().filter(|(client, _)| !level.contains(client));
    let quiet = quiet.map(|(_, directive)| *directive);
    let all: Vec<&str> = [level].into_iter().chain(quiet).collect();
    all.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_quiet_unless_it_is_named() {
        assert_eq!(
            directives("info"),
            "info,tokio_postgres::connection=warn,async_nats=off"
        );
        assert_eq!(
            directives("warn,tokio_postgres=debug"),
            "warn,tokio_postgres=debug,async_nats=off"
        );
        let named = "info,tokio_postgres=debug,async_nats=debug";
        assert_eq!(directives(named), named);
    }
}
