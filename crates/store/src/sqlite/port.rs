//! The store port on SQLite: each call handed to the file that carries it out; nodes and tokens here.

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
use rusqlite::params;

use crate::{
    register,
    row::{self, instant, micros, period_micros, readable},
    sign_in,
    sqlite::SqliteStore,
};

#[async_trait]
impl TaskStore for SqliteStore {
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        self.current(identities).await
    }
    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        self.carry_out(changes).await
    }
    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce> {
        self.carry_out_once(key, changes).await
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
impl ScheduleStore for SqliteStore {
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
impl NodeStore for SqliteStore {
    async fn save_node(&self, node: &Node) -> Result<()> {
        let node = node.clone();
        self.write("save node", move |connection| {
            connection
                .prepare_cached(register::SAVE_NODE)?
                .execute(params![
                    node.session,
                    node.name,
                    node.version,
                    micros(node.started_at),
                    micros(node.seen_at),
                    node.skew_us,
                ])?;
            Ok(())
        })
        .await
    }

    async fn load_nodes(&self) -> Result<Vec<Node>> {
        self.read("load nodes", |connection| {
            let mut statement = connection.prepare_cached(register::LOAD_NODES)?;
            let mut rows = statement.query([])?;
            let mut nodes = Vec::new();
            while let Some(row) = rows.next()? {
                nodes.extend(readable("node", row::node(row)));
            }
            Ok(nodes)
        })
        .await
    }

    async fn forget_node(&self, session: &str) -> Result<()> {
        let session = session.to_owned();
        self.write("forget node", move |connection| {
            connection
                .prepare_cached(register::FORGET_NODE)?
                .execute([&session])?;
            connection
                .prepare_cached(register::FORGET_TROUBLES)?
                .execute([&session])?;
            Ok(())
        })
        .await
    }

    async fn save_troubles(&self, session: &str, troubles: &[Trouble]) -> Result<()> {
        let (session, text) = (session.to_owned(), Trouble::write_all(troubles));
        let is_well = troubles.is_empty();
        self.write("save troubles", move |connection| {
            if is_well {
                let mut statement = connection.prepare_cached(register::FORGET_TROUBLES)?;
                statement.execute([&session])?;
                return Ok(());
            }
            let mut statement = connection.prepare_cached(register::SAVE_TROUBLES)?;
            statement.execute([&session, &text])?;
            Ok(())
        })
        .await
    }

    async fn save_clock(&self, mark: &Mark) -> Result<bool> {
        let mark = mark.clone();
        self.write("save clock", move |connection| {
            let mut statement = connection.prepare_cached(register::SAVE_CLOCK)?;
            let rows = statement.execute(params![
                micros(mark.at),
                period_micros(mark.uptime),
                mark.boot,
                mark.revision,
            ])?;
            Ok(rows == 1)
        })
        .await
    }

    async fn load_troubles(&self) -> Result<Vec<NodeTroubles>> {
        self.read("load troubles", |connection| {
            let mut statement = connection.prepare_cached(register::LOAD_TROUBLES)?;
            let mut rows = statement.query([])?;
            let mut troubles = Vec::new();
            while let Some(row) = rows.next()? {
                troubles.extend(readable("node_trouble", row::troubles(row)));
            }
            Ok(troubles)
        })
        .await
    }

    async fn load_clock(&self) -> Result<Option<Mark>> {
        self.read("load clock", |connection| {
            let mut statement = connection.prepare_cached(register::LOAD_CLOCK)?;
            let mut rows = statement.query([])?;
            Ok(rows.next()?.map(row::mark).transpose()?)
        })
        .await
    }
}

#[async_trait]
impl TokenStore for SqliteStore {
    async fn save_token(&self, token: &Token) -> Result<()> {
        let new = token.clone();
        let saved = self
            .write("save token", move |connection| {
                let mut statement = connection.prepare_cached(register::SAVE_TOKEN)?;
                Ok(statement.execute(params![
                    new.name,
                    new.hash,
                    new.scope.as_str(),
                    micros(new.created_at),
                    new.expires_at.map(micros),
                ])?)
            })
            .await?;
        if saved == 1 {
            return Ok(());
        }
        Err(Error::Taken {
            what: "token",
            name: token.name.clone(),
        })
    }

    async fn load_token(&self, hash: &str) -> Result<Option<Token>> {
        let hash = hash.to_owned();
        self.read("load token", move |connection| {
            let mut statement = connection.prepare_cached(register::LOAD_TOKEN)?;
            let mut rows = statement.query([&hash])?;
            Ok(rows.next()?.map(row::token).transpose()?)
        })
        .await
    }

    async fn load_tokens(&self) -> Result<Vec<Token>> {
        self.read("load tokens", |connection| {
            let mut statement = connection.prepare_cached(register::LOAD_TOKENS)?;
            let mut rows = statement.query([])?;
            let mut tokens = Vec::new();
            while let Some(row) = rows.next()? {
                tokens.extend(row::shown_token(row));
            }
            Ok(tokens)
        })
        .await
    }

    async fn revoke_token(&self, name: &str, now: Timestamp) -> Result<bool> {
        let name = name.to_owned();
        let revoked = self
            .write("revoke token", move |connection| {
                let mut statement = connection.prepare_cached(register::REVOKE_TOKEN)?;
                Ok(statement.execute(params![micros(now), name])?)
            })
            .await?;
        Ok(revoked == 1)
    }

    async fn load_guarded_since(&self) -> Result<Option<Timestamp>> {
        self.read("load access guard", |connection| {
            let mut statement = connection.prepare_cached(sign_in::LOAD_GUARDED_SINCE)?;
            let since: Option<i64> = statement.query_row([], |row| row.get(0))?;
            Ok(since.map(instant).transpose()?)
        })
        .await
    }
}
