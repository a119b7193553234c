//! The article service's own database: articles and their outbox in one SQLite file.
//!
//! All SQL of the service is here and in `schema.sql`. INVARIANT: an article's change and the
//! events it announces are one transaction, so there is no moment at which one exists without the
//! other. Writes take the write lock first (`begin immediate`), so a decision is made from the row
//! it is applied to; the conditions in the statements hold even if another process opens the file.
//!
//! Parameters are `?1`, not `$1`: SQLite takes `$1` for a *name* and numbers names by appearance.

use std::{path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use tokio::sync::{Mutex, Notify};

use super::{
    event::Writer,
    refusal::Refusal,
    state::{Article, Change, ChangeRequest, State, decide, why_not_published},
};

/// Most articles in one response.
pub(super) const LIST_MAX: u32 = 1000;
/// How long to wait for another process that writes to the same file.
const BUSY_WITHIN: Duration = Duration::from_secs(5);

const SCHEMA: &str = include_str!("schema.sql");

const INSERT: &str = "
insert into article (title, body, state, publish_at_us, revision, created_at_us)
values (?1, ?2, 'DRAFT', ?3, 1, ?4) returning *";
const LOAD: &str = "select * from article where article_id = ?1";
const LIST: &str = "select * from article order by article_id desc limit ?1";
const CHANGE: &str = "
update article set state = ?4, publish_at_us = ?5, withdrawn_at_us = ?6, revision = ?7
where article_id = ?1 and state = ?2 and revision = ?3 returning *";
const COUNT_CALL: &str =
    "update article set publish_calls = publish_calls + 1 where article_id = ?1 returning *";
/// The core of the service: of any number of calls, exactly one matches the row.
const PUBLISH: &str = "
update article
set state = 'PUBLISHED', publish_effects = publish_effects + 1, published_at_us = ?3
where article_id = ?1 and state = 'AUDIT_SUCCESS' and withdrawn_at_us is null
  and (revision <= ?2 or publish_at_us <= ?3)";

const WRITE_EVENT: &str = "
insert into outbox (event_id, article_id, event, written_at_us) values (?1, ?2, ?3, ?4)";
const LOAD_WAITING: &str = "
select outbox_id, event_id, event from outbox where status = 'WAITING' order by outbox_id limit ?1";
const SETTLE: &str = "
update outbox set status = ?2, reason = ?3, settled_at_us = ?4
where outbox_id = ?1 and status = 'WAITING'";
const COUNT_EVENTS: &str = "
select count(*) filter (where status = 'WAITING'), count(*) filter (where status = 'SENT')
from outbox";
const LOAD_REJECTED: &str = "
select event_id, reason from outbox where status = 'REJECTED' order by outbox_id limit ?1";
const RETRY_REJECTED: &str = "
update outbox set status = 'WAITING', reason = null, settled_at_us = null
where status = 'REJECTED'";

/// Why the database failed. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("query articles")]
    Sqlite(#[from] rusqlite::Error),
    /// The query did not finish.
    #[error("query articles to the end")]
    Interrupted(#[from] tokio::task::JoinError),
    /// A row moved although this transaction holds the write lock.
    #[error("article changed while it was locked")]
    Moved,
}

/// A query's result: the value, or an expected refusal.
pub(super) type Answer<T> = Result<Result<T, Refusal>, Error>;

/// An article to be written.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewArticle {
    pub(super) title: String,
    #[serde(default)]
    pub(super) body: String,
    pub(super) publish_at: Timestamp,
    #[serde(default = "yes")]
    pub(super) submit: bool,
}

fn yes() -> bool {
    true
}

/// An event that Almanack has not accepted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) outbox_id: i64,
    pub(super) event_id: String,
    pub(super) event: String,
}

/// The result of an event; with a reason if it was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settlement {
    pub(super) outbox_id: i64,
    pub(super) rejected: Option<String>,
}

/// The state of the outbox.
#[derive(Debug, serde::Serialize)]
pub(super) struct Outbox {
    pub(super) waiting: i64,
    sent: i64,
    rejected: Vec<RejectedEvent>,
}

#[derive(Debug, serde::Serialize)]
struct RejectedEvent {
    event_id: String,
    reason: Option<String>,
}

/// The database. One connection: SQLite has one writer anyway, and reads here are short.
#[derive(Debug, Clone)]
pub(super) struct Store {
    connection: Arc<Mutex<Connection>>,
    writer: Writer,
    /// Wakes the relay; keeps one wake-up for a relay that is busy.
    outbox_changed: Arc<Notify>,
}

impl Store {
    pub(super) async fn open(
        path: PathBuf,
        writer: Writer,
        outbox_changed: Arc<Notify>,
    ) -> Result<Self, Error> {
        let opening = tokio::task::spawn_blocking(move || {
            let connection = Connection::open(path)?;
            connection.busy_timeout(BUSY_WITHIN)?;
            connection.execute_batch(SCHEMA)?;
            Ok::<_, Error>(connection)
        });
        let connection = Arc::new(Mutex::new(opening.await??));
        Ok(Self {
            connection,
            writer,
            outbox_changed,
        })
    }

    pub(super) async fn create(&self, new: NewArticle, now: Timestamp) -> Result<Article, Error> {
        let writer = self.writer.clone();
        self.announce(move |tx| {
            let columns = params![new.title, new.body, us(new.publish_at), us(now)];
            let article = tx.prepare_cached(INSERT)?.query_one(columns, article)?;
            if !new.submit {
                return Ok(article);
            }
            let submitted = decide(&article, ChangeRequest::Submit, now).ok().flatten();
            let change = submitted.ok_or(Error::Moved)?;
            // A new article starts with revision 1 whether it is submitted at once or not.
            writer.apply((tx, now), &article, &change, article.revision)
        })
        .await
    }

    /// Decides and carries out a request. `None` beside the article means no change: already in
    /// that state.
    pub(super) async fn carry_out(
        &self,
        article_id: i64,
        request: ChangeRequest,
        now: Timestamp,
    ) -> Answer<(Article, Option<Change>)> {
        let writer = self.writer.clone();
        self.announce(move |tx| {
            let Some(seen) = load(tx, article_id)? else {
                return Ok(Err(Refusal::Unknown));
            };
            match decide(&seen, request, now) {
                Err(refusal) => Ok(Err(refusal)),
                Ok(None) => Ok(Ok((seen, None))),
                Ok(Some(change)) => {
                    let changed = writer.apply((tx, now), &seen, &change, seen.revision + 1)?;
                    Ok(Ok((changed, Some(change))))
                }
            }
        })
        .await
    }

    /// Counts the call and publishes if the article's state allows it; returns whether this call
    /// did.
    pub(super) async fn publish(
        &self,
        article_id: i64,
        revision: i64,
        now: Timestamp,
    ) -> Answer<bool> {
        self.transact(move |tx| {
            let mut count = tx.prepare_cached(COUNT_CALL)?;
            let Some(seen) = count.query_one([article_id], article).optional()? else {
                return Ok(Err(Refusal::Unknown));
            };
            let columns = params![article_id, revision, us(now)];
            let rows = tx.prepare_cached(PUBLISH)?.execute(columns)?;
            Ok(match (rows, why_not_published(&seen)) {
                (0, None) => Ok(false),
                (0, Some(refusal)) => Err(refusal),
                _ => Ok(true),
            })
        })
        .await
    }

    pub(super) async fn load(&self, article_id: i64) -> Result<Option<Article>, Error> {
        self.transact(move |tx| load(tx, article_id)).await
    }

    /// The newest articles first.
    pub(super) async fn list(&self, limit: u32) -> Result<Vec<Article>, Error> {
        self.transact(move |tx| rows(tx, LIST, limit, article))
            .await
    }

    /// Events that wait, oldest first.
    pub(super) async fn load_waiting(&self, limit: u32) -> Result<Vec<Waiting>, Error> {
        let read = |row: &Row<'_>| {
            Ok(Waiting {
                outbox_id: row.get(0)?,
                event_id: row.get(1)?,
                event: row.get(2)?,
            })
        };
        self.transact(move |tx| rows(tx, LOAD_WAITING, limit, read))
            .await
    }

    pub(super) async fn settle(
        &self,
        settled: Vec<Settlement>,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.transact(move |tx| {
            let mut statement = tx.prepare_cached(SETTLE)?;
            for event in settled {
                let status = event.rejected.as_ref().map_or("SENT", |_| "REJECTED");
                let columns = params![event.outbox_id, status, event.rejected, us(now)];
                statement.execute(columns)?;
            }
            Ok(())
        })
        .await
    }

    pub(super) async fn outbox(&self) -> Result<Outbox, Error> {
        self.transact(|tx| {
            let (waiting, sent) =
                tx.query_one(COUNT_EVENTS, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let rejected = rows(tx, LOAD_REJECTED, LIST_MAX, |row| {
                Ok(RejectedEvent {
                    event_id: row.get(0)?,
                    reason: row.get(1)?,
                })
            })?;
            Ok(Outbox {
                waiting,
                sent,
                rejected,
            })
        })
        .await
    }

    /// Queues rejected events again; returns how many.
    pub(super) async fn retry_rejected(&self) -> Result<usize, Error> {
        self.announce(|tx| Ok(tx.execute(RETRY_REJECTED, [])?))
            .await
    }

    /// Runs `work`, which may write events, and wakes the relay afterwards. Not left to the caller,
    /// which may have disconnected: its request is carried out anyway, and its events would wait
    /// for the next request.
    async fn announce<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let outbox_changed = Arc::clone(&self.outbox_changed);
        self.transact_then(work, move || outbox_changed.notify_one())
            .await
    }

    async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.transact_then(work, || ()).await
    }

    /// Runs `work` as one transaction on the blocking pool, and then `then`. Waiting for the
    /// connection blocks a task, not a thread. A caller that disconnects does not interrupt the
    /// transaction.
    async fn transact_then<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Error> + Send + 'static,
        then: impl FnOnce() + Send + 'static,
    ) -> Result<T, Error> {
        let mut connection = self.connection.clone().lock_owned().await;
        let working = tokio::task::spawn_blocking(move || {
            let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&tx)?;
            tx.commit()?;
            then();
            Ok(done)
        });
        working.await?
    }
}

/// The first `limit` rows of a statement.
fn rows<T>(
    tx: &Transaction<'_>,
    statement: &str,
    limit: u32,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Error> {
    let mut statement = tx.prepare_cached(statement)?;
    let rows = statement.query_map([limit], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn load(tx: &Transaction<'_>, article_id: i64) -> Result<Option<Article>, Error> {
    let mut statement = tx.prepare_cached(LOAD)?;
    Ok(statement.query_one([article_id], article).optional()?)
}

impl Writer {
    /// Stores the change and what it announces, both or neither.
    fn apply(
        &self,
        (tx, now): (&Transaction<'_>, Timestamp),
        seen: &Article,
        change: &Change,
        revision: i64,
    ) -> Result<Article, Error> {
        let columns = params![
            seen.id,
            seen.state.as_str(),
            seen.revision,
            change.state.as_str(),
            us(change.publish_at),
            change.withdrawn_at.map(us),
            revision,
        ];
        let mut statement = tx.prepare_cached(CHANGE)?;
        let changed = statement.query_one(columns, article).optional()?;
        let changed = changed.ok_or(Error::Moved)?;
        for announcement in &change.announcements {
            let event = self.write(&changed, *announcement, now);
            let columns = params![event.id, changed.id, event.json, us(now)];
            tx.prepare_cached(WRITE_EVENT)?.execute(columns)?;
        }
        Ok(changed)
    }
}

fn us(at: Timestamp) -> i64 {
    at.as_microsecond()
}

fn article(row: &Row<'_>) -> rusqlite::Result<Article> {
    let state: String = row.get("state")?;
    Ok(Article {
        id: row.get("article_id")?,
        title: row.get("title")?,
        body: row.get("body")?,
        state: State::parse(&state).ok_or_else(|| unreadable(row, "state"))?,
        publish_at: instant(row, "publish_at_us")?
            .ok_or_else(|| unreadable(row, "publish_at_us"))?,
        revision: row.get("revision")?,
        withdrawn_at: instant(row, "withdrawn_at_us")?,
        published_at: instant(row, "published_at_us")?,
        publish_calls: row.get("publish_calls")?,
        publish_effects: row.get("publish_effects")?,
    })
}

fn instant(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let us: Option<i64> = row.get(column)?;
    us.map(|us| Timestamp::from_microsecond(us).map_err(|_| unreadable(row, column)))
        .transpose()
}

fn unreadable(row: &Row<'_>, column: &str) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::InvalidColumnType(index, column.to_owned(), rusqlite::types::Type::Text)
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::{super::event::ChangeRequests, *};

    /// One poll starts the transaction; then the caller is dropped.
    #[tokio::test]
    async fn a_client_that_disconnects_early_still_wakes_the_relay() {
        let folder = tempfile::tempdir().unwrap();
        let outbox_changed = Arc::new(Notify::new());
        let writer = Writer::new(ChangeRequests::default(), ([127, 0, 0, 1], 1).into());
        let file = folder.path().join("articles.db");
        let store = Store::open(file, writer, Arc::clone(&outbox_changed))
            .await
            .unwrap();
        let new = NewArticle {
            title: "Title".to_owned(),
            body: "Body".to_owned(),
            publish_at: Timestamp::UNIX_EPOCH,
            submit: true,
        };
        let mut creating = Box::pin(store.create(new, Timestamp::UNIX_EPOCH));
        std::future::poll_fn(|context| Poll::Ready(creating.as_mut().poll(context).is_ready()))
            .await;
        drop(creating);
        outbox_changed.notified().await;
        assert_eq!(store.load_waiting(10).await.unwrap().len(), 2);
    }
}
