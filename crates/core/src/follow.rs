//! Following a firing's work to its end (DP-19).
//!
//! A target takes a firing over long before the work is done: a task that was put has still to run,
//! a workflow to be queued, a service that answered 202 to do what it accepted. A firing ends when
//! its work ends, so what was handed over is written down beside the firing's task and looked at
//! again and again, without holding a slot, until it is over.
//!
//! ```text
//!   hand-over ──► works ──► ended: done, failed, cancelled
//!                 ▲   │
//!                 └───┘ look again after a tenth of the time it has taken so far
//! ```
//!
//! INVARIANT: the first ending that is written stays. A report, a look and a time limit may come to
//! an end in the same moment on different nodes; one of them is written, and the firing's task ends
//! as that one says. After it, nothing about the work changes.

mod course;
mod report;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    finish::{Outcome, shorten},
    history::Decision,
    reschedule::Rule,
    task::{Status, Task, TaskId},
    time::LATEST,
};

pub use course::{Course, CourseOutcome, course};
pub use report::{
    InvalidReport, Report, Reported, Stage, may_report, signed_id, to_standard, to_url,
};

/// How long a firing's work may take, by default.
pub const RUN_TIMEOUT_DEFAULT: SignedDuration = SignedDuration::from_hours(24);
/// How soon our own work is looked at again, at first and at last.
const LOOK_AT_TASK: [SignedDuration; 2] =
    [SignedDuration::from_secs(1), SignedDuration::from_secs(10)];
/// The same of work elsewhere: each look at a run may be a request of a limited number, and a
/// report comes by itself.
const LOOK_ELSEWHERE: [SignedDuration; 2] = [SignedDuration::from_secs(10), LOOK_LATEST];
/// How long the next look is put off at most, unless the other side asks for longer.
pub const LOOK_LATEST: SignedDuration = SignedDuration::from_secs(60);

/// What a firing handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Work {
    /// A task.
    Task { task_id: TaskId },
    /// A run of a workflow: its number, or since when it is looked for.
    Run { run: Option<u64>, since: Timestamp },
    /// Whoever was called reports back, each time within so many seconds.
    Report { within_s: i64 },
}

/// What a hand-over came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandedOver {
    /// There is nothing to follow: the firing ends, or is tried again.
    Ended(Outcome),
    /// The target took it over and works on it.
    Works(Work),
    /// It is not known whether it was handed over, and asking again is harmless and settles it: the
    /// window does not end this.
    Unanswered,
}

names! {
    /// How work ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Ended {
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// The end of a firing's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub ended: Ended,
    /// For people: what the work said, or why it counts as failed.
    pub detail: String,
    pub ended_at: Timestamp,
}

impl Ending {
    /// Of what outside says: kept short and printable.
    pub fn new(ended: Ended, detail: &str, ended_at: Timestamp) -> Self {
        let detail = shorten(detail);
        Self {
            ended,
            detail,
            ended_at,
        }
    }

    /// How the firing's task ends. Failed work is not tried again by its firing.
    pub fn outcome(&self) -> Outcome {
        match self.ended {
            Ended::Done => Outcome::done(self.detail.clone()),
            Ended::Failed | Ended::Cancelled => Outcome::give_up(self.detail.clone()),
        }
    }
}

/// A firing whose work was handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The firing's task, of kind DISPATCH.
    pub task_id: TaskId,
    pub work: Work,
    pub handed_over_at: Timestamp,
    /// Work that has not ended by then counts as failed.
    pub follow_until: Timestamp,
    /// When the work began, as far as that was seen.
    pub started_at: Option<Timestamp>,
    /// When the last report came.
    pub heard_at: Option<Timestamp>,
    /// What the last report said.
    pub note: Option<String>,
    pub ending: Option<Ending>,
}

impl Followed {
    /// What was handed over just now and may take so long.
    pub fn new(task_id: TaskId, work: Work, now: Timestamp, run_timeout: SignedDuration) -> Self {
        Self {
            task_id,
            work,
            handed_over_at: now,
            follow_until: later(now, run_timeout),
            started_at: None,
            heard_at: None,
            note: None,
            ending: None,
        }
    }

    /// When it counts as failed, and why.
    fn deadline(&self) -> (Timestamp, String) {
        let timeout = self.follow_until.duration_since(self.handed_over_at);
        let limit = (
            self.follow_until,
            format!("its work did not end within {timeout:#} and is no longer followed"),
        );
        let Work::Report { within_s } = self.work else {
            return limit;
        };
        let within = SignedDuration::from_secs(within_s);
        let report_until = later(self.heard_at.unwrap_or(self.handed_over_at), within);
        if report_until >= self.follow_until {
            return limit;
        }
        let sentence = match self.heard_at {
            None => format!("accepted (HTTP 202), but no report came within {within:#}"),
            Some(heard_at) => format!("no report came within {within:#} after that of {heard_at}"),
        };
        (report_until, sentence)
    }

    /// Until when it may go on, or the next report must come.
    pub fn expected_until(&self) -> Timestamp {
        self.deadline().0
    }

    /// When to look again: after a tenth of the time it has taken so far, and at its deadline.
    pub fn look_at(&self, now: Timestamp) -> Timestamp {
        let [first, last] = match self.work {
            Work::Task { .. } => LOOK_AT_TASK,
            Work::Run { .. } | Work::Report { .. } => LOOK_ELSEWHERE,
        };
        let wait = (now.duration_since(self.handed_over_at) / 10).clamp(first, last);
        later(now, wait).min(self.deadline().0).max(now)
    }
}

/// What a look at the work shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// It goes on.
    Works {
        /// What is followed from now on, where that has changed.
        work: Option<Work>,
        started_at: Option<Timestamp>,
    },
    /// It is over.
    Ended {
        ending: Ending,
        started_at: Option<Timestamp>,
    },
    /// It cannot be seen just now.
    Unseen {
        why: String,
        retry_after: Option<SignedDuration>,
    },
}

impl Seen {
    /// It goes on, and there is nothing to note.
    pub const UNCHANGED: Self = Self::Works {
        work: None,
        started_at: None,
    };

    /// It is over.
    pub fn ended(ended: Ended, detail: &str, ended_at: Timestamp) -> Self {
        Self::Ended {
            ending: Ending::new(ended, detail, ended_at),
            started_at: None,
        }
    }
}

/// What is written about a followed firing. What is `None` stays as it is; what began stays begun.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FollowedChange {
    pub work: Option<Work>,
    pub started_at: Option<Timestamp>,
    pub heard_at: Option<Timestamp>,
    pub note: Option<String>,
    pub ending: Option<Ending>,
    /// Whether it applies only while the firing's task is live.
    pub only_live: bool,
}

impl FollowedChange {
    /// Whether there is anything to write about `followed`.
    pub fn is_needed(&self, followed: &Followed) -> bool {
        self.ending.is_some()
            || self.heard_at.is_some()
            || self
                .work
                .as_ref()
                .is_some_and(|work| *work != followed.work)
            || (self.started_at.is_some() && followed.started_at.is_none())
    }
}

/// What a look makes of a followed firing: what is written, and when the next look is due.
pub fn decide(followed: &Followed, seen: Seen, now: Timestamp) -> (FollowedChange, Timestamp) {
    let mut change = FollowedChange::default();
    let mut look_at = followed.look_at(now);
    let (deadline, sentence) = followed.deadline();
    let unseen = match seen {
        Seen::Ended { ending, started_at } => {
            change.started_at = started_at;
            change.ending = Some(ending);
            return (change, now);
        }
        Seen::Works { work, started_at } => {
            change.work = work;
            change.started_at = started_at;
            None
        }
        Seen::Unseen { why, retry_after } => {
            let wait = retry_after.unwrap_or_default();
            look_at = look_at.max(later(now, wait)).min(deadline.max(now));
            Some(why)
        }
    };
    if now >= deadline {
        let unseen = unseen.map(|why| format!(": {why}")).unwrap_or_default();
        let detail = format!("{sentence}{unseen}");
        change.ending = Some(Ending::new(Ended::Failed, &detail, now));
    }
    (change, look_at)
}

/// What the row of a followed task shows, and the decisions on it, where it was cancelled.
///
/// Whoever moves the task to another time moves the firing's end with it: a row that was replaced
/// while it ran is followed as the row that replaced it. One that was withdrawn is over, whatever
/// is put under its name later.
pub fn seen_task(id: TaskId, row: Option<&Task>, decided: &[Decision], now: Timestamp) -> Seen {
    let Some(row) = row else {
        let detail = format!("task {id} is no longer kept, so how it ended is not known");
        return Seen::ended(Ended::Failed, &detail, now);
    };
    let started_at = row.started_at;
    if row.is_live() {
        let work = None;
        return Seen::Works { work, started_at };
    }
    let said = row.detail.as_deref().map(|text| format!(": {text}"));
    let said = said.unwrap_or_default();
    let (ended, detail) = match row.status {
        Status::Cancelled => return seen_cancelled(id, decided, started_at, now),
        Status::Success => (Ended::Done, format!("task {id} succeeded{said}")),
        _ => (Ended::Failed, format!("task {id} failed{said}")),
    };
    let ended_at = row.finished_at.unwrap_or(now);
    Seen::Ended {
        ending: Ending::new(ended, &detail, ended_at),
        started_at,
    }
}

fn seen_cancelled(
    id: TaskId,
    decided: &[Decision],
    started_at: Option<Timestamp>,
    now: Timestamp,
) -> Seen {
    let ends = |it: &&Decision| matches!(it.rule, Rule::Cancelled | Rule::CancelledAndInserted);
    let decision = decided.iter().find(ends);
    if let Some(task_id) = decision.and_then(|decision| decision.new_task_id) {
        let work = Some(Work::Task { task_id });
        return Seen::Works { work, started_at };
    }
    let by = decision.map_or("someone", |decision| decision.origin.as_str());
    let at = decision.map_or(now, |decision| decision.decided_at);
    let detail = format!("task {id} was cancelled by {by}");
    Seen::ended(Ended::Cancelled, &detail, at)
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(LATEST)
}

#[cfg(test)]
mod tests;
