//! What a queue delivered, understood: one function for every bus and every mode.
//!
//! ```text
//!   how the operator reads a topic     content-type                    ce_specversion   understood as
//!   ──────────────────────────────     ────────────                    ──────────────   ─────────────
//!   cloudevents                        application/cloudevents+json    any              structured
//!   cloudevents                        other application/cloudevents…  any              refused
//!   cloudevents                        anything else                   there            binary
//!   cloudevents                        none, application/json          none             structured
//!   cloudevents                        anything else                   none             refused
//!   mapping                            any                             any              JSON by paths
//! ```
//!
//! Headers are Kafka's `ce_` and NATS's `ce-`, as the bindings of CloudEvents say; NATS carries
//! them percent-encoded, Kafka as they are. What a message means is decided by its bytes and the
//! configuration alone, so a redelivery means the same.

use serde_json::value::RawValue;

use super::{EventError, TaskEvent, gather, intake::ChangeRequest, mapping::Mapping, parse, read};
use crate::{address, percent, reschedule::Request};

const STRUCTURED: &str = "application/cloudevents+json";
const CLOUDEVENTS: &str = "application/cloudevents";
const PLAIN: &str = "application/json";
/// Longest callback address, as over HTTP.
const CALLBACK_BYTES_MAX: usize = 2000;

names! {
    /// What carried a message.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Bus {
        /// Apache Kafka, or whatever speaks its protocol.
        Kafka = "kafka",
        /// NATS `JetStream`.
        Nats = "nats",
    }
}

impl Bus {
    fn prefix(self) -> &'static str {
        match self {
            Self::Kafka => "ce_",
            Self::Nats => "ce-",
        }
    }

    fn decode(self, value: &[u8]) -> Option<String> {
        let text = std::str::from_utf8(value).ok()?;
        match self {
            Self::Kafka => Some(text.to_owned()),
            Self::Nats => percent::decode(text),
        }
    }
}

/// A message as delivered. It has no `Debug`: bodies do not belong into logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Incoming {
    pub bus: Bus,
    /// The topic or stream it came from.
    pub channel: String,
    /// Where exactly, for people: `articles/3@17`.
    pub place: String,
    /// Its headers, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Its key, where the bus has keys.
    pub key: Option<Vec<u8>>,
    pub body: Vec<u8>,
}

/// How messages of one topic are to be read.
#[derive(Debug, Clone)]
pub struct Reading {
    pub format: Format,
    /// What happens to messages about something else.
    pub others: Others,
    /// The deployment's largest payload, in bytes.
    pub payload_bytes: usize,
}

/// In which format messages are.
#[derive(Debug, Clone)]
pub enum Format {
    /// CloudEvents, structured or binary, as each message says itself.
    CloudEvents,
    Mapped(Box<Mapping>),
}

/// What to do with well-formed messages that request nothing of Almanack: events of another type,
/// actions that are not configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// A mistake (default).
    Refuse,
    /// The topic is shared; they pass.
    Skip,
}

/// Understands one message; `None` passes over it.
pub fn understand(
    message: &Incoming,
    reading: &Reading,
) -> Result<Option<ChangeRequest>, EventError> {
    let understood = match &reading.format {
        Format::CloudEvents => cloud_event(message, reading.payload_bytes),
        Format::Mapped(mapping) => mapping.read(message, reading.payload_bytes),
    };
    let event = match (understood, reading.others) {
        (Err(EventError::Type(_)), Others::Skip) => return Ok(None),
        (understood, _) => understood?,
    };
    if let Request::Put(put) = &event.request {
        check_callback(put.callback_url.as_deref())?;
    }
    Ok(Some(ChangeRequest {
        origin: event.origin(),
        id: event.id,
        request: event.request,
    }))
}

fn cloud_event(message: &Incoming, payload_bytes: usize) -> Result<TaskEvent, EventError> {
    let content_type = header(message, "content-type");
    let media_type = content_type.as_deref().map(|value| {
        let value = value.split(';').next().unwrap_or_default();
        value.trim().to_ascii_lowercase()
    });
    let prefix = message.bus.prefix();
    let is_binary = header(message, &format!("{prefix}specversion")).is_some();
    let text = body(message)?;
    match media_type.as_deref() {
        Some(STRUCTURED) => parse(text, payload_bytes),
        Some(other) if other.starts_with(CLOUDEVENTS) => Err(encoding(other)),
        _ if is_binary => {
            let data: &RawValue = read(text, "data")?;
            let text = gather(prefix, |name| header(message, name), data)?;
            parse(&text, payload_bytes)
        }
        None | Some(PLAIN) => parse(text, payload_bytes),
        Some(other) => Err(encoding(other)),
    }
}

/// The body as text.
pub(super) fn body(message: &Incoming) -> Result<&str, EventError> {
    std::str::from_utf8(&message.body).map_err(|_| encoding("no UTF-8"))
}

fn encoding(found: &str) -> EventError {
    EventError::Encoding(found.chars().take(100).collect())
}

/// A header's text. Producers disagree about capitals, and no two attributes differ by them alone.
fn header(message: &Incoming, name: &str) -> Option<String> {
    let mut headers = message.headers.iter();
    let (_, value) = headers.find(|(given, _)| given.eq_ignore_ascii_case(name))?;
    message.bus.decode(value)
}

fn check_callback(given: Option<&str>) -> Result<(), EventError> {
    let fits = |text: &str| {
        text.len() <= CALLBACK_BYTES_MAX
            && !text.contains(|c: char| c.is_control())
            && address::parse(text).is_ok()
    };
    match given {
        Some(text) if !fits(text) => Err(EventError::Callback),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
