//! Editions on PostgreSQL.
//!
//! A change is one transaction: the edition's row is taken by its version, which makes everybody else who wants to
//! write wait and then lose; then its other rows go, each with its own statement, without waiting for each
//! other's answers.

use std::collections::BTreeMap;

use almanack_core::{
    edition::{Account, Edition, account::Change, document::Document},
    store::{
        EditionFilter, EditionLine, EditionStore, EditionWritten, Error, PrunedStories, Result,
    },
};
use async_trait::async_trait;
use deadpool_postgres::{GenericClient, Object};
use futures_util::future::try_join_all;
use jiff::{Timestamp, civil::Date};
use tokio_postgres::{IsolationLevel, Row, types::ToSql};

use super::{
    PostgresStore, explain,
    task::{insert_tasks, tell},
};
use crate::{
    edition::{self, day},
    nudge::earliest_told,
    row::{Value, edition as row, micros, most, readable, strict},
};

#[async_trait]
impl EditionStore for PostgresStore {
    async fn open_edition(&self, date: Date, now: Timestamp) -> Result<(Edition, bool)> {
        let name = "open edition";
        if let Some(known) = self.edition(date).await? {
            return Ok((known, false));
        }
        let new = Edition::new(date, now);
        let values = row::new_edition(&new);
        let created = self
            .execute(name, edition::OPEN, &parameters(&values))
            .await?;
        // Read again either way: what others wrote since is seen, and so is what the row became of our values.
        let opened = self.edition(date).await?;
        let gone = || Error::Unavailable {
            statement: name,
            source: "an edition was there and then was not".into(),
        };
        Ok((opened.ok_or_else(gone)?, created == 1))
    }

    async fn load_account(&self, date: Date) -> Result<Option<Account>> {
        let _place = self.place()?;
        strict(
            "edition",
            date,
            account(&mut self.client().await?, date).await,
        )
    }

    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>> {
        let parameters: [&(dyn ToSql + Sync); 4] = [
            &edition::states(filter),
            &i64::from(filter.published),
            &edition::before(filter),
            &most(filter.limit),
        ];
        let rows = self
            .rows("list editions", edition::list(filter), &parameters)
            .await?;
        let lines = rows.iter().map(row::line);
        Ok(lines.filter_map(|line| readable("edition", line)).collect())
    }

    async fn write_edition(&self, change: Change) -> Result<EditionWritten> {
        let mut client = self.client().await?;
        let written = write(&mut client, &change).await?;
        tell(&client, &self.channel, earliest_told(&change.tells)).await;
        Ok(written)
    }

    async fn load_document(&self, date: Date, revision: Option<u32>) -> Result<Option<Document>> {
        let (name, day) = ("load document", day(date));
        let rows = match revision.map(i64::from) {
            None => {
                self.rows(name, edition::LOAD_NEWEST_DOCUMENT, &[&day])
                    .await?
            }
            Some(revision) => {
                let parameters: [&(dyn ToSql + Sync); 2] = [&day, &revision];
                self.rows(name, edition::LOAD_DOCUMENT, &parameters).await?
            }
        };
        let read = rows.first().map(row::document).transpose();
        strict("edition_document", date, read)
    }

    async fn load_untold(&self, before: Date, limit: usize) -> Result<Vec<Date>> {
        let (before, limit) = (day(before), most(limit));
        let parameters: [&(dyn ToSql + Sync); 2] = [&before, &limit];
        let rows = self
            .rows("load untold", edition::UNTOLD, &parameters)
            .await?;
        let days = rows.iter().map(row::untold);
        Ok(days
            .filter_map(|day| readable("edition_alert", day))
            .collect())
    }

    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories> {
        prune(&mut self.client().await?, before, limit).await
    }
}

impl PostgresStore {
    async fn edition(&self, date: Date) -> Result<Option<Edition>> {
        let rows = self
            .rows("load edition", edition::LOAD, &[&day(date)])
            .await?;
        rows.first().map(row::edition).transpose()
    }
}

/// Everything of one moment: the whole transaction reads what its first statement saw.
async fn account(client: &mut Object, date: Date) -> Result<Option<Account>> {
    let failed = |error| explain("load account", error);
    let moment = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await
        .map_err(failed)?;
    let day = day(date);
    let of_day = |text| rows(&moment, text, &day);
    let (editions, stories, batches, deliveries, alerts) = tokio::try_join!(
        of_day(edition::LOAD),
        of_day(edition::LOAD_STORIES),
        of_day(edition::LOAD_BATCHES),
        of_day(edition::LOAD_DELIVERIES),
        of_day(edition::LOAD_ALERTS),
    )?;
    moment.commit().await.map_err(failed)?;
    let Some(known) = editions.first() else {
        return Ok(None);
    };
    Ok(Some(Account {
        edition: row::edition(known)?,
        stories: stories.iter().map(row::story).collect::<Result<_>>()?,
        batches: batches.iter().map(row::batch).collect::<Result<_>>()?,
        deliveries: deliveries
            .iter()
            .map(row::delivery)
            .collect::<Result<_>>()?,
        alerts: alerts.iter().map(row::alert).collect::<Result<_>>()?,
    }))
}

async fn rows(client: &impl GenericClient, text: &str, day: &String) -> Result<Vec<Row>> {
    let failed = |error| explain("load account", error);
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    client.query(&statement, &[day]).await.map_err(failed)
}

/// Writes a change, or nothing of it: a transaction that is not committed leaves nothing behind.
async fn write(client: &mut Object, change: &Change) -> Result<EditionWritten> {
    let failed = |error| explain("write edition", error);
    let transaction = client.transaction().await.map_err(failed)?;
    let taken = row::changed_edition(&change.edition);
    if execute(&transaction, edition::TAKE, taken).await? == 0 {
        transaction.rollback().await.map_err(failed)?;
        return Ok(EditionWritten::Lost);
    }
    write_rows(&transaction, change).await?;
    transaction.commit().await.map_err(failed)?;
    Ok(EditionWritten::Done)
}

/// Everything below the edition.
async fn write_rows(client: &impl GenericClient, change: &Change) -> Result<()> {
    let day = day(change.edition.date);
    // Of two with one key the later one is meant; sent together they could arrive in any order.
    let stories: BTreeMap<_, _> = change.stories.iter().map(|s| (&s.listed.key, s)).collect();
    let stories = stories.values().map(|story| row::story_values(&day, story));
    execute_all(client, edition::WRITE_STORY, stories.collect()).await?;
    let batches: BTreeMap<_, _> = change.batches.iter().map(|b| (b.index, b)).collect();
    let batches = batches.values().map(|batch| row::batch_values(&day, batch));
    execute_all(client, edition::WRITE_BATCH, batches.collect()).await?;
    let deliveries: BTreeMap<_, _> = change
        .deliveries
        .iter()
        .map(|d| ((d.revision, &d.destination, d.part), d))
        .collect();
    let deliveries = deliveries.values().map(|d| row::delivery_values(&day, d));
    execute_all(client, edition::WRITE_DELIVERY, deliveries.collect()).await?;
    let alerts: BTreeMap<_, _> = change.alerts.iter().map(|a| (&a.rule, a)).collect();
    let alerts = alerts.values().map(|alert| row::alert_values(&day, alert));
    execute_all(client, edition::WRITE_ALERT, alerts.collect()).await?;
    if let Some(document) = &change.document {
        let values = row::document_values(&day, document)?;
        execute(client, edition::WRITE_DOCUMENT, values).await?;
        let skipped = row::skipped_values(&change.edition, document);
        execute(client, edition::SKIP_OLDER, skipped).await?;
    }
    let told_at_us = micros(change.edition.updated_at);
    let told = change.tells.iter().map(|new| (0, told_at_us, new));
    insert_tasks(client, told.collect()).await.map(|_| ())
}

/// Each taken by its row first, as a change is: who reads and writes an edition meanwhile loses or comes after.
async fn prune(client: &mut Object, before: Date, limit: usize) -> Result<PrunedStories> {
    let failed = |error| explain("prune stories", error);
    let transaction = client.transaction().await.map_err(failed)?;
    let parameters: [&(dyn ToSql + Sync); 2] = [&day(before), &most(limit)];
    let found = transaction
        .query(edition::PRUNABLE, &parameters)
        .await
        .map_err(failed)?;
    let mut pruned = PrunedStories::default();
    for row in &found {
        let day: &str = row.get(0);
        let execute = |text| execute(&transaction, text, vec![day.into()]);
        if execute(edition::TAKE_ARCHIVED).await? == 1 {
            pruned.stories += execute(edition::PRUNE_STORIES).await?;
            pruned.batches += execute(edition::PRUNE_BATCHES).await?;
        }
    }
    transaction.commit().await.map_err(failed)?;
    Ok(pruned)
}

async fn execute_all(
    client: &impl GenericClient,
    text: &str,
    rows: Vec<Vec<Value<'_>>>,
) -> Result<usize> {
    let failed = |error| explain("write edition", error);
    if rows.is_empty() {
        return Ok(0);
    }
    let statement = client.prepare_cached(text).await.map_err(failed)?;
    let each = rows.iter().map(async |values| {
        let values = parameters(values);
        client.execute(&statement, &values).await
    });
    let changed: u64 = try_join_all(each).await.map_err(failed)?.iter().sum();
    Ok(usize::try_from(changed).unwrap_or(usize::MAX))
}

async fn execute(client: &impl GenericClient, text: &str, values: Vec<Value<'_>>) -> Result<usize> {
    execute_all(client, text, vec![values]).await
}

fn parameters<'a>(values: &'a [Value<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as _).collect()
}
