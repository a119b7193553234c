//! Schedules, ledgers and change histories in the API: `core`'s own types with derived fields.

use almanack_core::plan::{Edit, LedgerRow, Schedule, ScheduleName, slot_identity};

use crate::prelude::*;

/// One schedule. Its `revision` is also its `ETag`.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleView {
    #[serde(flatten)]
    pub(super) schedule: Schedule,
    /// When it fires next as things are; null if it will not, or not before it is resumed.
    pub(super) next_at: Option<Timestamp>,
}

/// A page of schedules, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct SchedulesView {
    pub(super) schedules: Vec<ScheduleView>,
    /// Pass it as `cursor` to get the next page; null on the last page.
    pub(super) next_cursor: Option<String>,
}

/// One ledger row: a slot that fired, consecutive slots skipped for the same reason, or a firing that
/// a person asked for.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotView {
    #[serde(flatten)]
    row: LedgerRow,
    /// Subject of its firing, a task of kind DISPATCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<String>,
}

impl SlotView {
    pub(super) fn of(name: &ScheduleName, row: LedgerRow) -> Self {
        let firing = match &row {
            LedgerRow::Slot(slot) => {
                let firing = slot_identity(name, slot.slot_at).ok();
                firing.filter(|_| slot.verdict.is_fired())
            }
            LedgerRow::ByHand(fired) => Some(fired.identity.clone()),
        };
        Self {
            firing: firing.map(|identity| identity.subject.to_string()),
            row,
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
