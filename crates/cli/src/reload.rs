//! The duty that reloads the configuration.
//!
//! ```text
//!   SIGHUP ─► read ─► invalid: report every problem, change nothing
//!                  └► valid ─► build new tools ─► apply all of them ─► update schedules, sources
//!   a file has changed ─► read ──────────────────────────────────────► update schedules, sources
//! ```
//!
//! Schedules and sources follow their files automatically (`schedules.reload`). Everything else waits for
//! SIGHUP: a saved file may not be finished. Settings that cannot change under a running node are
//! named, and wait for the next start (docs/adr/0025).
//!
//! What must stay true: work that has started is not interrupted and ends with the settings it
//! started with. A configuration that is invalid, or from which not everything can be built,
//! changes nothing.

mod files;
mod in_force;

use almanack_core::time::Clock as _;
use jiff::Timestamp;
use tokio::{runtime::Handle, signal::unix::Signal, task::spawn_blocking};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Loaded, Need, Settings},
    failure::{Failure, Result},
    log::LogLevel,
    supervisor,
    wiring::{Equipment, Outbound, Timing},
};
pub(crate) use files::Files;
use files::complain;
pub(crate) use in_force::InForce;

/// Names listed in one log line; more are counted.
const NAMES_MAX: usize = 10;

/// What is reloaded, and what uses it.
pub(crate) struct Reload {
    pub(crate) files: Files,
    pub(crate) in_force: InForce,
    pub(crate) equipment: Equipment,
    /// Where a changed log level is applied.
    pub(crate) log: Option<LogLevel>,
}

/// Why the files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Signal,
    /// One of them has changed.
    Changed,
}

impl Reload {
    /// Looks at the files until `stop`, as often as the settings in force say and whenever
    /// `hangup`.
    pub(crate) async fn run(
        mut self,
        Timing { clock, sleeper, .. }: Timing,
        mut hangup: Signal,
        stop: CancellationToken,
    ) {
        loop {
            let every = self.in_force.settings().schedules.reload;
            let next = every.and_then(|every| clock.now().saturating_add(every).ok());
            let cause = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = hangup.recv() => Cause::Signal,
                () = sleeper.until(next.unwrap_or(Timestamp::MAX)) => Cause::Changed,
            };
            if cause == Cause::Changed && !self.files.have_changed() {
                continue;
            }
            // Reading files blocks, and a long list takes a while: it runs on a separate thread.
            let runtime = Handle::current();
            let reading = spawn_blocking(move || {
                let read = runtime.block_on(self.read(cause));
                (self, read)
            });
            match reading.await {
                Ok((reload, read)) => {
                    self = reload;
                    if let Err(failure) = read {
                        let error = one_line(&failure);
                        tracing::warn!(
                            error,
                            "could not update the schedules and sources; trying again"
                        );
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the configuration is no longer reloaded: its task has died");
                    return;
                }
            }
        }
    }

    async fn read(&mut self, cause: Cause) -> Result<()> {
        if cause == Cause::Changed {
            return Box::pin(self.read_changed()).await;
        }
        tracing::info!("Reloading the configuration");
        supervisor::reloading();
        let read = Box::pin(self.read_all()).await;
        supervisor::reloaded();
        read
    }

    /// Updates schedules and sources only; logs once that other changes wait.
    async fn read_changed(&mut self) -> Result<()> {
        let reading = self.files.read(Need::Database);
        let loaded = &reading.loaded;
        let differing = loaded
            .settings
            .is_some()
            .then(|| self.in_force.compare(loaded));
        if let Some(difference) = differing.filter(|it| it.len() > 0) {
            let all = difference.at_once.iter().chain(&difference.next_start);
            tracing::info!(
                settings = names(all.map(String::as_str)),
                "settings have changed; send SIGHUP to apply the reloadable ones"
            );
        }
        let in_force = self.in_force.settings().clone();
        self.files.bring_in_line(reading, &in_force).await
    }

    async fn read_all(&mut self) -> Result<()> {
        let reading = self.files.read(Need::Everything);
        if let Err(why) = self.adopt(&reading.loaded) {
            tracing::error!("{why}; nothing was changed");
            self.files.leave(reading);
            return Ok(());
        }
        let in_force = self.in_force.settings().clone();
        self.files.bring_in_line(reading, &in_force).await
    }

    /// Applies the reloadable settings; the error is why nothing was applied.
    fn adopt(&mut self, loaded: &Loaded) -> Result<(), String> {
        complain(&loaded.report, &loaded.report.problems);
        let Some(read) = &loaded.settings else {
            return Err("the configuration is wrong".to_owned());
        };
        if let Some(file) = self.in_force.lost_file(loaded) {
            return Err(format!("{file} is gone"));
        }
        let difference = self.in_force.compare(loaded);
        // First, because one of them may be why the rest cannot be built.
        for key in &difference.next_start {
            tracing::warn!("{key} changed; takes effect at the next start");
        }
        let settings = self.in_force.settings().adopted(read);
        if difference.at_once.is_empty() {
            tracing::info!("no reloadable setting has changed");
        } else {
            let outbound = self.make(&settings).map_err(|failure| one_line(&failure))?;
            self.files.go_out(outbound);
            let settings = names(difference.at_once.iter().map(String::as_str));
            tracing::info!(settings, "applied the changed settings");
        }
        self.in_force.adopt(settings, loaded);
        Ok(())
    }

    /// Builds everything, and only then applies it.
    fn make(&self, settings: &Settings) -> Result<Outbound> {
        let outbound = Outbound::new(settings)?;
        self.files.lend_trust(&outbound);
        let tools = self.equipment.tools(settings, &outbound)?;
        if let Some(log) = &self.log {
            log.turn(&settings.log.level)?;
        }
        self.equipment.exchange(tools);
        Ok(outbound)
    }
}

fn one_line(failure: &Failure) -> String {
    let text = failure.text();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    text.trim_end().replace('\n', "; ")
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    let listed = all[..all.len().min(NAMES_MAX)].join(", ");
    match all.len().saturating_sub(NAMES_MAX) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}
