//! The slot ledger: what happened to every slot (DP-16).
//!
//! A fired slot has its own row. Skipped slots that follow each other for the same reason share one
//! row that says from which slot to which, and how many: a schedule of every second that slept for
//! a week would otherwise leave half a million rows to say one thing. Each slot is still covered by
//! exactly one row.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

names! {
    /// Why a slot did not fire.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[cfg_attr(feature = "schema", schema(as = SkipReason))]
    pub enum Reason {
        /// The schedule was paused.
        Paused = "paused",
        /// No node planned in time, and then it was later than its grace.
        TooLate = "too_late",
        /// No node planned in time, and the policy does not catch up this slot.
        NotCaughtUp = "not_caught_up",
        /// More slots were missed than `max_catch_up` allows.
        OverCap = "over_cap",
        /// The firing before it had not ended.
        Overlap = "overlap",
        /// It waited, for its predecessor, its splay or its jitter, when the schedule was changed,
        /// paused or removed.
        Changed = "changed",
        /// Its firing had been cancelled before it was to be inserted.
        Cancelled = "cancelled",
        /// No ping came within its grace.
        NoPing = "no_ping",
        /// No ping had ever come: the job was not watched yet.
        NeverPinged = "never_pinged",
        /// Its day is left out by a calendar, or its time lies in quiet hours.
        Excluded = "excluded",
    }
}

/// What happened to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its firing was inserted in time.
    Fired,
    /// Its firing was inserted late: it had been missed.
    CaughtUp,
    /// Its ping came in time.
    Pinged,
    /// It was skipped.
    Skipped(Reason),
}

impl Verdict {
    /// The name used in the store, the API, the metrics and the logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::CaughtUp => "caught_up",
            Self::Pinged => "pinged",
            Self::Skipped(reason) => reason.as_str(),
        }
    }

    /// Reads a name the store kept.
    pub fn parse(text: &str) -> Option<Self> {
        let skipped = Reason::ALL.into_iter().map(Self::Skipped);
        [Self::Fired, Self::CaughtUp, Self::Pinged]
            .into_iter()
            .chain(skipped)
            .find(|verdict| verdict.as_str() == text)
    }

    /// Whether a firing came of it.
    pub fn is_fired(self) -> bool {
        matches!(self, Self::Fired | Self::CaughtUp)
    }
}

/// A verdict on the wire: the reason for a skipped slot is a separate field.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SlotVerdict))]
struct VerdictOnWire {
    /// `fired`, `caught_up`, `pinged` or `skipped`.
    verdict: &'static str,
    /// Why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (verdict, reason) = match self {
            Self::Skipped(reason) => ("skipped", Some(*reason)),
            Self::Fired | Self::CaughtUp | Self::Pinged => (self.as_str(), None),
        };
        VerdictOnWire { verdict, reason }.serialize(serializer)
    }
}

/// One row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Slot {
    /// The slot, or the first of several.
    pub slot_at: Timestamp,
    /// The last of several; otherwise the same.
    pub last_at: Timestamp,
    /// How many.
    pub slots: u64,
    /// What happened to them.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = VerdictOnWire))]
    pub verdict: Verdict,
    /// The facts behind it, for people: who paused and why, which firing was still running, which
    /// holiday it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The schedule's revision that was planned by.
    pub revision: i64,
    /// When it was decided.
    pub decided_at: Timestamp,
}

/// Appends the rows that follow, in as few rows as possible.
pub fn append_rows(rows: &mut Vec<Slot>, following: Vec<Slot>) {
    for next in following {
        match rows.last_mut() {
            Some(row) if row.reports_the_same(next.verdict, next.detail.as_deref()) => {
                row.last_at = next.last_at;
                row.slots += next.slots;
            }
            _ => rows.push(next),
        }
    }
}

impl Slot {
    /// Whether a slot that follows with this verdict needs no separate row.
    fn reports_the_same(&self, verdict: Verdict, detail: Option<&str>) -> bool {
        !verdict.is_fired() && self.verdict == verdict && self.detail.as_deref() == detail
    }
}

/// Gathers verdicts in order into as few rows as possible.
#[derive(Debug)]
pub(super) struct Ledger {
    rows: Vec<Slot>,
    revision: i64,
    decided_at: Timestamp,
}

impl Ledger {
    pub(super) fn new(revision: i64, decided_at: Timestamp) -> Self {
        Self {
            rows: Vec::new(),
            revision,
            decided_at,
        }
    }

    /// Adds the next slot.
    pub(super) fn add(&mut self, slot: Timestamp, verdict: Verdict, detail: Option<&str>) {
        match self.rows.last_mut() {
            Some(row) if row.reports_the_same(verdict, detail) => {
                row.last_at = slot;
                row.slots += 1;
            }
            _ => self.rows.push(Slot {
                slot_at: slot,
                last_at: slot,
                slots: 1,
                verdict,
                detail: detail.map(str::to_owned),
                revision: self.revision,
                decided_at: self.decided_at,
            }),
        }
    }

    /// Adds the next slot, which is left out.
    pub(super) fn exclude(&mut self, slot: Timestamp, why: &str) {
        self.add(slot, Verdict::Skipped(Reason::Excluded), Some(why));
    }

    pub(super) fn into_rows(self) -> Vec<Slot> {
        self.rows
    }
}
