//! Rows of editions, and what they are written with. Orders are those of the column lists in
//! `edition.rs`.

use almanack_core::{
    budget::Spend,
    edition::{
        Counts, Edition, State,
        batch::{self, Batch},
        delivery::{self, Delivery},
        document::Document,
        story::{self, Listed, Note, Story, StoryKey, Written},
    },
    store::{EditionLine, Result},
};

use super::{Row, Value, instant, many, maybe_instant, unreadable};
use crate::edition::{COLUMNS, REPLACED, day};

pub(crate) fn edition(row: &Row<'_>) -> Result<Edition> {
    let archived_from = row.text_or_null(3)?;
    Ok(Edition {
        date: row.text(0)?.parse().map_err(unreadable)?,
        version: row.big(1)?,
        state: named("state", &row.text(2)?, State::parse)?,
        archived_from: archived_from
            .map(|name| named("state", &name, State::parse))
            .transpose()?,
        revision: number(row, 4)?,
        story_source: row.text_or_null(5)?,
        list_requests: number(row, 6)?,
        fetching_until: maybe_instant(row.big_or_null(7)?)?,
        started_at: instant(row.big(8)?)?,
        reopened_at: maybe_instant(row.big_or_null(9)?)?,
        published_at: maybe_instant(row.big_or_null(10)?)?,
        reason: row.text_or_null(11)?,
        updated_at: instant(row.big(12)?)?,
        created_at: instant(row.big(13)?)?,
    })
}

/// What an edition is created with.
pub(crate) fn new_edition(edition: &Edition) -> Vec<Value<'_>> {
    let mut values = vec![day(edition.date).into(), edition.version.into()];
    values.extend(changing(edition));
    values.push(edition.created_at.into());
    values
}

/// What an edition is changed to, if it is still the version that was seen.
pub(crate) fn changed_edition(edition: &Edition) -> Vec<Value<'_>> {
    let mut values = changing(edition);
    values.extend([day(edition.date).into(), edition.version.into()]);
    values
}

fn changing(edition: &Edition) -> Vec<Value<'_>> {
    vec![
        edition.state.as_str().into(),
        edition.archived_from.map(State::as_str).into(),
        edition.revision.into(),
        (&edition.story_source).into(),
        edition.list_requests.into(),
        edition.fetching_until.into(),
        edition.started_at.into(),
        edition.reopened_at.into(),
        edition.published_at.into(),
        (&edition.reason).into(),
        edition.updated_at.into(),
    ]
}

/// An edition in a list: its columns, then what was counted.
pub(crate) fn line(row: &Row<'_>) -> Result<EditionLine> {
    let counted = |place: usize| number(row, COLUMNS + place);
    let (pending, processing) = (counted(0)?, counted(1)?);
    let (completed, failed) = (counted(2)?, counted(3)?);
    Ok(EditionLine {
        edition: edition(row)?,
        counts: Counts {
            total: pending + processing + completed + failed,
            pending,
            processing,
            completed,
            failed,
        },
        batches: counted(4)?,
    })
}

pub(crate) fn story(row: &Row<'_>) -> Result<Story> {
    let note = row.text_or_null(16)?;
    let batch = row.big_or_null(3)?;
    Ok(Story {
        listed: Listed {
            key: StoryKey(row.text(0)?),
            url: row.text(9)?,
            discussion_url: row.text_or_null(10)?,
            title: row.text(11)?,
            score: row.big_or_null(7)?,
            published_at: maybe_instant(row.big_or_null(8)?)?,
            text: row.text_or_null(12)?,
        },
        rank: number(row, 1)?,
        status: named("status", &row.text(2)?, story::Status::parse)?,
        batch: batch.map(small).transpose()?,
        written: Written {
            title: row.text_or_null(13)?,
            content_summary: row.text_or_null(14)?,
            comment_summary: row.text_or_null(15)?,
            note: note
                .map(|name| named("note", &name, Note::parse))
                .transpose()?,
        },
        error_message: row.text_or_null(17)?,
        retry_count: number(row, 4)?,
        retry_at: maybe_instant(row.big_or_null(5)?)?,
        updated_at: instant(row.big(6)?)?,
    })
}

pub(crate) fn story_values<'a>(day: &'a str, story: &'a Story) -> Vec<Value<'a>> {
    let (listed, written) = (&story.listed, &story.written);
    vec![
        day.into(),
        (&listed.key.0).into(),
        story.rank.into(),
        story.status.as_str().into(),
        story.batch.map(i64::from).into(),
        story.retry_count.into(),
        story.retry_at.into(),
        story.updated_at.into(),
        listed.score.into(),
        listed.published_at.into(),
        (&listed.url).into(),
        (&listed.discussion_url).into(),
        (&listed.title).into(),
        (&listed.text).into(),
        (&written.title).into(),
        (&written.content_summary).into(),
        (&written.comment_summary).into(),
        written.note.map(Note::as_str).into(),
        (&story.error_message).into(),
    ]
}

pub(crate) fn batch(row: &Row<'_>) -> Result<Batch> {
    let tokens = |index: usize| u64::try_from(row.big(index)?).map_err(unreadable);
    Ok(Batch {
        index: number(row, 0)?,
        status: named("status", &row.text(1)?, batch::Status::parse)?,
        story_count: number(row, 2)?,
        node: row.text(3)?,
        spend: Spend {
            requests: number(row, 4)?,
            model_requests: number(row, 5)?,
            tokens_in: tokens(6)?,
            tokens_out: tokens(7)?,
        },
        error_message: row.text_or_null(8)?,
        started_at: instant(row.big(9)?)?,
        lease_until: instant(row.big(10)?)?,
        ended_at: maybe_instant(row.big_or_null(11)?)?,
    })
}

pub(crate) fn batch_values<'a>(day: &'a str, batch: &'a Batch) -> Vec<Value<'a>> {
    vec![
        day.into(),
        batch.index.into(),
        batch.status.as_str().into(),
        batch.story_count.into(),
        (&batch.node).into(),
        batch.spend.requests.into(),
        batch.spend.model_requests.into(),
        many(batch.spend.tokens_in).into(),
        many(batch.spend.tokens_out).into(),
        (&batch.error_message).into(),
        batch.started_at.into(),
        batch.lease_until.into(),
        batch.ended_at.into(),
    ]
}

pub(crate) fn delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        revision: number(row, 0)?,
        destination: row.text(1)?,
        part: number(row, 2)?,
        body: row.text_or_null(3)?,
        state: named("state", &row.text(4)?, delivery::State::parse)?,
        attempts: number(row, 5)?,
        lease_until: maybe_instant(row.big_or_null(6)?)?,
        retry_at: maybe_instant(row.big_or_null(7)?)?,
        detail: row.text_or_null(8)?,
        receipt: row.text_or_null(9)?,
        requests: number(row, 10)?,
        updated_at: instant(row.big(11)?)?,
    })
}

pub(crate) fn delivery_values<'a>(day: &'a str, delivery: &'a Delivery) -> Vec<Value<'a>> {
    vec![
        day.into(),
        delivery.revision.into(),
        (&delivery.destination).into(),
        delivery.part.into(),
        (&delivery.body).into(),
        delivery.state.as_str().into(),
        delivery.attempts.into(),
        delivery.lease_until.into(),
        delivery.retry_at.into(),
        (&delivery.detail).into(),
        (&delivery.receipt).into(),
        delivery.requests.into(),
        delivery.updated_at.into(),
    ]
}

/// What the deliveries of older documents than `document` become, if they are not settled.
pub(crate) fn skipped_values<'a>(edition: &Edition, document: &Document) -> Vec<Value<'a>> {
    vec![
        REPLACED.into(),
        edition.updated_at.into(),
        day(edition.date).into(),
        document.inputs.revision.into(),
    ]
}

pub(crate) fn document(row: &Row<'_>) -> Result<Document> {
    Ok(Document {
        inputs: serde_json::from_str(&row.text(0)?).map_err(unreadable)?,
        template: row.text(1)?,
        body: row.text(2)?,
        inputs_digest: row.text(3)?,
        body_digest: row.text(4)?,
        made_at: instant(row.big(5)?)?,
    })
}

pub(crate) fn document_values<'a>(day: &'a str, document: &'a Document) -> Result<Vec<Value<'a>>> {
    let inputs = serde_json::to_string(&document.inputs).map_err(unreadable)?;
    Ok(vec![
        day.into(),
        document.inputs.revision.into(),
        inputs.into(),
        (&document.template).into(),
        (&document.body).into(),
        (&document.inputs_digest).into(),
        (&document.body_digest).into(),
        document.made_at.into(),
    ])
}

fn named<T>(what: &str, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    parse(name).ok_or_else(|| unreadable(format!("{what} `{name}`")))
}

fn number(row: &Row<'_>, index: usize) -> Result<u32> {
    small(row.big(index)?)
}

fn small(stored: i64) -> Result<u32> {
    u32::try_from(stored).map_err(unreadable)
}
