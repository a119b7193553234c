//! Work that others take: tasks of kinds that are pulled.
//!
//! A kind is pushed (a node calls a service) or pulled (workers ask for its tasks), never both. A
//! worker claims tasks, extends its lease while it works, and reports how each attempt ended. To the
//! store a worker is a node that holds claims: what it takes comes back when its lease passes, and
//! every report shows the term of its attempt, so that a report of an attempt that was taken away
//! changes nothing but the history (WK-01).
//!
//! These types are the wire's. What is decided here: which requests make sense, and what a report
//! or a program's exit code means as an [`Outcome`].

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    both,
    finish::Outcome,
    lang::{Lang, Say, Sentence},
    task::{ClaimedTask, Identity, Kind, Payload, Revision, TaskId, Term},
    time,
};

/// The session of every claim of a worker. A node's session is a random number, so that nobody can
/// end a node's attempts through the door for workers.
pub const SESSION: &str = "work";
/// Most tasks in one request.
pub const TASKS_MAX: usize = 1_000;
/// Most kinds in one request.
pub const KINDS_MAX: usize = 100;
/// Longest wait for work, in seconds.
pub const WAIT_MAX_S: i64 = 30;
/// Shortest lease, in seconds: a worker must have the time to extend it.
pub const LEASE_MIN_S: i64 = 5;
/// Longest lease, in seconds: so long nobody notices that a worker has died.
pub const LEASE_MAX_S: i64 = 3_600;
/// The lease if none is asked for, in seconds.
pub const LEASE_DEFAULT_S: i64 = 30;
/// Longest name of a worker, in bytes.
pub const WORKER_BYTES_MAX: usize = 100;
/// Longest wait before another attempt, in seconds: a year.
const RETRY_AFTER_MAX_S: i64 = 366 * 86_400;

names! {
    /// How tasks of a kind reach whoever does them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Deliver {
        /// Nodes call a service.
        #[default]
        Push = "push",
        /// Workers ask for tasks.
        Pull = "pull",
    }
}

names! {
    /// How an attempt of a worker ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum WorkOutcome {
        /// It took effect.
        Done = "done",
        /// It is to be tried again at `at`; not a failure.
        Again = "again",
        /// It failed in a way that may pass: tried again while retries are left.
        Retry = "retry",
        /// It failed for good.
        GiveUp = "give_up",
    }
}

names! {
    /// What became of a report.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ReportResult {
        /// The task is now as the report said.
        Applied = "applied",
        /// The task had been taken from this attempt: only the history records the report.
        Late = "late",
    }
}

names! {
    /// What became of a lease.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LeaseResult {
        /// It holds until `lease_until`.
        Extended = "extended",
        /// The task is no longer this attempt's: stop working on it.
        Lost = "lost",
    }
}

/// A request that makes no sense, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Invalid {
    /// Path of the value in the request.
    pub path: String,
    what: Sentence,
}

impl Invalid {
    fn new(path: impl Into<String>, what: impl Into<Sentence>) -> Self {
        let (path, what) = (path.into(), what.into());
        Self { path, what }
    }
}

impl Say for Invalid {
    fn say(&self, lang: Lang) -> String {
        self.what.say(lang)
    }
}

/// A worker's request for tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkClaim {
    /// Kinds to take, each with `deliver = "pull"`; 1 to 100.
    #[cfg_attr(feature = "schema", schema(example = json!(["MAIL_SEND"])))]
    pub kinds: Vec<String>,
    /// Most tasks to take. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, maximum = 1000))]
    pub max: Option<i64>,
    /// Seconds to wait until something is due. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 30))]
    pub wait_s: Option<i64>,
    /// Seconds until the tasks come back unless the lease is extended. Default: 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 5, maximum = 3600))]
    pub lease_s: Option<i64>,
    /// The worker's name, for people. Default: the token's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(example = "mail-1"))]
    pub worker: Option<String>,
}

/// A [`WorkClaim`] that makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Sorted, each once.
    pub kinds: Vec<Kind>,
    pub max: usize,
    pub wait: SignedDuration,
    pub lease: SignedDuration,
    pub worker: Option<String>,
}

impl WorkClaim {
    /// Checks every value.
    pub fn read(&self) -> Result<Wanted, Invalid> {
        let count = self.kinds.len();
        if !(1..=KINDS_MAX).contains(&count) {
            let what = both!(
                "kinds must name 1 to {KINDS_MAX} kinds, not {count}",
                "kinds 必须列出 1 到 {KINDS_MAX} 个类型，而不是 {count} 个"
            );
            return Err(Invalid::new("kinds", what));
        }
        let mut kinds = BTreeSet::new();
        for (index, kind) in self.kinds.iter().enumerate() {
            let kind = Kind::parse(kind);
            let unfit =
                |why: crate::task::Invalid| Invalid::new(format!("kinds[{index}]"), why.both());
            kinds.insert(kind.map_err(unfit)?);
        }
        let most = i64::try_from(TASKS_MAX).unwrap_or(i64::MAX);
        let max = within("max", self.max.unwrap_or(1), (1, most))?;
        let wait_s = within("wait_s", self.wait_s.unwrap_or(0), (0, WAIT_MAX_S))?;
        Ok(Wanted {
            kinds: kinds.into_iter().collect(),
            max: usize::try_from(max).unwrap_or(TASKS_MAX),
            wait: SignedDuration::from_secs(wait_s),
            lease: read_lease(self.lease_s)?,
            worker: self.worker.as_deref().map(read_worker).transpose()?,
        })
    }
}

fn within(path: &str, given: i64, (least, most): (i64, i64)) -> Result<i64, Invalid> {
    if (least..=most).contains(&given) {
        return Ok(given);
    }
    let what = both!(
        "{path} must be {least} to {most}, not {given}",
        "{path} 必须为 {least} 到 {most}，而不是 {given}"
    );
    Err(Invalid::new(path, what))
}

fn read_lease(lease_s: Option<i64>) -> Result<SignedDuration, Invalid> {
    let given = lease_s.unwrap_or(LEASE_DEFAULT_S);
    let lease_s = within("lease_s", given, (LEASE_MIN_S, LEASE_MAX_S))?;
    Ok(SignedDuration::from_secs(lease_s))
}

fn read_worker(name: &str) -> Result<String, Invalid> {
    let fits = (1..=WORKER_BYTES_MAX).contains(&name.len());
    if fits && !name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Ok(name.to_owned());
    }
    let what = both!(
        "worker must have 1 to {WORKER_BYTES_MAX} bytes and no blanks",
        "worker 必须为 1 到 {WORKER_BYTES_MAX} 字节，且不含空白"
    );
    Err(Invalid::new("worker", what))
}

/// A task that a worker has taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WorkTask {
    /// Number of the task; show it with `term` in every report.
    pub task_id: TaskId,
    /// Fencing number of this attempt.
    pub term: Term,
    #[serde(flatten)]
    pub identity: Identity,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Retries allowed after the first attempt.
    pub max_retry: u32,
    /// When it was due.
    pub execute_at: Timestamp,
    pub payload: Payload,
    /// Number of the newest change of intent.
    pub revision: Revision,
    /// When it comes back unless the lease is extended.
    pub lease_until: Timestamp,
}

impl WorkTask {
    /// A claimed task on its way to a worker.
    pub fn of(task: ClaimedTask, lease_until: Timestamp) -> Self {
        Self {
            task_id: task.id,
            term: task.term,
            identity: task.identity,
            attempt: task.attempt,
            max_retry: task.max_retry,
            execute_at: task.execute_at,
            payload: task.payload,
            revision: task.revision,
            lease_until,
        }
    }
}

/// What a worker got: nothing if its wait is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WorkTasks {
    pub tasks: Vec<WorkTask>,
}

/// A task that a worker holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct HeldTask {
    pub task_id: TaskId,
    /// Fencing number of the attempt, as it was handed out.
    pub term: Term,
}

/// A request to extend the leases of tasks. A lease covers everything that was taken in one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkExtend {
    /// At most 1000.
    pub tasks: Vec<HeldTask>,
    /// Seconds from now. Default: 30. A lease is never shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 5, maximum = 3600))]
    pub lease_s: Option<i64>,
}

impl WorkExtend {
    /// Checks every value; the lease.
    pub fn read(&self) -> Result<SignedDuration, Invalid> {
        check_held(&self.tasks)?;
        read_lease(self.lease_s)
    }
}

/// One task's lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExtendedTask {
    pub task_id: TaskId,
    pub term: Term,
    pub result: LeaseResult,
    /// Until when it holds at least; absent if it is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
}

/// Leases, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExtendedTasks {
    pub tasks: Vec<ExtendedTask>,
}

/// How one attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkReport {
    pub task_id: TaskId,
    /// Fencing number of the attempt, as it was handed out.
    pub term: Term,
    pub outcome: WorkOutcome,
    /// When to try again: an RFC 3339 instant. Required by `again`, refused otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(format = DateTime))]
    pub at: Option<String>,
    /// Seconds to wait before the next attempt at least. Only for `retry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub retry_after_s: Option<i64>,
    /// What happened, for people: the first 500 bytes are kept. Not kept for `again`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(example = "250 OK"))]
    pub detail: Option<String>,
}

impl WorkReport {
    /// The task it is about.
    pub fn held(&self) -> HeldTask {
        let (task_id, term) = (self.task_id, self.term);
        HeldTask { task_id, term }
    }

    /// What it says, or why it says nothing.
    fn outcome(&self) -> Result<Outcome, Invalid> {
        let refused = |path: &str, of: &str| {
            let what = both!(
                "{path} is only for the outcome {of}",
                "{path} 只用于结果 {of}"
            );
            Err(Invalid::new(path, what))
        };
        if self.at.is_some() && self.outcome != WorkOutcome::Again {
            return refused("at", "again");
        }
        if self.retry_after_s.is_some() && self.outcome != WorkOutcome::Retry {
            return refused("retry_after_s", "retry");
        }
        let detail = self.detail.clone().filter(|text| !text.trim().is_empty());
        Ok(match self.outcome {
            WorkOutcome::Done => Outcome::Done { detail },
            WorkOutcome::Again => Outcome::Again {
                at: self.again_at()?,
                on_record: true,
            },
            WorkOutcome::Retry => Outcome::Retry {
                error: detail.unwrap_or_else(|| "the worker asked for another attempt".to_owned()),
                retry_after: self.retry_after()?,
            },
            WorkOutcome::GiveUp => {
                Outcome::give_up(detail.unwrap_or_else(|| "the worker gave up".to_owned()))
            }
        })
    }

    fn again_at(&self) -> Result<Timestamp, Invalid> {
        let at = self
            .at
            .as_deref()
            .and_then(|at| time::parse_instant(at).ok());
        at.ok_or_else(|| {
            let what = both!(
                "the outcome again needs at, an RFC 3339 instant with its offset, such as 2026-01-05T08:00:00Z",
                "结果 again 需要 at：带时差的 RFC 3339 时刻，例如 2026-01-05T08:00:00Z"
            );
            Invalid::new("at", what)
        })
    }

    fn retry_after(&self) -> Result<Option<SignedDuration>, Invalid> {
        let bounds = (0, RETRY_AFTER_MAX_S);
        let given = self.retry_after_s;
        let checked = given.map(|given| within("retry_after_s", given, bounds));
        Ok(checked.transpose()?.map(SignedDuration::from_secs))
    }
}

/// A worker's reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkFinish {
    /// At most 1000, each task once.
    pub tasks: Vec<WorkReport>,
}

impl WorkFinish {
    /// Checks every report; what they say, in their order.
    pub fn read(&self) -> Result<Vec<(HeldTask, Outcome)>, Invalid> {
        let held: Vec<HeldTask> = self.tasks.iter().map(WorkReport::held).collect();
        check_held(&held)?;
        let outcome = |(index, report): (usize, &WorkReport)| {
            let outcome = report.outcome().map_err(|invalid| Invalid {
                path: format!("tasks[{index}].{}", invalid.path),
                ..invalid
            })?;
            Ok((report.held(), outcome))
        };
        self.tasks.iter().enumerate().map(outcome).collect()
    }
}

/// A request to give tasks back untried: it does not count as an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WorkRelease {
    /// At most 1000, each task once.
    pub tasks: Vec<HeldTask>,
}

impl WorkRelease {
    /// Checks every value; what it says about each task.
    pub fn read(&self) -> Result<Vec<(HeldTask, Outcome)>, Invalid> {
        check_held(&self.tasks)?;
        let back = |held: &HeldTask| (*held, Outcome::HandedBack);
        Ok(self.tasks.iter().map(back).collect())
    }
}

/// What became of one report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReportedTask {
    pub task_id: TaskId,
    pub term: Term,
    pub result: ReportResult,
}

/// What became of reports, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReportedTasks {
    pub tasks: Vec<ReportedTask>,
}

/// Refuses too many tasks, and one that is named twice: two reports would contradict each other.
fn check_held(tasks: &[HeldTask]) -> Result<(), Invalid> {
    let count = tasks.len();
    if !(1..=TASKS_MAX).contains(&count) {
        let what = both!(
            "tasks must have 1 to {TASKS_MAX} items, not {count}",
            "tasks 必须有 1 到 {TASKS_MAX} 项，而不是 {count} 项"
        );
        return Err(Invalid::new("tasks", what));
    }
    let mut seen = BTreeSet::new();
    match tasks.iter().position(|held| !seen.insert(held.task_id)) {
        None => Ok(()),
        Some(index) => {
            let id = tasks[index].task_id;
            let what = both!("task {id} is named twice", "任务 {id} 出现了两次");
            Err(Invalid::new(format!("tasks[{index}].task_id"), what))
        }
    }
}

/// What a program's exit code says about its task (`sysexits.h`): 0 is done; 64 (`EX_USAGE`) and 65
/// (`EX_DATAERR`) say that no attempt can succeed; anything else may pass, as 75 (`EX_TEMPFAIL`)
/// says of itself. A program that was killed has no code.
pub fn outcome_of_exit(code: Option<i32>) -> WorkOutcome {
    match code {
        Some(0) => WorkOutcome::Done,
        Some(64 | 65) => WorkOutcome::GiveUp,
        _ => WorkOutcome::Retry,
    }
}

#[cfg(test)]
mod tests;
