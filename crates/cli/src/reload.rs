//! The duty that keeps the store in line with the files that schedules are written in.
//!
//! It looks at the files' times and lengths, and reads them again when one of them has changed or when
//! somebody says so (SIGHUP). What does not read changes nothing: a bad schedule stays what it was, and
//! a bad file leaves all of them alone (DP-18). One exception: a line of DISPATCH without `name=` is known
//! by what it says alone, so one that no longer reads is a line that is gone, and its schedule with it.
//! Where no file and no DISPATCH is configured, nobody has said that there are to be no schedules, so those
//! in the store stay: a command run in the wrong folder must not remove them.
//!
//! Nodes that share a database all do this; the first one writes, the others find it written. Whose hooks the
//! files name are trusted by each node for itself, so nodes that fire the same schedules read the same files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use almanack_core::{
    address,
    plan::{Origin, ScheduleName},
    time::{Clock, Sleeper},
};
use almanack_engine::schedules::{self, Expected, Schedules, Synced, Wanted, Writer};
use jiff::{SignedDuration, Timestamp};
use tokio::{runtime::Handle, signal::unix::Signal, task::spawn_blocking};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{
        self, Inputs, Loaded, Need, Settings,
        dispatch::{self, DispatchText},
        report::{Problem, Report, Severity},
        settings::{Editions, edition},
    },
    supervisor,
    wiring::{Outbound, hooks},
};

/// Names told in one line of the log; more are counted.
const NAMES_MAX: usize = 10;

/// A file's time and length; `None` if it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// The files, and what they last looked like.
pub(crate) struct Files {
    inputs: Inputs,
    schedules: Arc<Schedules>,
    outbound: Outbound,
    /// Where the hooks of the files' schedules are.
    hooks: BTreeSet<address::Origin>,
    /// Empty until a look has succeeded.
    seen: Vec<(PathBuf, Stamp)>,
}

impl Files {
    /// Nothing has been read yet.
    pub(crate) fn new(inputs: Inputs, schedules: Arc<Schedules>, outbound: Outbound) -> Self {
        Self {
            inputs,
            schedules,
            outbound,
            hooks: BTreeSet::new(),
            seen: Vec::new(),
        }
    }

    /// Reads the files and brings the store in line with them.
    pub(crate) async fn sync(&mut self) -> Result<(), schedules::Error> {
        self.seen.clear();
        // Looked at before it is read: what changes in between is seen next time.
        let (path, _) = self.inputs.file();
        let mut seen = vec![stamped(path)];
        let loaded = config::load(&self.inputs, Need::Database);
        if let Some(settings) = &loaded.settings {
            seen.extend(settings.schedules.dispatch.clone().map(stamped));
            // Before the store hears of them: a new schedule may be due at once.
            self.trust_hooks(&loaded);
            self.sync_file(&loaded, settings).await?;
            self.sync_dispatch(settings).await?;
        } else {
            let told = first_error(&loaded.report);
            tracing::error!("the configuration does not read; schedules stay as they are: {told}");
        }
        self.seen = seen;
        Ok(())
    }

    /// Looks at the files until `stop`, `every` so often and whenever `told`.
    pub(crate) async fn run(
        mut self,
        every: Option<SignedDuration>,
        (clock, sleeper): (Arc<dyn Clock>, Arc<dyn Sleeper>),
        mut told: Signal,
        stop: CancellationToken,
    ) {
        loop {
            let next = every.and_then(|every| clock.now().saturating_add(every).ok());
            let asked = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = told.recv() => true,
                () = sleeper.until(next.unwrap_or(Timestamp::MAX)) => false,
            };
            if !asked && !self.have_changed() {
                continue;
            }
            if asked {
                tracing::info!("told to read the schedules again");
                supervisor::reloading();
            }
            // Reading files blocks, and a long list takes a while: it gets a thread of its own.
            let runtime = Handle::current();
            let syncing = spawn_blocking(move || {
                let synced = runtime.block_on(self.sync());
                (self, synced)
            });
            match syncing.await {
                Ok((files, synced)) => {
                    self = files;
                    if asked {
                        supervisor::reloaded();
                    }
                    if let Err(error) = synced {
                        tracing::warn!(%error, "schedules were not brought in line; trying again");
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "schedules are not read again: the duty has died");
                    return;
                }
            }
        }
    }

    fn have_changed(&self) -> bool {
        let mut seen = self.seen.iter();
        self.seen.is_empty() || seen.any(|(path, stamp)| look_at(path) != *stamp)
    }

    /// A schedule that no longer reads stays what it was, and so does the trust in its hook.
    fn trust_hooks(&mut self, loaded: &Loaded) {
        if loaded.report.source.is_none() {
            return;
        }
        if loaded.schedules.keep.is_empty() {
            self.hooks.clear();
        }
        self.hooks.extend(hooks(&loaded.schedules.wanted));
        self.outbound.trust(&self.hooks);
    }

    async fn sync_file(
        &self,
        loaded: &Loaded,
        settings: &Settings,
    ) -> Result<(), schedules::Error> {
        let Some(source) = &loaded.report.source else {
            return self.sync_edition(settings).await;
        };
        complain(&loaded.report, &loaded.schedules.problems);
        let found = &loaded.schedules;
        let by = format!("file:{}", source.name);
        let mut wanted = found.wanted.clone();
        wanted.extend(ticks(settings));
        let synced = self.schedules.sync(Origin::File, wanted, &found.keep, &by);
        tell(&source.name, &synced.await?);
        Ok(())
    }

    /// Without a file it is the environment that says whether there are editions. What it says nothing about stays.
    async fn sync_edition(&self, settings: &Settings) -> Result<(), schedules::Error> {
        let by = "environment";
        if let Some(Wanted { name, definition }) = ticks(settings) {
            self.schedules
                .put(&name, definition, Origin::File, by)
                .await?;
        } else if let (Editions::Off, Ok(name)) =
            (&settings.editions, ScheduleName::parse(edition::SCHEDULE))
        {
            let writer = Writer {
                origin: Origin::File,
                by,
            };
            let removed = self.schedules.remove_own(&name, writer, Expected::Anything);
            match removed.await {
                Ok(_)
                | Err(schedules::Error::Unknown { .. } | schedules::Error::Managed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn sync_dispatch(&self, settings: &Settings) -> Result<(), schedules::Error> {
        let DispatchText {
            wanted,
            keep,
            report,
        } = match dispatch::read(settings, &self.inputs.environment) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(()),
            Err(unreadable) => {
                tracing::error!("{unreadable}; its schedules stay as they are");
                return Ok(());
            }
        };
        complain(&report, &report.problems);
        let name = report.source.as_ref().map_or("", |source| &source.name);
        let by = format!("dispatch:{name}");
        let synced = self.schedules.sync(Origin::Dispatch, wanted, &keep, &by);
        tell(name, &synced.await?);
        Ok(())
    }
}

/// The schedule of the ticks of editions, if there are any.
fn ticks(settings: &Settings) -> Option<Wanted> {
    settings.editions.on()?.ticks.wanted.clone()
}

fn stamped(path: PathBuf) -> (PathBuf, Stamp) {
    let stamp = look_at(&path);
    (path, stamp)
}

fn look_at(path: &Path) -> Stamp {
    let file = std::fs::metadata(path).ok()?;
    Some((file.modified().ok()?, file.len()))
}

fn first_error(report: &Report) -> String {
    let mut errors = report.problems.iter();
    let first = errors.find(|problem| problem.severity == Severity::Error);
    first
        .map(|problem| report.line(problem))
        .unwrap_or_default()
}

fn complain(report: &Report, problems: &[Problem]) {
    for problem in problems {
        let told = report.line(problem);
        match problem.severity {
            Severity::Error => tracing::error!("{told}"),
            Severity::Warning => tracing::warn!("{told}"),
        }
    }
}

fn tell(file: &str, synced: &Synced) {
    for (name, error) in &synced.refused {
        tracing::error!(schedule.name = %name, %error, "schedule of {file} refused");
    }
    if !synced.is_quiet() {
        tracing::info!(
            created = names(&synced.created),
            changed = names(&synced.changed),
            removed = names(&synced.removed),
            unchanged = synced.unchanged,
            "schedules of {file} are in force"
        );
    }
}

fn names(names: &[ScheduleName]) -> String {
    let told: Vec<&str> = names
        .iter()
        .take(NAMES_MAX)
        .map(ScheduleName::as_str)
        .collect();
    match names.len().saturating_sub(NAMES_MAX) {
        0 => told.join(", "),
        more => format!("{} and {more} more", told.join(", ")),
    }
}
