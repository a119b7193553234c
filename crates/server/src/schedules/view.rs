//! Schedules, ledgers and change histories in the API: `core`'s own types with derived fields.

use almanack_core::plan::{Edit, Schedule, ScheduleName, Slot, slot_identity};

use super::explain::WarningView;
use crate::prelude::*;

/// One schedule. Its `revision` is also its `ETag`.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleView {
    #[serde(flatten)]
    pub(super) schedule: Schedule,
    /// When it fires next as things are; null if it will not, or not before it is resumed.
    pub(super) next_at: Option<Timestamp>,
}

/// A schedule that was just written, with what is worth knowing about it.
#[derive(Serialize, ToSchema)]
#[schema(as = WrittenScheduleView)]
pub(crate) struct WrittenView {
    #[serde(flatten)]
    pub(super) schedule: ScheduleView,
    /// Warnings: it is kept as written, and perhaps it is not what you meant.
    pub(super) warnings: Vec<WarningView>,
}

/// A page of schedules, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct SchedulesView {
    pub(super) schedules: Vec<ScheduleView>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(super) next_cursor: Option<String>,
}

/// One ledger row: a slot that fired, or consecutive slots skipped for the same reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotView {
    #[serde(flatten)]
    slot: Slot,
    /// Subject of its firing, a task of kind DISPATCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<String>,
}

impl SlotView {
    pub(super) fn of(name: &ScheduleName, slot: Slot) -> Self {
        let firing = slot_identity(name, slot.slot_at).ok();
        let firing = firing.filter(|_| slot.verdict.is_fired());
        Self {
            firing: firing.map(|identity| identity.subject.to_string()),
            slot,
        }
    }
}

/// A page of a ledger, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct LedgerView {
    pub(super) slots: Vec<SlotView>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(super) next_cursor: Option<String>,
}

/// The changes of a schedule, oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EditsView {
    pub(super) edits: Vec<Edit>,
}
