//! The store port on PostgreSQL: each call handed to the file that carries it out; nodes and tokens here.

use almanack_core::{
    alert::trouble::{NodeTroubles, Trouble},
    clock::Mark,
    finish::Finish,
    history::Decision,
    plan::{Edit, Schedule, ScheduleId, ScheduleName, ScheduleWrite, Slot},
    reschedule::Change,
    store::{
        Applied, AppliedOnce, ClaimId, ClaimRequest, Claimed, Depth, DueSchedules, Error,
        ExpiredClaim, Finished, HistoryPage, LedgerPage, Node, NodeStore, OnceKey, OnceRecord,
        Page, Pruned, Records, Result, ScheduleFilter, ScheduleStore, TaskFilter, TaskStore,
        TokenStore,
    },
    task::{Identity, Kind, Task, TaskId},
    token::Token,
};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::{PostgresStore, task::apply_once};
use crate::{
    register,
    row::{self, instant, micros, period_micros, readable},
    sign_in,
};

#[async_trait]
impl TaskStore for PostgresStore {
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        let _place = self.place()?;
        self.looks.pass(identities.to_vec()).await
    }
    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        self.changes.pass(changes).await
    }
    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce> {
        let mut client = self.client().await?;
        apply_once(&mut client, &self.channel, &key, &changes).await
    }
    async fn load_once(&self, key: &str) -> Result<Option<OnceRecord>> {
        self.once(key).await
    }
    async fn claim(&self, request: ClaimRequest) -> Result<Claimed> {
        self.take(request).await
    }
    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        self.end(finishes).await
    }
    async fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        self.extend(claims, now, lease_until).await
    }
    async fn release_claims(&self, claims: &[ClaimId]) -> Result<()> {
        self.release(claims).await
    }
    async fn load_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ExpiredClaim>> {
        self.expired(now, limit).await
    }
    async fn load_task(&self, id: TaskId) -> Result<Option<Task>> {
        self.task(id).await
    }
    async fn list_tasks(&self, filter: &TaskFilter) -> Result<Page<Task, TaskId>> {
        self.page(filter).await
    }
    async fn load_history(&self, identity: &Identity, page: HistoryPage) -> Result<Records> {
        self.history(identity, page).await
    }
    async fn load_decisions(&self, id: TaskId, after: u32, limit: usize) -> Result<Vec<Decision>> {
        self.decisions(id, after, limit).await
    }
    async fn load_waiting_kinds(&self, limit: usize) -> Result<Vec<Kind>> {
        self.waiting_kinds(limit).await
    }
    async fn load_depths(&self, now: Timestamp) -> Result<Vec<Depth>> {
        self.depths(now).await
    }
    async fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> Result<Pruned> {
        self.forget(before, after, limit).await
    }
    async fn prune_keys(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.forget_keys(before, limit).await
    }
}

#[async_trait]
impl ScheduleStore for PostgresStore {
    async fn load_due_schedules(&self, now: Timestamp, limit: usize) -> Result<DueSchedules> {
        self.due(now, limit).await
    }
    async fn load_schedules(&self, names: &[ScheduleName]) -> Result<Vec<Option<Schedule>>> {
        self.named(names).await
    }
    async fn list_schedules(
        &self,
        filter: &ScheduleFilter,
    ) -> Result<Page<Schedule, ScheduleName>> {
        self.schedules(filter).await
    }
    async fn write_schedules(&self, writes: Vec<ScheduleWrite>) -> Result<Vec<Applied>> {
        self.decide(writes).await
    }
    async fn load_slots(&self, id: ScheduleId, page: LedgerPage) -> Result<Vec<Slot>> {
        self.ledger(id, page).await
    }
    async fn load_edits(&self, id: ScheduleId, limit: usize) -> Result<Vec<Edit>> {
        self.edits(id, limit).await
    }
    async fn load_decided_ahead(
        &self,
        after: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleName>> {
        self.decided_ahead(after, limit).await
    }
    async fn prune_slots(&self, before: Timestamp, limit: usize) -> Result<usize> {
        self.forget_slots(before, limit).await
    }
}

#[async_trait]
impl NodeStore for PostgresStore {
    async fn save_node(&self, node: &Node) -> Result<()> {
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &node.session,
            &node.name,
            &node.version,
            &micros(node.started_at),
            &micros(node.seen_at),
            &node.skew_us,
        ];
        self.execute("save node", register::SAVE_NODE, &parameters)
            .await
            .map(|_| ())
    }

    async fn load_nodes(&self) -> Result<Vec<Node>> {
        let rows = self.rows("load nodes", register::LOAD_NODES, &[]).await?;
        let nodes = rows.iter().map(row::node);
        Ok(nodes.filter_map(|node| readable("node", node)).collect())
    }

    async fn forget_node(&self, session: &str) -> Result<()> {
        self.execute("forget node", register::FORGET_NODE, &[&session])
            .await?;
        // What a crash leaves here belongs to no node, and nobody reads it.
        self.execute("forget troubles", register::FORGET_TROUBLES, &[&session])
            .await
            .map(|_| ())
    }

    async fn save_troubles(&self, session: &str, troubles: &[Trouble]) -> Result<()> {
        if troubles.is_empty() {
            self.execute("forget troubles", register::FORGET_TROUBLES, &[&session])
                .await?;
            return Ok(());
        }
        let text = Trouble::write_all(troubles);
        self.execute("save troubles", register::SAVE_TROUBLES, &[&session, &text])
            .await
            .map(|_| ())
    }

    async fn load_troubles(&self) -> Result<Vec<NodeTroubles>> {
        let rows = self
            .rows("load troubles", register::LOAD_TROUBLES, &[])
            .await?;
        let troubles = rows.iter().map(row::troubles);
        Ok(troubles
            .filter_map(|troubles| readable("node_trouble", troubles))
            .collect())
    }

    async fn save_clock(&self, mark: &Mark) -> Result<bool> {
        let parameters: [&(dyn ToSql + Sync); 4] = [
            &micros(mark.at),
            &period_micros(mark.uptime),
            &mark.boot,
            &mark.revision,
        ];
        let saved = self.execute("save clock", register::SAVE_CLOCK, &parameters);
        Ok(saved.await? == 1)
    }

    async fn load_clock(&self) -> Result<Option<Mark>> {
        let rows = self.rows("load clock", register::LOAD_CLOCK, &[]).await?;
        rows.first().map(row::mark).transpose()
    }
}

#[async_trait]
impl TokenStore for PostgresStore {
    async fn save_token(&self, token: &Token) -> Result<()> {
        let parameters: [&(dyn ToSql + Sync); 5] = [
            &token.name,
            &token.hash,
            &token.scope.as_str(),
            &micros(token.created_at),
            &token.expires_at.map(micros),
        ];
        match self
            .execute("save token", register::SAVE_TOKEN, &parameters)
            .await?
        {
            1 => Ok(()),
            _ => Err(Error::Taken {
                what: "token",
                name: token.name.clone(),
            }),
        }
    }

    async fn load_token(&self, hash: &str) -> Result<Option<Token>> {
        let rows = self
            .rows("load token", register::LOAD_TOKEN, &[&hash])
            .await?;
        rows.first().map(row::token).transpose()
    }

    async fn load_tokens(&self) -> Result<Vec<Token>> {
        let rows = self.rows("load tokens", register::LOAD_TOKENS, &[]).await?;
        Ok(rows.iter().filter_map(row::shown_token).collect())
    }

    async fn revoke_token(&self, name: &str, now: Timestamp) -> Result<bool> {
        let parameters: [&(dyn ToSql + Sync); 2] = [&micros(now), &name];
        Ok(self
            .execute("revoke token", register::REVOKE_TOKEN, &parameters)
            .await?
            == 1)
    }

    async fn load_guarded_since(&self) -> Result<Option<Timestamp>> {
        let rows = self
            .rows("load access guard", sign_in::LOAD_GUARDED_SINCE, &[])
            .await?;
        let since: Option<i64> = rows.first().and_then(|row| row.get(0));
        since.map(instant).transpose()
    }
}
