//! What the port needs of a database, and the store that is made of one.
//!
//! A method of the port whose statements are the same for both databases is written once, for
//! [`SqlStore`], beside its statements. The others are tuned to one database each and are what
//! [`Database`] asks for, by the names that the port gives them.

use almanack_core::{
    finish::Finish,
    pace::Starts,
    plan::{Schedule, ScheduleName, ScheduleWrite},
    reschedule::Change,
    source::{Source, SourceId},
    store::{
        Added, Applied, AppliedOnce, ClaimId, ClaimRequest, Claimed, EntryQuestion, EntryRetention,
        Finished, InboxDecider, InboxTaken, KnownEntry, Nudges, OnceKey, PermitGrant,
        PermitRequest, Pruned, PrunedEntries, Result, SourceWrite, StartRequest, Store, TakenTask,
        TaskLine, Visitor, Written,
    },
    task::{ClaimedTask, Identity, Task, TaskId},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use Access::{Read, Statement};

use crate::{
    caller::Caller,
    nudge::{NudgeReceiver, Nudger},
    row::{Listing, Row, Value},
    session::Work,
};

/// The store on one database, for one sort of caller.
pub struct SqlStore<D>(pub(crate) D);

/// What is asked of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only to read. A caller that stops waiting stops it.
    Read,
    /// The same of one moment, whatever is written beside it.
    Moment,
    /// To write with one statement, which needs no transaction around it.
    Statement,
    /// To write in a transaction; an error leaves nothing behind.
    Transaction,
}

impl Access {
    /// Under which name it is measured.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Read | Self::Moment => "read",
            Self::Statement | Self::Transaction => "write",
        }
    }
}

/// What comes of a call.
pub(crate) trait Answered<T>: Future<Output = Result<T>> + Send {}
impl<T, F: Future<Output = Result<T>> + Send> Answered<T> for F {}

pub(crate) trait Database:
    Tasks + Claims + Schedules + Sources + Permits + Inbox + Paces + 'static
{
    /// A node asks this often even without a nudge.
    const SAFETY_POLL: SignedDuration;

    /// The same for another sort of caller.
    fn handed_to(&self, caller: Caller) -> Self;
    fn nudger(&self) -> &Nudger;
    /// The text that this database reads.
    fn text(sqlite: &'static str, postgres: &'static str) -> &'static str;

    /// Has `work` done on a connection of this caller's. `name` is for errors.
    fn ask<A, T>(
        &self,
        access: Access,
        name: &'static str,
        args: A,
        work: Work<A, T>,
    ) -> impl Answered<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static;
    /// Notifies sleeping nodes of what is due.
    fn hint(&self, due_at: Option<Timestamp>) -> impl Future<Output = ()> + Send;

    fn database_time(&self) -> impl Answered<Option<Timestamp>>;
    fn ping(&self) -> impl Answered<()>;
}

/// Changes of intent; see [`almanack_core::store::TaskStore`].
pub(crate) trait Tasks: Send + Sync {
    fn load_current(&self, identities: &[Identity]) -> impl Answered<Vec<Option<Task>>>;
    fn apply(&self, changes: Vec<Change>) -> impl Answered<Vec<Applied>>;
    fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> impl Answered<AppliedOnce>;
    fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> impl Answered<Pruned>;
}

/// Attempts at tasks; see [`almanack_core::store::TaskStore`].
pub(crate) trait Claims: Send + Sync {
    fn claim(&self, request: ClaimRequest) -> impl Answered<Claimed>;
    fn claim_expired(&self, request: ClaimRequest) -> impl Answered<Vec<ClaimedTask>>;
    fn finish(&self, finishes: Vec<Finish>) -> impl Answered<Vec<Finished>>;
    fn load_taken(&self, ids: &[TaskId], session: &str) -> impl Answered<Vec<Option<TakenTask>>>;
    fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> impl Answered<Vec<ClaimId>>;
    fn release_claims(&self, claims: &[ClaimId]) -> impl Answered<()>;
    fn release_ended_claims(&self, claims: &[ClaimId]) -> impl Answered<()>;
    fn load_finished(
        &self,
        from: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> impl Answered<Vec<TaskLine>>;
}

/// See [`almanack_core::store::ScheduleStore`].
pub(crate) trait Schedules: Send + Sync {
    fn load_schedules(&self, names: &[ScheduleName]) -> impl Answered<Vec<Option<Schedule>>>;
    fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> impl Answered<Vec<Applied>>;
}

/// See [`almanack_core::store::SourceStore`].
pub(crate) trait Sources: Send + Sync {
    fn add_sources(&self, sources: Vec<Source>) -> impl Answered<Vec<Added>>;
    fn load_sources(&self, ids: &[SourceId]) -> impl Answered<Vec<Option<Source>>>;
    fn write_sources(&self, writes: Vec<SourceWrite>) -> impl Answered<Vec<Written>>;
    fn known_entries(&self, id: SourceId, asked: &EntryQuestion) -> impl Answered<Vec<KnownEntry>>;
    fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> impl Answered<PrunedEntries>;
}

/// See [`almanack_core::store::PermitStore`].
pub(crate) trait Permits: Send + Sync {
    fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> impl Answered<Vec<PermitGrant>>;
}

/// See [`almanack_core::store::InboxStore`].
pub(crate) trait Inbox: Send + Sync {
    fn take_inbox(&self, decider: &dyn InboxDecider, limit: usize) -> impl Answered<InboxTaken>;
    /// Hints that something is in the inbox, where others can write into it.
    fn inbox_nudger(&self) -> Option<&Nudger>;
}

/// See [`almanack_core::store::PaceStore`].
pub(crate) trait Paces: Send + Sync {
    fn take_starts(&self, asks: &[StartRequest], now: Timestamp) -> impl Answered<Vec<Starts>>;
}

/// Handles for callers, and what one statement does; `name` is for errors, never its text or
/// parameters.
#[expect(private_bounds, reason = "which databases there are is decided here")]
impl<D: Database> SqlStore<D> {
    /// The same store for clients that change something.
    #[must_use]
    pub fn for_changes(&self) -> Self {
        Self(self.0.handed_to(Caller::Changes))
    }

    /// The same store for clients that read pages.
    #[must_use]
    pub fn for_pages(&self) -> Self {
        Self(self.0.handed_to(Caller::Pages))
    }

    /// Has `work` done on a connection of this caller's.
    pub(crate) async fn ask<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        access: Access,
        name: &'static str,
        args: A,
        work: Work<A, T>,
    ) -> Result<T> {
        self.0.ask(access, name, args, work).await
    }

    /// Carries it out; how many rows it changed.
    pub(crate) async fn execute(
        &self,
        name: &'static str,
        text: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<usize> {
        let args = (text, owned(values));
        self.ask(Statement, name, args, |session, (text, values)| {
            Box::pin(session.execute(text, values))
        })
        .await
    }

    /// Every row that can be shown.
    pub(crate) async fn listed<T: Send + 'static>(
        &self,
        name: &'static str,
        text: &'static str,
        values: Vec<Value<'_>>,
        listing: Listing<T>,
    ) -> Result<Vec<T>> {
        let args = (text, owned(values), listing);
        self.ask(Read, name, args, |session, (text, values, listing)| {
            Box::pin(session.listed(text, values, *listing))
        })
        .await
    }

    /// The one row there is, if any.
    pub(crate) async fn one<T: Send + 'static>(
        &self,
        name: &'static str,
        text: &'static str,
        values: Vec<Value<'_>>,
        read: fn(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let args = (text, owned(values), read);
        self.ask(Read, name, args, |session, (text, values, read)| {
            Box::pin(session.one(text, values, read))
        })
        .await
    }

    /// The first number of the one row there is, if any.
    pub(crate) async fn number(
        &self,
        name: &'static str,
        text: &'static str,
        values: Vec<Value<'_>>,
    ) -> Result<Option<i64>> {
        let found = self.one(name, text, values, |row| row.get(0));
        Ok(found.await?.flatten())
    }
}

fn owned(values: Vec<Value<'_>>) -> Vec<Value<'static>> {
    values.into_iter().map(Value::into_owned).collect()
}

#[async_trait]
impl<D: Database> Store for SqlStore<D> {
    fn nudges(&self) -> Box<dyn Nudges> {
        Box::new(NudgeReceiver::new(self.0.nudger().subscribe()))
    }

    fn inbox_hints(&self) -> Option<Box<dyn Nudges>> {
        let hints = self.0.inbox_nudger()?.subscribe();
        Some(Box::new(NudgeReceiver::new(hints)))
    }

    fn safety_poll(&self) -> SignedDuration {
        D::SAFETY_POLL
    }

    async fn database_time(&self) -> Result<Option<Timestamp>> {
        self.0.database_time().await
    }

    async fn ping(&self) -> Result<()> {
        self.0.ping().await
    }

    /// SQLite's as the header of its file says, without the log beside it.
    async fn size_bytes(&self) -> Result<Option<u64>> {
        let text = D::text(
            "select page_count * page_size from pragma_page_count, pragma_page_size",
            "select pg_database_size(current_database())",
        );
        let bytes = self.number("load size", text, Vec::new()).await?;
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()))
    }
}
