//! What a round of the watch has read: as few rows as possible.
//!
//! Every read is bounded. Where one hit its bound, the rules that rest on it are `unsure`: what
//! they did not find may be there anyway, so none of their alerts is taken for over.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{Key, Rule, trouble::NodeTroubles};
use crate::{
    calendar::CalendarVersion,
    clock::Standing,
    edition::{Account, rules::Rules},
    follow::Followed,
    newsletter::Mailing,
    plan::{Monitor, Schedule, Slot},
    source::Source,
    store::{ClaimLine, Depth, Node, PausedKind, TaskLine},
    task::{Kind, Status, Task},
};

/// When something is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// A slot that no node has planned for so long was missed.
    pub missing: SignedDuration,
    /// A firing that starts later than this is late.
    pub late: SignedDuration,
    /// An attempt that runs for longer is stuck.
    pub stuck: SignedDuration,
    /// So is due work that no node has started for so long.
    pub unclaimed: SignedDuration,
    /// So many failures for good in a row are one too many. Of schedules whose slots are an hour or
    /// more apart, one is.
    pub failing: u32,
    /// A node that sent no heartbeat for so long is gone.
    pub gone: SignedDuration,
    /// A message bus that was not connected for so long raises an alert.
    pub disconnected: SignedDuration,
    /// Less space on the disk of the store than this is too little.
    pub disk_free_bytes: u64,
    /// How much of its budget the fleet may spend, in percent of it.
    pub budget_percent: u32,
    /// An edition that is not published for so long is overdue (ED-18). None where no editions are
    /// made: the maker of editions decides.
    pub overdue: Option<SignedDuration>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            missing: SignedDuration::from_mins(2),
            late: SignedDuration::from_mins(1),
            stuck: SignedDuration::from_hours(1),
            unclaimed: SignedDuration::from_mins(5),
            failing: 3,
            gone: SignedDuration::from_mins(2),
            disconnected: SignedDuration::from_mins(2),
            disk_free_bytes: 256 * 1024 * 1024,
            budget_percent: 120,
            overdue: Some(Rules::default().overdue_after),
        }
    }
}

/// How one task went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub status: Status,
    /// Whether it will still be tried, or is being tried.
    pub is_live: bool,
    /// When it was to be tried.
    pub execute_at: Timestamp,
    pub attempt: u32,
    /// When the last one started.
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    pub detail: Option<String>,
}

impl Run {
    /// Of a firing whose work was handed over: it runs, and took, as long as the work does.
    pub fn of_followed(task: &Task, followed: &Followed) -> Self {
        let ending = followed.ending.as_ref();
        let works = task.is_live() && ending.is_none();
        Self {
            status: if works { Status::Running } else { task.status },
            execute_at: task.created_execute_at,
            started_at: Some(followed.started_at.unwrap_or(followed.handed_over_at)),
            finished_at: ending.map(|ending| ending.ended_at).or(task.finished_at),
            ..task.into()
        }
    }
}

impl From<&Task> for Run {
    fn from(task: &Task) -> Self {
        Self {
            status: task.status,
            is_live: task.is_live(),
            execute_at: task.execute_at,
            attempt: task.attempt,
            started_at: task.started_at,
            finished_at: task.finished_at,
            detail: task.detail.clone(),
        }
    }
}

impl From<&TaskLine> for Run {
    fn from(line: &TaskLine) -> Self {
        Self {
            status: line.status,
            is_live: line.is_live(),
            execute_at: line.execute_at,
            attempt: line.attempt,
            started_at: line.started_at,
            finished_at: line.finished_at,
            detail: line.detail.clone(),
        }
    }
}

impl Run {
    /// Whether it failed and will not be tried again.
    pub fn failed_for_good(&self) -> bool {
        self.status == Status::Fail && !self.is_live
    }

    /// Whether there was an attempt; what expired before it says nothing about its kind.
    pub fn was_tried(&self) -> bool {
        self.started_at.is_some()
    }

    /// How long its last attempt took.
    pub fn took(&self) -> Option<SignedDuration> {
        Some(self.finished_at?.duration_since(self.started_at?))
    }
}

/// What is known about a schedule that something may be wrong with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleFacts {
    pub schedule: Schedule,
    /// The newest rows of its ledger, newest first.
    pub slots: Vec<Slot>,
    /// Rows of the last minutes whose slots were skipped, newest first: where slots are seconds
    /// apart, the newest rows are about the last moments.
    pub skipped: Vec<Slot>,
    /// Until when its slots were decided, where that is still to come.
    pub decided_until: Option<Timestamp>,
    /// Its newest firings, newest first.
    pub runs: Vec<Run>,
    /// What was heard of its job, if it is a monitor.
    pub monitor: Option<Monitor>,
}

/// What is known about a kind that something may be wrong with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindFacts {
    pub kind: Kind,
    /// Its newest tasks that ended, latest end first.
    pub runs: Vec<Run>,
}

/// What the fleet of sources spends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spending {
    /// Since when checks are counted.
    pub since: Timestamp,
    pub checks: u64,
    /// How many a day the budget allows.
    pub per_day: f64,
}

/// Everything a round has read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Schedules that something may be wrong with; of the others, nothing is.
    pub schedules: Vec<ScheduleFacts>,
    /// Kinds of which something failed lately.
    pub kinds: Vec<KindFacts>,
    /// What runs, longest first.
    pub running: Vec<TaskLine>,
    pub depths: Vec<Depth>,
    /// Kinds that no node starts tasks of, on purpose.
    pub paused: Vec<PausedKind>,
    /// Claims, the one that ends first first.
    pub claims: Vec<ClaimLine>,
    pub nodes: Vec<Node>,
    /// What nodes say is wrong with themselves.
    pub troubles: Vec<NodeTroubles>,
    /// Schedules that cannot be planned.
    pub parked: Vec<Schedule>,
    /// All calendars.
    pub calendars: Vec<CalendarVersion>,
    /// Sources that need attention.
    pub sources: Vec<Source>,
    /// What they cost together, where there is a budget.
    pub spending: Option<Spending>,
    /// Editions that changed lately.
    pub editions: Vec<Account>,
    /// The newest mailings that are not done and that nobody stopped.
    pub mailings: Vec<Mailing>,
    /// What the round before found: some troubles are over only when they are fixed, not when they
    /// are no longer visible.
    pub found_before: BTreeSet<Key>,
    /// Whether the time can be trusted.
    pub clock: Standing,
    /// Rules of which not everything could be read.
    pub unsure: BTreeSet<Rule>,
}
