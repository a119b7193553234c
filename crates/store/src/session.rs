//! One connection of either database, and the statements that are asked on it.
//!
//! What the two stores do with the same statements is written once, against this trait: SQLite's
//! session works on the thread that owns the connection and is done at the first poll, PostgreSQL's
//! waits for the server. Where one text cannot serve both, [`Session::text`] picks.

use std::pin::Pin;

use almanack_core::{
    reschedule::Change,
    store::{Applied, Result},
    task::NewTask,
};
use async_trait::async_trait;

use crate::row::{Listing, Row, Value};

/// What is asked of a session with arguments that outlive it. It may be asked more than once.
pub(crate) type Work<A, T> = for<'a> fn(&'a dyn Session, &'a A) -> Answer<'a, T>;

/// A function of a session and its arguments, as [`Work`].
macro_rules! asked {
    ($work:path) => {
        |session, args| Box::pin($work(session, args))
    };
}
pub(crate) use asked;

/// What comes of it.
pub(crate) type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

pub(crate) type Each<'a> = dyn for<'r> FnMut(&Row<'r>) -> Result<()> + Send + 'a;

#[async_trait]
pub(crate) trait Session: Send + Sync {
    /// The text that this database reads.
    fn text(&self, sqlite: &'static str, postgres: &'static str) -> &'static str;

    /// Carries out a statement; how many rows it changed.
    async fn execute(&self, text: &'static str, values: &[Value<'_>]) -> Result<usize>;

    /// Carries out a statement for each list of values, in any order.
    async fn execute_each(&self, text: &'static str, rows: &[Vec<Value<'_>>]) -> Result<()>;

    /// Hands every row that a statement answers to `read`.
    async fn each(
        &self,
        text: &'static str,
        values: &[Value<'_>],
        read: &mut Each<'_>,
    ) -> Result<()>;

    /// Writes tasks as a part of something larger; an identity that exists already is left as it
    /// is.
    async fn insert_tasks(&self, tasks: &[NewTask], created_at_us: i64) -> Result<()>;

    /// Carries out changes, each for itself, as a part of something larger.
    async fn apply(&self, changes: &[Change]) -> Result<Vec<Applied>>;
}

impl dyn Session + '_ {
    /// Every row, or the first error.
    pub(crate) async fn rows<T: Send>(
        &self,
        text: &'static str,
        values: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let mut each = |row: &Row<'_>| {
            found.push(read(row)?);
            Ok(())
        };
        self.each(text, values, &mut each).await?;
        Ok(found)
    }

    /// Every row that can be shown.
    pub(crate) async fn listed<T: Send>(
        &self,
        text: &'static str,
        values: &[Value<'_>],
        listing: Listing<T>,
    ) -> Result<Vec<T>> {
        let found = self.rows(text, values, |row| Ok(listing.read(row))).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The one row there is, if any.
    pub(crate) async fn one<T: Send>(
        &self,
        text: &'static str,
        values: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T> + Send + Sync,
    ) -> Result<Option<T>> {
        let found = self.rows(text, values, read).await?;
        Ok(found.into_iter().next())
    }

    /// The first number of the one row there is, if any.
    pub(crate) async fn number(
        &self,
        text: &'static str,
        values: &[Value<'_>],
    ) -> Result<Option<i64>> {
        let found = self.one(text, values, |row| row.get(0)).await?;
        Ok(found.flatten())
    }
}
