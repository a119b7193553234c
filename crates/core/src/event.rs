//! CloudEvents in, changes of intent out.
//!
//! A business service tells Almanack that a time changed by sending an event (founding document
//! 002, section 2). The meaning is the same over HTTP and over a message queue, so it is decided
//! here, from the JSON alone:
//!
//! | `type` | meaning |
//! | --- | --- |
//! | `almanack.task.put.v1` | try `(subject, data.kind)` at `data.execute_at` |
//! | `almanack.task.cancel.v1` | withdraw `(subject, data.kind)` |
//!
//! `data.revision` is required: queues deliver twice and out of order, and only the number tells an
//! old wish from a new one.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    reschedule::{Cancel, Put, Request},
    task::{Identity, Invalid, Kind, Payload, Priority, Subject, parse_max_retry, parse_revision},
    time::to_micros,
};

/// A time was set or changed.
pub const TYPE_PUT: &str = "almanack.task.put.v1";
/// An intent was withdrawn.
pub const TYPE_CANCEL: &str = "almanack.task.cancel.v1";

/// Why an event was refused. Nothing of it takes effect.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Not a CloudEvent 1.0 in JSON, or with a field missing or unknown.
    #[error("{0}")]
    Shape(String),
    /// Some other version of CloudEvents.
    #[error("event has specversion `{0}`; only `1.0` is understood")]
    Version(String),
    /// Some other event.
    #[error("event has type `{0}`; only `{TYPE_PUT}` and `{TYPE_CANCEL}` are understood")]
    Type(String),
    /// A value breaks its rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// An event that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEvent {
    /// The event's own id, unique within its source.
    pub id: String,
    /// Who sent it.
    pub source: String,
    /// What it asks for.
    pub request: Request,
}

/// CloudEvents allow extension attributes, so unknown fields of the envelope pass; unknown fields
/// of `data` do not, because a misspelt one would silently change the meaning.
#[derive(Deserialize)]
struct Envelope {
    specversion: String,
    id: String,
    source: String,
    r#type: String,
    subject: Option<String>,
    data: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PutData {
    kind: String,
    execute_at: Timestamp,
    revision: i64,
    payload: Option<Box<RawValue>>,
    callback_url: Option<String>,
    max_retry: Option<i64>,
    priority: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelData {
    kind: String,
    revision: i64,
}

/// Reads one structured-mode event. `payload_limit` is the deployment's payload size limit.
pub fn parse(json: &str, payload_limit: usize) -> Result<TaskEvent, EventError> {
    let envelope: Envelope = read(json, "event")?;
    if envelope.specversion != "1.0" {
        return Err(EventError::Version(
            envelope.specversion.chars().take(100).collect(),
        ));
    }
    let subject = envelope.subject.ok_or_else(|| missing("subject"))?;
    let subject = Subject::parse(&subject)?;
    let data = envelope.data.ok_or_else(|| missing("data"))?;
    let data = data.get();
    let request = match envelope.r#type.as_str() {
        TYPE_PUT => Request::Put(put(subject, read(data, "data")?, payload_limit)?),
        TYPE_CANCEL => {
            let data: CancelData = read(data, "data")?;
            let identity = Identity {
                subject,
                kind: Kind::parse(&data.kind)?,
            };
            Request::Cancel(Cancel {
                identity,
                revision: Some(parse_revision(data.revision)?),
            })
        }
        other => return Err(EventError::Type(other.chars().take(100).collect())),
    };
    Ok(TaskEvent {
        id: envelope.id,
        source: envelope.source,
        request,
    })
}

fn put(subject: Subject, data: PutData, payload_limit: usize) -> Result<Put, EventError> {
    let payload = data
        .payload
        .map(|raw| Payload::parse(raw.get(), payload_limit))
        .transpose()?;
    Ok(Put {
        identity: Identity {
            subject,
            kind: Kind::parse(&data.kind)?,
        },
        execute_at: to_micros(data.execute_at),
        payload,
        callback_url: data.callback_url,
        max_retry: data.max_retry.map(parse_max_retry).transpose()?,
        priority: data.priority.map(Priority::new).transpose()?,
        revision: Some(parse_revision(data.revision)?),
    })
}

/// Reads one level of the event; `within` is where it stands, for the message.
fn read<'a, T: Deserialize<'a>>(json: &'a str, within: &str) -> Result<T, EventError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let field = error.path().to_string();
        let why = error.into_inner();
        // A field that is missing or unknown is named by the message itself.
        EventError::Shape(if field == "." {
            format!("{within}: {why}")
        } else {
            format!("{within}.{field}: {why}")
        })
    })?;
    reader
        .end()
        .map_err(|error| EventError::Shape(format!("{within}: {error}")))?;
    Ok(value)
}

fn missing(field: &str) -> EventError {
    EventError::Shape(format!("event: missing field `{field}`"))
}

#[cfg(test)]
mod tests;
