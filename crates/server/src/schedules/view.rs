//! Schedules, their ledgers and their histories as the API shows them.

use almanack_core::plan::{
    Definition, Edit, Edited, Pause, Schedule, ScheduleName, Slot, State, Verdict, slot_identity,
};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::definition::DefinitionBody;

/// One schedule.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleView {
    /// What people call it.
    #[schema(example = "morning-news")]
    name: String,
    /// Who it belongs to: `file` and `dispatch` are changed there, not here.
    #[schema(example = "api")]
    origin: &'static str,
    /// `active`, `paused`, `parked` or `removed`.
    #[schema(example = "active")]
    state: &'static str,
    /// The pause it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PauseView>,
    /// Why it cannot be planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    parked: Option<ParkedView>,
    /// When it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    removed_at: Option<Timestamp>,
    /// Counts what people changed; also the `ETag`.
    revision: i64,
    /// When it fires, at what, and by which policies. Absent if this version cannot read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<DefinitionBody>,
    /// When it fires next, if nobody does anything; null when it will not, or not before it is
    /// resumed.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_at: Option<Timestamp>,
    /// Since when that slot waits for its predecessor to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    waits_since: Option<Timestamp>,
    /// Subject of its newest firing, a task of kind DISPATCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_firing: Option<String>,
    /// When it was first written.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When somebody last changed it.
    #[schema(value_type = String, format = DateTime)]
    changed_at: Timestamp,
}

/// A pause, and what was said about it.
#[derive(Serialize, ToSchema)]
pub(crate) struct PauseView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Until when; null if it has to be resumed.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Who paused it.
    by: String,
}

/// Why a schedule cannot be planned.
#[derive(Serialize, ToSchema)]
pub(crate) struct ParkedView {
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// Why.
    reason: String,
}

impl ScheduleView {
    /// A schedule, and when it fires next.
    pub(super) fn of(schedule: Schedule, next_at: Option<Timestamp>) -> Self {
        let state = schedule.state.as_str();
        let (mut paused, mut parked, mut removed_at) = (None, None, None);
        match schedule.state {
            State::Active => {}
            State::Paused(pause) => paused = Some(pause.into()),
            State::Parked { since, reason } => parked = Some(ParkedView { since, reason }),
            State::Removed { since } => removed_at = Some(since),
        }
        Self {
            name: schedule.name.to_string(),
            origin: schedule.origin.as_str(),
            state,
            paused,
            parked,
            removed_at,
            revision: schedule.revision,
            definition: read(&schedule.definition),
            next_at,
            waits_since: schedule.waits_since,
            last_firing: schedule.last.map(|subject| subject.to_string()),
            created_at: schedule.created_at,
            changed_at: schedule.changed_at,
        }
    }
}

impl From<Pause> for PauseView {
    fn from(pause: Pause) -> Self {
        Self {
            since: pause.since,
            until: pause.until,
            note: pause.note,
            by: pause.by,
        }
    }
}

fn read(definition: &str) -> Option<DefinitionBody> {
    Definition::from_json(definition).ok().map(Into::into)
}

/// A page of schedules, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct SchedulesView {
    pub(super) schedules: Vec<ScheduleView>,
    /// Give it as `cursor` to get the next page; null on the last one.
    pub(super) next_cursor: Option<String>,
}

/// One row of the ledger: a slot that fired, or slots in a row that were skipped for the same reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotView {
    /// The slot, or the first of several.
    #[schema(value_type = String, format = DateTime)]
    slot_at: Timestamp,
    /// The last of several; otherwise the same.
    #[schema(value_type = String, format = DateTime)]
    last_at: Timestamp,
    /// How many.
    slots: u64,
    /// `fired`, `caught_up` or `skipped`.
    #[schema(example = "skipped")]
    verdict: &'static str,
    /// Why skipped: `paused`, `too_late`, `not_caught_up`, `over_cap`, `overlap`, `changed` or
    /// `cancelled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "paused")]
    reason: Option<&'static str>,
    /// The facts behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Subject of its firing, a task of kind DISPATCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<String>,
    /// The schedule's revision that was planned by.
    revision: i64,
    /// When it was decided.
    #[schema(value_type = String, format = DateTime)]
    decided_at: Timestamp,
}

impl SlotView {
    pub(super) fn of(name: &ScheduleName, slot: Slot) -> Self {
        let firing = slot_identity(name, slot.slot_at).ok();
        let firing = firing.filter(|_| slot.verdict.is_fired());
        Self {
            slot_at: slot.slot_at,
            last_at: slot.last_at,
            slots: slot.slots,
            verdict: verdict(slot.verdict),
            reason: match slot.verdict {
                Verdict::Skipped(reason) => Some(reason.as_str()),
                Verdict::Fired | Verdict::CaughtUp => None,
            },
            detail: slot.detail,
            firing: firing.map(|identity| identity.subject.to_string()),
            revision: slot.revision,
            decided_at: slot.decided_at,
        }
    }
}

/// What became of a slot, without the reason.
fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Skipped(_) => "skipped",
        Verdict::Fired | Verdict::CaughtUp => verdict.as_str(),
    }
}

/// A page of a ledger, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct LedgerView {
    pub(super) slots: Vec<SlotView>,
    /// Give it as `cursor` to get the next page; null on the last one.
    pub(super) next_cursor: Option<String>,
}

/// What people did to a schedule, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditsView {
    pub(super) edits: Vec<EditView>,
}

/// One line of a schedule's history.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditView {
    /// The revision it made.
    revision: i64,
    /// `created`, `changed`, `paused`, `resumed`, `parked`, `unparked` or `removed`.
    #[schema(example = "paused")]
    edited: &'static str,
    /// Who did it.
    #[schema(example = "editor")]
    by: String,
    /// What was said about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The definition from then on. Absent if this version cannot read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    definition: Option<DefinitionBody>,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl From<Edit> for EditView {
    fn from(edit: Edit) -> Self {
        Self {
            revision: edit.revision,
            edited: Edited::as_str(edit.edited),
            by: edit.by,
            note: edit.note,
            definition: read(&edit.definition),
            at: edit.at,
        }
    }
}
