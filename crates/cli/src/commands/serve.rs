//! `almanack serve`: one node and its API, until it is asked to stop.

use std::time::Duration;

use crate::{
    commands::prelude::*,
    config::settings::LogFormat,
    log::{self, LogLevel},
    process, supervisor,
    wiring::Time,
};

/// How long remaining tasks may take once the node has stopped.
const GOODBYES: Duration = Duration::from_secs(5);

/// Runs a node until SIGTERM or Ctrl-C.
pub(super) fn run(settings: &Settings, inputs: &Inputs, output: &mut Output) -> Done {
    let level = log::start(&settings.log, output.notes_coloured())?;
    let runtime = runtime()?;
    let ended = runtime.block_on(serve(settings, inputs, level, output));
    // A thread that still blocks, like signing off from a lost broker, does not delay the exit.
    runtime.shutdown_timeout(GOODBYES);
    ended
}

async fn serve(settings: &Settings, inputs: &Inputs, level: LogLevel, output: &mut Output) -> Done {
    let stop = process::stop_signal()?;
    let process = process::start(settings, inputs, &Time::Machine, Some(level)).await?;
    let (name, address) = (process.node_name.clone(), process.address);
    tracing::info!(node.name = %name, %address, "Listening on http://{address}/ui ({})", process.answers);
    // A person who asked for a quiet log still needs the address; a program reads JSON only.
    let is_hidden = !tracing::enabled!(tracing::Level::INFO);
    if is_hidden && settings.log.format == LogFormat::Text {
        output.note(&format!(
            "Listening on http://{address}/ui ({})\n",
            process.answers
        ));
    }
    supervisor::ready(&format!("node {name} listens on {address}"));
    let beat = settings.node.lease_policy().beat;
    tokio::spawn(supervisor::watch(process.watchdog(), beat));
    tokio::spawn(supervisor::leave(stop.clone()));
    process.run(stop).await?;
    tracing::info!(node.name = %name, "Stopped");
    Ok(Exit::Ok)
}
