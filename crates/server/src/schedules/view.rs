//! Schedules, ledgers and change histories in the API: `core`'s own types with derived fields.

use almanack_core::follow::{Course, course};
use almanack_core::plan::{Edit, Schedule, ScheduleName, Slot, slot_identity};
use almanack_core::task::{Identity, Task, TaskId};

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

/// One ledger row: a slot that fired, or consecutive slots skipped for the same reason.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotView {
    #[serde(flatten)]
    slot: Slot,
    /// Subject of its firing, a task of kind DISPATCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<String>,
    /// The course of its firing, to the end of its work; absent if it did not fire, or if retention
    /// has deleted the firing.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Course>,
}

impl SlotView {
    fn of(name: &ScheduleName, slot: Slot, run: Option<Course>) -> Self {
        let firing = slot_identity(name, slot.slot_at).ok();
        let firing = firing.filter(|_| slot.verdict.is_fired());
        Self {
            firing: firing.map(|identity| identity.subject.to_string()),
            slot,
            run,
        }
    }

    /// Ledger rows, each with the course of its firing.
    pub(super) async fn all(
        state: &AppState,
        name: &ScheduleName,
        slots: Vec<Slot>,
    ) -> Result<Vec<Self>> {
        let runs = courses(state, name, &slots).await?;
        let shown = slots.into_iter().zip(runs);
        Ok(shown.map(|(slot, run)| Self::of(name, slot, run)).collect())
    }
}

/// The course of each row's firing: two reads for all of them. A row of skipped slots has one only
/// if its first slot was fired by hand later.
pub(crate) async fn courses(
    state: &AppState,
    name: &ScheduleName,
    slots: &[Slot],
) -> Result<Vec<Option<Course>>> {
    let identities = slots.iter().map(|slot| slot_identity(name, slot.slot_at));
    let identities: Vec<Identity> = identities.collect::<Result<_, _>>()?;
    let tasks = state.store.load_current(&identities).await?;
    let courses = courses_of(state, slots.iter().map(|slot| slot.slot_at), &tasks).await?;
    Ok(courses)
}

/// The course of firings for these slots.
pub(crate) async fn courses_of(
    state: &AppState,
    slots: impl Iterator<Item = Timestamp>,
    tasks: &[Option<Task>],
) -> Result<Vec<Option<Course>>> {
    let ids: Vec<TaskId> = tasks.iter().flatten().map(|task| task.id).collect();
    let followed = state.store.load_followed(&ids).await?;
    let (found, now) = (
        |id| followed.iter().find(|it| it.task_id == id),
        state.clock.now(),
    );
    let courses = slots.zip(tasks).map(|(slot_at, task)| {
        let task = task.as_ref()?;
        Some(course(task, found(task.id), slot_at, now))
    });
    Ok(courses.collect())
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
