//! Pace: how many attempts of a kind may start in a time, in all nodes together (WK-05).
//!
//! A bucket holds up to `burst` starts and gets a new one every `gap`. All that is kept of it is
//! when it will be full again (`full_at`), which one start moves by one gap: no counter to refill,
//! nothing to write while nothing starts, and a bucket that is full is the same as none. The store
//! decides on the newest state, in the transaction that claims: SQLite calls the functions here,
//! PostgreSQL has them as a statement, and the conformance suite proves them equal.
//!
//! What must stay true:
//!
//! - Within any stretch of time there are at most `burst` starts, and one more for every gap in it.
//! - A node that dies after it claimed has used up its starts: a crash never makes a kind faster.
//! - A clock that was ahead costs at most [`AHEAD_MAX`] and a full bucket, however far it was.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};

use crate::{
    event::incoming::mapping::Path,
    lang::{Lang, Say},
    plan::Pause,
    say,
    share::key_of,
    task::{ClaimedTask, Kind},
    work::Deliver,
};

/// Most starts of a rate, whatever its unit.
pub const STARTS_MAX: u32 = 1_000_000;
/// Shortest gap between two starts of a rate. A gap is counted in whole microseconds, so rates near
/// the shortest are up to 1 % slower than written, never faster.
pub const GAP_MIN_US: i64 = 100;
/// Largest burst.
pub const BURST_MAX: u32 = 100_000;
/// How far the clocks of nodes may differ. A bucket that would be full later than its burst allows
/// by more than this was filled by a clock that was wrong, or under a slower rate.
pub const AHEAD_MAX: SignedDuration = SignedDuration::from_secs(60);
/// How far ahead tasks over the rate of a key are put off. Those behind it are looked at then:
/// a faster rate after a change of the configuration must not find them days away.
pub const BOOKED_MAX: SignedDuration = SignedDuration::from_mins(10);
/// Why a task was put off: its detail until it is tried.
pub const PUT_OFF: &str = "over the rate of its key; put off until its turn";
/// A node that waits for starts lets a few gather, so that a fast rate is no busy loop.
const GATHER_US: i64 = 10_000;

/// What a rate is per: its name, and its microseconds.
const UNITS: [(&str, i64); 4] = [
    ("s", 1_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
    ("day", 86_400_000_000),
];

/// Why a text is not a rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Invalid {
    Rate(String),
    Starts,
}

impl Say for Invalid {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Rate(it) => say!(lang; "`{it}` is not a rate", "`{it}` 不是速率"),
            Self::Starts => say!(lang;
                "a rate has 1 to 1000000 starts, and at most 10000 per second",
                "速率为 1 到 1000000 次启动，且每秒最多 10000 次"),
        }
    }
}

/// So many starts per unit of time, and how many at once. On the wire `100/min`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    starts: u32,
    unit: (&'static str, i64),
    burst: u32,
}

impl Rate {
    /// Reads `100/min`: a number per `s`, `min`, `h` or `day`. The burst is what a second brings,
    /// at least one start.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let given = || Invalid::Rate(text.chars().take(40).collect());
        let (starts, unit) = text.split_once('/').ok_or_else(given)?;
        let starts: u32 = starts.trim().parse().map_err(|_| given())?;
        let unit = UNITS.into_iter().find(|(name, _)| *name == unit.trim());
        let unit = unit.ok_or_else(given)?;
        let fits = (1..=STARTS_MAX).contains(&starts) && unit.1 / i64::from(starts) >= GAP_MIN_US;
        let of_second = 1_000_000 * i64::from(starts) / unit.1;
        let rate = Self {
            starts,
            unit,
            burst: u32::try_from(of_second).unwrap_or(1).max(1),
        };
        fits.then_some(rate).ok_or(Invalid::Starts)
    }

    /// The same with another burst.
    #[must_use]
    pub fn with_burst(self, burst: u32) -> Self {
        Self {
            burst: burst.clamp(1, BURST_MAX),
            ..self
        }
    }

    /// How many may start at once after a pause.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// How long one start lasts, in microseconds; rounded up, so that there is never one too many.
    pub fn gap_us(&self) -> i64 {
        let (unit_us, starts) = (self.unit.1, i64::from(self.starts));
        unit_us / starts + i64::from(unit_us % starts > 0)
    }

    /// How many starts gather before a node that waits for them looks again.
    pub fn gathered(&self) -> u32 {
        let few = u32::try_from(GATHER_US / self.gap_us()).unwrap_or(u32::MAX);
        few.clamp(1, (self.burst / 2).max(1))
    }

    /// How many may start at `now`, of a bucket that will be full at `full_at`.
    pub fn room(&self, full_at: Timestamp, now: Timestamp) -> u32 {
        let missing_us = self.believed(full_at, now).as_microsecond() - now.as_microsecond();
        let missing = (missing_us.max(0) + self.gap_us() - 1) / self.gap_us();
        self.burst
            .saturating_sub(u32::try_from(missing).unwrap_or(u32::MAX))
    }

    /// When the bucket will be full after so many starts at `now`.
    pub fn after(&self, full_at: Timestamp, now: Timestamp, starts: u32) -> Timestamp {
        let from = self.believed(full_at, now).max(now);
        later(from, self.gap_us() * i64::from(starts))
    }

    /// When a node that found no room looks again: a few starts have gathered by then.
    pub fn look_at(&self, full_at: Timestamp, now: Timestamp) -> Timestamp {
        let still_missing = i64::from(self.burst - self.gathered());
        let full_at = self.believed(full_at, now);
        later(full_at, -self.gap_us() * still_missing)
    }

    /// A bucket can only be as empty as its burst.
    fn believed(&self, full_at: Timestamp, now: Timestamp) -> Timestamp {
        let empty = later(now, self.gap_us() * i64::from(self.burst));
        if full_at.duration_since(empty) > AHEAD_MAX {
            empty
        } else {
            full_at
        }
    }
}

/// A bucket as the store keeps it, for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// When it is full again.
    pub full_at: Timestamp,
    /// Until when tasks were put off that wait for a start.
    pub booked_until: Timestamp,
}

impl Default for Bucket {
    fn default() -> Self {
        Self {
            full_at: Timestamp::UNIX_EPOCH,
            booked_until: Timestamp::UNIX_EPOCH,
        }
    }
}

/// What becomes of tasks of one key that a node has claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starts {
    /// So many may start, the earliest first.
    pub granted: u32,
    /// When the first of the others is looked at again; each further one a gap later, so that they
    /// come back in order and one at a time.
    pub next_at: Timestamp,
}

impl Rate {
    /// Grants up to `wanted` starts at `now` and books a time for each that has to wait. A task
    /// that comes back at its time asks again: a time is no start, or tasks that nobody claimed for
    /// an hour would start together.
    pub fn settle(&self, bucket: &mut Bucket, wanted: u32, now: Timestamp) -> Starts {
        let granted = self.room(bucket.full_at, now).min(wanted);
        bucket.full_at = self.after(bucket.full_at, now, granted);
        let first = later(
            bucket.full_at,
            -self.gap_us() * i64::from(self.burst.saturating_sub(1)),
        );
        let horizon = now.saturating_add(BOOKED_MAX).unwrap_or(Timestamp::MAX);
        let next_at = first.max(bucket.booked_until.min(horizon)).max(now);
        if wanted > granted {
            let booked = later(next_at, self.gap_us() * i64::from(wanted - granted));
            bucket.booked_until = booked.min(horizon.max(next_at));
        }
        Starts { granted, next_at }
    }
}

impl Starts {
    /// When the `place`-th task that was put off comes back, from 0.
    pub fn comes_at(&self, place: usize, rate: &Rate, now: Timestamp) -> Timestamp {
        let horizon = now.saturating_add(BOOKED_MAX).unwrap_or(Timestamp::MAX);
        let place = i64::try_from(place).unwrap_or(i64::MAX);
        let at = later(self.next_at, rate.gap_us().saturating_mul(place));
        at.min(horizon.max(self.next_at))
    }
}

/// The pace of a kind, as configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    pub rate: Rate,
    /// Where in the payload the key is that has a bucket of its own; without it, the kind has one.
    pub by: Option<Path>,
}

impl Pace {
    /// The rate of the whole kind, if that is what it is.
    pub fn in_all(&self) -> Option<Rate> {
        self.by.is_none().then_some(self.rate)
    }

    /// The bucket of a task; `None` if the claim has seen to it. Tasks without the key share one.
    pub fn bucket(&self, task: &ClaimedTask) -> Option<String> {
        let key = key_of(&task.payload, self.by.as_ref()?);
        Some(format!("{} {key}", task.identity.kind))
    }
}

/// One kind of task: how much waits, and what holds it up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct KindLine {
    /// Which kind.
    pub kind: Kind,
    /// Whether its tasks are called out or taken by workers.
    pub deliver: Deliver,
    /// Waiting tasks, due or not; counting stops at a bound.
    pub waiting: u64,
    /// Of these, due.
    pub due: u64,
    /// Running tasks; counting stops at a bound.
    pub running: u64,
    /// When the first waiting task is due; may be in the past.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_due_at: Option<Timestamp>,
    /// The pause, if no node starts its tasks now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// How fast its tasks may start, in all nodes together; with `rate_by`, of each key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "100/min"))]
    pub rate: Option<Rate>,
    /// How many may start at once after a time without starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<u32>,
    /// Where in the payload the key of the rate is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_by: Option<String>,
    /// Where in the payload the key is by which its tasks take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_by: Option<String>,
}

impl KindLine {
    /// A kind of which nothing is known yet but what is configured.
    pub fn new(kind: Kind, deliver: Deliver, pace: Option<&Pace>, share_by: Option<&Path>) -> Self {
        let by = pace.and_then(|pace| pace.by.as_ref());
        Self {
            kind,
            deliver,
            waiting: 0,
            due: 0,
            running: 0,
            first_due_at: None,
            paused: None,
            rate: pace.map(|pace| pace.rate),
            burst: pace.map(|pace| pace.rate.burst()),
            rate_by: by.map(ToString::to_string),
            share_by: share_by.map(ToString::to_string),
        }
    }
}

fn later(at: Timestamp, micros: i64) -> Timestamp {
    at.saturating_add(SignedDuration::from_micros(micros))
        .unwrap_or(Timestamp::MAX)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.starts, self.unit.0)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
