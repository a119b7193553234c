//! `almanack serve`: one node, its API, until it is told to stop.

use std::time::Duration;

use crate::{
    commands::runtime,
    config::{
        Inputs, Settings,
        settings::{Log, LogFormat},
    },
    failure::{Exit, Failure},
    output::Output,
    process, supervisor,
    wiring::Time,
};

/// How long what is left behind may take once the node has stopped.
const GOODBYES: Duration = Duration::from_secs(5);

/// Runs a node until SIGTERM or Ctrl-C.
pub(super) fn run(settings: &Settings, inputs: &Inputs, output: &Output) -> Result<Exit, Failure> {
    start_log(&settings.log, output.notes_coloured())?;
    let runtime = runtime()?;
    let ended = runtime.block_on(serve(settings, inputs));
    // Whatever blocks a thread still, like a goodbye to a broker that is gone, does not hold the exit.
    runtime.shutdown_timeout(GOODBYES);
    ended
}

async fn serve(settings: &Settings, inputs: &Inputs) -> Result<Exit, Failure> {
    let stop = process::stop_signal()?;
    let process = process::start(settings, inputs, &Time::Machine).await?;
    let (name, address) = (process.node_name.clone(), process.address);
    tracing::info!(node.name = %name, %address, "the node runs; {}", process.answers);
    supervisor::ready(&format!("node {name} answers at {address}"));
    let beat = settings.node.lease_policy().beat;
    tokio::spawn(supervisor::watch(process.turns(), beat));
    tokio::spawn(supervisor::leave(stop.clone()));
    process.run(stop).await?;
    tracing::info!(node.name = %name, "the node has stopped");
    Ok(Exit::Ok)
}

/// What the process writes about itself goes to the notes, never between the data.
pub(super) fn start_log(log: &Log, colour: bool) -> Result<(), Failure> {
    let filter = tracing_subscriber::EnvFilter::try_new(directives(&log.level))
        .map_err(|error| Failure::new(Exit::Usage, format!("log.level: {error}")))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colour)
        .with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    started.map_err(|error| Failure::new(Exit::Failed, format!("start log: {error}")))
}

/// PostgreSQL remarks at every start that what is there need not be created. Who wants to hear it
/// names the driver in `log.level`.
fn directives(level: &str) -> String {
    if level.contains("tokio_postgres") {
        return level.to_owned();
    }
    format!("{level},tokio_postgres::connection=warn")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_is_quiet_unless_it_is_named() {
        assert_eq!(directives("info"), "info,tokio_postgres::connection=warn");
        assert_eq!(
            directives("warn,tokio_postgres=debug"),
            "warn,tokio_postgres=debug"
        );
    }
}
