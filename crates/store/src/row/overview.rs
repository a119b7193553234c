//! Rows of what pages list.

use almanack_core::store::{Activity, ClaimLine, Result, SlotLine, StatusCount, TaskLine};

use super::{Row, decision, edit, identity, slot};

/// Reads the columns of a line listed in `overview.rs`.
pub(crate) fn task_line(row: &Row<'_>) -> Result<TaskLine> {
    Ok(TaskLine {
        id: row.get(0)?,
        identity: identity(row, 1)?,
        status: row.get(3)?,
        execute_at: row.get(4)?,
        due_at: row.get(5)?,
        attempt: row.get(6)?,
        max_retry: row.get(7)?,
        origin: row.get(8)?,
        node: row.get(9)?,
        detail: row.get(10)?,
        created_at: row.get(11)?,
        started_at: row.get(12)?,
        finished_at: row.get(13)?,
    })
}

/// Reads how many there are of a status.
pub(crate) fn status_count(row: &Row<'_>) -> Result<StatusCount> {
    Ok(StatusCount {
        status: row.get(0)?,
        tasks: row.get(1)?,
    })
}

/// Reads the columns of a claim listed in `overview.rs`.
pub(crate) fn claim_line(row: &Row<'_>) -> Result<ClaimLine> {
    Ok(ClaimLine {
        claim_id: row.get(0)?,
        node: row.get(1)?,
        session: row.get(2)?,
        lease_until: row.get(3)?,
        tasks: row.get(4)?,
    })
}

/// Reads a ledger row with its schedule's name behind it.
pub(crate) fn slot_line(row: &Row<'_>) -> Result<SlotLine> {
    Ok(SlotLine {
        schedule: row.get(7)?,
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
        name: row.get(6)?,
        edit: Box::new(edit(row)?),
    })
}
