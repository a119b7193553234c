//! What people write about a schedule, and whether it can be kept.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{operation, pings::Pings, retry::Retry, slots::Quiet, unfit::Unfit};
use crate::{follow::RUN_TIMEOUT_DEFAULT, schedule::hash_of, target::Target, task::Priority};

/// Longest name, in bytes: `schedule:NAME@2026-01-05T08:00:00Z` must be a subject.
pub const NAME_BYTES_MAX: usize = 100;
/// Most missed slots that `catch_up = "all"` may fire.
pub const MAX_CATCH_UP_MAX: u32 = 1_000;
/// A slot this little late was not missed; it is simply due. Longer than a node ever sleeps without
/// looking (10 s on PostgreSQL), so that a missed hint never turns into a skipped slot.
pub const PROMPT: SignedDuration = SignedDuration::from_secs(15);
/// Longest grace that is assumed; a longer one must be requested.
pub const GRACE_DEFAULT_MAX: SignedDuration = SignedDuration::from_hours(12);
const GRACE_MAX: SignedDuration = SignedDuration::from_hours(24 * 366);
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// Every look asks each expression.
pub(super) const ALSO_MAX: usize = 20;

/// The name of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String))]
#[serde(try_from = "String")]
pub struct ScheduleName(Box<str>);

impl TryFrom<String> for ScheduleName {
    type Error = Unfit;

    fn try_from(text: String) -> Result<Self, Unfit> {
        Self::parse(&text)
    }
}

impl ScheduleName {
    /// Accepts letters, digits, `.`, `_` and `-`: what fits into a URL, a file name and a log line.
    pub fn parse(text: &str) -> Result<Self, Unfit> {
        if is_name(text) {
            Ok(Self(text.into()))
        } else {
            let given = text.chars().take(NAME_BYTES_MAX).collect();
            Err(Unfit::Name { given })
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ScheduleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text may name a schedule or a calendar.
pub(crate) fn is_name(text: &str) -> bool {
    let shaped = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let fits = (1..=NAME_BYTES_MAX).contains(&text.len());
    fits && text.chars().all(shaped) && text.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// The default name of a schedule: what kind of text it comes from, and a hash of its content. The
/// same content gets the same name for ever, wherever in its text it is (DP-06).
pub(crate) fn derived_name(from: &str, content: &str) -> ScheduleName {
    // 48 of 64 bits: among a million schedules the odds of two alike are one in six hundred.
    let hash = hash_of(content, from) >> 16;
    ScheduleName(format!("{from}-{hash:012x}").into())
}

names! {
    /// What happens to slots that passed while nothing was planning (DP-17).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum CatchUp {
        /// They are skipped.
        None = "none",
        /// The last of them fires, if it is within its grace.
        #[default]
        Latest = "latest",
        /// Those within the grace fire, the newest `max_catch_up` of them, in order.
        All = "all",
    }
}

names! {
    /// What happens to a slot whose predecessor has not ended (DP-17).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Overlap {
        /// It is skipped.
        #[default]
        Skip = "skip",
        /// It waits for the predecessor; what comes while it waits is skipped.
        QueueOne = "queue_one",
        /// It fires.
        Allow = "allow",
        /// The predecessor is cancelled, and it fires.
        CancelRunning = "cancel_running",
    }
}

names! {
    /// What happens to the slots of a pause when it ends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum OnResume {
        /// They stay skipped.
        #[default]
        Skip = "skip",
        /// The last of them fires, if it is within its grace.
        Latest = "latest",
    }
}

names! {
    /// Where a slot goes whose day is left out.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Move {
        /// To the same time on the next day that is not left out.
        NextWorkday = "next_workday",
        /// To the same time on the last day before that is not left out.
        PreviousWorkday = "previous_workday",
    }
}

/// Another expression of the same schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(
    deny_unknown_fields,
    expecting = "an expression with its key, like { expression = \"0 9 * * *\" }"
)]
pub struct Also {
    /// When: `0 8 * * 1-5`, `at 2026-12-24 18:00`.
    pub expression: String,
    /// Whose clock it reads. Default: the schedule's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
}

/// A schedule as written: when, at what, and what to do when things do not go as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ScheduleDefinition))]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// When: `0 8 * * 1-5`, `@10s`, `at 2026-12-24 18:00`.
    pub expression: String,
    /// Whose clock the expression reads.
    #[serde(default = "utc")]
    pub tz: String,
    /// Further expressions. A time that several of them name is one slot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Also>,
    /// Calendars on whose days it does not fire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// Calendars outside whose days it does not fire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Where a slot goes whose day is left out. Default: it is skipped.
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    pub moves: Option<Move>,
    /// Hours of its zone's clock in which it does not fire: `22:00-06:00`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>, example = json!(["22:00-06:00"])))]
    pub quiet: Vec<Quiet>,
    /// No slot is before this.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::instant::optional"
    )]
    pub starts_at: Option<Timestamp>,
    /// No slot is after this.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::instant::optional"
    )]
    pub ends_at: Option<Timestamp>,
    /// How many slots fire; then the schedule is done. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub runs: Option<u32>,
    /// Random delay: every slot waits another part of this, the same on every node.
    #[serde(
        default,
        skip_serializing_if = "SignedDuration::is_zero",
        with = "crate::duration::required"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "5m"))]
    pub jitter: SignedDuration,
    /// At what.
    pub target: Target,
    /// What happens to missed slots.
    #[serde(default)]
    pub catch_up: CatchUp,
    /// How late a slot may still fire. Default: half the gap to the next slot, at most 12 h; for
    /// `catch_up = "all"`, 12 h.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "30m"))]
    pub grace: Option<SignedDuration>,
    /// Most missed slots that fire at once.
    #[serde(default = "max_catch_up")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 1000))]
    pub max_catch_up: u32,
    /// How far apart missed slots fire.
    #[serde(default = "catch_up_pace", with = "crate::duration::required")]
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "1s"))]
    pub catch_up_pace: SignedDuration,
    /// What happens to a slot whose predecessor has not ended.
    #[serde(default)]
    pub overlap: Overlap,
    /// How long the work of a firing is followed; what has not ended by then counts as failed.
    /// Default: 24 h.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "6h"))]
    pub run_timeout: Option<SignedDuration>,
    /// Spread: each schedule waits its own fixed part of this after every slot.
    #[serde(default, with = "crate::duration::required")]
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "5m"))]
    pub splay: SignedDuration,
    /// What happens to the slots of a pause.
    #[serde(default)]
    pub on_resume: OnResume,
    /// How long a failed firing is tried again. Default: the gap to the next slot, between 10 s and
    /// 1 h.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "1h"))]
    pub retry_for: Option<SignedDuration>,
    /// How a failed firing is tried again, within that time.
    #[serde(default, skip_serializing_if = "Retry::is_default")]
    pub retry: Retry,
    /// How long one attempt may take: of a webhook or a workflow. Default: the node's.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "30s"))]
    pub timeout: Option<SignedDuration>,
    /// How many of its firings run at once, in all nodes together; further ones wait, as long as
    /// there is time to retry. Default: as many as `overlap` lets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 1000))]
    pub firings_max: Option<u32>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(max_items = 20, example = json!(["billing"])))]
    pub tags: Vec<String>,
    /// Who looks after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(max_length = 100, example = "team-a"))]
    pub owner: Option<String>,
    /// Channels that its alerts go to; an empty list notifies nobody. Default: all channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(max_items = 20, example = json!(["ntfy"])))]
    pub alerts: Option<Vec<String>>,
    /// Which of several due firings goes first.
    #[serde(default = "priority")]
    #[cfg_attr(feature = "schema", schema(maximum = 9))]
    pub priority: u8,
    /// Whom to call when a firing starts and ends.
    #[serde(default, skip_serializing_if = "Pings::is_empty")]
    pub pings: Pings,
}

fn utc() -> String {
    "UTC".to_owned()
}

fn max_catch_up() -> u32 {
    100
}

fn catch_up_pace() -> SignedDuration {
    SignedDuration::from_secs(1)
}

fn priority() -> u8 {
    Priority::DEFAULT.level()
}

impl Definition {
    /// Fires by `expression` at `target`, with the default policies.
    pub fn new(expression: impl Into<String>, target: Target) -> Self {
        Self {
            expression: expression.into(),
            tz: utc(),
            also: Vec::new(),
            except: Vec::new(),
            only: Vec::new(),
            moves: None,
            quiet: Vec::new(),
            starts_at: None,
            ends_at: None,
            runs: None,
            jitter: SignedDuration::ZERO,
            target,
            catch_up: CatchUp::default(),
            grace: None,
            max_catch_up: max_catch_up(),
            catch_up_pace: catch_up_pace(),
            overlap: Overlap::default(),
            run_timeout: None,
            splay: SignedDuration::ZERO,
            on_resume: OnResume::default(),
            retry_for: None,
            retry: Retry::default(),
            timeout: None,
            firings_max: None,
            tags: Vec::new(),
            owner: None,
            alerts: None,
            priority: priority(),
            pings: Pings::default(),
        }
    }

    /// Checks everything that needs no zone and no expression.
    pub(crate) fn check(&self) -> Result<(), Unfit> {
        self.target.check()?;
        self.check_monitor()?;
        self.pings.check()?;
        let bounded = |what, value: SignedDuration, min_s: i64, max: SignedDuration| {
            if (SignedDuration::from_secs(min_s)..=max).contains(&value) {
                Ok(())
            } else {
                Err(Unfit::OutOfBounds { what, min_s, max })
            }
        };
        bounded("splay", self.splay, 0, DAY)?;
        bounded("jitter", self.jitter, 0, DAY)?;
        bounded("catch_up_pace", self.catch_up_pace, 0, DAY)?;
        // With none at all, every slot would be too late: nothing is decided in no time.
        bounded("grace", self.grace.unwrap_or(PROMPT), 1, GRACE_MAX)?;
        let run_timeout = self.run_timeout.unwrap_or(RUN_TIMEOUT_DEFAULT);
        bounded("run_timeout", run_timeout, 1, DAY * 7)?;
        bounded("retry_for", self.retry_for.unwrap_or_default(), 0, DAY * 7)?;
        if !(1..=MAX_CATCH_UP_MAX).contains(&self.max_catch_up) {
            return Err(Unfit::MaxCatchUp(self.max_catch_up));
        }
        if self.priority > 9 {
            return Err(Unfit::Priority(self.priority));
        }
        self.check_days()?;
        operation::check(self)?;
        if (self.catch_up, self.overlap) == (CatchUp::All, Overlap::CancelRunning) {
            return Err(Unfit::CancelsItself);
        }
        Ok(())
    }
}

impl Definition {
    /// What contradicts itself about days and bounds.
    fn check_days(&self) -> Result<(), Unfit> {
        if self.runs == Some(0) {
            return Err(Unfit::Runs);
        }
        if self.also.len() > ALSO_MAX {
            return Err(Unfit::TooManyExpressions);
        }
        if self.moves.is_some() && !self.uses_calendars() {
            return Err(Unfit::MovesFromNothing);
        }
        match (self.starts_at, self.ends_at) {
            (Some(from), Some(until)) if from > until => Err(Unfit::EndsBeforeItStarts),
            _ => Ok(()),
        }
    }

    /// Whether its slots depend on calendars.
    pub fn uses_calendars(&self) -> bool {
        !self.except.is_empty() || !self.only.is_empty()
    }

    /// The calendars it depends on.
    pub fn calendars(&self) -> impl Iterator<Item = &str> {
        self.except.iter().chain(&self.only).map(String::as_str)
    }

    /// Whether it says what only a node with a database can keep.
    pub fn needs_database(&self) -> bool {
        self.uses_calendars() || self.runs.is_some()
    }
}
