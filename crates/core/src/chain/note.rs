//! What a chain reports: one line each, for people and for programs.
//!
//! INVARIANT: the fields here are all that is reported, and none of them can hold the name of a
//! repository or a workflow: lines are numbers and expressions, and errors come without names from
//! where they arise (DP-15). Runs of public repositories show their logs to the public.

mod text;

use jiff::{SignedDuration, Timestamp};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Leave;

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    pub at: Timestamp,
    /// The line it happened to, if it was one.
    #[serde(flatten)]
    pub of: Option<LineRef>,
    #[serde(flatten)]
    pub said: ChainEvent,
}

/// What a line of DISPATCH is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineRef {
    pub line: usize,
    pub expression: String,
}

names! {
    /// How a slot that was locked and lost was settled.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Settled {
        /// The target had been started after all.
        Found = "found",
        /// It had not; it is fired now.
        Fires = "fires",
        /// It had not, and it is too late by its schedule's grace.
        TooLate = "too_late",
        /// The target cannot be looked at, so the outcome is unknown.
        Unknown = "unknown",
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(tag = "said", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ChainEvent {
    Began {
        /// How many schedules it keeps.
        lines: usize,
        #[serde(rename = "round_ms", serialize_with = "in_ms")]
        round: SignedDuration,
        ends_at: Timestamp,
        /// What two chains cost with it.
        calls_an_hour: u64,
    },
    /// It keeps this one.
    Keeps {
        /// The first slot to come.
        next_at: Option<Timestamp>,
    },
    /// A line was refused.
    Refused {
        line: usize,
        column: usize,
        why: String,
    },
    /// A line is kept, and perhaps it is not what its writer meant.
    Warned {
        line: usize,
        column: usize,
        /// For programs.
        code: &'static str,
        why: String,
    },
    /// A slot was fired.
    Fired {
        slot: Timestamp,
        /// Whether it had been missed.
        caught_up: bool,
        attempts: u32,
    },
    /// Another chain fires the slot.
    Lost { slot: Timestamp },
    /// A slot was locked, and its target did not take it.
    Failed { slot: Timestamp, why: String },
    /// The lock could not be had in time; another chain may have it.
    Missed { slot: Timestamp, why: String },
    /// Slots were passed over.
    Skipped {
        first: Timestamp,
        last: Timestamp,
        /// How many.
        slots: u64,
        reason: &'static str,
    },
    /// A slot had been locked by a chain that never finished.
    Settled {
        slot: Timestamp,
        /// How it was settled.
        how: Settled,
    },
    /// The chain leaves in the midst of this slot: it has the lock, or requests it, and does not
    /// know that the target was started.
    Unfinished { slot: Timestamp },
    /// Old locks were removed.
    Cleaned { locks: usize },
    /// Something failed that will be tried again.
    Trouble {
        /// What was being done.
        doing: &'static str,
        why: String,
    },
    Left {
        #[serde(rename = "why", serialize_with = "by_name")]
        leave: Leave,
        /// Slots it leaves unfinished; each has been reported.
        open: usize,
    },
}

impl Note {
    /// The line for programs. Times are UTC.
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl ChainEvent {
    /// Its name for programs.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

fn in_ms<S: Serializer>(round: &SignedDuration, serializer: S) -> Result<S::Ok, S::Error> {
    let ms = i64::try_from(round.as_millis());
    serializer.serialize_i64(ms.unwrap_or(i64::MAX))
}

fn by_name<S: Serializer>(leave: &Leave, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(leave.into())
}
