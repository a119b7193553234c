//! What people look at: lists across tasks, schedules and claims.
//!
//! Nothing here decides anything. Every call is bounded: by `limit`, and where no index leads to
//! the answer by how many of the newest rows are searched, which the caller must then show.
//! Payloads are left out: a page of lines must not cost what its tasks carry.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{ClaimId, Result, TaskFilter};
use crate::{
    history::Decision,
    plan::{Edit, ScheduleName, Slot},
    task::{Identity, Kind, Status, TaskId},
};

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLine {
    /// Number of the row.
    pub id: TaskId,
    pub identity: Identity,
    pub status: Status,
    /// When to try (next), or when it was last meant to be tried.
    pub execute_at: Timestamp,
    /// When the runner should take it; `None` while it runs and once it has ended.
    pub due_at: Option<Timestamp>,
    /// Attempts started so far in this round.
    pub attempt: u32,
    /// Retries allowed after the first attempt.
    pub max_retry: u32,
    /// Who requested it.
    pub origin: String,
    /// The node that claimed it last.
    pub node: Option<String>,
    /// The last attempt's detail.
    pub detail: Option<String>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When the last attempt started.
    pub started_at: Option<Timestamp>,
    /// When the last attempt ended.
    pub finished_at: Option<Timestamp>,
}

impl TaskLine {
    /// Whether it will still be tried, or is being tried.
    pub fn is_live(&self) -> bool {
        self.status == Status::Running || self.due_at.is_some()
    }
}

/// Which kinds of tasks a list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kinds {
    #[default]
    All,
    /// All but [internal](crate::reserved::is_internal) ones.
    Business,
}

/// How many of the newest rows have which status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusCount {
    pub status: Status,
    pub tasks: u64,
}

/// A claim in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimLine {
    pub claim_id: ClaimId,
    pub node: String,
    /// Of which run of it.
    pub session: String,
    /// Until when it holds without a heartbeat.
    pub lease_until: Timestamp,
    /// How many tasks were taken under it; some may have ended already.
    pub tasks: usize,
}

/// A ledger row with its schedule's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotLine {
    pub schedule: ScheduleName,
    pub slot: Slot,
}

/// Waiting tasks of one kind that become due within one second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComingTasks {
    pub kind: Kind,
    /// The second.
    pub at: Timestamp,
    /// Scheme and host of the address they name; of checks, of their sources' addresses.
    pub address: Option<String>,
    pub tasks: u64,
}

/// What becomes due in a time, as far as it was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coming {
    /// By kind, then by second.
    pub tasks: Vec<ComingTasks>,
    /// Kinds of which not all were counted, each with the first second that is incomplete.
    pub cut: Vec<(Kind, Timestamp)>,
}

/// A decision that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Activity {
    Task {
        identity: Identity,
        /// What was decided; a row's creation has the number 0.
        decision: Decision,
    },
    Schedule {
        name: ScheduleName,
        /// What was done to it.
        edit: Box<Edit>,
    },
}

impl Activity {
    /// When.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Task { decision, .. } => decision.decided_at,
            Self::Schedule { edit, .. } => edit.at,
        }
    }

    /// By whom.
    pub fn by(&self) -> &str {
        match self {
            Self::Task { decision, .. } => &decision.origin,
            Self::Schedule { edit, .. } => &edit.by,
        }
    }
}

/// Where a page of activity ended. One act may decide about many tasks at one instant, so an
/// instant alone would skip what of them did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityCursor {
    /// When the last line was decided.
    pub at: Timestamp,
    /// How many lines of just that instant were listed, on this page and on those before.
    pub listed: usize,
}

impl ActivityCursor {
    /// Where the page after `before` ends; `None` where nothing is on it.
    pub fn end_of(page: &[Activity], before: Option<Self>) -> Option<Self> {
        let at = page.last()?.at();
        let here = page.iter().filter(|line| line.at() == at).count();
        let earlier = before.filter(|before| before.at == at);
        let listed = here.saturating_add(earlier.map_or(0, |before| before.listed));
        Some(Self { at, listed })
    }
}

/// Which activity to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActivityFilter {
    /// Only by those whose name contains this, in any case of ASCII letters.
    pub by: Option<String>,
    /// Only about tasks of this kind.
    pub kind: Option<Kind>,
    /// Of tasks, only about these.
    pub kinds: Kinds,
    /// Only about subjects or schedules that contain this, in any case of ASCII letters.
    pub containing: Option<String>,
    /// Leaves out what schedules did by themselves: the firings they put.
    pub by_people: bool,
    /// Only what comes after this in the list: where the page before ended.
    pub after: Option<ActivityCursor>,
    /// How many of the newest tasks, decisions and edits each are searched at most.
    pub among: usize,
    /// How many at most.
    pub limit: usize,
}

/// Reads for pages.
#[async_trait]
pub trait OverviewStore: Send + Sync {
    /// Current rows that fit, newest first: one line per identity. Searched are the newest
    /// [rows](TaskFilter::examines), current or not, counted from the newest of all or, with tags,
    /// of those that have the first one.
    async fn search_tasks(&self, filter: &TaskFilter) -> Result<Vec<TaskLine>>;

    /// Current rows whose subject begins with `prefix`, internal kinds left out, by subject and
    /// kind, at most `limit`. Of the subjects that begin so, the first [`super::EXAMINED_MAX`] are
    /// looked at: an index leads to them, however many tasks there are.
    async fn find_subjects(&self, prefix: &str, limit: usize) -> Result<Vec<TaskLine>>;

    /// How many of these there are, on all pages.
    async fn count_found(&self, filter: &TaskFilter) -> Result<u64>;

    /// The current ones of `kinds` among the newest `among` rows by status, in the order of a
    /// task's life; a status without rows is left out.
    async fn count_statuses(&self, among: usize, kinds: Kinds) -> Result<Vec<StatusCount>>;

    /// Rows, current or not, whose last attempt ended in `[from, until)`, latest end first. They
    /// are found through the claims they ran under, of which the last 20,000 of the last two days
    /// are remembered.
    async fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>>;

    /// Waiting rows due in `[from, until)`, soonest first. At most `limit` of each kind: a crowded
    /// one must not hide another's.
    async fn load_upcoming(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<TaskLine>>;

    /// How many waiting rows become due in each second of `[from, until)`. The soonest of each lane
    /// are counted, and at most about twice `limit` rows are read: lanes share it equally, and those
    /// that need more than that share what the others leave.
    async fn load_coming(&self, from: Timestamp, until: Timestamp, limit: usize) -> Result<Coming>;

    /// Rows that a claim holds and that run, longest first.
    async fn load_running(&self, limit: usize) -> Result<Vec<TaskLine>>;

    /// Claims, the one that ends first first.
    async fn load_claims(&self, limit: usize) -> Result<Vec<ClaimLine>>;

    /// Ledger rows of any schedule whose slots touch `[from, until)`, latest first.
    async fn load_slots_between(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<SlotLine>>;

    /// What was decided, newest first: creations and changes of tasks, and what people did to
    /// schedules. Of one instant, tasks come before schedules and the higher number first: the
    /// order is the same whenever it is requested.
    async fn load_activity(&self, filter: &ActivityFilter) -> Result<Vec<Activity>>;
}
