//! Rows of what pages list.

use almanack_core::{
    plan::ScheduleName,
    store::{Activity, ClaimId, ClaimLine, Result, SlotLine, StatusCount, TaskLine},
    task::{Status, TaskId},
};

use super::{Row, count, decision, edit, identity, instant, maybe_instant, slot, unreadable};

/// Reads the columns of a line listed in `overview.rs`.
pub(crate) fn task_line(row: &Row<'_>) -> Result<TaskLine> {
    Ok(TaskLine {
        id: TaskId(row.big(0)?),
        identity: identity(row, 1)?,
        status: Status::parse(&row.text(3)?).map_err(unreadable)?,
        execute_at: instant(row.big(4)?)?,
        due_at: maybe_instant(row.big_or_null(5)?)?,
        attempt: count(row.int(6)?)?,
        max_retry: count(row.int(7)?)?,
        origin: row.text(8)?,
        node: row.text_or_null(9)?,
        detail: row.text_or_null(10)?,
        created_at: instant(row.big(11)?)?,
        started_at: maybe_instant(row.big_or_null(12)?)?,
        finished_at: maybe_instant(row.big_or_null(13)?)?,
    })
}

/// Reads how many there are of a status.
pub(crate) fn status_count(row: &Row<'_>) -> Result<StatusCount> {
    Ok(StatusCount {
        status: Status::parse(&row.text(0)?).map_err(unreadable)?,
        tasks: u64::try_from(row.big(1)?).map_err(unreadable)?,
    })
}

/// Reads the columns of a claim listed in `overview.rs`.
pub(crate) fn claim_line(row: &Row<'_>) -> Result<ClaimLine> {
    Ok(ClaimLine {
        claim_id: ClaimId(row.big(0)?),
        node: row.text(1)?,
        session: row.text(2)?,
        lease_until: instant(row.big(3)?)?,
        tasks: usize::try_from(row.big(4)?).map_err(unreadable)?,
    })
}

/// Reads a ledger row with its schedule's name behind it.
pub(crate) fn slot_line(row: &Row<'_>) -> Result<SlotLine> {
    Ok(SlotLine {
        schedule: ScheduleName::parse(&row.text(7)?).map_err(unreadable)?,
        slot: slot(row)?,
    })
}

/// Reads a decision with its task's identity behind it.
pub(crate) fn change(row: &Row<'_>) -> Result<Activity> {
    Ok(Activity::Task {
        identity: identity(row, 14)?,
        decision: decision(row)?,
    })
}

/// Reads an edit with its schedule's name behind it.
pub(crate) fn schedule_edit(row: &Row<'_>) -> Result<Activity> {
    Ok(Activity::Schedule {
        name: ScheduleName::parse(&row.text(6)?).map_err(unreadable)?,
        edit: Box::new(edit(row)?),
    })
}
