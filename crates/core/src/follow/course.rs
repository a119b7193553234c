//! What became of a slot's firing: when its work began, how late, how long it took, how it ended.
//!
//! Derived from the firing's task and, where its work was followed, from what was written down
//! about that. Firings from before anything was written down show what their task knows.

use jiff::Timestamp;
use serde::Serialize;

use super::{Ended, Followed};
use crate::task::{Status, Task, TaskId};

names! {
    /// The state of a firing, to the end of its work.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CourseOutcome {
        /// It has not been tried yet.
        Waiting = "waiting",
        /// It is being handed over, or its work goes on.
        Running = "running",
        /// It could not be handed over and will be tried again.
        Retrying = "retrying",
        /// Its work succeeded.
        Done = "done",
        /// It could not be handed over, or its work failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

/// The course of a firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = FiringCourse))]
pub struct Course {
    /// The firing's task; reports are about this number.
    pub task_id: TaskId,
    pub outcome: CourseOutcome,
    /// When its work began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// How long after its slot that was, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_ms: Option<i64>,
    /// When its work ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How long its work took, or has taken so far, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<i64>,
    /// What it said: its error, its answer, its last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The course of the firing `task` for `slot_at`, as of `now`.
pub fn course(
    task: &Task,
    followed: Option<&Followed>,
    slot_at: Timestamp,
    now: Timestamp,
) -> Course {
    let ending = followed.and_then(|followed| followed.ending.as_ref());
    let outcome = match (task.status, followed, ending) {
        (Status::Cancelled, ..) => CourseOutcome::Cancelled,
        // The work has ended, and the task is about to.
        (Status::Init | Status::Running, _, Some(ending)) => of_ended(ending.ended),
        (Status::Init | Status::Running, Some(_), None) | (Status::Running, None, _) => {
            CourseOutcome::Running
        }
        (Status::Init, None, _) => CourseOutcome::Waiting,
        (Status::Success, ..) => CourseOutcome::Done,
        (Status::Fail, ..) if task.is_live() => CourseOutcome::Retrying,
        (Status::Fail, _, Some(ending)) => of_ended(ending.ended),
        (Status::Fail, ..) => CourseOutcome::Failed,
    };
    let began = followed.map(|it| it.started_at.unwrap_or(it.handed_over_at));
    let started_at = began.or(task.started_at);
    let is_over = !task.is_live();
    let ended_at = ending
        .map(|ending| ending.ended_at)
        .or(task.finished_at.filter(|_| is_over));
    let until = ended_at.or(started_at
        .filter(|_| outcome == CourseOutcome::Running)
        .map(|_| now));
    let between = |from: Option<Timestamp>, to: Option<Timestamp>| {
        let length = to?.duration_since(from?).as_millis();
        Some(i64::try_from(length).unwrap_or(i64::MAX).max(0))
    };
    let said = ending.map(|ending| ending.detail.clone());
    let note = || followed.and_then(|followed| followed.note.clone());
    Course {
        task_id: task.id,
        outcome,
        started_at,
        late_ms: between(Some(slot_at), started_at),
        ended_at,
        took_ms: between(started_at, until),
        detail: said.or_else(|| task.detail.clone()).or_else(note),
    }
}

fn of_ended(ended: Ended) -> CourseOutcome {
    match ended {
        Ended::Done => CourseOutcome::Done,
        // A firing whose own task was withdrawn has failed; cancelled is one that itself was.
        Ended::Failed | Ended::Cancelled => CourseOutcome::Failed,
    }
}
