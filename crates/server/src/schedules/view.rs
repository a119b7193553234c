//! Schedules, ledgers and change histories in the API: `core`'s own types with derived fields.

use almanack_core::follow::{Course, course};
use almanack_core::plan::{Edit, LedgerRow, Schedule, ScheduleName};
use almanack_core::task::{Identity, Task, TaskId};

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

/// One ledger row: a slot that fired, consecutive slots skipped for the same reason, or a firing that
/// a person asked for.
#[derive(Serialize, ToSchema)]
pub(crate) struct SlotView {
    #[serde(flatten)]
    row: LedgerRow,
    /// Subject of its firing, a task of kind DISPATCH.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<String>,
    /// The course of its firing, to the end of its work; absent if it did not fire, or if retention
    /// has deleted the firing.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<Course>,
}

impl SlotView {
    /// Ledger rows, each with the course of its firing.
    pub(super) async fn all(
        state: &AppState,
        name: &ScheduleName,
        rows: Vec<LedgerRow>,
    ) -> Result<Vec<Self>> {
        let runs = fired(state, name, &rows).await?;
        let shown = rows.into_iter().zip(runs).map(|(row, run)| Self {
            firing: row
                .firing(name)
                .map(|identity| identity.subject.to_string()),
            run: run.map(|(_, course)| course),
            row,
        });
        Ok(shown.collect())
    }
}

/// The firing of each row with its course, if one came of it and is kept: two reads for all of them.
pub(crate) async fn fired(
    state: &AppState,
    name: &ScheduleName,
    rows: &[LedgerRow],
) -> Result<Vec<Option<(Task, Course)>>> {
    let identities: Vec<Option<Identity>> = rows.iter().map(|row| row.firing(name)).collect();
    let asked: Vec<Identity> = identities.iter().flatten().cloned().collect();
    let mut found = state.store.load_current(&asked).await?.into_iter();
    let tasks: Vec<Option<Task>> = identities
        .iter()
        .map(|identity| identity.as_ref().and_then(|_| found.next().flatten()))
        .collect();
    let courses = courses_of(state, rows.iter().map(LedgerRow::at), &tasks).await?;
    let fired = tasks.into_iter().zip(courses);
    Ok(fired.map(|(task, course)| task.zip(course)).collect())
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
