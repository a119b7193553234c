//! CloudEvents over HTTP: one in structured or binary mode, or many in batched mode.
//!
//! What an event means is defined in `core` ([`almanack_core::event`]) and is the same for message
//! queues. This module handles only the HTTP bindings. A batch is processed in order; an error in
//! one event is reported in its position and does not stop the others.

use almanack_core::both;
use almanack_core::event::incoming::{self, EventError, TaskEvent};
use almanack_core::lang::Say as _;
use almanack_core::reschedule::Request;
use serde_json::value::{RawValue, Value};

use self::schema::{EventBody, EventsView};
use crate::batch::{BatchView, check_count};
use crate::call::{OnceHeader, read_json, unsupported};
use crate::idempotency::{Answers, ChangeRequests, ask, ask_all};
use crate::prelude::*;
use crate::receipts::{ReceiptView, answer};
use crate::tasks::body::{check_callback, parse_instant};
use crate::{Limits, percent};

mod schema;

const STRUCTURED: &str = "application/cloudevents+json";
const BATCHED: &str = "application/cloudevents-batch+json";
const PLAIN: &str = "application/json";

/// Receive CloudEvents that create, reschedule or cancel tasks.
///
/// Accepts `almanack.task.put.v1` and `almanack.task.cancel.v1`, as one event (structured, or
/// binary with `ce-` headers) or as a batch. Redelivery and reordering are harmless:
/// `data.revision` decides.
#[utoipa::path(
    post, path = "/api/v1/events", tag = "events",
    params(OnceHeader),
    request_body(content(
        (EventBody = "application/cloudevents+json"),
        (Vec<EventBody> = "application/cloudevents-batch+json"),
        (EventBody = "application/json"),
    )),
    responses(
        (status = 200, description = "The decisions", body = EventsView),
        (status = 201, description = "One event that created a row", body = ReceiptView),
    ),
)]
pub(crate) async fn post_events(State(state): App, call: Call) -> Answer {
    let media_type = call.media_type().unwrap_or_default().to_ascii_lowercase();
    let text = match media_type.as_str() {
        BATCHED => return post_batch(&state, &call).await,
        PLAIN if call.headers.contains_key("ce-specversion") => {
            envelope(&call.headers, call.text()?)?
        }
        STRUCTURED | PLAIN => call.text()?.to_owned(),
        _ => return Err(unsupported(&format!("{STRUCTURED}` or `{BATCHED}"))),
    };
    let event = understand(&text, &state.limits)?;
    let (origin, identity) = (event.origin(), event.request.identity().clone());
    let receipt = ask(&state, &call, event.request, &origin).await?;
    Ok(answer(identity, receipt))
}

async fn post_batch(state: &AppState, call: &Call) -> Answer {
    let events: Vec<&RawValue> = read_json(call.text()?)?;
    check_count(events.len(), state.limits.batch_items_max)?;
    let requests: Vec<_> = events
        .iter()
        .map(|e| understand(e.get(), &state.limits))
        .collect();
    if call.once.is_some() {
        check_one_source(&requests)?;
    }
    let mut answers = Answers::with_capacity(requests.len());
    for (origin, run) in runs(requests) {
        answers.extend(ask_all(state, call, run, &origin).await?);
    }
    Ok(Json(BatchView::from(answers)).into_response())
}

/// Splits a batch into runs of equal origin, because one call to the engine has one origin. The
/// order is kept: it matters if two events have the same identity. An unreadable event joins the
/// run around it.
fn runs(events: Vec<Result<TaskEvent>>) -> Vec<(String, ChangeRequests)> {
    let mut runs: Vec<(String, ChangeRequests)> = Vec::new();
    for event in events {
        let origin = event.as_ref().ok().map(TaskEvent::origin);
        let request = event.map(|event| event.request);
        match runs.last_mut() {
            Some((last, run)) if origin.as_ref().is_none_or(|it| it == last) => run.push(request),
            _ => runs.push((origin.unwrap_or_default(), vec![request])),
        }
    }
    runs
}

/// All or nothing means one transaction, which has one requester.
fn check_one_source(events: &[Result<TaskEvent>]) -> Result<()> {
    let mut origins = events.iter().flatten().map(TaskEvent::origin);
    let first = origins.next();
    if origins.all(|origin| Some(&origin) == first.as_ref()) {
        return Ok(());
    }
    let detail = both!(
        "with an Idempotency-Key all events of a batch must have the same source",
        "带 Idempotency-Key 时，一批事件必须有相同的 source"
    );
    Err(Problem::new(Code::InvalidEvent, detail))
}

fn understand(text: &str, limits: &Limits) -> Result<TaskEvent> {
    let event =
        incoming::parse(text, limits.payload_bytes).map_err(|error| explain(text, error))?;
    if let Request::Put(put) = &event.request {
        check_callback(put.callback_url.as_deref(), "data.callback_url")?;
    }
    Ok(event)
}

/// Two common mistakes get a better message than the parser's.
fn explain(text: &str, error: EventError) -> Problem {
    if let EventError::Invalid(invalid) = error {
        return invalid.into();
    }
    let Ok(event) = serde_json::from_str::<Value>(text) else {
        return Problem::new(Code::MalformedJson, error.both());
    };
    let path = "data.execute_at";
    let time = event.pointer("/data/execute_at").and_then(Value::as_str);
    match time.map(|time| parse_instant(time, path)) {
        Some(Err(problem)) => problem,
        _ => error.into(),
    }
}

/// A binary-mode event in structured form.
fn envelope(headers: &HeaderMap, data: &str) -> Result<String> {
    let header = |name: &str| percent::decode(headers.get(name)?.to_str().ok()?);
    Ok(incoming::gather("ce-", header, read_json(data)?)?)
}
