//! From a plan to what the store writes.

use almanack_core::{
    lang::Sentence,
    plan::{
        Edit, Edited, Fire, NewFiring, Plan, Ready, Schedule, ScheduleWrite, State, Trigger,
        slot_identity,
    },
    reschedule::{Cancel, Change, Request, decide},
    task::{Invalid, NewTask, Task, TaskId},
};
use jiff::Timestamp;

/// The actor that the history names for automatic changes.
const PLANNER: &str = "planner";

/// The write that carries out `plan`. `schedule` is the row as read, but for a state that the
/// look itself has changed.
pub(crate) fn write_plan(
    schedule: &Schedule,
    ready: &Ready,
    plan: &Plan,
    running: &[Task],
    now: Timestamp,
) -> Result<ScheduleWrite, Invalid> {
    let mut write = write_of(schedule, now);
    write.slots.clone_from(&plan.slots);
    write.monitor.clone_from(&plan.monitor);
    write.fires = fires(schedule, ready, &plan.fires)?;
    if plan.cancels {
        let withdrawal = |task| withdrawal(schedule, task, now);
        write.cancels = running.iter().filter_map(withdrawal).collect();
        // Writers that change several rows use this order, or two may wait for each other.
        write.cancels.sort_by_key(withdrawn);
    }
    note_fires(&mut write, running);
    let after = &mut write.schedule;
    after.next_at = plan.next_at;
    after.waits_since = plan.waits_since;
    after.look_at = plan.look_at;
    if ready.definition.runs.is_some() {
        after.runs = after.runs.saturating_add(plan.fires.len() as u64);
    }
    if plan.resumes {
        after.state = State::Active;
        after.revision += 1;
        write.edit = Some(edit(&write.schedule, Edited::Resumed, PLANNER, now));
    }
    if plan.next_at.is_none() && write.schedule.state == State::Active {
        end(&mut write, ready, now);
    }
    Ok(write)
}

/// No slot is to come: the schedule is done.
pub(crate) fn end(write: &mut ScheduleWrite, ready: &Ready, now: Timestamp) {
    let after = &mut write.schedule;
    after.state = State::Done { since: now };
    (after.next_at, after.look_at, after.waits_since) = (None, None, None);
    after.revision += 1;
    let note = match (ready.runs_left(after.runs), ready.definition.runs) {
        (Some(0), Some(runs)) => format!("{} of {runs} runs", after.runs),
        _ => "no time is left".to_owned(),
    };
    let done = edit(&write.schedule, Edited::Done, PLANNER, now);
    write.edit = Some(Edit {
        note: Some(note),
        ..done
    });
}

/// Has the schedule remember what the write fires, and what of `running` (newest first) goes on
/// beside it.
pub(crate) fn note_fires(write: &mut ScheduleWrite, running: &[Task]) {
    if write.fires.is_empty() {
        return;
    }
    let withdrawn: Vec<TaskId> = write.cancels.iter().filter_map(withdrawn).collect();
    let goes_on = running.iter().rev();
    let goes_on = goes_on.filter(|task| !withdrawn.contains(&task.id));
    let goes_on = goes_on.map(|task| task.identity.subject.clone()).collect();
    let fires = write.fires.iter().map(|fire| fire.identity.subject.clone());
    write.schedule.note_fired(goes_on, fires);
}

/// A write that changes nothing yet.
pub(crate) fn write_of(schedule: &Schedule, now: Timestamp) -> ScheduleWrite {
    let next = Schedule {
        version: schedule.version + 1,
        ..schedule.clone()
    };
    ScheduleWrite::of(Some(schedule.version), next, now)
}

/// Takes a schedule out of planning until it can be computed again. A pause whose end cannot be
/// computed stays a pause: its slots and its note are not to be lost.
pub(crate) fn park(
    schedule: &Schedule,
    reason: Sentence,
    now: Timestamp,
    look_at: Timestamp,
) -> ScheduleWrite {
    let mut write = write_of(schedule, now);
    write.schedule.look_at = Some(look_at);
    if !matches!(schedule.state, State::Parked { .. } | State::Paused(_)) {
        write.schedule.revision += 1;
        let note = reason.to_string();
        write.schedule.state = State::Parked { since: now, reason };
        let parked = edit(&write.schedule, Edited::Parked, PLANNER, now);
        write.edit = Some(Edit {
            note: Some(note),
            ..parked
        });
    }
    write
}

/// Notes that a parked schedule is planned again.
pub(crate) fn unparked(mut write: ScheduleWrite, now: Timestamp) -> ScheduleWrite {
    write.schedule.revision += 1;
    write.edit = Some(edit(&write.schedule, Edited::Unparked, PLANNER, now));
    write
}

/// A line of the schedule's own history, about the row as it is afterwards.
pub(crate) fn edit(after: &Schedule, edited: Edited, by: &str, at: Timestamp) -> Edit {
    Edit {
        revision: after.revision,
        edited,
        by: by.to_owned(),
        note: None,
        definition: after.definition.clone(),
        at,
    }
}

fn fires(schedule: &Schedule, ready: &Ready, fires: &[Fire]) -> Result<Vec<NewTask>, Invalid> {
    let task = |fire: &Fire| {
        let firing = NewFiring {
            identity: slot_identity(&schedule.name, fire.slot)?,
            execute_at: fire.execute_at,
            nominal_at: fire.slot,
            trigger: Trigger::Schedule,
            caught_up: fire.caught_up,
        };
        firing.task(&schedule.name, ready)
    };
    fires.iter().map(task).collect()
}

fn withdrawn(change: &Change) -> Option<TaskId> {
    change.amend.as_ref().map(|amend| amend.guard.task_id)
}

/// The predecessor gives way.
fn withdrawal(schedule: &Schedule, task: &Task, now: Timestamp) -> Option<Change> {
    let request = Request::Cancel(Cancel {
        identity: task.identity.clone(),
        revision: None,
    });
    let origin = format!("schedule {}", schedule.name);
    decide(Some(task), &request, &origin, now).ok()
}
