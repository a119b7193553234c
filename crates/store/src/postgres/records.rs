//! Tasks on PostgreSQL: looked up together, and forgotten. What changes them is in `task.rs`.

use almanack_core::{
    reschedule::Change,
    store::{Applied, AppliedOnce, OnceKey, Pruned, Result},
    task::{Identity, Task, TaskId},
};
use async_trait::async_trait;
use deadpool_postgres::Pool;
use jiff::Timestamp;

use super::{
    Postgres,
    batcher::BatchedWork,
    client, explain,
    session::{in_order, query},
    task::{apply_once, untag},
};
use crate::{
    database::Tasks,
    history,
    row::{self, micros, most, nearest},
    task,
};

/// The position's column: behind the columns of a task.
pub(super) const POSITION: usize = 28;

/// Finds the current rows of identities.
pub(super) struct LoadCurrent {
    pub(super) pool: Pool,
}

#[async_trait]
impl BatchedWork for LoadCurrent {
    type Item = Identity;
    type Answer = Option<Task>;
    const ONLY_READS: bool = true;

    async fn run(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        let subjects: Vec<&str> = identities.iter().map(|i| i.subject.as_str()).collect();
        let kinds: Vec<&str> = identities.iter().map(|i| i.kind.as_str()).collect();
        let client = client(&self.pool).await?;
        let (name, text) = ("load current tasks", task::LOAD_CURRENT_POSTGRES);
        let rows = query(&client, name, text, &[&subjects, &kinds]).await?;
        in_order(&rows, POSITION, identities.len(), row::task)
    }
}

impl Tasks for Postgres {
    async fn load_current(&self, identities: &[Identity]) -> Result<Vec<Option<Task>>> {
        let _seat = self.seat()?;
        let _looking = self.lookers.enter();
        self.looks.pass(identities.to_vec()).await
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        self.changes.pass(changes).await
    }

    async fn apply_once(&self, key: OnceKey, changes: Vec<Change>) -> Result<AppliedOnce> {
        let mut client = self.client().await?;
        apply_once(&mut client, &self.channel, &key, &changes).await
    }

    /// The row goes first: a decision made meanwhile finds it locked, and then gone.
    async fn prune(&self, before: Timestamp, after: TaskId, limit: usize) -> Result<Pruned> {
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
        let tagged: Vec<(i64, String)> = rows
            .iter()
            .filter_map(|row| Some((row.get(0), row.get::<_, Option<String>>(1)?)))
            .collect();
        untag(&transaction, &tagged).await?;
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
}
