//! Rows of editions, and what they are written with. Orders are those of the column lists in
//! `edition.rs`.

use almanack_core::{
    budget::Spend,
    edition::{
        Counts, Edition, EditionId, State,
        batch::Batch,
        delivery::Delivery,
        document::Document,
        ladder::Cause,
        prompts::Versions,
        revision::RevisionLine,
        story::{CommentNote, Listed, Note, Story, StoryKey, Written},
    },
    store::{EditionLine, Result},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Row, Value, many, unreadable, values};
use crate::edition::{COLUMNS, REPLACED, key};

/// What identifies an edition, alone.
pub(crate) fn id(row: &Row<'_>) -> Result<EditionId> {
    row.text(0)?.parse().map_err(unreadable)
}

pub(crate) fn edition(row: &Row<'_>) -> Result<Edition> {
    Ok(Edition {
        id: row.text(0)?.parse().map_err(unreadable)?,
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
        hold: parsed(row, 13)?,
        retraction: parsed(row, 14)?,
        corrections: parsed(row, 15)?.unwrap_or_default(),
        due_at: row.get(16)?,
        ready_at: row.get(17)?,
        improving_at: row.get(18)?,
        overview: row.get(19)?,
        overview_prompt: row.get(20)?,
        created_at: row.get(21)?,
    })
}

/// What a column keeps as JSON; nothing where it is null.
fn parsed<T: DeserializeOwned>(row: &Row<'_>, place: usize) -> Result<Option<T>> {
    let text: Option<String> = row.get(place)?;
    let read = text.map(|text| serde_json::from_str(&text));
    read.transpose().map_err(unreadable)
}

fn json<T: Serialize>(value: Option<&T>) -> Option<String> {
    // Rendering plain data cannot fail.
    value.map(|value| serde_json::to_string(value).unwrap_or_default())
}

/// What an edition is created with.
pub(crate) fn new_edition(edition: &Edition) -> Vec<Value<'_>> {
    let mut values = values![key(edition.id), edition.version];
    values.extend(changing(edition));
    values.extend(values![edition.created_at]);
    values
}

/// What an edition is changed to, if it is still the version that was seen.
pub(crate) fn changed_edition(edition: &Edition) -> Vec<Value<'_>> {
    let mut values = changing(edition);
    values.extend(values![key(edition.id), edition.version]);
    values
}

/// What changes of an edition.
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
        json(edition.hold.as_ref()),
        json(edition.retraction.as_ref()),
        json(Some(&edition.corrections).filter(|it| !it.is_empty())),
        edition.due_at,
        edition.ready_at,
        edition.improving_at,
        &edition.overview,
        &edition.overview_prompt,
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

/// What is shown with a story and never asked for by itself: one column of JSON.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment_note: Option<CommentNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading_minutes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<String>,
    #[serde(skip_serializing_if = "Versions::is_empty")]
    prompts: Versions,
}

impl Details {
    fn of(story: &Story) -> Self {
        Self {
            comment_count: story.listed.comment_count,
            comment_note: story.written.comment_note,
            image_url: story.written.image_url.clone(),
            reading_minutes: story.written.reading_minutes,
            source_name: story.listed.source_name.clone(),
            topic: story.listed.topic.clone(),
            prompts: story.written.prompts.clone(),
        }
    }

    fn read(text: Option<&str>) -> Result<Self> {
        text.map_or_else(
            || Ok(Self::default()),
            |text| serde_json::from_str(text).map_err(unreadable),
        )
    }

    /// Nothing where there is nothing to say, as in rows from before there were details.
    fn to_text(&self) -> Option<String> {
        let text = serde_json::to_string(self).ok();
        text.filter(|_| *self != Self::default())
    }
}

pub(crate) fn story(row: &Row<'_>) -> Result<Story> {
    let details: Option<String> = row.get(19)?;
    let details = Details::read(details.as_deref())?;
    Ok(Story {
        listed: Listed {
            key: StoryKey(row.get(0)?),
            url: row.get(9)?,
            discussion_url: row.get(10)?,
            title: row.get(11)?,
            score: row.get(7)?,
            comment_count: details.comment_count,
            source_name: details.source_name,
            topic: details.topic,
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
            degraded_by: row.get(18)?,
            comment_note: details.comment_note,
            image_url: details.image_url,
            reading_minutes: details.reading_minutes,
            prompts: details.prompts,
        },
        error_message: row.get(17)?,
        retry_count: row.get(4)?,
        retry_at: row.get(5)?,
        updated_at: row.get(6)?,
    })
}

pub(crate) fn story_values<'a>(key: &'a str, story: &'a Story) -> Vec<Value<'a>> {
    let (listed, written) = (&story.listed, &story.written);
    values![
        key,
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
        written.degraded_by.map(Cause::as_str),
        Details::of(story).to_text(),
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

pub(crate) fn batch_values<'a>(key: &'a str, batch: &'a Batch) -> Vec<Value<'a>> {
    values![
        key,
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

pub(crate) fn delivery_values<'a>(key: &'a str, delivery: &'a Delivery) -> Vec<Value<'a>> {
    values![
        key,
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
        key(edition.id),
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
        revised: parsed(row, 6)?,
    })
}

pub(crate) fn document_values<'a>(key: &'a str, document: &'a Document) -> Result<Vec<Value<'a>>> {
    let inputs = serde_json::to_string(&document.inputs).map_err(unreadable)?;
    Ok(values![
        key,
        document.inputs.revision,
        inputs,
        &document.template,
        &document.body,
        &document.inputs_digest,
        &document.body_digest,
        document.made_at,
        json(document.revised.as_ref()),
    ])
}

pub(crate) fn revision(row: &Row<'_>) -> Result<RevisionLine> {
    let (revision, made_at) = (row.get(0)?, row.get(1)?);
    Ok(RevisionLine::new(revision, made_at, parsed(row, 2)?))
}
