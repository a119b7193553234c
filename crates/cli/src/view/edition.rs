//! Editions as `--json` shows them: the names are the API's.

use almanack_core::{
    edition::{
        Account, Counts, Edition, State,
        alert::Alert,
        batch::Batch,
        delivery::Delivery,
        document::Document,
        story::{Note, Story},
    },
    store::EditionLine,
};
use almanack_engine::editions::Status;
use serde_json::{Value, json};

/// One edition in a list.
pub(crate) fn edition_line(line: &EditionLine) -> Value {
    of(&line.edition, line.counts)
}

/// One edition, without its rows.
pub(crate) fn account(account: &Account) -> Value {
    of(&account.edition, account.counts())
}

/// One edition with everything that belongs to it.
pub(crate) fn edition(status: &Status) -> Value {
    let Status {
        account: whole,
        forecast,
    } = status;
    let mut view = account(whole);
    view["requests"] = whole.requests().into();
    view["plan"] = json!({
        "batches_done": forecast.batches_done,
        "batches_planned": forecast.batches_planned,
        "expected_finish_at": forecast.finish_at,
    });
    view["stories"] = whole.stories.iter().map(story).collect();
    view["batches"] = whole.batches.iter().map(batch).collect();
    view["deliveries"] = whole.deliveries.iter().map(delivery).collect();
    view["alerts"] = whole.alerts.iter().map(alert).collect();
    view
}

fn of(edition: &Edition, counts: Counts) -> Value {
    let mut view = json!({
        "date": edition.date,
        "state": edition.state.as_str(),
        "revision": edition.revision,
        "story_source": edition.story_source,
        "counts": {
            "total": counts.total,
            "pending": counts.pending,
            "processing": counts.processing,
            "completed": counts.completed,
            "failed": counts.failed,
        },
        "reason": edition.reason,
        "started_at": edition.started_at,
        "published_at": edition.published_at,
        "created_at": edition.created_at,
        "updated_at": edition.updated_at,
    });
    if let Some(was) = edition.archived_from.map(State::as_str) {
        view["archived_from"] = was.into();
    }
    view
}

fn story(story: &Story) -> Value {
    let (listed, written) = (&story.listed, &story.written);
    json!({
        "rank": story.rank,
        "key": listed.key,
        "status": story.status.as_str(),
        "title": written.title,
        "original_title": listed.title,
        "url": listed.url,
        "discussion_url": listed.discussion_url,
        "score": listed.score,
        "published_at": listed.published_at,
        "content_summary": written.content_summary,
        "comment_summary": written.comment_summary,
        "note": written.note.map(Note::as_str),
        "error": story.error_message,
        "retry_count": story.retry_count,
        "retry_at": story.retry_at,
        "batch": story.batch,
    })
}

fn batch(batch: &Batch) -> Value {
    json!({
        "index": batch.index,
        "status": batch.status.as_str(),
        "story_count": batch.story_count,
        "requests": batch.spend.requests,
        "tokens_in": batch.spend.tokens_in,
        "tokens_out": batch.spend.tokens_out,
        "duration_ms": batch.duration_ms(),
        "node": batch.node,
        "error": batch.error_message,
        "started_at": batch.started_at,
    })
}

fn delivery(delivery: &Delivery) -> Value {
    json!({
        "revision": delivery.revision,
        "destination": delivery.destination,
        "part": delivery.part,
        "state": delivery.state.as_str(),
        "attempts": delivery.attempts,
        "retry_at": delivery.retry_at,
        "detail": delivery.detail,
        "receipt": delivery.receipt,
        "requests": delivery.requests,
        "updated_at": delivery.updated_at,
    })
}

fn alert(alert: &Alert) -> Value {
    json!({
        "rule": alert.rule.name(),
        "detail": alert.detail,
        "opened_at": alert.opened_at,
        "closed_at": alert.closed_at,
    })
}

/// A document as it was made.
pub(crate) fn document(document: &Document) -> Value {
    let inputs = &document.inputs;
    json!({
        "date": inputs.date,
        "revision": inputs.revision,
        "title": inputs.title,
        "language": inputs.language,
        "stories": inputs.stories.len(),
        "left_out": inputs.left_out,
        "made_at": document.made_at,
        "inputs_digest": document.inputs_digest,
        "body_digest": document.body_digest,
        "body": document.body,
    })
}
