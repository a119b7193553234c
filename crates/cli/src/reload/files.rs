//! Keeps the schedules and sources in the store equal to those in the files.
//!
//! The files are read again when their time or length has changed, or on SIGHUP. Invalid parts
//! change nothing: a bad schedule stays unchanged, and a bad file leaves all of its schedules
//! unchanged (DP-18). One exception: a line of DISPATCH without `name=` is identified by its
//! content, so one that becomes invalid counts as removed, and so does its schedule. Without a file
//! and without DISPATCH, the schedules in the store stay: a command run in the wrong folder must
//! not remove them. The same holds for the sources of the file.
//!
//! All nodes that share a database do this; the first one writes, the others find it written. Each
//! node trusts the hooks of its own files, so nodes that fire the same schedules read the same
//! files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use almanack_core::{
    address,
    plan::{Origin, ScheduleName, Unfit},
};
use almanack_engine::{
    calendars::Calendars,
    schedules::{self, Expected, Schedules, Synced, Wanted, Writer},
    sources::{self, Sources},
};

use crate::{
    config::{
        self, Inputs, Loaded, Need, Settings,
        dispatch::{self, DispatchText},
        report::{Problem, Report, Severity},
        settings::{DefaultEdition, edition},
    },
    failure::Result,
    wiring::{Outbound, hooks},
};

/// A file's time and length; `None` if it does not exist.
type Stamp = Option<(SystemTime, u64)>;

/// What was read, and the file's stamp before.
pub(super) struct Reading {
    /// The result of reading.
    pub(super) loaded: Loaded,
    looked: (PathBuf, Stamp),
}

/// The files, and their last stamps.
pub(crate) struct Files {
    inputs: Inputs,
    schedules: Arc<Schedules>,
    sources: Arc<Sources>,
    calendars: Arc<Calendars>,
    outbound: Outbound,
    /// The origins of the hooks of the files' schedules.
    hooks: BTreeSet<address::Origin>,
    /// Empty until the first successful read.
    seen: Vec<(PathBuf, Stamp)>,
}

impl Files {
    /// Nothing has been read yet.
    pub(crate) fn new(
        inputs: Inputs,
        (schedules, sources, calendars): (Arc<Schedules>, Arc<Sources>, Arc<Calendars>),
        outbound: Outbound,
    ) -> Self {
        Self {
            inputs,
            schedules,
            sources,
            calendars,
            outbound,
            hooks: BTreeSet::new(),
            seen: Vec::new(),
        }
    }

    /// Reads the files and updates the store, with these settings.
    pub(crate) async fn sync(&mut self, in_force: &Settings) -> Result<()> {
        let reading = self.read(Need::Database);
        self.bring_in_line(reading, in_force).await
    }

    /// Reads the files; changes nothing yet.
    pub(super) fn read(&mut self, need: Need) -> Reading {
        self.seen.clear();
        // Stamped before it is read: a change in between is found next time.
        let (path, _) = self.inputs.file();
        let looked = stamped(path);
        let loaded = config::load(&self.inputs, need);
        Reading { loaded, looked }
    }

    /// Updates the store with what was read. Settings of editions wait for the next start, so their
    /// ticks follow the active settings.
    pub(super) async fn bring_in_line(
        &mut self,
        reading: Reading,
        in_force: &Settings,
    ) -> Result<()> {
        let Reading { loaded, looked } = reading;
        let mut seen = vec![looked];
        if let Some(settings) = &loaded.settings {
            seen.extend(settings.schedules.dispatch.clone().map(stamped));
            seen.extend(loaded.calendars.files.iter().cloned().map(stamped));
            // Before the store has them: a new schedule may be due immediately.
            self.trust_hooks(&loaded);
            Box::pin(self.sync_calendars(&loaded)).await?;
            let complete = self.sync_file(&loaded, in_force).await?;
            if !complete {
                // A calendar's address has not been read yet: tried again in the next round.
                seen.clear();
            }
            self.sweep_calendars(&loaded).await?;
            self.sync_dispatch(settings).await?;
            Box::pin(self.sync_sources(&loaded)).await?;
        } else {
            let error = first_error(&loaded.report);
            tracing::error!(
                "the configuration is invalid; schedules and sources stay unchanged: {error}"
            );
        }
        self.seen = seen;
        Ok(())
    }

    /// Leaves everything unchanged, until a file changes again.
    pub(super) fn leave(&mut self, reading: Reading) {
        self.seen = vec![reading.looked];
    }

    /// New outbound clients trust the same hooks before they are used: a firing must not fail.
    pub(super) fn lend_trust(&self, outbound: &Outbound) {
        outbound.trust(&self.hooks);
    }

    /// This outbound client trusts the hooks from now on.
    pub(super) fn go_out(&mut self, mut outbound: Outbound) {
        outbound.take_over(&self.outbound, &self.hooks);
        self.outbound = outbound;
    }

    /// Whether a file has changed since it was last read.
    pub(super) fn have_changed(&self) -> bool {
        let mut seen = self.seen.iter();
        self.seen.is_empty() || seen.any(|(path, stamp)| look_at(path) != *stamp)
    }

    /// A schedule that became invalid stays unchanged, and its hook stays trusted.
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

    /// Before the schedules, which are checked by them. What has an address is read at once.
    async fn sync_calendars(&self, loaded: &Loaded) -> Result<()> {
        let found = &loaded.calendars;
        if loaded.report.source.is_none() || found.wanted.is_empty() {
            return Ok(());
        }
        complain(&loaded.report, &found.problems);
        let synced = self.calendars.sync(found.wanted.clone()).await?;
        for (name, error) in &synced.refused {
            tracing::error!(calendar = name, %error, "calendar refused");
        }
        if !synced.changed.is_empty() {
            let changed = super::names(synced.changed.iter().map(String::as_str));
            tracing::info!(changed, "applied the calendars of the file");
        }
        if found.unread().next().is_some() {
            self.calendars.pass().await?;
        }
        Ok(())
    }

    /// After the schedules: what they no longer use goes.
    async fn sweep_calendars(&self, loaded: &Loaded) -> Result<()> {
        if loaded.report.source.is_none() {
            return Ok(());
        }
        let found = &loaded.calendars;
        let named = found.wanted.keys().chain(&found.keep).cloned().collect();
        let removed = self.calendars.sweep(&named).await?;
        if !removed.is_empty() {
            let removed = super::names(removed.iter().map(String::as_str));
            tracing::info!(removed, "removed calendars that the file no longer has");
        }
        Ok(())
    }

    /// Whether all that the file has could be kept, as far as calendars go.
    async fn sync_file(&self, loaded: &Loaded, settings: &Settings) -> Result<bool> {
        let Some(source) = &loaded.report.source else {
            return self.sync_edition(settings).await.map(|()| true);
        };
        complain(&loaded.report, &loaded.schedules.problems);
        let found = &loaded.schedules;
        let by = format!("file:{}", source.name);
        let mut wanted = found.wanted.clone();
        wanted.extend(ticks(settings));
        let synced = self.schedules.sync(Origin::File, wanted, &found.keep, &by);
        let synced = synced.await?;
        log_synced(&source.name, &synced);
        let unread = |error: &schedules::Error| {
            matches!(
                error,
                schedules::Error::Unfit(Unfit::UnreadableCalendar { .. })
            )
        };
        Ok(!synced.refused.iter().any(|(_, error)| unread(error)))
    }

    /// Without a file, the environment decides whether there are editions. Otherwise they stay
    /// unchanged.
    async fn sync_edition(&self, settings: &Settings) -> Result<()> {
        let by = "environment";
        for Wanted { name, definition } in ticks(settings) {
            self.schedules
                .put(&name, definition, Origin::File, by)
                .await?;
        }
        if let (DefaultEdition::Off, Ok(name)) = (
            &settings.editions.default,
            ScheduleName::parse(edition::SCHEDULE),
        ) {
            let writer = Writer {
                origin: Origin::File,
                by,
            };
            let removed = self.schedules.remove_own(&name, writer, Expected::Anything);
            match removed.await {
                Ok(_)
                | Err(schedules::Error::Unknown { .. } | schedules::Error::Managed { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn sync_sources(&self, loaded: &Loaded) -> Result<()> {
        let Some(file) = &loaded.report.source else {
            return Ok(());
        };
        let found = &loaded.sources;
        complain(&loaded.report, &found.problems);
        let by = format!("file:{}", file.name);
        let synced = self.sources.sync(found.wanted.clone(), &found.keep, &by);
        log_sources(&file.name, &synced.await?);
        Ok(())
    }

    async fn sync_dispatch(&self, settings: &Settings) -> Result<()> {
        let DispatchText {
            wanted,
            keep,
            report,
            ..
        } = match dispatch::read(settings, &self.inputs.environment) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(()),
            Err(unreadable) => {
                tracing::error!("{unreadable}; its schedules stay unchanged");
                return Ok(());
            }
        };
        complain(&report, &report.problems);
        let name = report.source.as_ref().map_or("", |source| &source.name);
        let by = format!("dispatch:{name}");
        let synced = self.schedules.sync(Origin::Dispatch, wanted, &keep, &by);
        log_synced(name, &synced.await?);
        Ok(())
    }
}

/// The schedules of the ticks of editions.
fn ticks(settings: &Settings) -> Vec<Wanted> {
    let all = settings.editions.all();
    all.filter_map(|(_, edition)| edition.ticks.wanted.clone())
        .collect()
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
    let first = report.of(Severity::Error).next();
    first.map(|it| report.line(it)).unwrap_or_default()
}

pub(super) fn complain(report: &Report, problems: &[Problem]) {
    for problem in problems {
        let line = report.line(problem);
        match problem.severity {
            Severity::Error => tracing::error!("{line}"),
            Severity::Warning => tracing::warn!("{line}"),
        }
    }
}

fn log_synced(file: &str, synced: &Synced) {
    for (name, error) in &synced.refused {
        tracing::error!(schedule.name = %name, %error, "schedule of {file} refused");
    }
    if !synced.is_quiet() {
        tracing::info!(
            created = names(&synced.created),
            changed = names(&synced.changed),
            removed = names(&synced.removed),
            unchanged = synced.unchanged,
            "applied the schedules of {file}"
        );
    }
}

fn log_sources(file: &str, synced: &sources::sync::Synced) {
    for (address, error) in &synced.refused {
        tracing::error!(source.url = address, %error, "source of {file} refused");
    }
    if !synced.is_quiet() {
        let listed = |addresses: &[String]| super::names(addresses.iter().map(String::as_str));
        tracing::info!(
            added = listed(&synced.added),
            changed = listed(&synced.changed),
            paused = listed(&synced.released),
            unchanged = synced.unchanged,
            "applied the sources of {file}"
        );
    }
}

fn names(names: &[ScheduleName]) -> String {
    super::names(names.iter().map(ScheduleName::as_str))
}
