//! The way in for calendars: written, removed, kept up to date.
//!
//! A calendar's row is written by compare-and-set. Its `version` counts changes of its days, and
//! `applied` follows when all schedules that use it are planned by them: whoever changes a calendar
//! does that at once, and if it dies in between, the duty of any node does it later
//! ([`Calendars::pass`]). The same duty reads the addresses of calendars that have one, one node at
//! a time. What cannot be read changes nothing: the last good copy goes on (DP-21).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use almanack_core::{
    address::Refusal,
    calendar::{CalendarRecord, Definition, Fetched, Fetcher, Reading, Unfit, check_name},
    lang::{Lang, Say},
    plan::{Origin, ScheduleName},
    say,
    store::{self, Applied, Store},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{
    schedules::{self, Schedules},
    wake::later,
};

/// How often a lost race is decided again.
const ROUNDS_MAX: usize = 50;
/// How often it is looked what there is to do.
const PASS_EVERY: SignedDuration = SignedDuration::from_secs(30);
/// How often an address is read. Holidays are announced months ahead.
const READ_EVERY: SignedDuration = SignedDuration::from_hours(6);
/// How soon one is read again that could not be, at first.
const RETRY_FIRST: SignedDuration = SignedDuration::from_mins(5);

/// Why a request about a calendar was not carried out. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    Unknown {
        name: String,
    },
    #[error(transparent)]
    Unfit(#[from] Unfit),
    Unreachable(Refusal),
    Managed {
        name: String,
        origin: Origin,
    },
    /// Its schedules would be parked.
    InUse {
        name: String,
        by: ScheduleName,
    },
    Contended {
        name: String,
    },
    #[error(transparent)]
    Schedules(#[from] Box<schedules::Error>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unknown { name } => say!(lang; "no calendar `{name}`", "没有日历 `{name}`"),
            Self::Unfit(it) => it.say(lang),
            Self::Unreachable(it) => {
                let it = it.say(lang);
                say!(lang; "url would never be read: {it}", "url 永远不会被读取：{it}")
            }
            Self::Managed { name, origin } => say!(lang;
                "calendar `{name}` belongs to {}; change it there",
                "日历 `{name}` 属于{}；请在那里修改", schedules::owner(*origin, lang)),
            Self::InUse { name, by } => say!(lang;
                "calendar `{name}` is used by schedule `{by}`; change that first",
                "日历 `{name}` 被日程 `{by}` 使用；请先修改该日程"),
            Self::Contended { name } => say!(lang;
                "calendar `{name}` was changed by others during this request; try again",
                "在此请求期间，日历 `{name}` 被他人修改；请重试"),
            Self::Schedules(it) => it.say(lang),
            Self::Store(it) => it.to_string(),
        }
    }
}

impl From<schedules::Error> for Error {
    fn from(error: schedules::Error) -> Self {
        Self::Schedules(Box::new(error))
    }
}

/// What became of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Created,
    Changed,
    Unchanged,
}

/// What became of the calendars of a file.
#[derive(Debug, Default)]
pub struct Synced {
    pub changed: Vec<String>,
    pub refused: Vec<(String, Error)>,
}

/// Carries out what people want of calendars, and keeps them up to date.
pub struct Calendars {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    schedules: Arc<Schedules>,
    fetcher: Option<Arc<dyn Fetcher>>,
}

impl Calendars {
    /// Works on `store` by `clock`; `schedules` are planned by what changes.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, schedules: Arc<Schedules>) -> Self {
        Self {
            store,
            clock,
            schedules,
            fetcher: None,
        }
    }

    /// Reads addresses by `fetcher`.
    #[must_use]
    pub fn reading_by(self, fetcher: Arc<dyn Fetcher>) -> Self {
        Self {
            fetcher: Some(fetcher),
            ..self
        }
    }

    /// All calendars, by name.
    pub async fn list(&self) -> Result<Vec<CalendarRecord>, Error> {
        Ok(self.store.load_calendars().await?)
    }

    /// The calendar of this name.
    pub async fn load(&self, name: &str) -> Result<CalendarRecord, Error> {
        let found = self.list().await?.into_iter().find(|it| it.name == name);
        found.ok_or_else(|| Error::Unknown {
            name: name.to_owned(),
        })
    }

    /// The schedules that use it.
    pub async fn used_by(&self, name: &str) -> Result<Vec<ScheduleName>, Error> {
        Ok(self.schedules.using(name).await?)
    }

    /// Writes a calendar, new or changed, and plans its schedules by it.
    pub async fn put(
        &self,
        name: &str,
        definition: Definition,
        origin: Origin,
    ) -> Result<(CalendarRecord, Change), Error> {
        check_name(name)?;
        definition.check()?;
        if let (Some(url), Origin::Api) = (&definition.url, origin) {
            let checked = self.schedules.check_address(url);
            checked.map_err(Error::Unreachable)?;
        }
        for _ in 0..ROUNDS_MAX {
            let found = self.list().await?.into_iter().find(|it| it.name == name);
            let change = match &found {
                None => Change::Created,
                Some(found) if found.origin != origin => {
                    let (name, origin) = (name.to_owned(), found.origin);
                    return Err(Error::Managed { name, origin });
                }
                Some(found) if found.definition == definition => {
                    return Ok((found.clone(), Change::Unchanged));
                }
                Some(_) => Change::Changed,
            };
            let now = self.clock.now();
            let record = written(name, definition.clone(), origin, found.as_ref(), now);
            let seen = found.map(|it| it.version);
            if self.store.write_calendar(&record, seen).await? != Applied::Lost {
                self.apply(name, record.version).await?;
                return Ok((record, change));
            }
        }
        let name = name.to_owned();
        Err(Error::Contended { name })
    }

    /// Removes a calendar that no schedule uses.
    pub async fn remove(&self, name: &str, origin: Origin) -> Result<CalendarRecord, Error> {
        for _ in 0..ROUNDS_MAX {
            let found = self.load(name).await?;
            if found.origin != origin {
                let (name, origin) = (name.to_owned(), found.origin);
                return Err(Error::Managed { name, origin });
            }
            if let Some(by) = self.used_by(name).await?.into_iter().next() {
                let name = name.to_owned();
                return Err(Error::InUse { name, by });
            }
            if self.store.remove_calendar(name, found.version).await? {
                return Ok(found);
            }
        }
        let name = name.to_owned();
        Err(Error::Contended { name })
    }

    /// Writes the calendars of the configuration file; [`Self::sweep`] removes others, once the
    /// schedules of the file no longer use them.
    pub async fn sync(&self, wanted: BTreeMap<String, Definition>) -> Result<Synced, Error> {
        let mut synced = Synced::default();
        for (name, definition) in wanted {
            match self.put(&name, definition, Origin::File).await {
                Ok((_, Change::Unchanged)) => {}
                Ok(_) => synced.changed.push(name),
                Err(Error::Store(error)) => return Err(error.into()),
                Err(error) => synced.refused.push((name, error)),
            }
        }
        Ok(synced)
    }

    /// Removes those of the configuration file that it no longer names and no schedule uses. To be
    /// asked after its schedules were updated.
    pub async fn sweep(&self, named: &BTreeSet<String>) -> Result<Vec<String>, Error> {
        let mut removed = Vec::new();
        for found in self.list().await? {
            if found.origin != Origin::File || named.contains(&found.name) {
                continue;
            }
            match self.remove(&found.name, Origin::File).await {
                Ok(_) => removed.push(found.name),
                Err(Error::InUse { name, by }) => {
                    tracing::warn!(calendar = name, schedule.name = %by, "calendar kept: a schedule still uses it");
                }
                Err(Error::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    /// Plans all schedules by this version.
    async fn apply(&self, name: &str, version: i64) -> Result<(), Error> {
        let replanned = self.schedules.replan_by(name).await?;
        if replanned > 0 {
            tracing::info!(
                calendar = name,
                schedules = replanned,
                "planned by the changed calendar"
            );
        }
        Ok(self.store.note_calendar_applied(name, version).await?)
    }

    /// Keeps calendars up to date until `stop`.
    pub async fn run(&self, sleeper: &dyn Sleeper, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.pass().await {
                tracing::warn!(%error, "could not keep the calendars up to date; will retry");
            }
            let next = later(self.clock.now(), PASS_EVERY);
            stop.run_until_cancelled(sleeper.until(next)).await;
        }
    }

    /// Does what is due: plans by changed calendars that nobody has applied, reads addresses.
    pub async fn pass(&self) -> Result<(), Error> {
        let now = self.clock.now();
        if !self.clock.standing().may_act() {
            return Ok(());
        }
        let versions = self.store.load_calendar_versions().await?;
        for behind in versions.iter().filter(|it| it.applied < it.version) {
            self.apply(&behind.name, behind.version).await?;
        }
        if versions.is_empty() || self.fetcher.is_none() {
            return Ok(());
        }
        for calendar in self.list().await? {
            let due = calendar.definition.url.is_some() && is_due(&calendar.reading, now);
            if due {
                self.read(&calendar, now).await?;
            }
        }
        Ok(())
    }

    async fn read(&self, calendar: &CalendarRecord, now: Timestamp) -> Result<(), Error> {
        let (Some(fetcher), Some(url)) = (&self.fetcher, &calendar.definition.url) else {
            return Ok(());
        };
        let seen = calendar.reading.checked_at;
        let ours = self.store.take_calendar_check(&calendar.name, seen, now);
        if !ours.await? {
            return Ok(());
        }
        let answer = fetcher.fetch(url, calendar.copy.as_ref()).await;
        let record = after_reading(calendar, answer, now);
        if let Some(error) = &record.reading.error {
            let name = &calendar.name;
            tracing::warn!(
                calendar = name,
                error,
                "a calendar could not be read; its last copy is used"
            );
        }
        // Lost: a person has changed it meanwhile, and it is read again in its turn.
        let written = self.store.write_calendar(&record, Some(calendar.version));
        if written.await? != Applied::Lost && record.version != calendar.version {
            self.apply(&record.name, record.version).await?;
        }
        Ok(())
    }
}

/// Whether an address is to be read: after six hours, or sooner after failures.
fn is_due(reading: &Reading, now: Timestamp) -> bool {
    let Some(checked_at) = reading.checked_at else {
        return true;
    };
    let doubled = RETRY_FIRST.checked_mul(1 << reading.failures.saturating_sub(1).min(10));
    let wait = match reading.failures {
        0 => READ_EVERY,
        _ => doubled.unwrap_or(READ_EVERY).min(READ_EVERY),
    };
    now.duration_since(checked_at) >= wait
}

/// The row after its address was asked.
fn after_reading(
    before: &CalendarRecord,
    fetched: Result<Fetched, String>,
    now: Timestamp,
) -> CalendarRecord {
    let mut after = before.clone();
    let error = match fetched {
        Ok(Fetched::Unchanged) => None,
        Ok(Fetched::Text(copy)) => {
            after.copy = Some(copy);
            let text = |it: &CalendarRecord| it.copy.as_ref().map(|copy| copy.text.clone());
            match after.compile() {
                Ok(_) if text(&after) == text(before) => None,
                Ok(_) => {
                    after.version += 1;
                    after.changed_at = now;
                    None
                }
                Err(unfit) => {
                    after.copy.clone_from(&before.copy);
                    Some(unfit.to_string())
                }
            }
        }
        Err(error) => Some(error),
    };
    after.reading = Reading {
        checked_at: Some(now),
        read_at: match error {
            None => Some(now),
            Some(_) => before.reading.read_at,
        },
        failures: match error {
            None => 0,
            Some(_) => before.reading.failures.saturating_add(1),
        },
        error,
    };
    after
}

fn written(
    name: &str,
    definition: Definition,
    origin: Origin,
    found: Option<&CalendarRecord>,
    now: Timestamp,
) -> CalendarRecord {
    // A copy of the same address goes on; that of another is no copy.
    let same = found.filter(|found| found.definition.url == definition.url);
    CalendarRecord {
        name: name.to_owned(),
        origin,
        definition,
        copy: same.and_then(|found| found.copy.clone()),
        reading: same.map(|found| found.reading.clone()).unwrap_or_default(),
        version: found.map_or(1, |found| found.version + 1),
        applied: found.map_or(0, |found| found.applied),
        created_at: found.map_or(now, |found| found.created_at),
        changed_at: now,
    }
}
