//! What a chain reports: one line each, for people and for programs.
//!
//! INVARIANT: the fields here are all that is reported, and none of them can hold the name of a
//! repository or a workflow: lines are numbers and expressions, and errors come without names from
//! where they arise (DP-15). Runs of public repositories show their logs to the public.

mod text;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::Leave;
use crate::plan::{Slot, Verdict};

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub at: Timestamp,
    pub said: ChainEvent,
}

/// How a slot that was locked and lost was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The target had been started after all.
    Found,
    /// It had not; it is fired now.
    Fires,
    /// It had not, and it is too late by its schedule's grace.
    TooLate,
    /// The target cannot be looked at, so the outcome is unknown.
    Unknown,
}

impl Settled {
    fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Fires => "fires",
            Self::TooLate => "too_late",
            Self::Unknown => "unknown",
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainEvent {
    Began {
        /// How many schedules it keeps.
        lines: usize,
        round: SignedDuration,
        ends_at: Timestamp,
        /// What two chains cost with it.
        calls_an_hour: u64,
    },
    /// It keeps this one.
    Keeps {
        line: usize,
        expression: String,
        /// The first slot to come.
        next_at: Option<Timestamp>,
    },
    /// A line was refused.
    Refused {
        line: usize,
        column: usize,
        why: String,
    },
    /// A slot was fired.
    Fired {
        line: usize,
        expression: String,
        slot: Timestamp,
        /// Whether it had been missed.
        caught_up: bool,
        attempts: u32,
    },
    /// Another chain fires the slot.
    Lost {
        line: usize,
        expression: String,
        slot: Timestamp,
    },
    /// A slot was locked, and its target did not take it.
    Failed {
        line: usize,
        expression: String,
        slot: Timestamp,
        why: String,
    },
    /// The lock could not be had in time; another chain may have it.
    Missed {
        line: usize,
        expression: String,
        slot: Timestamp,
        why: String,
    },
    /// Slots were passed over.
    Skipped {
        line: usize,
        expression: String,
        slots: Slot,
    },
    /// A slot had been locked by a chain that never finished.
    Settled {
        line: usize,
        expression: String,
        slot: Timestamp,
        /// How it was settled.
        how: Settled,
    },
    /// The chain leaves in the midst of this slot: it has the lock, or requests it, and does not
    /// know that the target was started.
    Unfinished {
        line: usize,
        expression: String,
        slot: Timestamp,
    },
    /// Old locks were removed.
    Cleaned { locks: usize },
    /// Something failed that will be tried again.
    Trouble {
        /// What was being done.
        doing: &'static str,
        why: String,
    },
    Left {
        leave: Leave,
        /// Slots it leaves unfinished; each has been reported.
        open: usize,
    },
}

impl Note {
    /// The line for programs. Times are UTC.
    pub fn json(&self) -> Value {
        let mut value = json!({"at": self.at, "said": self.said.name()});
        let more = self.said.fields();
        if let (Value::Object(value), Value::Object(more)) = (&mut value, more) {
            value.extend(more);
        }
        value
    }
}

fn leave_name(leave: Leave) -> &'static str {
    match leave {
        Leave::Newer { .. } => "newer",
        Leave::Over => "over",
        Leave::Stopped => "stopped",
        Leave::Once => "once",
    }
}

impl ChainEvent {
    /// Its name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Began { .. } => "began",
            Self::Keeps { .. } => "keeps",
            Self::Refused { .. } => "refused",
            Self::Fired { .. } => "fired",
            Self::Lost { .. } => "lost",
            Self::Failed { .. } => "failed",
            Self::Missed { .. } => "missed",
            Self::Skipped { .. } => "skipped",
            Self::Settled { .. } => "settled",
            Self::Unfinished { .. } => "unfinished",
            Self::Cleaned { .. } => "cleaned",
            Self::Trouble { .. } => "trouble",
            Self::Left { .. } => "left",
        }
    }

    /// The line it is about, by number and expression.
    fn about(&self) -> Option<(usize, &str)> {
        match self {
            Self::Keeps {
                line, expression, ..
            }
            | Self::Fired {
                line, expression, ..
            }
            | Self::Lost {
                line, expression, ..
            }
            | Self::Failed {
                line, expression, ..
            }
            | Self::Missed {
                line, expression, ..
            }
            | Self::Skipped {
                line, expression, ..
            }
            | Self::Settled {
                line, expression, ..
            }
            | Self::Unfinished {
                line, expression, ..
            } => Some((*line, expression)),
            _ => None,
        }
    }

    fn fields(&self) -> Value {
        let mut value = match self {
            Self::Began {
                lines,
                round,
                ends_at,
                calls_an_hour,
            } => json!({
                "lines": lines, "round_ms": i64::try_from(round.as_millis()).unwrap_or(i64::MAX), "ends_at": ends_at, "calls_an_hour": calls_an_hour,
            }),
            Self::Keeps { next_at, .. } => json!({"next_at": next_at}),
            Self::Refused { line, column, why } => {
                json!({"line": line, "column": column, "why": why})
            }
            Self::Fired {
                slot,
                caught_up,
                attempts,
                ..
            } => {
                json!({"slot": slot, "caught_up": caught_up, "attempts": attempts})
            }
            Self::Lost { slot, .. } | Self::Unfinished { slot, .. } => json!({"slot": slot}),
            Self::Failed { slot, why, .. } | Self::Missed { slot, why, .. } => {
                json!({"slot": slot, "why": why})
            }
            Self::Skipped { slots, .. } => json!({
                "first": slots.slot_at, "last": slots.last_at, "slots": slots.slots,
                "reason": Verdict::as_str(slots.verdict),
            }),
            Self::Settled { slot, how, .. } => json!({"slot": slot, "how": how.as_str()}),
            Self::Cleaned { locks } => json!({"locks": locks}),
            Self::Trouble { doing, why } => json!({"doing": doing, "why": why}),
            Self::Left { leave, open } => json!({"why": leave_name(*leave), "open": open}),
        };
        if let (Some((line, expression)), Value::Object(value)) = (self.about(), &mut value) {
            value.insert("line".to_owned(), line.into());
            value.insert("expression".to_owned(), expression.into());
        }
        value
    }
}
