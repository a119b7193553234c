//! A connection as a session, and statements that take whole lists.

use almanack_core::{
    reschedule::Change,
    store::{Applied, Result},
    task::NewTask,
};
use async_trait::async_trait;
use deadpool_postgres::GenericClient;
use futures_util::future::try_join_all;
use tokio_postgres::{Row, types::ToSql};

use super::{
    Postgres, explain,
    question::Question,
    task::{apply_within, insert_tasks},
};
use crate::{
    caller::{Caller, Seat},
    measure::Stopwatch,
    row::{self, List, Value},
    session::{Each, Session},
};

/// Parameters in the driver's words; lists among them.
type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Postgres {
    pub(super) async fn execute(
        &self,
        name: &'static str,
        text: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64> {
        let watch = Stopwatch::start();
        let client = self.client().await?;
        let done = execute(&client, name, text, parameters).await;
        watch.took("write");
        done
    }

    pub(super) async fn rows(
        &self,
        name: &'static str,
        text: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>> {
        let watch = Stopwatch::start();
        let (_place, question) = self.question().await?;
        let rows = query(question.client(), name, text, parameters).await;
        question.answered();
        watch.took("read");
        rows
    }

    /// A connection to ask on, and a seat among those who wait for their page, where that is
    /// needed.
    pub(super) async fn question(&self) -> Result<(Seat, Question)> {
        let seat = self.seat()?;
        let (client, tls) = (self.client().await?, self.shared.tls.clone());
        let patient = self.caller != Caller::Pages;
        Ok((seat, Question::on(client, tls, patient)))
    }
}

/// What rows answer, each at the index in the list that its column `position` names.
pub(super) fn in_order<T>(
    rows: &[Row],
    position: usize,
    asked: usize,
    read: impl Fn(&row::Row<'_>) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    let mut found: Vec<Option<T>> = (0..asked).map(|_| None).collect();
    for row in rows {
        let place = usize::try_from(row.get::<_, i64>(position)).unwrap_or(0);
        if let Some(slot) = found.get_mut(place.wrapping_sub(1)) {
            *slot = Some(read(&row.into())?);
        }
    }
    Ok(found)
}

/// A value of each row, for a statement that takes lists.
pub(super) fn column<'r, R, T>(rows: &'r [R], value: impl Fn(&'r R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

pub(super) async fn execute(
    client: &impl GenericClient,
    name: &'static str,
    text: &str,
    parameters: Parameters<'_>,
) -> Result<u64> {
    let failed = |error| explain(name, error);
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.execute(&statement, parameters).await.map_err(failed)
}

pub(super) async fn query(
    client: &impl GenericClient,
    name: &'static str,
    text: &str,
    parameters: Parameters<'_>,
) -> Result<Vec<Row>> {
    let failed = |error| explain(name, error);
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.query(&statement, parameters).await.map_err(failed)
}

/// The same with lists; nothing is asked where they are empty.
pub(super) async fn query_lists(
    client: &impl GenericClient,
    name: &'static str,
    text: &str,
    lists: Vec<List<'_>>,
) -> Result<Vec<Row>> {
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let parameters: Vec<&(dyn ToSql + Sync)> = lists.iter().map(|list| list as _).collect();
    query(client, name, text, &parameters).await
}

pub(super) struct PostgresSession<'c, C> {
    pub(super) client: &'c C,
    pub(super) name: &'static str,
}

#[async_trait]
impl<C: GenericClient> Session for PostgresSession<'_, C> {
    fn text(&self, _: &'static str, postgres: &'static str) -> &'static str {
        postgres
    }

    async fn execute(&self, text: &'static str, values: &[Value<'_>]) -> Result<usize> {
        let done = execute(self.client, self.name, text, &parameters(values)).await?;
        Ok(usize::try_from(done).unwrap_or(usize::MAX))
    }

    /// Sent without waiting for each other's answers.
    async fn execute_each(&self, text: &'static str, rows: &[Vec<Value<'_>>]) -> Result<()> {
        let failed = |error| explain(self.name, error);
        if rows.is_empty() {
            return Ok(());
        }
        let statement = self.client.prepare_cached(text).await.map_err(failed)?;
        let each = rows.iter().map(async |values| {
            let values = parameters(values);
            self.client.execute(&statement, &values).await
        });
        try_join_all(each).await.map(drop).map_err(failed)
    }

    async fn each(
        &self,
        text: &'static str,
        values: &[Value<'_>],
        read: &mut Each<'_>,
    ) -> Result<()> {
        let rows = query(self.client, self.name, text, &parameters(values)).await?;
        rows.iter().try_for_each(|row| read(&row.into()))
    }

    async fn insert_tasks(&self, tasks: &[NewTask], created_at_us: i64) -> Result<()> {
        let wanted = tasks.iter().map(|new| (0, created_at_us, new));
        insert_tasks(self.client, wanted.collect()).await.map(drop)
    }

    async fn apply(&self, changes: &[Change]) -> Result<Vec<Applied>> {
        apply_within(self.client, changes).await
    }
}

fn parameters<'a>(values: &'a [Value<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as _).collect()
}
