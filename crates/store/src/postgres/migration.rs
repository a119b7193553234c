//! Bringing the schema up to date, however large its tables are, while other nodes work in it.
//!
//! A separate connection does it, without the timeout of a node's statements. One node at a time:
//! the holder of the advisory lock takes the steps, and the lock goes with its connection. The
//! others ask for the lock again and again instead of waiting inside a statement: a statement that
//! waits holds a snapshot, an index that is built `concurrently` waits for all older snapshots to
//! go, and so the two would wait for each other.
//!
//! Every step is committed by itself: a start that is interrupted loses one step, not all of them.
//! An interrupted index stays behind as an invalid one, which is dropped and built again. A server
//! whose client vanished goes on building; the next start waits for it and finds the index there.

#[cfg(test)]
mod tests;

use std::time::Duration;

use almanack_core::store::{Error, Result};
use tokio_postgres::{Client, error::SqlState};

use super::{
    applied, connect_alone, explain,
    functions::{self, Schemas},
};
use crate::migrate::{self, Index, Migration};

/// Whatever the server, the role or the URL says about statements: these take as long as they take.
const UNBOUNDED: &str = "set statement_timeout = 0; set lock_timeout = 0; \
     set idle_in_transaction_session_timeout = 0";
/// The same lock that versions take which wait for it inside a statement.
const TRY_LOCK: &str = "select pg_try_advisory_lock(hashtext('almanack ' || current_schema()))";
pub(super) const UNLOCK: &str =
    "select pg_advisory_unlock(hashtext('almanack ' || current_schema()))";
/// A step that waits for a table blocks every statement that comes to that table after it. So it
/// gives way after a moment, and comes back.
const GIVE_WAY: &str = "set local lock_timeout = 1000";
/// Between two tries to get the lock, or a table.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// An index on a table up to this size is built at once and in an instant; `concurrently` would
/// wait for every transaction in the database.
const SMALL_BYTES: i64 = 8 * 1024 * 1024;

const IS_VALID: &str =
    "select indisvalid from pg_index where indexrelid = to_regclass($1::text)::oid";
const TABLE_BYTES: &str = "select pg_table_size(to_regclass($1::text))";

/// Updates the schema and names the channel for hints.
pub(super) async fn prepare(url: &str) -> Result<String> {
    let mut client = connect_alone(url).await?;
    upgrade(&mut client, migrate::ALL).await?;
    let schemas = Schemas::find(&client).await?;
    functions::keep(&mut client, &schemas, migrate::newest()).await;
    Ok(schemas.channel())
}

async fn upgrade(client: &mut Client, all: &'static [Migration]) -> Result<()> {
    client.batch_execute(UNBOUNDED).await.map_err(failed)?;
    // The usual start: nothing to do, no node to wait for.
    if migrate::pending(all, &applied(client).await?)?.is_empty() {
        return Ok(());
    }
    lock(client).await?;
    let made = client.batch_execute(migrate::CREATE_LEDGER).await;
    made.map_err(failed)?;
    for step in migrate::pending(all, &applied(client).await?)? {
        take(client, step).await?;
    }
    // After an error the end of the connection does it.
    client.batch_execute(UNLOCK).await.map_err(failed)
}

/// Waits until no other node migrates this schema.
pub(super) async fn lock(client: &Client) -> Result<()> {
    let mut logged = false;
    loop {
        let row = client.query_one(TRY_LOCK, &[]).await.map_err(failed)?;
        // Without a schema there is no lock, and the next statement says what is missing.
        if row.get::<_, Option<bool>>(0).unwrap_or(true) {
            return Ok(());
        }
        if !logged {
            tracing::info!("another node is upgrading the database; waiting for it");
            logged = true;
        }
        pause().await;
    }
}

async fn take(client: &mut Client, step: &Migration) -> Result<()> {
    if !step.is_concurrent() {
        return transact(client, step.postgres, Some(step)).await;
    }
    for text in step.statements() {
        let index = Index::parse(&text).ok_or_else(|| Error::Incompatible {
            what: format!("migration `{}`: `{text}` creates no index", step.name),
        })?;
        build(client, &index).await?;
    }
    transact(client, "", Some(step)).await
}

/// Builds an index, whatever an earlier start has left of it.
async fn build(client: &mut Client, index: &Index<'_>) -> Result<()> {
    let found = client.query_opt(IS_VALID, &[&index.name]).await;
    match found.map_err(failed)?.map(|row| row.get(0)) {
        Some(true) => return Ok(()),
        Some(false) => {
            let drop = format!("drop index concurrently {}", index.name);
            client.batch_execute(&drop).await.map_err(failed)?;
        }
        None => {}
    }
    let row = client.query_one(TABLE_BYTES, &[&index.table]).await;
    let bytes: Option<i64> = row.map_err(failed)?.get(0);
    if bytes.is_none_or(|bytes| bytes <= SMALL_BYTES) {
        return transact(client, index.text, None).await;
    }
    tracing::info!(
        index = index.name,
        table = index.table,
        "building an index; the other nodes continue to work"
    );
    client
        .batch_execute(&index.concurrently())
        .await
        .map_err(failed)
}

/// Runs a text in a transaction, and notes the step that is complete with it.
async fn transact(client: &mut Client, text: &str, step: Option<&Migration>) -> Result<()> {
    let mut logged = false;
    loop {
        match try_once(client, text, step).await {
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                if !logged {
                    tracing::info!("a table is in use; retrying its upgrade");
                    logged = true;
                }
                pause().await;
            }
            done => return done.map_err(failed),
        }
    }
}

async fn try_once(
    client: &mut Client,
    text: &str,
    step: Option<&Migration>,
) -> std::result::Result<(), tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(GIVE_WAY).await?;
    transaction.batch_execute(text).await?;
    if let Some(step) = step {
        transaction
            .execute(migrate::NOTE_APPLIED, &[&step.number, &step.name])
            .await?;
        transaction
            .execute(migrate::MARK_APPLIED, &[&step.number, &step.works_from()])
            .await?;
    }
    transaction.commit().await
}

fn failed(error: tokio_postgres::Error) -> Error {
    explain("migrate", error)
}

async fn pause() {
    #[expect(
        clippy::disallowed_methods,
        reason = "other processes are waited for, on no clock of ours"
    )]
    tokio::time::sleep(TRY_AGAIN_AFTER).await;
}
