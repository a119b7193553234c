//! Rows of editions, and what they are written with. Orders are those of the column lists in
//! `edition.rs`.

use almanack_core::{
    budget::Spend,
    edition::{
        Counts, Edition, State,
        batch::Batch,
        delivery::Delivery,
        document::Document,
        story::{Listed, Note, Story, StoryKey, Written},
    },
    store::{EditionLine, Result},
};

use super::{Row, Value, many, unreadable, values};
use crate::edition::{COLUMNS, REPLACED, day};

pub(crate) fn edition(row: &Row<'_>) -> Result<Edition> {
    Ok(Edition {
        date: row.text(0)?.parse().map_err(unreadable)?,
        version: row.get(1)?,
        state: row.get(2)?,
        archived_from: row.get(3)?,
        revision: row.get(4)?,
        story_source: row.get(5)?,
        list_requests: row.get(6)?,
        fetching_until: row.get(7)?,
        started_at: row.get(8)?,
        reopened_at: row.get(9)?,
        published_at: row.get(10)?,
        reason: row.get(11)?,
        updated_at: row.get(12)?,
        created_at: row.get(13)?,
    })
}

/// What an edition is created with.
pub(crate) fn new_edition(edition: &Edition) -> Vec<Value<'_>> {
    let mut values = values![day(edition.date), edition.version];
    values.extend(changing(edition));
    values.extend(values![edition.created_at]);
    values
}

/// What an edition is changed to, if it is still the version that was seen.
pub(crate) fn changed_edition(edition: &Edition) -> Vec<Value<'_>> {
    let mut values = changing(edition);
    values.extend(values![day(edition.date), edition.version]);
    values
}

fn changing(edition: &Edition) -> Vec<Value<'_>> {
    values![
        edition.state.as_str(),
        edition.archived_from.map(State::as_str),
        edition.revision,
        &edition.story_source,
        edition.list_requests,
        edition.fetching_until,
        edition.started_at,
        edition.reopened_at,
        edition.published_at,
        &edition.reason,
        edition.updated_at,
    ]
}

/// An edition in a list: its columns, then what was counted.
pub(crate) fn line(row: &Row<'_>) -> Result<EditionLine> {
    let counted = |place: usize| row.get(COLUMNS + place);
    let (pending, processing): (u32, u32) = (counted(0)?, counted(1)?);
    let (completed, failed): (u32, u32) = (counted(2)?, counted(3)?);
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
    Ok(Story {
        listed: Listed {
            key: StoryKey(row.get(0)?),
            url: row.get(9)?,
            discussion_url: row.get(10)?,
            title: row.get(11)?,
            score: row.get(7)?,
            published_at: row.get(8)?,
            text: row.get(12)?,
        },
        rank: row.get(1)?,
        status: row.get(2)?,
        batch: row.get(3)?,
        written: Written {
            title: row.get(13)?,
            content_summary: row.get(14)?,
            comment_summary: row.get(15)?,
            note: row.get(16)?,
        },
        error_message: row.get(17)?,
        retry_count: row.get(4)?,
        retry_at: row.get(5)?,
        updated_at: row.get(6)?,
    })
}

pub(crate) fn story_values<'a>(day: &'a str, story: &'a Story) -> Vec<Value<'a>> {
    let (listed, written) = (&story.listed, &story.written);
    values![
        day,
        &listed.key.0,
        story.rank,
        story.status.as_str(),
        story.batch.map(i64::from),
        story.retry_count,
        story.retry_at,
        story.updated_at,
        listed.score,
        listed.published_at,
        &listed.url,
        &listed.discussion_url,
        &listed.title,
        &listed.text,
        &written.title,
        &written.content_summary,
        &written.comment_summary,
        written.note.map(Note::as_str),
        &story.error_message,
    ]
}

pub(crate) fn batch(row: &Row<'_>) -> Result<Batch> {
    Ok(Batch {
        index: row.get(0)?,
        status: row.get(1)?,
        story_count: row.get(2)?,
        node: row.get(3)?,
        spend: Spend {
            requests: row.get(4)?,
            model_requests: row.get(5)?,
            tokens_in: row.get(6)?,
            tokens_out: row.get(7)?,
        },
        error_message: row.get(8)?,
        started_at: row.get(9)?,
        lease_until: row.get(10)?,
        ended_at: row.get(11)?,
    })
}

pub(crate) fn batch_values<'a>(day: &'a str, batch: &'a Batch) -> Vec<Value<'a>> {
    values![
        day,
        batch.index,
        batch.status.as_str(),
        batch.story_count,
        &batch.node,
        batch.spend.requests,
        batch.spend.model_requests,
        many(batch.spend.tokens_in),
        many(batch.spend.tokens_out),
        &batch.error_message,
        batch.started_at,
        batch.lease_until,
        batch.ended_at,
    ]
}

pub(crate) fn delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        revision: row.get(0)?,
        destination: row.get(1)?,
        part: row.get(2)?,
        body: row.get(3)?,
        state: row.get(4)?,
        attempts: row.get(5)?,
        lease_until: row.get(6)?,
        retry_at: row.get(7)?,
        detail: row.get(8)?,
        receipt: row.get(9)?,
        requests: row.get(10)?,
        updated_at: row.get(11)?,
    })
}

pub(crate) fn delivery_values<'a>(day: &'a str, delivery: &'a Delivery) -> Vec<Value<'a>> {
    values![
        day,
        delivery.revision,
        &delivery.destination,
        delivery.part,
        &delivery.body,
        delivery.state.as_str(),
        delivery.attempts,
        delivery.lease_until,
        delivery.retry_at,
        &delivery.detail,
        &delivery.receipt,
        delivery.requests,
        delivery.updated_at,
    ]
}

/// What the deliveries of older documents than `document` become, if they are not settled.
pub(crate) fn skipped_values<'a>(edition: &Edition, document: &Document) -> Vec<Value<'a>> {
    values![
        REPLACED,
        edition.updated_at,
        day(edition.date),
        document.inputs.revision,
    ]
}

pub(crate) fn document(row: &Row<'_>) -> Result<Document> {
    Ok(Document {
        inputs: serde_json::from_str(&row.text(0)?).map_err(unreadable)?,
        template: row.get(1)?,
        body: row.get(2)?,
        inputs_digest: row.get(3)?,
        body_digest: row.get(4)?,
        made_at: row.get(5)?,
    })
}

pub(crate) fn document_values<'a>(day: &'a str, document: &'a Document) -> Result<Vec<Value<'a>>> {
    let inputs = serde_json::to_string(&document.inputs).map_err(unreadable)?;
    Ok(values![
        day,
        document.inputs.revision,
        inputs,
        &document.template,
        &document.body,
        &document.inputs_digest,
        &document.body_digest,
        document.made_at,
    ])
}
