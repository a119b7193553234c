//! Looking things up on PostgreSQL, and forgetting them.

use almanack_core::{
    history::Decision,
    store::{Depth, HistoryPage, OnceRecord, Page, Pruned, Records, Result, TaskFilter},
    task::{Identity, Kind, Status, Task, TaskId},
};
use async_trait::async_trait;
use deadpool_postgres::Pool;
use jiff::Timestamp;
use tokio_postgres::{Row, types::ToSql};

use super::{PostgresStore, client, explain, gate::Errand, question::Question};
use crate::{
    caller::Caller,
    claim, depth, history,
    measure::Stopwatch,
    row::{self, examined, micros, most, nearest, one_more, readable, small, unreadable},
    task,
};

/// Where the position stands: behind the columns of a task.
const POSITION: usize = 24;

/// Finds the current rows of identities.
pub(super) struct LoadCurrent {
    pub(super) pool: Pool,
}

#[async_trait]
impl Errand for LoadCurrent {
    type Item = Identity;
    type Answer = Option<Task>;
    const ONLY_READS: bool = true;

    async fn run(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        let failed = |error| explain("load current tasks", error);
        let subjects: Vec<&str> = identities.iter().map(|i| i.subject.as_str()).collect();
        let kinds: Vec<&str> = identities.iter().map(|i| i.kind.as_str()).collect();
        let client = client(&self.pool).await?;
        let statement = client
            .prepare_cached(task::LOAD_CURRENT_POSTGRES)
            .await
            .map_err(failed)?;
        let rows = client
            .query(&statement, &[&subjects, &kinds])
            .await
            .map_err(failed)?;
        let mut found: Vec<Option<Task>> = identities.iter().map(|_| None).collect();
        for row in rows {
            let position = usize::try_from(row.get::<_, i64>(POSITION)).unwrap_or(0);
            if let Some(slot) = found.get_mut(position.wrapping_sub(1)) {
                *slot = Some(row::task(&row)?);
            }
        }
        Ok(found)
    }
}

impl PostgresStore {
    pub(super) async fn execute(
        &self,
        name: &'static str,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<u64> {
        let failed = |error| explain(name, error);
        let watch = Stopwatch::start();
        let client = self.client().await?;
        let statement = client.prepare_cached(statement).await.map_err(failed)?;
        let done = client.execute(&statement, parameters).await;
        watch.took("write");
        done.map_err(failed)
    }

    pub(super) async fn rows(
        &self,
        name: &'static str,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        let watch = Stopwatch::start();
        let rows = self.rows_of_caller(name, statement, parameters).await;
        watch.took("read");
        rows
    }

    async fn rows_of_caller(
        &self,
        name: &'static str,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        if self.caller == Caller::Pages {
            return self.rows_of_a_page(name, statement, parameters).await;
        }
        let failed = |error| explain(name, error);
        let client = self.client().await?;
        let statement = client.prepare_cached(statement).await.map_err(failed)?;
        client.query(&statement, parameters).await.map_err(failed)
    }

    /// The same for whoever may go away before it is answered.
    async fn rows_of_a_page(
        &self,
        name: &'static str,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        let failed = |error| explain(name, error);
        let _place = self.place()?;
        let question = Question::on(self.client().await?, self.shared.tls.clone());
        let client = question.client();
        let statement = client.prepare_cached(statement).await.map_err(failed)?;
        let rows = client.query(&statement, parameters).await;
        question.answered();
        rows.map_err(failed)
    }

    pub(super) async fn once(&self, key: &str) -> Result<Option<OnceRecord>> {
        let rows = self
            .rows("load idempotency key", history::LOAD_ONCE, &[&key])
            .await?;
        let record = |row: &Row| {
            let receipts = serde_json::from_str(row.get(1)).map_err(unreadable)?;
            Ok(OnceRecord {
                digest: row.get(0),
                receipts,
            })
        };
        rows.first().map(record).transpose()
    }

    pub(super) async fn task(&self, id: TaskId) -> Result<Option<Task>> {
        let rows = self.rows("load task", task::LOAD, &[&id.0]).await?;
        Ok(rows.first().and_then(row::shown_task))
    }

    pub(super) async fn page(&self, filter: &TaskFilter) -> Result<Page<Task, TaskId>> {
        let name = "list tasks";
        let before = filter.before.map_or(i64::MAX, |id| id.0);
        let to = if filter.is_empty() {
            None
        } else {
            let parameters: [&(dyn ToSql + Sync); 2] = [&before, &examined(filter.among)];
            self.examined_to(name, task::EXAMINED_TO, &parameters)
                .await?
        };
        let parameters: [&(dyn ToSql + Sync); 6] = [
            &before,
            &to.unwrap_or(0),
            &filter.kind.as_ref().map(Kind::as_str),
            &filter.status.map(Status::as_str),
            &filter.subject_prefix,
            &one_more(filter.limit),
        ];
        let rows = self.rows(name, task::LIST_POSTGRES, &parameters).await?;
        let found = rows
            .iter()
            .map(|row| (TaskId(row.get(0)), row::shown_task(row)));
        let page = Page::cut(found.collect(), filter.limit, to.map(TaskId), |(id, _)| *id);
        Ok(page.filter_map(|(_, task)| task))
    }

    /// Where a page stops at the latest; nowhere before the end, if there is nothing to stop at.
    pub(super) async fn examined_to(
        &self,
        name: &'static str,
        text: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<i64>> {
        let rows = self.rows(name, text, parameters).await?;
        Ok(rows.first().and_then(|row| row.get(0)))
    }

    pub(super) async fn history(&self, identity: &Identity, page: HistoryPage) -> Result<Records> {
        let (subject, kind) = (identity.subject.as_str(), identity.kind.as_str());
        let mut wanted = history::Wanted::of(page);
        let key: [&(dyn ToSql + Sync); 4] = [&subject, &kind, &wanted.from(), &wanted.rows()];
        let mut lives = Vec::new();
        for row in self.rows("load history", task::LOAD_LIVES, &key).await? {
            if wanted.is_full() {
                break;
            }
            let Some(task) = row::shown_task(&row) else {
                continue;
            };
            let life = self.life(task, &wanted).await?;
            wanted.take(&life);
            lives.push(life);
        }
        Ok(history::records(lives))
    }

    async fn life(&self, task: Task, wanted: &history::Wanted) -> Result<history::Life> {
        let (name, bounds, rows) = ("load history", wanted.bounds(&task), wanted.rows());
        let (mut decisions, mut attempts) = (Vec::new(), Vec::new());
        // What a row has none of is not asked for: most have neither.
        if task.decisions > 0 {
            let key: [&(dyn ToSql + Sync); 3] = [&task.id.0, &bounds.number, &rows];
            let found = self
                .rows(name, history::LOAD_DECISIONS_BEFORE, &key)
                .await?;
            let found = found.iter().map(row::decision);
            decisions = found
                .filter_map(|found| readable("decision", found))
                .collect();
        }
        if task.term.0 > 0 {
            let key: [&(dyn ToSql + Sync); 3] = [&task.id.0, &bounds.term, &rows];
            let found = self.rows(name, history::LOAD_ATTEMPTS_BEFORE, &key).await?;
            let found = found.iter().map(row::attempt);
            attempts = found
                .filter_map(|found| readable("attempt", found))
                .collect();
        }
        Ok(history::Life {
            task,
            decisions,
            attempts,
        })
    }

    pub(super) async fn decisions(
        &self,
        id: TaskId,
        after: u32,
        limit: usize,
    ) -> Result<Vec<Decision>> {
        let key: [&(dyn ToSql + Sync); 3] = [&id.0, &small(after), &most(limit)];
        let rows = self
            .rows("load decisions", history::LOAD_DECISIONS, &key)
            .await?;
        let found = rows.iter().map(row::decision);
        Ok(found
            .filter_map(|found| readable("decision", found))
            .collect())
    }

    pub(super) async fn waiting_kinds(&self, limit: usize) -> Result<Vec<Kind>> {
        let name = "load waiting kinds";
        let rows = self.rows(name, claim::KINDS, &[&most(limit)]).await?;
        let read = |row: &Row| Kind::parse(row.get(0)).ok();
        Ok(rows.iter().filter_map(read).collect())
    }

    pub(super) async fn depths(&self, now: Timestamp) -> Result<Vec<Depth>> {
        let mut depths = Vec::new();
        for lane in self.rows("load depths", claim::LANES, &[]).await? {
            let (kind, priority): (String, i32) = (lane.get(0), lane.get(1));
            let Ok(known) = Kind::parse(&kind) else {
                continue;
            };
            let key: [&(dyn ToSql + Sync); 3] = [&kind, &priority, &micros(now)];
            for row in self.rows("load depths", task::DEPTH, &key).await? {
                let lane = Depth {
                    kind: known.clone(),
                    waiting: u64::try_from(row.get::<_, i64>(0)).unwrap_or(0),
                    due: u64::try_from(row.get::<_, i64>(1)).unwrap_or(0),
                    first_due_at: row.get::<_, Option<i64>>(2).map(nearest),
                };
                depth::add(&mut depths, lane);
            }
        }
        Ok(depths)
    }

    /// The row goes first: a decision made meanwhile finds it locked, and then gone.
    pub(super) async fn forget(
        &self,
        before: Timestamp,
        after: TaskId,
        limit: usize,
    ) -> Result<Pruned> {
        let failed = |error| explain("prune", error);
        let (before, limit_rows) = (micros(before), most(limit));
        let walked = self
            .rows("find old tasks", task::NEXT_ROWS, &[&after.0, &limit_rows])
            .await?;
        let ids: Vec<i64> = walked.iter().map(|row| row.get(0)).collect();
        let oldest = walked.iter().map(|row| row.get(1)).min().map(nearest);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(failed)?;
        let rows = transaction
            .query(task::PRUNE_POSTGRES, &[&ids, &before])
            .await
            .map_err(failed)?;
        let gone: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        for delete in history::PRUNE_POSTGRES {
            transaction
                .execute(delete, &[&gone])
                .await
                .map_err(failed)?;
        }
        let stay = walked.iter().filter(|row| row.get::<_, i32>(2) == 1);
        let stay: Vec<i64> = stay
            .map(|row| row.get(0))
            .filter(|id| !gone.contains(id))
            .collect();
        for delete in history::FORGET_POSTGRES.iter().filter(|_| !stay.is_empty()) {
            transaction
                .execute(*delete, &[&stay, &before])
                .await
                .map_err(failed)?;
        }
        transaction.commit().await.map_err(failed)?;
        let next = ids
            .last()
            .filter(|_| ids.len() == limit)
            .map(|id| TaskId(*id));
        Ok(Pruned {
            rows: gone.len(),
            next,
            oldest,
        })
    }

    pub(super) async fn forget_keys(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let key: [&(dyn ToSql + Sync); 2] = [&micros(before), &most(limit)];
        let name = "prune idempotency keys";
        let gone = self.execute(name, history::PRUNE_ONCE, &key).await?;
        Ok(usize::try_from(gone).unwrap_or(usize::MAX))
    }
}
