//! A schedule as the store keeps it: what was written, and how far it has been decided.
//!
//! INVARIANT: every slot before `next_at` is in the ledger, none from `next_at` on is. The writer
//! of the row writes the ledger rows and the firings in the same transaction and raises `version`,
//! so of two nodes (or a node and a person) that saw the same row only one can write (DP-05).

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    definition::ScheduleName, firing::DISPATCH, ledger::Slot, monitor::MonitorWrite,
    stored::StoredDefinition,
};
use crate::{
    lang::{Lang, Sentence},
    reschedule::Change,
    task::{Identity, Kind, NewTask, Subject},
};

/// Firings remembered beside the newest: every look at a schedule asks about each of them.
pub const BESIDE_MAX: usize = 16;

/// Number of a schedule, given by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScheduleId(pub i64);

names! {
    /// Who a schedule belongs to: what put it there may change it and take it away.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = ScheduleOrigin))]
    pub enum Origin {
        /// `[[schedule]]` in the configuration file.
        File = "file",
        /// A line of DISPATCH.
        Dispatch = "dispatch",
        /// The API or the command line.
        Api = "api",
    }
}

/// Whether a schedule is planned.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum State {
    /// Its slots fire.
    Active,
    /// Its slots are skipped for now.
    Paused(Pause),
    /// It cannot be computed; it holds up no other schedule (DP-18).
    Parked {
        /// Since when.
        since: Timestamp,
        /// Why.
        reason: Sentence,
    },
    /// Taken away; its history stays.
    Removed {
        /// Since when.
        since: Timestamp,
    },
    /// No slot is to come: its time, its bounds or its runs are used up.
    Done {
        /// Since when.
        since: Timestamp,
    },
}

impl State {
    /// The name used in the store, the API and the logs.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

/// A state on the wire: its name, and beside it what is known of it.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ScheduleState))]
struct StateOnWire<'a> {
    /// `active`, `paused`, `parked`, `removed` or `done`.
    state: Cow<'a, str>,
    /// The pause it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<Cow<'a, Pause>>,
    /// Why it cannot be planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<Parked<'a>>,
    /// When it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed_at: Option<Timestamp>,
    /// When its last slot was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_at: Option<Timestamp>,
}

/// The reason why a schedule cannot be planned.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct Parked<'a> {
    since: Timestamp,
    reason: Cow<'a, str>,
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut wire = StateOnWire {
            state: self.as_str().into(),
            paused: None,
            parked: None,
            removed_at: None,
            done_at: None,
        };
        match self {
            Self::Active => {}
            Self::Paused(pause) => wire.paused = Some(Cow::Borrowed(pause)),
            Self::Parked { since, reason } => {
                let (since, reason) = (*since, reason.for_reader(Lang::English).0.into());
                wire.parked = Some(Parked { since, reason });
            }
            Self::Removed { since } => wire.removed_at = Some(*since),
            Self::Done { since } => wire.done_at = Some(*since),
        }
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = StateOnWire::deserialize(deserializer)?;
        let state = match &*wire.state {
            "active" => Some(Self::Active),
            "paused" => wire.paused.map(|pause| Self::Paused(pause.into_owned())),
            "parked" => wire.parked.map(|parked| Self::Parked {
                since: parked.since,
                reason: parked.reason.into_owned().into(),
            }),
            "removed" => wire.removed_at.map(|since| Self::Removed { since }),
            "done" => wire.done_at.map(|since| Self::Done { since }),
            _ => None,
        };
        state.ok_or_else(|| D::Error::custom("not the state of a schedule"))
    }
}

/// A pause, and what was said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Pause {
    /// Since when.
    pub since: Timestamp,
    /// Until when, if it ends by itself.
    pub until: Option<Timestamp>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who paused it.
    pub by: String,
}

/// One schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Schedule {
    /// Number of the row; `ScheduleId(0)` before it is written.
    #[serde(skip)]
    pub id: ScheduleId,
    /// Its name.
    pub name: ScheduleName,
    /// Who it belongs to.
    pub origin: Origin,
    /// What was written. Absent on the wire if this version cannot read it.
    #[serde(skip_serializing_if = "StoredDefinition::is_unreadable")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<super::definition::Definition>))]
    pub definition: StoredDefinition,
    /// Counts what people changed, from 1.
    pub revision: i64,
    /// Counts every write, from 1; the compare-and-set.
    #[serde(skip)]
    pub version: i64,
    /// Whether it is planned.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = StateOnWire<'static>))]
    pub state: State,
    /// The first slot that is not in the ledger; `None` when there is none to come.
    #[serde(skip)]
    pub next_at: Option<Timestamp>,
    /// Since when that slot waits for its predecessor to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_since: Option<Timestamp>,
    /// When the planner must look at it; `None` when no look is needed.
    #[serde(skip)]
    pub look_at: Option<Timestamp>,
    /// Subject of its newest firing.
    #[serde(rename = "last_firing", skip_serializing_if = "Option::is_none")]
    pub last: Option<Subject>,
    /// Subjects of those that had not ended when the newest was written, oldest first: a person had
    /// forced it, or the policy allowed it. Any of them may be the last to end.
    #[serde(skip)]
    pub beside: Vec<Subject>,
    /// How many of its `runs` are used up; 0 where their number is not limited.
    #[serde(rename = "runs_done", skip_serializing_if = "is_zero")]
    pub runs: u64,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When a person last changed it.
    pub changed_at: Timestamp,
}

impl Schedule {
    /// A new one, from its first slot on.
    pub fn new(
        name: ScheduleName,
        origin: Origin,
        definition: StoredDefinition,
        next_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        Self {
            id: ScheduleId(0),
            name,
            origin,
            definition,
            revision: 0,
            version: 1,
            state: State::Active,
            next_at,
            waits_since: None,
            look_at: next_at,
            last: None,
            beside: Vec::new(),
            runs: 0,
            created_at: now,
            changed_at: now,
        }
    }

    /// The identity of its newest firing, of a slot or by hand.
    pub fn last_firing(&self) -> Option<Identity> {
        identity(self.last.as_ref()?)
    }

    /// The identities of all its firings that may not have ended, newest first.
    pub fn open_firings(&self) -> Vec<Identity> {
        let subjects = self.last.iter().chain(self.beside.iter().rev());
        subjects.filter_map(identity).collect()
    }

    /// Remembers what fires now, oldest first, and what keeps `running` beside it, oldest first
    /// too. What has ended is forgotten, and so is the oldest of more than [`BESIDE_MAX`].
    pub fn note_fired(&mut self, running: Vec<Subject>, fires: impl Iterator<Item = Subject>) {
        let mut open = running;
        open.extend(fires);
        self.last = open.pop();
        let over = open.len().saturating_sub(BESIDE_MAX);
        self.beside = open.split_off(over);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn identity(subject: &Subject) -> Option<Identity> {
    let kind = Kind::parse(DISPATCH).ok()?;
    let subject = subject.clone();
    Some(Identity { subject, kind })
}

names! {
    /// What a person (or a file that a person wrote) did to a schedule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Edited {
        /// Written for the first time.
        Created = "created",
        /// Its definition changed.
        Changed = "changed",
        /// Paused.
        Paused = "paused",
        /// Resumed, by a person or by the end of its pause.
        Resumed = "resumed",
        /// Found impossible to compute.
        Parked = "parked",
        /// Can be computed again.
        Unparked = "unparked",
        /// Its cursor was taken back to the present: a clock that was ahead had moved it.
        Rewound = "rewound",
        /// Taken away.
        Removed = "removed",
        /// Its last slot was decided.
        Done = "done",
    }
}

/// One line of a schedule's own history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Edit {
    /// The revision it made.
    pub revision: i64,
    /// What was done.
    pub edited: Edited,
    /// Who did it.
    pub by: String,
    /// What was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The definition from then on. Absent on the wire if this version cannot read it.
    #[serde(skip_serializing_if = "StoredDefinition::is_unreadable")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<super::definition::Definition>))]
    pub definition: StoredDefinition,
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
    /// Ledger rows from this slot on are taken back first: a clock that was ahead had decided them.
    pub takes_back: Option<Timestamp>,
    /// Ledger rows of the slots decided.
    pub slots: Vec<Slot>,
    /// Firings to insert. One whose identity exists already is left alone: it was fired by hand.
    pub fires: Vec<NewTask>,
    /// Withdrawals of the predecessors. If one is lost, so is the whole write.
    pub cancels: Vec<Change>,
    /// What a person did, if one did.
    pub edit: Option<Edit>,
    /// What is known of its job, if it is a monitor and that changes.
    pub monitor: Option<MonitorWrite>,
    /// Tasks that deliver events of it.
    pub event_tasks: Vec<NewTask>,
}

impl ScheduleWrite {
    /// Writes the schedule alone, over version `seen` of it.
    pub fn of(seen: Option<i64>, schedule: Schedule, now: Timestamp) -> Self {
        Self {
            seen,
            decided_at: now,
            schedule,
            takes_back: None,
            slots: Vec::new(),
            fires: Vec::new(),
            cancels: Vec::new(),
            edit: None,
            monitor: None,
            event_tasks: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::{ready, schedule};

    fn subjects(texts: &[&str]) -> Vec<Subject> {
        let parse = |text: &&str| Subject::parse(text).unwrap();
        texts.iter().map(parse).collect()
    }

    fn open_after(running: &[&str], fires: &[&str]) -> Vec<String> {
        let ready = ready("@hourly", "{}");
        let mut schedule = schedule(&ready, Timestamp::UNIX_EPOCH);
        schedule.note_fired(subjects(&["gone"]), subjects(&["ended"]).into_iter());
        schedule.note_fired(subjects(running), subjects(fires).into_iter());
        let open = schedule.open_firings();
        open.iter().map(|i| i.subject.as_str().to_owned()).collect()
    }

    #[test]
    fn dp_17_every_firing_that_has_not_ended_is_remembered_newest_first() {
        let rows: [(&[&str], &[&str], &[&str]); 4] = [
            (&[], &["a"], &["a"]),
            (&["a"], &["b"], &["b", "a"]),
            (&["a", "b"], &["c"], &["c", "b", "a"]),
            (&["a"], &["b", "c"], &["c", "b", "a"]),
        ];
        for (running, fires, open) in rows {
            assert_eq!(
                open_after(running, fires),
                open,
                "{running:?} and {fires:?}"
            );
        }
    }

    #[test]
    fn dp_17_of_too_many_the_newest_are_remembered() {
        let names: Vec<String> = (0..=BESIDE_MAX).map(|n| n.to_string()).collect();
        let running: Vec<&str> = names.iter().map(String::as_str).collect();
        let open = open_after(&running, &["newest"]);
        assert_eq!(open.len(), BESIDE_MAX + 1);
        assert_eq!(open.first().unwrap(), "newest");
        assert_eq!(open.last().unwrap(), "1", "the oldest is forgotten");
    }
}
