//! What people write about a schedule, and whether it can be kept.

use std::{fmt, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    operation::{self, Unsuitable},
    retry::Retry,
};
use crate::{
    schedule::{self, ClockChange, Expression, Language, Mode, Timetable, Warning, Zone, hash_of},
    target::{Target, Unusable},
    task::Priority,
};

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
const RETRY_FOR_DEFAULT_MIN: SignedDuration = SignedDuration::from_secs(10);
const RETRY_FOR_DEFAULT_MAX: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The name of a schedule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String))]
#[serde(transparent)]
pub struct ScheduleName(Box<str>);

impl ScheduleName {
    /// Accepts letters, digits, `.`, `_` and `-`: what fits into a URL, a file name and a log line.
    pub fn parse(text: &str) -> Result<Self, Unfit> {
        let shaped = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let fits = (1..=NAME_BYTES_MAX).contains(&text.len());
        if fits && text.chars().all(shaped) && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        {
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

/// A schedule as written: when, at what, and what to do when things do not go as planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ScheduleDefinition))]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// When: `0 8 * * 1-5`, `@10s`.
    pub expression: String,
    /// Whose clock the expression reads.
    #[serde(default = "utc")]
    pub tz: String,
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
            target,
            catch_up: CatchUp::default(),
            grace: None,
            max_catch_up: max_catch_up(),
            catch_up_pace: catch_up_pace(),
            overlap: Overlap::default(),
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
        }
    }

    /// Checks everything that needs no zone and no expression.
    pub(crate) fn check(&self) -> Result<(), Unfit> {
        self.target.check()?;
        let bounded = |what, value: SignedDuration, min_s: i64, max: SignedDuration| {
            if (SignedDuration::from_secs(min_s)..=max).contains(&value) {
                Ok(())
            } else {
                Err(Unfit::OutOfBounds { what, min_s, max })
            }
        };
        bounded("splay", self.splay, 0, DAY)?;
        bounded("catch_up_pace", self.catch_up_pace, 0, DAY)?;
        // With none at all, every slot would be too late: nothing is decided in no time.
        bounded("grace", self.grace.unwrap_or(PROMPT), 1, GRACE_MAX)?;
        bounded("retry_for", self.retry_for.unwrap_or_default(), 0, DAY * 7)?;
        if !(1..=MAX_CATCH_UP_MAX).contains(&self.max_catch_up) {
            return Err(Unfit::MaxCatchUp(self.max_catch_up));
        }
        if self.priority > 9 {
            return Err(Unfit::Priority(self.priority));
        }
        operation::check(self)?;
        if (self.catch_up, self.overlap) == (CatchUp::All, Overlap::CancelRunning) {
            return Err(Unfit::CancelsItself);
        }
        Ok(())
    }
}

/// Why a schedule cannot be kept as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Not a name of the allowed shape.
    #[error(
        "schedule name `{given}` must start with a letter or digit and have at most {NAME_BYTES_MAX} letters, digits, `.`, `_` or `-`"
    )]
    Name {
        /// What was given, shortened.
        given: String,
    },
    /// The expression does not read.
    #[error("expression `{expression}`: {error}")]
    Expression {
        /// The whole of it.
        expression: String,
        /// Where and why.
        error: Box<schedule::Error>,
    },
    /// It reads, but names no instant.
    #[error("expression `{expression}` never fires")]
    NeverFires {
        /// The whole of it.
        expression: String,
    },
    /// No such time zone.
    #[error("unknown time zone `{tz}`; write an IANA name such as Europe/Berlin")]
    Zone {
        /// What was given.
        tz: String,
    },
    /// The target cannot work.
    #[error(transparent)]
    Target(#[from] Unusable),
    /// Too long or negative.
    #[error("{what} must be between {min_s}s and {}h", .max.as_hours())]
    OutOfBounds {
        /// Which duration.
        what: &'static str,
        /// Its lower bound, in seconds.
        min_s: i64,
        /// Its upper bound.
        max: SignedDuration,
    },
    /// Outside its range.
    #[error("max_catch_up must be 1 to {MAX_CATCH_UP_MAX}, not {0}")]
    MaxCatchUp(u32),
    /// Outside its range.
    #[error("priority must be 0 to 9 (9 first), not {0}")]
    Priority(u8),
    /// How it is operated cannot be kept.
    #[error(transparent)]
    Operation(#[from] Unsuitable),
    /// Each slot caught up would cancel the one before.
    #[error(
        "catch_up = \"all\" and overlap = \"cancel_running\" contradict each other: every missed slot would cancel the one before it"
    )]
    CancelsItself,
    /// Stored by a version that knows more.
    #[error("the stored definition cannot be read: {why}")]
    Unreadable {
        /// Where and why.
        why: String,
    },
}

impl Unfit {
    /// The path of the invalid part.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Name { .. } => "name",
            Self::Expression { .. } | Self::NeverFires { .. } => "expression",
            Self::Zone { .. } => "tz",
            Self::Target(unusable) => unusable.path(),
            Self::OutOfBounds { what, .. } => what,
            Self::MaxCatchUp(_) => "max_catch_up",
            Self::Priority(_) => "priority",
            Self::Operation(unsuitable) => unsuitable.path(),
            Self::CancelsItself => "overlap",
            Self::Unreadable { .. } => "definition",
        }
    }
}

/// A definition that can be planned by: compiled, with its zone.
#[derive(Debug, Clone)]
pub struct Ready {
    /// As written.
    pub definition: Definition,
    timetable: Timetable,
    zone: Arc<Zone>,
    offset: SignedDuration,
}

impl Ready {
    /// Checks and compiles. Everything depends on the name, the definition and the zone alone, so
    /// every node plans the same.
    pub fn new(
        name: &ScheduleName,
        definition: Definition,
        zone: Arc<Zone>,
    ) -> Result<Self, Unfit> {
        definition.check()?;
        let timetable = compile(name, &definition.expression)?;
        let offset = offset_of(name, definition.splay);
        Ok(Self {
            definition,
            timetable,
            zone,
            offset,
        })
    }

    /// Whose clock it reads.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Says when it fires.
    pub fn describe(&self, language: Language) -> String {
        self.timetable.describe(language)
    }

    /// What is worth knowing about its expression; see [`Expression::lints`].
    pub fn lints(&self, from: Timestamp, round_s: u32) -> Vec<Warning> {
        // It was read before, so it reads now.
        Expression::parse(&self.definition.expression, Mode::Strict)
            .map(|read| read.lints(&self.timetable, &self.zone, from, round_s))
            .unwrap_or_default()
    }

    /// The changes of the clocks that touch a slot; see [`Timetable::clock_changes`].
    pub fn clock_changes(&self, from: Timestamp, until: Timestamp) -> Vec<ClockChange> {
        self.timetable.clock_changes(&self.zone, from, until)
    }

    /// The first slot after `at`.
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        self.timetable.next_after(at, &self.zone)
    }

    /// The first slot at or after `at`.
    pub fn next_from(&self, at: Timestamp) -> Option<Timestamp> {
        let before = at.saturating_sub(SignedDuration::from_micros(1));
        self.next_after(before.unwrap_or(Timestamp::MIN))
    }

    /// The last slot before `at`.
    pub fn previous_before(&self, at: Timestamp) -> Option<Timestamp> {
        self.timetable.previous_before(at, &self.zone)
    }

    /// Whether `at` is a slot.
    pub fn matches(&self, at: Timestamp) -> bool {
        self.timetable.matches(at, &self.zone)
    }

    /// When a slot is to fire: at once, or its schedule's own part of the splay later, but always
    /// before the next slot.
    pub fn due_at(&self, slot: Timestamp) -> Timestamp {
        if self.offset.is_zero() {
            return slot;
        }
        let room = self.gap_after(slot).map_or(self.offset, |gap| {
            gap.saturating_sub(SignedDuration::from_secs(1))
        });
        let offset = self.offset.min(room).max(SignedDuration::ZERO);
        slot.saturating_add(offset).unwrap_or(slot)
    }

    /// How late a slot may still fire.
    pub fn grace(&self, slot: Timestamp) -> SignedDuration {
        if let Some(grace) = self.definition.grace {
            return grace;
        }
        let assumed = match self.definition.catch_up {
            CatchUp::All => GRACE_DEFAULT_MAX,
            CatchUp::None | CatchUp::Latest => self
                .gap_after(slot)
                .map_or(GRACE_DEFAULT_MAX, |gap| gap / 2),
        };
        assumed.clamp(PROMPT, GRACE_DEFAULT_MAX)
    }

    /// How late a slot may be without counting as missed.
    pub(super) fn prompt(&self) -> SignedDuration {
        self.definition
            .grace
            .map_or(PROMPT, |grace| grace.min(PROMPT))
    }

    /// How long a firing may be tried again.
    pub fn retry_for(&self, slot: Timestamp) -> SignedDuration {
        self.definition.retry_for.unwrap_or_else(|| {
            self.gap_after(slot)
                .unwrap_or(RETRY_FOR_DEFAULT_MAX)
                .clamp(RETRY_FOR_DEFAULT_MIN, RETRY_FOR_DEFAULT_MAX)
        })
    }

    fn gap_after(&self, slot: Timestamp) -> Option<SignedDuration> {
        self.next_after(slot).map(|next| next.duration_since(slot))
    }
}

fn compile(name: &ScheduleName, expression: &str) -> Result<Timetable, Unfit> {
    let parsed =
        Expression::parse(expression, Mode::Strict).map_err(|error| Unfit::Expression {
            expression: expression.to_owned(),
            error: Box::new(error),
        })?;
    let timetable = parsed.compile(name.as_str());
    if timetable.never_fires() {
        let expression = expression.to_owned();
        return Err(Unfit::NeverFires { expression });
    }
    Ok(timetable)
}

/// A schedule's own part of its splay: stable, from its name.
fn offset_of(name: &ScheduleName, splay: SignedDuration) -> SignedDuration {
    let seconds = u64::try_from(splay.as_secs()).unwrap_or(0);
    if seconds == 0 {
        return SignedDuration::ZERO;
    }
    let offset = hash_of(name.as_str(), "splay") % (seconds + 1);
    SignedDuration::from_secs(i64::try_from(offset).unwrap_or(0))
}
