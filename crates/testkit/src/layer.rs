//! A layer between the engine and a store: sees calls pass, and may meddle with them.

mod edition;
mod lane;
mod overview;

use std::sync::Arc;

use almanack_core::{
    alert::trouble::{NodeTroubles, Trouble},
    clock::Mark,
    edition::account,
    finish::Finish,
    history::Decision,
    plan::{Edit, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot},
    reschedule::Change,
    source::{Source, SourceId, SourceType, entry::Entry},
    store::{
        Added, Applied, AppliedOnce, ClaimId, ClaimRequest, Claimed, Depth, DueSchedules,
        EditionWritten, EntryFilter, EntryRetention, ExpiredClaim, Finished, Fleet, HistoryPage,
        LaneAnswer, LaneAsk, LedgerPage, Node, NodeStore, Nudges, OnceKey, OnceRecord, Page,
        Pruned, PrunedEntries, Records, Result, ScheduleFilter, ScheduleStore, SourceFilter,
        SourceNumbers, SourceStore, SourceWrite, Store, TaskFilter, TaskStore, TokenStore, Visitor,
        Written,
    },
    task::{Identity, Kind, Task, TaskId},
    token::Token,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

/// What a layer may do about the calls that change something. What it leaves out passes untouched.
#[async_trait]
pub trait Layer: Send + Sync {
    /// Something is asked or written about editions.
    async fn edition_asked(&self) {}
    /// See [`TaskStore::apply`].
    async fn apply(&self, below: &dyn Store, changes: Vec<Change>) -> Result<Vec<Applied>> {
        below.apply(changes).await
    }
    /// See [`TaskStore::apply_once`].
    async fn apply_once(
        &self,
        below: &dyn Store,
        key: OnceKey,
        changes: Vec<Change>,
    ) -> Result<AppliedOnce> {
        below.apply_once(key, changes).await
    }
    /// See [`TaskStore::claim`].
    async fn claim(&self, below: &dyn Store, request: ClaimRequest) -> Result<Claimed> {
        below.claim(request).await
    }
    /// See [`TaskStore::finish`].
    async fn finish(&self, below: &dyn Store, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        below.finish(finishes).await
    }
    /// See [`TaskStore::extend_claims`].
    async fn extend_claims(
        &self,
        below: &dyn Store,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        below.extend_claims(claims, now, lease_until).await
    }
    /// See [`TaskStore::prune`].
    async fn prune(
        &self,
        below: &dyn Store,
        before: Timestamp,
        after: TaskId,
        limit: usize,
    ) -> Result<Pruned> {
        below.prune(before, after, limit).await
    }
    /// See [`almanack_core::store::LaneStore::enter_lanes`].
    async fn enter_lanes(
        &self,
        below: &dyn Store,
        visitor: &Visitor,
        asks: &[LaneAsk],
    ) -> Result<Vec<LaneAnswer>> {
        below.enter_lanes(visitor, asks).await
    }
    /// See [`ScheduleStore::write_schedules`].
    async fn write_schedules(
        &self,
        below: &dyn Store,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Applied>> {
        below.write_schedules(writes).await
    }
    /// See [`SourceStore::write_sources`].
    async fn write_sources(
        &self,
        below: &dyn Store,
        writes: Vec<SourceWrite>,
    ) -> Result<Vec<Written>> {
        below.write_sources(writes).await
    }
    /// See [`almanack_core::store::EditionStore::write_edition`].
    async fn write_edition(
        &self,
        below: &dyn Store,
        change: account::Change,
    ) -> Result<EditionWritten> {
        below.write_edition(change).await
    }
    /// See [`TokenStore::load_guarded_since`].
    async fn load_guarded_since(&self, below: &dyn Store) -> Result<Option<Timestamp>> {
        below.load_guarded_since().await
    }
    /// See [`Store::nudges`].
    fn nudges(&self, below: &dyn Store) -> Box<dyn Nudges> {
        below.nudges()
    }
    /// See [`Store::safety_poll`].
    fn safety_poll(&self, below: &dyn Store) -> SignedDuration {
        below.safety_poll()
    }
}

/// A store with a layer over it.
pub struct Layered<L> {
    layer: L,
    below: Arc<dyn Store>,
}

impl<L: Layer + 'static> Layered<L> {
    /// Puts `layer` over `below`.
    pub fn over(below: Arc<dyn Store>, layer: L) -> Arc<dyn Store> {
        Arc::new(Self { layer, below })
    }
}

#[async_trait]
impl<L: Layer> TaskStore for Layered<L> {
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        self.below.load_current(identities).await
    }
    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        self.layer.apply(&*self.below, changes).await
    }
    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce> {
        self.layer.apply_once(&*self.below, key, changes).await
    }
    async fn load_once(&self, key: &str) -> Result<Option<OnceRecord>> {
        self.below.load_once(key).await
    }
    async fn claim(&self, request: ClaimRequest) -> Result<Claimed> {
        self.layer.claim(&*self.below, request).await
    }
    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        self.layer.finish(&*self.below, finishes).await
    }
    async fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        let below = &*self.below;
        self.layer
            .extend_claims(below, claims, now, lease_until)
            .await
    }
    async fn release_claims(&self, claims: &[ClaimId]) -> Result<()> {
        self.below.release_claims(claims).await
    }
    async fn load_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ExpiredClaim>> {
        self.below.load_expired(now, limit).await
    }
    async fn load_task(&self, id: TaskId) -> Result<Option<Task>> {
        self.below.load_task(id).await
    }
    async fn list_tasks(&self, filter: &TaskFilter) -> Result<Page<Task, TaskId>> {
        self.below.list_tasks(filter).await
    }
    async fn load_history(&self, identity: &Identity, page: HistoryPage) -> Result<Records> {
        self.below.load_history(identity, page).await
    }
    async fn load_decisions(&self, id: TaskId, after: u32, limit: usize) -> Result<Vec<Decision>> {
        self.below.load_decisions(id, after, limit).await
    }
    async fn prune_keys(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.below.prune_keys(before, limit).await
    }
    async fn load_waiting_kinds(&self, limit: usize) -> Result<Vec<Kind>> {
        self.below.load_waiting_kinds(limit).await
    }
    async fn load_depths(&self, now: Timestamp) -> Result<Vec<Depth>> {
        self.below.load_depths(now).await
    }
    async fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> Result<Pruned> {
        let below = &*self.below;
        self.layer.prune(below, before, after, limit).await
    }
}

#[async_trait]
impl<L: Layer> ScheduleStore for Layered<L> {
    async fn load_due_schedules(&self, now: Timestamp, limit: usize) -> Result<DueSchedules> {
        self.below.load_due_schedules(now, limit).await
    }
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        self.below.load_schedules(names).await
    }
    async fn list_schedules(
        &self,
        filter: &ScheduleFilter,
    ) -> Result<Page<Schedule, ScheduleName>> {
        self.below.list_schedules(filter).await
    }
    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        self.layer.write_schedules(&*self.below, writes).await
    }
    async fn load_slots(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>> {
        self.below.load_slots(id, page).await
    }
    async fn load_edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>> {
        self.below.load_edits(id, limit).await
    }
    async fn load_decided_ahead(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        self.below.load_decided_ahead(after, limit).await
    }
    async fn prune_slots(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.below.prune_slots(before, limit).await
    }
}

#[async_trait]
impl<L: Layer> SourceStore for Layered<L> {
    async fn add_sources(&self, sources: Vec<Source>) -> Result<Vec<Added>> {
        self.below.add_sources(sources).await
    }
    async fn load_sources(&self, ids: &[SourceId]) -> Result<Vec<Option<Source>>> {
        self.below.load_sources(ids).await
    }
    async fn load_source_at(&self, address: &str) -> Result<Option<Source>> {
        self.below.load_source_at(address).await
    }
    async fn list_sources(&self, filter: &SourceFilter) -> Result<Page<Source, SourceId>> {
        self.below.list_sources(filter).await
    }
    async fn load_due_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Source>> {
        self.below.load_due_sources(source_type, now, limit).await
    }
    async fn load_stray_sources(&self, overdue: Timestamp, limit: usize) -> Result<Vec<SourceId>> {
        self.below.load_stray_sources(overdue, limit).await
    }
    async fn write_sources(&self, writes: Vec<SourceWrite>) -> Result<Vec<Written>> {
        self.layer.write_sources(&*self.below, writes).await
    }
    async fn remove_source(&self, id: SourceId) -> Result<bool> {
        self.below.remove_source(id).await
    }
    async fn known_keys(&self, id: SourceId, keys: &[String]) -> Result<Vec<String>> {
        self.below.known_keys(id, keys).await
    }
    async fn list_entries(&self, filter: &EntryFilter) -> Result<Page<Entry, i64>> {
        self.below.list_entries(filter).await
    }
    async fn count_sources(
        &self,
        source_type: Option<SourceType>,
        now: Timestamp,
    ) -> Result<SourceNumbers> {
        self.below.count_sources(source_type, now).await
    }
    async fn load_fleet(&self) -> Result<Option<Fleet>> {
        self.below.load_fleet().await
    }
    async fn count_checks(&self, checks: u64) -> Result<()> {
        self.below.count_checks(checks).await
    }
    async fn set_price(&self, seen: Option<i64>, price: f64, now: Timestamp) -> Result<bool> {
        self.below.set_price(seen, price, now).await
    }
    async fn prune_entries(
        &self,
        retention: EntryRetention,
        after: SourceId,
        limit: usize,
    ) -> Result<PrunedEntries> {
        self.below.prune_entries(retention, after, limit).await
    }
}

#[async_trait]
impl<L: Layer> NodeStore for Layered<L> {
    async fn save_node(&self, node: &Node) -> Result<()> {
        self.below.save_node(node).await
    }
    async fn load_nodes(&self) -> Result<Vec<Node>> {
        self.below.load_nodes().await
    }
    async fn forget_node(&self, session: &str) -> Result<()> {
        self.below.forget_node(session).await
    }
    async fn save_troubles(&self, session: &str, troubles: &[Trouble]) -> Result<()> {
        self.below.save_troubles(session, troubles).await
    }
    async fn load_troubles(&self) -> Result<Vec<NodeTroubles>> {
        self.below.load_troubles().await
    }
    async fn save_clock(&self, mark: &Mark) -> Result<bool> {
        self.below.save_clock(mark).await
    }
    async fn load_clock(&self) -> Result<Option<Mark>> {
        self.below.load_clock().await
    }
}

#[async_trait]
impl<L: Layer> TokenStore for Layered<L> {
    async fn save_token(&self, token: &Token) -> Result<()> {
        self.below.save_token(token).await
    }
    async fn load_token(&self, hash: &str) -> Result<Option<Token>> {
        self.below.load_token(hash).await
    }
    async fn load_tokens(&self) -> Result<Vec<Token>> {
        self.below.load_tokens().await
    }
    async fn revoke_token(&self, name: &str, now: Timestamp) -> Result<bool> {
        self.below.revoke_token(name, now).await
    }
    async fn load_guarded_since(&self) -> Result<Option<Timestamp>> {
        self.layer.load_guarded_since(&*self.below).await
    }
}

#[async_trait]
impl<L: Layer> Store for Layered<L> {
    fn nudges(&self) -> Box<dyn Nudges> {
        self.layer.nudges(&*self.below)
    }
    fn safety_poll(&self) -> SignedDuration {
        self.layer.safety_poll(&*self.below)
    }
    async fn database_time(&self) -> Result<Option<Timestamp>> {
        self.below.database_time().await
    }
    async fn ping(&self) -> Result<()> {
        self.below.ping().await
    }
    async fn size_bytes(&self) -> Result<Option<u64>> {
        self.below.size_bytes().await
    }
}
