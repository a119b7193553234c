//! Statements about tasks.
//!
//! Where the two databases share a text it is written once. PostgreSQL takes whole lists in one
//! statement (`unnest`), because a round trip costs more than a row; SQLite runs the single-row
//! text in a loop, because a call costs less than building a list. Such pairs stand side by side.
//!
//! Lists drive their joins in PostgreSQL: a probe is written `t.id = any (array[u.id])`. To the
//! planner a plain `t.id = u.id` is also a reason to walk the whole index in order, which it
//! prefers while it believes the table to be small, and goes on believing while the table grows.
//!
//! Parameters: SQLite numbers `$1` by where it first occurs in the text, not by its digit. A shared
//! text must therefore use its parameters in ascending order; a text for SQLite alone says `?1`.

use almanack_core::{
    finish::Finish,
    history::Decision,
    reschedule::Change,
    store::{
        Applied, AppliedOnce, ClaimId, ClaimRequest, Claimed, CountBy, Depth, ExpiredClaim,
        Finished, HistoryPage, OnceKey, OnceRecord, Page, Pruned, Records, Result, TakenTask,
        TaskCounts, TaskFilter, TaskStore,
    },
    task::{ClaimedTask, Identity, Kind, Task, TaskId},
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    claim,
    database::{
        Access::{Moment, Read, Transaction},
        Database, SqlStore,
    },
    depth, find, history,
    row::{self, listing, most, small, values},
    session::asked,
};

/// What [`crate::row::task`] reads.
macro_rules! columns {
    () => {
        $crate::task::columns!("t.payload")
    };
    ($payload:literal) => {
        concat!("t.id, t.subject, t.kind, t.status, t.is_current, t.execute_at_us, t.due_at_us, \
         t.priority, t.attempt, t.max_retry, t.term, t.revision, t.decisions, t.replaces_task_id, \
         t.created_at_us, t.created_execute_at_us, t.started_at_us, t.finished_at_us, t.origin, \
         t.node, t.callback_url, t.detail, ", $payload, ", \
         case when t.status = 'RUNNING' then c.lease_until_us end, \
         t.expires_at_us, t.expires_after_s, t.call_options, t.tags")
    };
}
pub(crate) use columns;
macro_rules! from_task {
    () => {
        " from task t left join claim c on c.id = t.claim_id "
    };
}

/// The current row of one identity.
pub(crate) const LOAD_CURRENT_SQLITE: &str = concat!(
    "select ",
    columns!(),
    from_task!(),
    "where t.subject = ?1 and t.kind = ?2 and t.is_current"
);
/// The current rows of many; the position in the list comes last. The `limit` keeps the planner
/// from turning the join around: one probe per identity, never a walk through the index.
pub(crate) const LOAD_CURRENT_POSTGRES: &str = concat!(
    "select ",
    columns!(),
    ", u.position",
    " from unnest($1::text[], $2::text[]) with ordinality u(subject, kind, position)",
    " cross join lateral (select * from task x where x.subject = u.subject and x.kind = u.kind \
      and x.is_current limit 1) t left join claim c on c.id = t.claim_id"
);

pub(crate) const LOAD: &str = concat!("select ", columns!(), from_task!(), "where t.id = $1");

/// The newest rows of an identity from a number on, without payloads. Two halves, so that each uses
/// its own index.
pub(crate) const LOAD_LIVES: &str = concat!(
    "select * from (select * from (select ",
    columns!("cast('null' as text)"),
    from_task!(),
    "where t.subject = $1 and t.kind = $2 and t.is_current and t.id <= $3) present union all select * from (select ",
    columns!("cast('null' as text)"),
    from_task!(),
    "where t.subject = $1 and t.kind = $2 and not t.is_current and t.id <= $3 order by t.id desc limit $4) past) lives order by 1 desc limit $4"
);

macro_rules! insert_columns {
    () => {
        "insert into task (subject, kind, status, is_current, execute_at_us, due_at_us, priority, \
         attempt, max_retry, term, revision, decisions, replaces_task_id, created_at_us, \
         created_execute_at_us, origin, callback_url, payload, expires_at_us, expires_after_s, \
         call_options, tags, share_key) "
    };
}
/// Writes a row unless the identity already has a current one.
pub(crate) const INSERT_SQLITE: &str = concat!(
    insert_columns!(),
    "values (?1, ?2, ?3, 1, ?4, ?5, ?6, 0, ?7, 0, ?8, 0, ?9, ?10, ?4, ?11, ?12, ?13, \
     ?14, ?15, ?16, ?17, ?18) \
     on conflict (subject, kind) where is_current do nothing"
);
pub(crate) const INSERT_POSTGRES: &str = concat!(
    insert_columns!(),
    "select subject, kind, status, true, execute_at_us, due_at_us, priority, 0, max_retry, 0, \
     revision, 0, replaces, created_at_us, execute_at_us, origin, callback_url, payload, \
     expires_at_us, expires_after_s, call_options, tags, share_key \
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::integer[], \
     $7::integer[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], \
     $13::text[], $14::bigint[], $15::integer[], $16::text[], $17::text[], $18::text[]) \
     u(subject, kind, status, execute_at_us, due_at_us, priority, max_retry, revision, replaces, \
     created_at_us, origin, callback_url, payload, expires_at_us, expires_after_s, call_options, \
     tags, share_key) \
     on conflict (subject, kind) where is_current do nothing returning id, subject, kind"
);

/// Changes the current row if it is still exactly as the decision saw it. That it is current need
/// not be asked: a row that gave way has one decision more.
pub(crate) const AMEND_SQLITE: &str = "update task set status = ?5, is_current = ?6, \
     execute_at_us = ?7, due_at_us = ?8, payload = coalesce(?9, payload), callback_url = ?10, \
     priority = ?11, max_retry = ?12, revision = ?13, decisions = decisions + 1, \
     expires_at_us = ?15, expires_after_s = ?16, call_options = ?17, tags = coalesce(?18, tags), \
     share_key = coalesce(?19, share_key), \
     finished_at_us = case when ?5 = 'CANCELLED' and status <> 'CANCELLED' then ?14 \
         else finished_at_us end \
     where id = ?1 and status = ?2 and term = ?3 and decisions = ?4";
/// The same for many, each with its decision. A list costs PostgreSQL a few microseconds whatever is
/// in it, so what few changes say has a text of its own: `$sets` and `$answered`, read from `$lists`.
macro_rules! amend_postgres {
    ($sets:literal, $answered:literal, $lists:literal, $named:literal) => {
        concat!(
            "with amended as ( \
             update task t set status = u.status, execute_at_us = u.execute_at_us, \
                 due_at_us = u.due_at_us, callback_url = u.callback_url, priority = u.priority, \
                 max_retry = u.max_retry, revision = u.revision, decisions = t.decisions + 1, \
                 finished_at_us = case when u.status = 'CANCELLED' and t.status <> 'CANCELLED' \
                     then u.decided_at_us else t.finished_at_us end, ",
            $sets,
            " from unnest($1::bigint[], $2::text[], $3::bigint[], $4::integer[], $5::text[], \
                 $6::bigint[], $7::bigint[], $8::text[], $9::integer[], $10::integer[], \
                 $11::bigint[], $12::bigint[], $13::text[], $14::text[], $15::bigint[]",
            $lists,
            ") with ordinality \
                 u(id, seen_status, seen_term, seen_decisions, status, execute_at_us, due_at_us, \
                 callback_url, priority, max_retry, revision, decided_at_us, origin, rule, \
                 old_execute_at_us, ",
            $named,
            "position) \
             where t.id = any (array[u.id]) and t.status = u.seen_status and t.term = u.seen_term \
                 and t.decisions = u.seen_decisions \
             returning u.position, t.id, t.decisions, u.decided_at_us, u.origin, u.rule, \
                 u.old_execute_at_us, ",
            $answered,
            "), \
             noted as (insert into decision (task_id, number, decided_at_us, origin, rule, \
                 old_execute_at_us, execute_at_us, revision, requested, requested_execute_at_us, \
                 requested_revision) \
             select id, decisions, decided_at_us, origin, rule, old_execute_at_us, \
                 answered_execute_at_us, answered_revision, requested, requested_execute_at_us, \
                 requested_revision from amended) \
             select position from amended"
        )
    };
}
/// Of tasks that only get another time, or none. The decision answers what the row then says.
pub(crate) const MOVE_POSTGRES: &str = amend_postgres!(
    "expires_at_us = null, expires_after_s = null, call_options = null",
    "u.execute_at_us as answered_execute_at_us, u.revision as answered_revision, \
     cast(null as text) as requested, cast(null as bigint) as requested_execute_at_us, \
     cast(null as bigint) as requested_revision",
    "",
    ""
);
/// Any. The decision names the successor later, if there is one ([`NAME_SUCCESSOR_POSTGRES`]): its
/// number is not known before it is written.
pub(crate) const AMEND_POSTGRES: &str = amend_postgres!(
    "is_current = u.is_current, payload = coalesce(u.payload, t.payload), \
     expires_at_us = u.expires_at_us, expires_after_s = u.expires_after_s, \
     call_options = u.call_options, tags = coalesce(u.tags, t.tags), \
     share_key = coalesce(u.share_key, t.share_key)",
    "u.answered_execute_at_us, u.answered_revision, u.requested, u.requested_execute_at_us, \
     u.requested_revision",
    ", $16::boolean[], $17::text[], $18::bigint[], $19::bigint[], $20::text[], $21::bigint[], \
     $22::bigint[], $23::bigint[], $24::integer[], $25::text[], $26::text[], $27::text[]",
    "is_current, payload, answered_execute_at_us, answered_revision, requested, \
     requested_execute_at_us, requested_revision, expires_at_us, expires_after_s, call_options, \
     tags, share_key, "
);
/// Completes the decisions of replaced rows.
pub(crate) const NAME_SUCCESSOR_POSTGRES: &str = "update decision d set new_task_id = u.new_task_id \
     from unnest($1::bigint[], $2::integer[], $3::bigint[]) u(task_id, number, new_task_id) \
     where d.task_id = any (array[u.task_id]) and d.number = u.number";

/// How much waits, per kind and priority; [`crate::claim::LANES`] names the lanes. Counting stops
/// at a bound: a gauge need not read a million rows to say "many".
pub(crate) const DEPTH: &str = "select \
     (select count(*) from (select 1 from task where kind = $1 and priority = $2 \
         and due_at_us is not null limit 100000) w), \
     (select count(*) from (select 1 from task where kind = $1 and priority = $2 \
         and due_at_us <= $3 limit 100000) d), \
     (select min(due_at_us) from task where kind = $1 and priority = $2 \
         and due_at_us is not null)";

/// The numbers of the next rows, when they were created and whether they may have a history of
/// their own: a walk, not a search.
pub(crate) const NEXT_ROWS: &str = "select id, created_at_us, \
     case when decisions > 0 or term > 1 then 1 else 0 end \
     from task where id > $1 order by id limit $2";
/// Deletes a row that ended, and was last decided about, before `?2`. A later decision, even one
/// that changed nothing, may carry a revision that must be remembered as long as itself (RS-10).
macro_rules! prune {
    ($which:literal, $before:literal) => {
        concat!(
            "delete from task where ",
            $which,
            " and due_at_us is null and status in ('SUCCESS', 'FAIL', 'CANCELLED') \
             and coalesce(finished_at_us, created_at_us) < ",
            $before,
            " and not exists (select 1 from decision d where d.task_id = task.id \
             and coalesce(d.last_at_us, d.decided_at_us) >= ",
            $before,
            ")"
        )
    };
}
pub(crate) const PRUNE_SQLITE: &str = concat!(prune!("id = ?1", "?2"), " returning tags");
pub(crate) const PRUNE_POSTGRES: &str = concat!(
    prune!("id = any ($1::bigint[])", "$2"),
    " returning id, tags"
);

#[async_trait]
impl<D: Database> TaskStore for SqlStore<D> {
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        self.0.load_current(identities).await
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        self.0.apply(changes).await
    }

    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce> {
        self.0.apply_once(key, changes).await
    }

    async fn load_once(&self, key: &str) -> Result<Option<OnceRecord>> {
        let name = "load idempotency key";
        self.one(name, history::LOAD_ONCE, values![key], row::once)
            .await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<Claimed> {
        self.0.claim(request).await
    }

    async fn claim_expired(&self, request: ClaimRequest) -> Result<Vec<ClaimedTask>> {
        self.0.claim_expired(request).await
    }

    async fn finish(&self, finishes: Vec<Finish>) -> Result<Vec<Finished>> {
        self.0.finish(finishes).await
    }

    async fn load_taken(&self, ids: &[TaskId], session: &str) -> Result<Vec<Option<TakenTask>>> {
        self.0.load_taken(ids, session).await
    }

    async fn extend_claims(
        &self,
        claims: &[ClaimId],
        now: Timestamp,
        lease_until: Timestamp,
    ) -> Result<Vec<ClaimId>> {
        self.0.extend_claims(claims, now, lease_until).await
    }

    async fn release_claims(&self, claims: &[ClaimId]) -> Result<()> {
        self.0.release_claims(claims).await
    }

    async fn release_ended_claims(&self, claims: &[ClaimId]) -> Result<()> {
        self.0.release_ended_claims(claims).await
    }

    async fn load_expired(&self, now: Timestamp, limit: usize) -> Result<Vec<ExpiredClaim>> {
        let args = (now, most(limit));
        let found = self.ask(Read, "load expired claims", args, asked!(claim::expired));
        let (expired, aside) = found.await?;
        if !aside.is_empty() {
            let args = (aside, now);
            self.ask(
                Transaction,
                "set tasks aside",
                args,
                asked!(claim::set_aside),
            )
            .await?;
        }
        Ok(expired)
    }

    async fn load_task(&self, id: TaskId) -> Result<Option<Task>> {
        let found = self.listed("load task", LOAD, values![id.0], row::TASKS);
        Ok(found.await?.pop())
    }

    async fn list_tasks(&self, filter: &TaskFilter) -> Result<Page<Task, TaskId>> {
        self.ask(Read, "list tasks", filter.clone(), asked!(find::page))
            .await
    }

    async fn count_tasks(&self, filter: &TaskFilter, by: Option<CountBy>) -> Result<TaskCounts> {
        let args = (filter.clone(), by);
        self.ask(Moment, "count tasks", args, asked!(find::count))
            .await
    }

    async fn load_history(&self, identity: &Identity, page: HistoryPage) -> Result<Records> {
        let args = (identity.clone(), page);
        self.ask(Read, "load history", args, asked!(history::load))
            .await
    }

    async fn load_decisions(&self, id: TaskId, after: u32, limit: usize) -> Result<Vec<Decision>> {
        let values = values![id.0, small(after), most(limit)];
        let listed = listing("decision", row::decision);
        self.listed("load decisions", history::LOAD_DECISIONS, values, listed)
            .await
    }

    async fn load_waiting_kinds(&self, limit: usize) -> Result<Vec<Kind>> {
        let values = values![most(limit)];
        let kinds = listing("task", |row| row.get(0));
        self.listed("load waiting kinds", claim::KINDS, values, kinds)
            .await
    }

    async fn load_depths(&self, now: Timestamp) -> Result<Vec<Depth>> {
        self.ask(Read, "load depths", now, asked!(depth::load))
            .await
    }

    async fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> Result<Pruned> {
        self.0.prune(before, after, limit).await
    }

    async fn prune_keys(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let values = values![before, most(limit)];
        self.execute("prune idempotency keys", history::PRUNE_ONCE, values)
            .await
    }
}
