//! A connection as a session: every statement is done when it is asked, on the connection's own
//! thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use almanack_core::{
    reschedule::Change,
    store::{Applied, Result},
    task::NewTask,
};
use async_trait::async_trait;
use futures_util::FutureExt as _;
use rusqlite::{Connection, params_from_iter};

use super::{
    explain,
    task::{apply, insert_all},
    thread::{Fault, Outcome},
};
use crate::{
    row::{Row, Value},
    session::{Each, Session, Work},
};

/// Has `work` done. What it asks for is there at once, so it never waits.
pub(super) fn ask<A, T>(
    connection: &mut Connection,
    name: &'static str,
    args: &A,
    work: Work<A, T>,
) -> Outcome<T> {
    let session = SqliteSession {
        // No other user is here; a session only has to be one that could be shared.
        connection: Mutex::new(connection),
        name,
    };
    let done = work(&session, args).now_or_never();
    Ok(done.ok_or(Fault::Stopped)??)
}

struct SqliteSession<'c> {
    connection: Mutex<&'c mut Connection>,
    name: &'static str,
}

impl<'c> SqliteSession<'c> {
    fn connection(&self) -> MutexGuard<'_, &'c mut Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> Outcome<T>) -> Result<T> {
        work(&self.connection()).map_err(|fault| explain(self.name, fault))
    }
}

#[async_trait]
impl Session for SqliteSession<'_> {
    fn text(&self, sqlite: &'static str, _: &'static str) -> &'static str {
        sqlite
    }

    async fn execute(&self, text: &'static str, values: &[Value<'_>]) -> Result<usize> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(text)?;
            Ok(statement.execute(params_from_iter(values))?)
        })
    }

    async fn execute_each(&self, text: &'static str, rows: &[Vec<Value<'_>>]) -> Result<()> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(text)?;
            for values in rows {
                statement.execute(params_from_iter(values))?;
            }
            Ok(())
        })
    }

    async fn each(
        &self,
        text: &'static str,
        values: &[Value<'_>],
        read: &mut Each<'_>,
    ) -> Result<()> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(text)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                read(&Row::from(row))?;
            }
            Ok(())
        })
    }

    async fn insert_tasks(&self, tasks: &[NewTask], created_at_us: i64) -> Result<()> {
        self.with(|connection| insert_all(connection, tasks, created_at_us))
    }

    async fn apply(&self, changes: &[Change]) -> Result<Vec<Applied>> {
        self.with(|connection| {
            let each = changes.iter().map(|change| apply(connection, change));
            each.collect()
        })
    }
}
