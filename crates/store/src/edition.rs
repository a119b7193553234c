//! Statements about editions and the rows that belong to them.
//!
//! An edition's row is the lock of everything below it: a write first takes the row by its
//! `version`, and only the writer that got it writes stories, batches, deliveries and the document,
//! in the same transaction. Its key is its identity as text: a day as `YYYY-MM-DD`, so that days
//! sort as texts do, behind `NAME@` unless it is the default edition. All texts are one for both
//! databases, and what they are given is listed once, in `row/edition.rs`; an
//! edition has a few dozen rows, which PostgreSQL is sent one by one without waiting for its
//! answers in between.

use std::collections::BTreeMap;

use almanack_core::{
    edition::{
        Account, Edition, EditionId, EditionName,
        account::Change,
        allowance::{Caps, Period, Spending, Usage},
        delivery::Delivery,
        document::Document,
        revision::RevisionLine,
    },
    store::{EditionFilter, EditionLine, EditionStore, EditionWritten, PrunedStories, Result},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use crate::{
    database::{
        Access::{Moment, Transaction},
        Database, SqlStore,
    },
    model_spend::{self, Count},
    nudge::earliest_reported,
    row::{edition as row, listing, micros, most, strict, values},
    session::{Session, asked},
    shared_text, unavailable,
};

/// Why a delivery is skipped that had not arrived when a newer document was made.
pub(crate) const REPLACED: &str = "replaced by a newer document";

/// What [`crate::row::edition::edition`] reads, and what an edition is created with.
macro_rules! columns {
    () => {
        "edition_on, version, state, archived_from, revision, story_source, list_requests, \
         fetching_until_us, started_at_us, reopened_at_us, published_at_us, reason, updated_at_us, \
         hold, retraction, corrections, due_at_us, ready_at_us, improving_at_us, overview, \
         overview_prompt, created_at_us"
    };
}
/// The day of an edition, whatever its name. Indexes have the same text.
macro_rules! day_of {
    () => {
        "substr(edition_on, length(edition_on) - 9)"
    };
}

pub(crate) mod list;

/// How many those are.
pub(crate) const COLUMNS: usize = 22;

pub(crate) const LOAD: &str = concat!("select ", columns!(), " from edition where edition_on = $1");
/// Two that open one day at once create it once.
pub(crate) const OPEN: &str = concat!(
    "insert into edition (",
    columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, \
     $20, $21, $22) on conflict (edition_on) do nothing"
);
/// Takes the row if it is still the version that was seen. Its birth never changes.
pub(crate) const TAKE: &str = "update edition set version = version + 1, state = $1, \
     archived_from = $2, revision = $3, story_source = $4, list_requests = $5, \
     fetching_until_us = $6, started_at_us = $7, reopened_at_us = $8, published_at_us = $9, \
     reason = $10, updated_at_us = $11, hold = $12, retraction = $13, corrections = $14, \
     due_at_us = $15, ready_at_us = $16, improving_at_us = $17, overview = $18, \
     overview_prompt = $19 where edition_on = $20 and version = $21";

/// The next one of the same name: names sort after days, and one name's days beside each other.
pub(crate) const PUBLISHED_AFTER: &str = "select edition_on from edition \
     where edition_on > $1 and edition_on < $2 and published_at_us is not null \
     order by edition_on limit 1";
/// Published editions of one name with a document that contains a text, newest day first. It reads
/// documents until it has found enough; a year of them is read in a moment. `replace` finds a part
/// of a text in both databases, and `lower` leaves alone what only PostgreSQL has small letters of.
pub(crate) const SEARCH: &str = "select e.edition_on from edition e \
     where e.published_at_us is not null and e.edition_on >= $1 and e.edition_on < $2 \
     and exists (select 1 from edition_document d where d.edition_on = e.edition_on \
     and replace(lower(d.inputs), $3, '') <> lower(d.inputs)) \
     order by e.edition_on desc limit $4";

/// An edition's identity as the store keeps it.
pub(crate) fn key(id: EditionId) -> String {
    id.to_string()
}

/// What comes after every edition of a name.
fn days_end(name: EditionName) -> String {
    format!("{}{}", name.prefix(), list::DAYS_END)
}

/// What [`crate::row::edition::story`] reads, and what a story is written with.
macro_rules! story_columns {
    () => {
        "story_key, rank, status, batch_index, retry_count, retry_at_us, updated_at_us, score, \
         published_at_us, url, discussion_url, title, text, written_title, content_summary, \
         comment_summary, note, error_message, degraded_by, details"
    };
}
pub(crate) const LOAD_STORIES: &str = concat!(
    "select ",
    story_columns!(),
    " from story where edition_on = $1 order by rank"
);
pub(crate) const WRITE_STORY: &str = concat!(
    "insert into story (edition_on, ",
    story_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
     $19, $20, $21) on conflict (edition_on, story_key) do update set rank = excluded.rank, \
     status = excluded.status, batch_index = excluded.batch_index, \
     retry_count = excluded.retry_count, retry_at_us = excluded.retry_at_us, \
     updated_at_us = excluded.updated_at_us, score = excluded.score, \
     published_at_us = excluded.published_at_us, url = excluded.url, \
     discussion_url = excluded.discussion_url, title = excluded.title, text = excluded.text, \
     written_title = excluded.written_title, content_summary = excluded.content_summary, \
     comment_summary = excluded.comment_summary, note = excluded.note, \
     error_message = excluded.error_message, degraded_by = excluded.degraded_by, \
     details = excluded.details"
);

/// What [`crate::row::edition::batch`] reads, and what a batch is written with.
macro_rules! batch_columns {
    () => {
        "batch_index, status, story_count, node, requests, model_requests, tokens_in, \
         tokens_out, error_message, started_at_us, lease_until_us, ended_at_us"
    };
}
pub(crate) const LOAD_BATCHES: &str = concat!(
    "select ",
    batch_columns!(),
    " from batch where edition_on = $1 order by batch_index"
);
pub(crate) const WRITE_BATCH: &str = concat!(
    "insert into batch (edition_on, ",
    batch_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     on conflict (edition_on, batch_index) do update set status = excluded.status, \
     story_count = excluded.story_count, node = excluded.node, requests = excluded.requests, \
     model_requests = excluded.model_requests, tokens_in = excluded.tokens_in, \
     tokens_out = excluded.tokens_out, error_message = excluded.error_message, \
     started_at_us = excluded.started_at_us, lease_until_us = excluded.lease_until_us, \
     ended_at_us = excluded.ended_at_us"
);

/// What [`crate::row::edition::delivery`] reads, and what a delivery is written with.
macro_rules! delivery_columns {
    () => {
        "revision, destination, part, body, state, attempts, lease_until_us, retry_at_us, \
         detail, receipt, requests, updated_at_us"
    };
}
/// Those of the newest document.
pub(crate) const LOAD_DELIVERIES: &str = concat!(
    "select ",
    delivery_columns!(),
    " from delivery where edition_on = $1 \
     and revision = (select e.revision from edition e where e.edition_on = $1) \
     order by destination, part"
);
pub(crate) const WRITE_DELIVERY: &str = concat!(
    "insert into delivery (edition_on, ",
    delivery_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
     on conflict (edition_on, revision, destination, part) do update set body = excluded.body, \
     state = excluded.state, attempts = excluded.attempts, \
     lease_until_us = excluded.lease_until_us, retry_at_us = excluded.retry_at_us, \
     detail = excluded.detail, receipt = excluded.receipt, requests = excluded.requests, \
     updated_at_us = excluded.updated_at_us"
);
/// What is left of older documents is not sent any more.
pub(crate) const SKIP_OLDER: &str = "update delivery set state = 'skipped', detail = $1, \
     lease_until_us = null, retry_at_us = null, updated_at_us = $2 \
     where edition_on = $3 and revision < $4 and state not in ('confirmed', 'skipped')";

/// What [`crate::row::edition::document`] reads.
macro_rules! document_columns {
    () => {
        "inputs, template, body, inputs_digest, body_digest, made_at_us, revised"
    };
}
/// A document is made once: a revision that exists is refused.
pub(crate) const WRITE_DOCUMENT: &str = concat!(
    "insert into edition_document (edition_on, revision, ",
    document_columns!(),
    ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
);
pub(crate) const LOAD_DOCUMENT: &str = concat!(
    "select ",
    document_columns!(),
    " from edition_document where edition_on = $1 and revision = $2"
);
pub(crate) const LOAD_NEWEST_DOCUMENT: &str = concat!(
    "select ",
    document_columns!(),
    " from edition_document where edition_on = $1 order by revision desc limit 1"
);

/// What [`crate::row::edition::revision`] reads.
pub(crate) const LOAD_REVISIONS: &str = "select revision, made_at_us, revised \
     from edition_document where edition_on = $1 order by revision desc limit $2";

/// Editions of days before a day that have rows in a table: of the default one, and of the others,
/// whose keys are after every day.
macro_rules! left_of {
    ($table:literal) => {
        concat!(
            "select distinct edition_on from ",
            $table,
            " where edition_on < $1 union select distinct edition_on from ",
            $table,
            " where edition_on > ':' and ",
            day_of!(),
            " < $1"
        )
    };
}
/// Archived editions that still have stories or batches, oldest first. Walks over what is left of
/// these, which is little when retention keeps up, and not over all editions there ever were.
pub(crate) const PRUNABLE: &str = concat!(
    "select o.edition_on from ( ",
    left_of!("story"),
    " union ",
    left_of!("batch"),
    ") o join edition e on e.edition_on = o.edition_on where e.state = 'archived' \
     order by substr(o.edition_on, length(o.edition_on) - 9), o.edition_on limit $2"
);
/// Takes one, if it is still archived: a request that is about to reopen it must see that its
/// stories are gone.
pub(crate) const TAKE_ARCHIVED: &str = "update edition set version = version + 1 \
     where edition_on = $1 and state = 'archived'";
pub(crate) const PRUNE_STORIES: &str = "delete from story where edition_on = $1";
pub(crate) const PRUNE_BATCHES: &str = "delete from batch where edition_on = $1";

#[async_trait]
impl<D: Database> EditionStore for SqlStore<D> {
    async fn open_edition(&self, id: EditionId, now: Timestamp) -> Result<(Edition, bool)> {
        let name = "open edition";
        let load = || self.one(name, LOAD, values![key(id)], row::edition);
        if let Some(known) = load().await? {
            return Ok((known, false));
        }
        let new = Edition::new(id, now);
        let created = self.execute(name, OPEN, row::new_edition(&new)).await?;
        // Read again either way: what others wrote since is seen, and so is what the row became of
        // our values.
        let gone = || unavailable(name, "an edition disappeared meanwhile");
        Ok((load().await?.ok_or_else(gone)?, created == 1))
    }

    async fn load_account(&self, id: EditionId) -> Result<Option<Account>> {
        let read = self.ask(Moment, "load account", key(id), asked!(account));
        strict("edition", id, read.await)
    }

    async fn list_editions(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>> {
        let listed = listing("edition", row::line);
        self.listed(
            "list editions",
            list::text(filter),
            list::values(filter),
            listed,
        )
        .await
    }

    async fn write_edition(&self, change: Change) -> Result<EditionWritten> {
        let reported_at = earliest_reported(&change.event_tasks);
        let written = self
            .ask(Transaction, "write edition", change, asked!(write))
            .await?;
        self.0.hint(reported_at).await;
        Ok(written)
    }

    async fn load_document(
        &self,
        id: EditionId,
        revision: Option<u32>,
    ) -> Result<Option<Document>> {
        let (text, values) = match revision {
            None => (LOAD_NEWEST_DOCUMENT, values![key(id)]),
            Some(revision) => (LOAD_DOCUMENT, values![key(id), revision]),
        };
        let read = self.one("load document", text, values, row::document);
        strict("edition_document", id, read.await)
    }

    async fn load_revisions(&self, id: EditionId, limit: usize) -> Result<Vec<RevisionLine>> {
        let values = values![key(id), most(limit)];
        let listed = listing("edition_document", row::revision);
        self.listed("load revisions", LOAD_REVISIONS, values, listed)
            .await
    }

    async fn load_shared(&self, key: String, from: Timestamp) -> Result<Option<String>> {
        let name = "load shared text";
        self.one(name, shared_text::LOAD, values![key, from], |row| {
            row.text(0)
        })
        .await
    }

    async fn keep_shared(&self, key: String, text: String, now: Timestamp) -> Result<()> {
        let values = values![key, now, text];
        self.execute("keep shared text", shared_text::KEEP, values)
            .await
            .map(|_| ())
    }

    async fn prune_shared(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let values = values![before, most(limit)];
        self.execute("prune shared texts", shared_text::PRUNE, values)
            .await
    }

    async fn reserve_spend(
        &self,
        name: EditionName,
        on: Date,
        most: Usage,
        caps: Caps,
        now: Timestamp,
    ) -> Result<Option<Period>> {
        let args = (Count { name, on, now }, most, caps);
        self.ask(
            Transaction,
            "reserve spend",
            args,
            asked!(model_spend::reserve),
        )
        .await
    }

    async fn settle_spend(
        &self,
        name: EditionName,
        on: Date,
        reserved: Usage,
        actual: Usage,
        now: Timestamp,
    ) -> Result<()> {
        let args = (Count { name, on, now }, reserved, actual);
        self.ask(
            Transaction,
            "settle spend",
            args,
            asked!(model_spend::replace),
        )
        .await
    }

    async fn load_spending(&self, name: EditionName, month_of: Date) -> Result<Spending> {
        let values = model_spend::of_month(name, month_of);
        let listed = listing("model_spend", model_spend::row);
        let rows = self.listed("load spending", model_spend::LOAD, values, listed);
        Ok(model_spend::spending(rows.await?))
    }

    async fn published_after(&self, id: EditionId) -> Result<Option<EditionId>> {
        let values = values![key(id), days_end(id.name)];
        self.one("load next edition", PUBLISHED_AFTER, values, row::id)
            .await
    }

    async fn search_editions(
        &self,
        name: EditionName,
        text: &str,
        before: Option<Date>,
        limit: usize,
    ) -> Result<Vec<EditionId>> {
        let before = before.map(|date| key(EditionId::new(name, date)));
        let before = before.unwrap_or_else(|| days_end(name));
        let values = values![name.prefix(), before, text.to_owned(), most(limit)];
        let found = listing("edition", row::id);
        self.listed("search editions", SEARCH, values, found).await
    }

    async fn prune_stories(&self, before: Date, limit: usize) -> Result<PrunedStories> {
        let args = (before.to_string(), most(limit));
        self.ask(Transaction, "prune stories", args, asked!(prune))
            .await
    }
}

async fn account(session: &dyn Session, key: &str) -> Result<Option<Account>> {
    let own = values![key];
    let (edition, stories, batches, deliveries) = tokio::try_join!(
        session.one(LOAD, &own, row::edition),
        session.rows(LOAD_STORIES, &own, row::story),
        session.rows(LOAD_BATCHES, &own, row::batch),
        session.rows(LOAD_DELIVERIES, &own, row::delivery),
    )?;
    Ok(edition.map(|edition| Account {
        edition,
        stories,
        batches,
        deliveries,
    }))
}

/// Writes a change, or nothing of it: the writer that takes the edition's row makes all others that
/// want to write wait and then lose.
async fn write(session: &dyn Session, change: &Change) -> Result<EditionWritten> {
    let taken = row::changed_edition(&change.edition);
    if session.execute(TAKE, &taken).await? == 0 {
        return Ok(EditionWritten::Lost);
    }
    let key = &key(change.edition.id);
    // Of two with one key the later one is meant; sent together they could arrive in any order.
    let stories: BTreeMap<_, _> = change.stories.iter().map(|s| (&s.listed.key, s)).collect();
    let stories = stories.values().map(|story| row::story_values(key, story));
    let stories: Vec<_> = stories.collect();
    session.execute_each(WRITE_STORY, &stories).await?;
    let batches: BTreeMap<_, _> = change.batches.iter().map(|b| (b.index, b)).collect();
    let batches = batches.values().map(|batch| row::batch_values(key, batch));
    let batches: Vec<_> = batches.collect();
    session.execute_each(WRITE_BATCH, &batches).await?;
    let keyed = |d: &'_ Delivery| (d.revision, d.destination.clone(), d.part);
    let deliveries: BTreeMap<_, _> = change.deliveries.iter().map(|d| (keyed(d), d)).collect();
    let deliveries = deliveries.values().map(|d| row::delivery_values(key, d));
    let deliveries: Vec<_> = deliveries.collect();
    session.execute_each(WRITE_DELIVERY, &deliveries).await?;
    if let Some(document) = &change.document {
        let values = row::document_values(key, document)?;
        session.execute(WRITE_DOCUMENT, &values).await?;
        let skipped = row::skipped_values(&change.edition, document);
        session.execute(SKIP_OLDER, &skipped).await?;
    }
    let written_at_us = micros(change.edition.updated_at);
    session
        .insert_tasks(&change.event_tasks, written_at_us)
        .await?;
    Ok(EditionWritten::Done)
}

/// Each taken by its row first, as a change is: another writer of the edition meanwhile loses or
/// comes after.
async fn prune(session: &dyn Session, (before, limit): &(String, i64)) -> Result<PrunedStories> {
    let oldest = values![before, *limit];
    let days = session.listed(PRUNABLE, &oldest, listing("story", |row| row.text(0)));
    let mut pruned = PrunedStories::default();
    for day in days.await? {
        let day = values![day];
        if session.execute(TAKE_ARCHIVED, &day).await? == 1 {
            pruned.stories += session.execute(PRUNE_STORIES, &day).await?;
            pruned.batches += session.execute(PRUNE_BATCHES, &day).await?;
        }
    }
    Ok(pruned)
}
