//! Editions on SQLite. Nobody else writes meanwhile, so what is read here holds until it is written.

use almanack_core::{
    edition::{Account, Edition, account::Change, document::Document},
    store::{EditionFilter, EditionLine, EditionStore, EditionWritten, PrunedStories, Result},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};
use rusqlite::{Connection, Params, Row, params, params_from_iter};

use crate::{
    edition::{self, day},
    nudge::earliest_told,
    row::{Row as _, Value, edition as row, micros, most, readable, strict, unreadable},
    sqlite::{SqliteStore, task::insert_all, thread::Outcome},
};

#[async_trait]
impl EditionStore for SqliteStore {
    async fn open_edition(&self, date: Date, now: Timestamp) -> Result<(Edition, bool)> {
        let found = self
            .read("load edition", move |connection| load(connection, date))
            .await?;
        if let Some(known) = found {
            return Ok((known, false));
        }
        self.write("open edition", move |connection| {
            let new = Edition::new(date, now);
            let created = execute(connection, edition::OPEN, row::new_edition(&new))? == 1;
            let opened = load(connection, date)?;
            let opened = opened.ok_or_else(|| unreadable("a day that is taken by nobody"))?;
            Ok((opened, created))
        })
        .await
    }

    async fn load_account(&self, date: Date) -> Result<Option<Account>> {
        let read = self
            .read("load account", move |connection| {
                // What one transaction reads is of one moment, whatever is written beside it.
                let moment = connection.unchecked_transaction()?;
                let account = account(&moment, date)?;
                moment.finish()?;
                Ok(account)
            })
            .await;
        strict("edition", date, read)
    }

    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>> {
        let filter = filter.clone();
        self.read("list editions", move |connection| {
            let parameters = params![
                edition::states(&filter),
                filter.published,
                edition::before(&filter),
                most(filter.limit),
            ];
            listed(connection, edition::list(&filter), parameters, |found| {
                readable("edition", row::line(found))
            })
        })
        .await
    }

    async fn write_edition(&self, change: Change) -> Result<EditionWritten> {
        let told_at = earliest_told(&change.tells);
        let written = self
            .write("write edition", move |connection| {
                write(connection, &change)
            })
            .await?;
        self.nudge_told(told_at);
        Ok(written)
    }

    async fn load_document(&self, date: Date, revision: Option<u32>) -> Result<Option<Document>> {
        let read = self
            .read("load document", move |connection| {
                let read = |found: &Row<'_>| row::document(found);
                let mut found = match revision {
                    None => rows(connection, edition::LOAD_NEWEST_DOCUMENT, [day(date)], read),
                    Some(revision) => {
                        let parameters = params![day(date), revision];
                        rows(connection, edition::LOAD_DOCUMENT, parameters, read)
                    }
                }?;
                Ok(found.pop())
            })
            .await;
        strict("edition_document", date, read)
    }

    async fn load_untold(&self, before: Date, limit: usize) -> Result<Vec<Date>> {
        self.read("load untold", move |connection| {
            let parameters = params![day(before), most(limit)];
            listed(connection, edition::UNTOLD, parameters, |found| {
                readable("edition_alert", row::untold(found))
            })
        })
        .await
    }

    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories> {
        self.write("prune stories", move |connection| {
            prune(connection, before, limit)
        })
        .await
    }
}

fn load(connection: &Connection, date: Date) -> Outcome<Option<Edition>> {
    let mut found = rows(connection, edition::LOAD, [day(date)], |found| {
        row::edition(found)
    })?;
    Ok(found.pop())
}

fn account(connection: &Connection, date: Date) -> Outcome<Option<Account>> {
    let Some(known) = load(connection, date)? else {
        return Ok(None);
    };
    let day = day(date);
    let (stories, batches) = (edition::LOAD_STORIES, edition::LOAD_BATCHES);
    let (deliveries, alerts) = (edition::LOAD_DELIVERIES, edition::LOAD_ALERTS);
    Ok(Some(Account {
        edition: known,
        stories: rows(connection, stories, [&day], |found| row::story(found))?,
        batches: rows(connection, batches, [&day], |found| row::batch(found))?,
        deliveries: rows(connection, deliveries, [&day], |found| row::delivery(found))?,
        alerts: rows(connection, alerts, [&day], |found| row::alert(found))?,
    }))
}

/// Writes a change, or nothing of it.
fn write(connection: &Connection, change: &Change) -> Outcome<EditionWritten> {
    let taken = row::changed_edition(&change.edition);
    if execute(connection, edition::TAKE, taken)? == 0 {
        return Ok(EditionWritten::Lost);
    }
    let day = day(change.edition.date);
    for story in &change.stories {
        execute(
            connection,
            edition::WRITE_STORY,
            row::story_values(&day, story),
        )?;
    }
    for batch in &change.batches {
        execute(
            connection,
            edition::WRITE_BATCH,
            row::batch_values(&day, batch),
        )?;
    }
    for delivery in &change.deliveries {
        let values = row::delivery_values(&day, delivery);
        execute(connection, edition::WRITE_DELIVERY, values)?;
    }
    for alert in &change.alerts {
        execute(
            connection,
            edition::WRITE_ALERT,
            row::alert_values(&day, alert),
        )?;
    }
    if let Some(document) = &change.document {
        let values = row::document_values(&day, document)?;
        execute(connection, edition::WRITE_DOCUMENT, values)?;
        let skipped = row::skipped_values(&change.edition, document);
        execute(connection, edition::SKIP_OLDER, skipped)?;
    }
    let written_at_us = micros(change.edition.updated_at);
    insert_all(connection, &change.tells, written_at_us)?;
    Ok(EditionWritten::Done)
}

fn prune(connection: &Connection, before: Date, limit: usize) -> Outcome<PrunedStories> {
    let parameters = params![day(before), most(limit)];
    let days: Vec<String> = listed(connection, edition::PRUNABLE, parameters, |found| {
        readable("story", found.text(0))
    })?;
    let mut pruned = PrunedStories::default();
    for day in &days {
        let execute = |text: &str| execute(connection, text, vec![day.into()]);
        if execute(edition::TAKE_ARCHIVED)? == 1 {
            pruned.stories += execute(edition::PRUNE_STORIES)?;
            pruned.batches += execute(edition::PRUNE_BATCHES)?;
        }
    }
    Ok(pruned)
}

fn execute(connection: &Connection, text: &str, values: Vec<Value<'_>>) -> Outcome<usize> {
    let mut statement = connection.prepare_cached(text)?;
    Ok(statement.execute(params_from_iter(values))?)
}

/// The same, without what is left out.
pub(super) fn listed<T>(
    connection: &Connection,
    text: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Option<T>,
) -> Outcome<Vec<T>> {
    let found = rows(connection, text, parameters, |row| Ok(read(row)))?;
    Ok(found.into_iter().flatten().collect())
}

fn rows<T>(
    connection: &Connection,
    text: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T>,
) -> Outcome<Vec<T>> {
    let mut statement = connection.prepare_cached(text)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}
