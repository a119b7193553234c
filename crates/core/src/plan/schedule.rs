//! A schedule as the store keeps it: what was written, and how far it has been decided.
//!
//! INVARIANT: every slot before `next_at` is in the ledger, none from `next_at` on is. Whoever writes
//! the row writes the ledger rows and the firings in the same transaction and raises `version`, so of
//! two nodes (or a node and a person) that saw the same row only one can write (DP-05).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{definition::ScheduleName, firing::DISPATCH, ledger::Slot};
use crate::{
    reschedule::Change,
    task::{Identity, Kind, NewTask, Subject},
};

/// Number of a schedule, given by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScheduleId(pub i64);

/// Who a schedule belongs to: what put it there may change it and take it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// `[[schedule]]` in the configuration file.
    File,
    /// A line of DISPATCH.
    Dispatch,
    /// The API or the command line.
    Api,
}

impl Origin {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::File, Self::Dispatch, Self::Api];

    /// The name used in the store, the API and the logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Dispatch => "dispatch",
            Self::Api => "api",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == text)
    }
}

/// Whether a schedule is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its slots fire.
    Active,
    /// Its slots are skipped for now.
    Paused(Pause),
    /// It cannot be computed; nobody else is held up by it (DP-18).
    Parked {
        /// Since when.
        since: Timestamp,
        /// Why.
        reason: String,
    },
    /// Taken away; its history stays.
    Removed {
        /// Since when.
        since: Timestamp,
    },
}

impl State {
    /// The name used in the store, the API and the logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused(_) => "paused",
            Self::Parked { .. } => "parked",
            Self::Removed { .. } => "removed",
        }
    }
}

/// A pause, and what was said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// Since when.
    pub since: Timestamp,
    /// Until when, if it ends by itself.
    pub until: Option<Timestamp>,
    /// Why.
    pub note: Option<String>,
    /// Who paused it.
    pub by: String,
}

/// One schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Number of the row; `ScheduleId(0)` before it is written.
    pub id: ScheduleId,
    /// What people call it.
    pub name: ScheduleName,
    /// Who it belongs to.
    pub origin: Origin,
    /// What was written, as [`Definition::to_json`](super::Definition::to_json) gives it.
    pub definition: String,
    /// Counts what people changed, from 1.
    pub revision: i64,
    /// Counts every write, from 1; the compare-and-set.
    pub version: i64,
    /// Whether it is planned.
    pub state: State,
    /// The first slot that is not in the ledger; `None` when there is none to come.
    pub next_at: Option<Timestamp>,
    /// Since when that slot waits for its predecessor to end.
    pub waits_since: Option<Timestamp>,
    /// When the planner must look at it; `None` when nobody need look.
    pub look_at: Option<Timestamp>,
    /// Subject of its newest firing.
    pub last: Option<Subject>,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When a person last changed it.
    pub changed_at: Timestamp,
}

impl Schedule {
    /// The identity of its newest firing, of a slot or by hand.
    pub fn last_firing(&self) -> Option<Identity> {
        let subject = self.last.clone()?;
        let kind = Kind::parse(DISPATCH).ok()?;
        Some(Identity { subject, kind })
    }
}

/// What a person (or a file that a person wrote) did to a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edited {
    /// Written for the first time.
    Created,
    /// Its definition changed.
    Changed,
    /// Paused.
    Paused,
    /// Resumed, by a person or by the end of its pause.
    Resumed,
    /// Found impossible to compute.
    Parked,
    /// Can be computed again.
    Unparked,
    /// Taken away.
    Removed,
}

impl Edited {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::Changed,
        Self::Paused,
        Self::Resumed,
        Self::Parked,
        Self::Unparked,
        Self::Removed,
    ];

    /// The name used in the store, the API and the logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Parked => "parked",
            Self::Unparked => "unparked",
            Self::Removed => "removed",
        }
    }

    /// Reads a name the store kept.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|edited| edited.as_str() == text)
    }
}

/// One line of a schedule's own history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The revision it made.
    pub revision: i64,
    /// What was done.
    pub edited: Edited,
    /// Who did it.
    pub by: String,
    /// What was said about it.
    pub note: Option<String>,
    /// The definition from then on.
    pub definition: String,
    /// When.
    pub at: Timestamp,
}

/// One write: the row as it is to be, with everything that belongs to the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleWrite {
    /// The version that was seen; `None` writes a new schedule, whose name must be free.
    pub seen: Option<i64>,
    /// When it was decided.
    pub decided_at: Timestamp,
    /// The row afterwards. Its `version` must be one more than `seen`.
    pub schedule: Schedule,
    /// Ledger rows of the slots decided.
    pub slots: Vec<Slot>,
    /// Firings to insert. One whose identity exists already is left alone: it was fired by hand.
    pub fires: Vec<NewTask>,
    /// The predecessor's withdrawal. If it is lost, so is the whole write.
    pub cancel: Option<Change>,
    /// What a person did, if one did.
    pub edit: Option<Edit>,
}
