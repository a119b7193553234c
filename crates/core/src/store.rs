//! The store port: what Almanack asks of a database.
//!
//! Batch first: every call takes and returns lists, and answers in the order it was asked. Every
//! change is conditional on what the caller saw, so a call can be repeated after a lost reply: the
//! second time it finds its own effect and answers `Lost` or `Late`, never doubles it.
//! `now` is always an argument; the database's own clock is only ever read by
//! [`Store::database_time`], to correct the node's.

mod alert;
mod bulk;
mod calendar;
mod courtesy;
mod edition;
mod error;
mod find;
mod firing;
mod inbox;
mod monitor;
mod newsletter;
mod overview;
mod pace;
mod page;
mod permit;
mod run_log;
mod schedule;
mod sign_in;
mod source;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use alert::{AlertFilter, AlertStore};
pub use bulk::BulkStore;
pub use calendar::CalendarStore;
pub use courtesy::{CourtesyQuery, CourtesyStore};
pub use edition::{EditionFilter, EditionLine, EditionStore, EditionWritten, PrunedStories};
pub use error::{Cause, Error, Result, chain};
pub use find::{COUNTED_MAX, CountBy, GROUPS_MAX, Reading, TaskCount, TaskCounts, TaskFilter};
pub use firing::FiringStore;
pub use inbox::{InboxDecider, InboxStore, InboxTaken, InboxVerdict};
pub use monitor::{MonitorKey, MonitorKeys, MonitorStore};
pub use newsletter::{MailFilter, NewsletterStore, SubscriberCount, SubscriberFilter};
pub use overview::{
    Activity, ActivityCursor, ActivityFilter, ClaimLine, Coming, ComingTasks, Kinds, OverviewStore,
    SlotLine, StatusCount, TaskLine,
};
pub use pace::{PaceStore, PausedKind, StartRequest};
pub use page::{EXAMINED_MAX, Page};
pub use permit::{PermitGrant, PermitRequest, PermitStore, Visitor};
pub use run_log::{LogExtent, LogPage, LogPiece, LogWrite, PIECE_BYTES_MAX, RunId, RunLogStore};
pub use schedule::{DueSchedules, LedgerPage, ScheduleFilter, ScheduleStore};
pub use sign_in::SignInStore;
pub use source::{
    Added, EntryChange, EntryEdit, EntryFilter, EntryQuestion, EntryRetention, FOUND_MAX, Fleet,
    KNOWN_PER_LINK_MAX, KnownEntry, PrunedEntries, SourceFilter, SourceNumbers, SourceStore,
    SourceWrite, UnreadEntry, Written,
};

use crate::{
    alert::trouble::{NodeTroubles, Trouble},
    clock::Mark,
    finish::Finish,
    history::{Attempt, Decision, HistoryCursor},
    pace::Rate,
    reschedule::{Change, Receipt},
    share::Turn,
    task::{ClaimedTask, Identity, Kind, Status, Task, TaskId},
    token::Token,
};

/// The result of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// Carried out; the row it wrote, if it wrote one.
    Done {
        /// The new row.
        inserted: Option<TaskId>,
    },
    /// The same was asked and decided before and changed nothing then either: it is counted there,
    /// and nothing else is written.
    Repeated {
        /// That decision's number on the row.
        number: u32,
    },
    /// The row was no longer the one the decision saw, or another caller created it first. Read and
    /// decide again; taking this for success would swallow the change (RS-06).
    Lost,
}

impl Applied {
    /// The receipt for a change; `None` if it was lost.
    pub fn receipt(self, change: &Change) -> Option<Receipt> {
        match self {
            Self::Done { inserted } => Receipt::of(change, inserted),
            Self::Repeated { number } => {
                Receipt::of(change, None).map(|receipt| receipt.repeating(number))
            }
            Self::Lost => None,
        }
    }
}

/// An `Idempotency-Key` and a digest of the request it came with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceKey {
    /// The caller's key, made unique per token by the server.
    pub key: String,
    /// Digest of the request, to notice the same key on a different request.
    pub digest: String,
}

/// The result of a keyed set of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppliedOnce {
    /// All carried out, and the key with them.
    Done(Vec<Receipt>),
    /// At least one was lost, so none was carried out. Read and decide again.
    Lost,
    /// The key was already used; see [`TaskStore::load_once`].
    Used,
}

/// What is known about a used key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnceRecord {
    /// Digest of the request it was used for.
    pub digest: String,
    /// What was answered then.
    pub receipts: Vec<Receipt>,
}

/// Number of one claim, drawn at random by the claiming node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimId(pub i64);

/// A node's request for work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRequest {
    /// Names this claim.
    pub claim_id: ClaimId,
    /// Which run of which node asks: random per process. Kept with the claim for people and
    /// checkers; what a node extends is decided by its own book of claims.
    pub session: String,
    /// The node's name, for people.
    pub node: String,
    /// What counts as due.
    pub now: Timestamp,
    /// Until when the claim holds without a heartbeat.
    pub lease_until: Timestamp,
    /// How many tasks it can take.
    pub slots: usize,
    /// How many of these kinds, at most; a kind that is not named is limited by `slots` alone.
    pub limits: Vec<(Kind, usize)>,
    /// Only these kinds; any, if none is named. The cost is that of these kinds.
    pub kinds: Vec<Kind>,
    /// How fast these kinds may start, in all nodes together. The claim uses up what it takes, in
    /// the same transaction.
    pub rates: Vec<(Kind, Rate)>,
    /// Kinds whose tasks take turns by a key, and where these begin ([`crate::share`]).
    pub turns: Vec<Turn>,
}

impl ClaimRequest {
    /// The limited kinds that have no room left once `taken` is taken.
    pub fn full_after(&self, taken: &[ClaimedTask]) -> Vec<Kind> {
        let taken_of = |kind: &Kind| count_of(taken, kind);
        let full = self
            .limits
            .iter()
            .filter(|(kind, room)| taken_of(kind) >= *room);
        full.map(|(kind, _)| kind.clone()).collect()
    }
}

fn count_of(tasks: &[ClaimedTask], kind: &Kind) -> usize {
    let of_kind = tasks.iter().filter(|task| task.identity.kind == *kind);
    of_kind.count()
}

/// What a claim got.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Claimed {
    /// The tasks, highest priority first.
    pub tasks: Vec<ClaimedTask>,
    /// When the next waiting task of a kind with room is due; may have passed already. Of a kind
    /// that is paused or out of starts, when that is over.
    pub next_due_at: Option<Timestamp>,
    /// Of the kinds that take turns and of which something was taken, the last key that had one.
    pub turns: Vec<(Kind, Option<String>)>,
}

impl Claimed {
    /// How many of its tasks are of a kind.
    pub fn count_of(&self, kind: &Kind) -> usize {
        count_of(&self.tasks, kind)
    }
}

/// The result of a [`Finish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// The task is now as the finish said.
    Applied,
    /// The task had been taken from this attempt; only the history changed (RS-07).
    Late,
}

/// A task that a worker names, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenTask {
    /// Its newest attempt, without the payload.
    pub task: ClaimedTask,
    pub status: Status,
    /// The worker's claim that it runs under, if it does.
    pub claim_id: Option<ClaimId>,
}

/// A claim whose lease has passed, with those of its tasks that still run under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiredClaim {
    /// Which claim.
    pub claim_id: ClaimId,
    /// Whose it was.
    pub node: String,
    /// What it left behind.
    pub tasks: Vec<ClaimedTask>,
}

/// Which part of an identity's history to load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPage {
    /// Only what comes before this; `None` begins with the newest.
    pub before: Option<HistoryCursor>,
    /// How many decisions and attempts at most.
    pub limit: usize,
}

impl HistoryPage {
    /// All of it, however long: for checks, never for a request.
    pub const WHOLE: Self = Self {
        before: None,
        limit: usize::MAX,
    };
}

/// What is kept about one identity, or the newest part of it: rows with the decisions on them and
/// their attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Records {
    /// Its rows, oldest first, without their payloads.
    pub tasks: Vec<Task>,
    /// The decisions on them, oldest first on each row.
    pub decisions: Vec<Decision>,
    /// Their attempts, oldest first of each row, but for those a row itself still describes.
    pub attempts: Vec<Attempt>,
}

/// How much waits, per kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depth {
    /// Which kind.
    pub kind: Kind,
    /// Waiting rows, due or not; counting stops at a bound.
    pub waiting: u64,
    /// Of these, due; counting stops at a bound.
    pub due: u64,
    /// When the first of them is due; may have passed already.
    pub first_due_at: Option<Timestamp>,
}

/// The result of one step of pruning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    /// Rows deleted.
    pub rows: usize,
    /// Where to continue; `None` at the end.
    pub next: Option<TaskId>,
    /// When the first of the rows looked at was created; `None` if there was none.
    pub oldest: Option<Timestamp>,
}

/// Tasks and their claims.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// The current row of each identity, in the order asked. One that cannot be read fails the
    /// call: a caller that loads many loads each alone.
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>>;

    /// Carries out each change for itself, in the order given; concurrent callers share a commit.
    /// What changes nothing and was decided just so a short while ago is counted there
    /// ([`Applied::Repeated`]); of a row's decisions the newest
    /// [`DECISIONS_KEPT`](crate::history::DECISIONS_KEPT) are kept.
    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>>;

    /// Carries out all changes and records the key in one transaction, or does nothing.
    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce>;

    /// What a key was used for, if it was.
    async fn load_once(&self, key: &str) -> Result<Option<OnceRecord>>;

    /// Takes due tasks: RUNNING, term + 1, attempt + 1, under one claim. Higher priorities first,
    /// then an even share for every kind, then by time. A node that dies right after this call has
    /// taken them anyway; they come back when the lease passes. A task that cannot be read is not
    /// taken: it ends as FAIL, which says why, so that it does not block others again. A task that
    /// has expired is taken like any other; whoever takes it ends it instead of starting it. No task
    /// of a kind that is paused is taken ([`PaceStore`]), and no more of a kind than its rate allows.
    async fn claim(&self, request: ClaimRequest) -> Result<Claimed>;

    /// Takes waiting tasks that have expired at `now`, whatever their kind and their time, to be
    /// ended: those of kinds that nobody claims would wait for ever. Earliest expiry first, as many
    /// as there are slots, and otherwise as [`Self::claim`].
    async fn claim_expired(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>>;

    /// Ends attempts. Fenced: an ending applies only while its task is RUNNING under its term.
    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>>;

    /// The tasks with these numbers, in the order asked, and which claims of `session` they run
    /// under. One that cannot be read is left out like one that does not exist.
    async fn load_taken(&self, ids: &[TaskId], session: &str) -> Result<Vec<Option<TakenTask>>>;

    /// Extends those of the claims whose lease has not passed at `now`, and returns which; a lease
    /// that is longer already stays as it is. Only a
    /// node's own claims are extended: a claim whose answer was lost on the way has tasks that no
    /// node runs, and must be left to expire. A claim that is missing from the answer has passed
    /// on.
    async fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>>;

    /// Forgets claims whose tasks have all been finished.
    async fn release_claims(&self, claims: &[ClaimId]) -> Result<()>;

    /// Forgets those of the claims under which no task runs any more; the caller need not know
    /// which those are.
    async fn release_ended_claims(&self, claims: &[ClaimId]) -> Result<()>;

    /// Claims whose lease has passed at `now`, longest first, at most `limit`. Of their tasks,
    /// those that cannot be read end as FAIL here.
    async fn load_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ExpiredClaim>>;

    /// One row by its number.
    async fn load_task(&self, id: TaskId) -> Result<Option<Task>>;

    /// A page of rows, newest first. The cost is that of the rows examined, never that of the
    /// table.
    async fn list_tasks(&self, filter: &TaskFilter) -> Result<Page<Task, TaskId>>;

    /// How many rows fit a filter, in all and by `by`, largest group first. Counts among the newest
    /// [`COUNTED_MAX`] rows of the table, or of the filter's first tag.
    async fn count_tasks(&self, filter: &TaskFilter, by: Option<CountBy>) -> Result<TaskCounts>;

    /// A part of what is kept about an identity: at least one decision or attempt more than the
    /// page holds, if there are more, so that [`crate::history::page`] can say where to continue.
    /// The cost is that of the page, and of the identity's rows.
    async fn load_history(&self, identity: &Identity, page: HistoryPage) -> Result<Records>;

    /// The decisions on a row that are numbered above `after`, oldest first, at most `limit`.
    async fn load_decisions(&self, id: TaskId, after: u32, limit: usize) -> Result<Vec<Decision>>;

    /// The kinds of which tasks wait, by name, at most `limit`. The cost is that of the kinds,
    /// never that of the tasks.
    async fn load_waiting_kinds(&self, limit: usize) -> Result<Vec<Kind>>;

    /// How much waits, per kind.
    async fn load_depths(&self, now: Timestamp) -> Result<Vec<Depth>>;

    /// Looks at `limit` rows numbered above `after` and deletes those that ended, and were last
    /// decided about, before `before`, with their history; of the others it deletes the history
    /// from before `before`, but for what took the row away. The cost is that of the rows looked
    /// at, never that of the table: walk on from [`Pruned::next`].
    async fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> Result<Pruned>;

    /// Deletes up to `limit` idempotency keys used before `before`, oldest first; returns how many.
    async fn prune_keys(&self, before: Timestamp, limit: usize) -> Result<usize>;
}

/// A running process, as the others see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Which run of it.
    pub session: String,
    /// Which version it runs.
    pub version: String,
    /// When it started.
    pub started_at: Timestamp,
    /// When it sent its last heartbeat.
    pub seen_at: Timestamp,
    /// How far its own clock was from the database's, in microseconds.
    pub skew_us: i64,
}

/// A run of a node that sent no heartbeat for so long is forgotten.
pub const NODE_FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(24);

/// The register of nodes.
#[async_trait]
pub trait NodeStore: Send + Sync {
    /// Writes a node's heartbeat; the first one registers it.
    async fn save_node(&self, node: &Node) -> Result<()>;
    /// All nodes ever registered and not forgotten, by name.
    async fn load_nodes(&self) -> Result<Vec<Node>>;
    /// Forgets one run of a node, with its troubles.
    async fn forget_node(&self, session: &str) -> Result<()>;
    /// Writes what is wrong with one run of a node, in place of what was written before.
    async fn save_troubles(&self, session: &str, troubles: &[Trouble]) -> Result<()>;
    /// What is wrong with nodes that are registered, by name; those with nothing wrong are left
    /// out.
    async fn load_troubles(&self) -> Result<Vec<NodeTroubles>>;
    /// Remembers what time it is, unless a mark of a larger revision is there; returns whether it
    /// did.
    async fn save_clock(&self, mark: &Mark) -> Result<bool>;
    /// What time it was when that was last remembered.
    async fn load_clock(&self) -> Result<Option<Mark>>;
}

/// Access tokens.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Writes a new token; its name must be free.
    async fn save_token(&self, token: &Token) -> Result<()>;
    /// The token with this hash.
    async fn load_token(&self, hash: &str) -> Result<Option<Token>>;
    /// All tokens, by name.
    async fn load_tokens(&self) -> Result<Vec<Token>>;
    /// Revokes a token; returns whether it existed and worked until now.
    async fn revoke_token(&self, name: &str, now: Timestamp) -> Result<bool>;
    /// Since when access is guarded: when the first token or user was made. For good: whatever
    /// expires, is revoked or removed since then, the answer is not `None` again (SF-03).
    async fn load_guarded_since(&self) -> Result<Option<Timestamp>>;
}

/// Wakes a sleeping node: something may have become due earlier than it thought.
///
/// A hint, never the truth: a missed one costs at most [`Store::safety_poll`], a false one costs
/// one empty claim.
#[async_trait]
pub trait Nudges: Send {
    /// Waits for the next hint and answers when that work is due.
    async fn next(&mut self) -> Timestamp;
}

/// A database that Almanack can live in.
#[async_trait]
pub trait Store:
    TaskStore
    + ScheduleStore
    + MonitorStore
    + SourceStore
    + EditionStore
    + NodeStore
    + TokenStore
    + SignInStore
    + OverviewStore
    + PermitStore
    + PaceStore
    + AlertStore
    + CourtesyStore
    + FiringStore
    + RunLogStore
    + CalendarStore
    + InboxStore
    + BulkStore
    + NewsletterStore
{
    /// Subscribes to hints; those given before are not repeated.
    fn nudges(&self) -> Box<dyn Nudges>;

    /// Subscribes to hints that something new is in the inbox; `None` where the database has no
    /// functions that write into it.
    fn inbox_hints(&self) -> Option<Box<dyn Nudges>>;

    /// How long a node may sleep without asking. Changes due much later than this (twice) are not
    /// hinted at.
    fn safety_poll(&self) -> SignedDuration;

    /// The database's own clock, where it has one that nodes share.
    async fn database_time(&self) -> Result<Option<Timestamp>>;

    /// One cheap round trip, to know that it answers.
    async fn ping(&self) -> Result<()>;

    /// How large the store is on its disk, in bytes, where that is known.
    async fn size_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }
}
