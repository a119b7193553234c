//! CloudEvents in, changes of intent out.
//!
//! A business service reports a changed time to Almanack by sending an event (founding document
//! 002, section 2). The meaning is the same over HTTP and over a message queue, so it is decided
//! here, from the JSON alone:
//!
//! | `type` | meaning |
//! | --- | --- |
//! | `almanack.task.put.v1` | try `(subject, data.kind)` at `data.execute_at` |
//! | `almanack.task.cancel.v1` | withdraw `(subject, data.kind)` |
//!
//! `data.revision` is required: queues deliver twice and out of order, and only the number
//! distinguishes an old request from a new one.
//!
//! [`envelope`] understands what a queue delivers, in any mode; [`mapping`] reads messages of
//! services that have their own format; [`intake`] is the port by which a queue hands requests
//! over.

pub mod envelope;
mod fields;
pub mod intake;
pub mod mapping;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::value::RawValue;

use crate::{
    both,
    callback::Callback,
    lang::{Lang, Say, Sentence, reader::of_json},
    reschedule::{Cancel, Put, Request},
    say,
    task::{Expires, Identity, Invalid, Payload, Priority, Tags, parse_max_retry, parse_revision},
    time::parse_instant,
};

/// A time was set or changed.
pub const TYPE_PUT: &str = "almanack.task.put.v1";
/// An intent was withdrawn.
pub const TYPE_CANCEL: &str = "almanack.task.cancel.v1";

/// Why an event was refused. Nothing of it takes effect.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[error("{}", self.say(Lang::English))]
pub enum EventError {
    /// Not a CloudEvent 1.0 in JSON, or with a field missing or unknown.
    Shape(Sentence),
    /// Some other version of CloudEvents.
    Version(String),
    Type(String),
    /// Not JSON at all, or not text.
    Encoding(String),
    /// An address that no call may go to.
    Callback,
    /// A value breaks its rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Say for EventError {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Shape(it) => it.say(lang),
            Self::Version(it) => say!(lang;
                "event has specversion `{it}`; only `1.0` is supported",
                "事件的 specversion 为 `{it}`；只支持 `1.0`"),
            Self::Type(it) => say!(lang;
                "event has type `{it}`; only `{TYPE_PUT}` and `{TYPE_CANCEL}` are supported",
                "事件的 type 为 `{it}`；只支持 `{TYPE_PUT}` 和 `{TYPE_CANCEL}`"),
            Self::Encoding(it) => say!(lang;
                "message is `{it}`; only JSON is supported",
                "消息为 `{it}`；只支持 JSON"),
            Self::Callback => say!(lang;
                "callback_url must be an http or https address without user name or password, with a web server's port",
                "callback_url 必须是不含用户名和密码的 http 或 https 地址，端口须为网页服务器的端口"),
            Self::Invalid(it) => it.say(lang),
        }
    }
}

impl EventError {
    /// What is wrong in one word, for logs and metrics: the message itself may repeat what was
    /// sent.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

/// Longest part of an event's source that the history keeps.
const SOURCE_CHARS_MAX: usize = 200;

/// An event that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEvent {
    /// The event's own id, unique within its source.
    pub id: String,
    pub source: String,
    /// What it requests.
    pub request: Request,
}

impl TaskEvent {
    /// What the history says about who requested it.
    pub fn origin(&self) -> String {
        let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        let source = self.source.chars().take(SOURCE_CHARS_MAX).map(plain);
        format!("event:{}", source.collect::<String>())
    }
}

/// Puts a binary-mode event into structured form: its attributes travel as headers that start with
/// `prefix`, its data is the body. `header` finds one by its whole name.
pub fn gather(
    prefix: &str,
    header: impl Fn(&str) -> Option<String>,
    data: &RawValue,
) -> Result<String, EventError> {
    let optional = |name: &str| header(&format!("{prefix}{name}"));
    let required = |name: &str| {
        let problem = || {
            both!(
                "header `{prefix}{name}` is missing or not UTF-8",
                "缺少请求头 `{prefix}{name}`，或它不是 UTF-8"
            )
        };
        optional(name).ok_or_else(|| EventError::Shape(problem()))
    };
    let event = Envelope {
        specversion: required("specversion")?,
        id: required("id")?,
        source: required("source")?,
        r#type: required("type")?,
        subject: optional("subject"),
        data: Some(data.to_owned()),
    };
    serde_json::to_string(&event).map_err(|error| EventError::Shape(of_json(".", &error)))
}

/// CloudEvents allow extension attributes, so unknown fields of the envelope pass; unknown fields
/// of `data` do not, because a misspelt one would silently change the meaning.
#[derive(Serialize, Deserialize)]
struct Envelope {
    specversion: String,
    id: String,
    source: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    data: Option<Box<RawValue>>,
}

/// What a put requests, beside its subject. `fields` lists these names: no `flatten` here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PutData {
    kind: String,
    #[serde(deserialize_with = "instant")]
    execute_at: Timestamp,
    revision: Option<i64>,
    payload: Option<Box<RawValue>>,
    callback_url: Option<String>,
    callback: Option<Callback>,
    max_retry: Option<i64>,
    priority: Option<i64>,
    #[serde(default, deserialize_with = "optional_instant")]
    expires_at: Option<Timestamp>,
    expires_after_s: Option<i64>,
    tags: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelData {
    kind: String,
    revision: Option<i64>,
}

/// Reads one structured-mode event. `payload_limit` is the deployment's payload size limit.
pub fn parse(json: &str, payload_limit: usize) -> Result<TaskEvent, EventError> {
    let envelope: Envelope = read(json, "event")?;
    if envelope.specversion != "1.0" {
        return Err(EventError::Version(
            envelope.specversion.chars().take(100).collect(),
        ));
    }
    check_named(&envelope)?;
    let subject = envelope.subject.as_deref();
    let subject = subject.ok_or_else(|| missing("event.subject"))?;
    let data = envelope.data.ok_or_else(|| missing("event.data"))?;
    let data = data.get();
    let request = match envelope.r#type.as_str() {
        TYPE_PUT => Request::Put(read_put(subject, (data, "data"), payload_limit)?),
        TYPE_CANCEL => Request::Cancel(read_cancel(subject, (data, "data"))?),
        other => return Err(EventError::Type(other.chars().take(100).collect())),
    };
    if request.revision().is_none() {
        return Err(missing("data.revision"));
    }
    Ok(TaskEvent {
        id: envelope.id,
        source: envelope.source,
        request,
    })
}

fn instant<'de, D: Deserializer<'de>>(reader: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(reader)?;
    parse_instant(&text).map_err(D::Error::custom)
}

fn optional_instant<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(reader)?;
    let at = text.as_deref().map(parse_instant).transpose();
    at.map_err(D::Error::custom)
}

/// CloudEvents 1.0 requires these attributes to say something: together they name an event, and who
/// requested it is what the history keeps.
fn check_named(envelope: &Envelope) -> Result<(), EventError> {
    for (name, value) in [("id", &envelope.id), ("source", &envelope.source)] {
        if value.trim().is_empty() {
            return Err(EventError::Shape(both!(
                "event: `{name}` is empty; CloudEvents requires it to name the event",
                "事件：`{name}` 为空；CloudEvents 要求用它标识事件"
            )));
        }
    }
    Ok(())
}

/// Reads what a put requests, as JSON, and where that stands, for messages. Whether it must have a
/// revision is up to whoever delivers it.
pub fn read_put(
    subject: &str,
    (json, within): (&str, &str),
    payload_limit: usize,
) -> Result<Put, EventError> {
    let data: PutData = read(json, within)?;
    let payload = data
        .payload
        .map(|raw| Payload::parse(raw.get(), payload_limit))
        .transpose()?;
    let callback = data.callback.unwrap_or_default();
    callback.check()?;
    let (url, call_options) = callback.split();
    Ok(Put {
        identity: Identity::parse(subject, &data.kind)?,
        execute_at: data.execute_at,
        payload,
        callback_url: url.or(data.callback_url),
        call_options,
        max_retry: data.max_retry.map(parse_max_retry).transpose()?,
        priority: data.priority.map(Priority::new).transpose()?,
        expires: Expires::parse(data.expires_at, data.expires_after_s)?,
        tags: data.tags.as_deref().map(Tags::parse).transpose()?,
        revision: data.revision.map(parse_revision).transpose()?,
    })
}

/// The same for a withdrawal.
pub fn read_cancel(subject: &str, (json, within): (&str, &str)) -> Result<Cancel, EventError> {
    let data: CancelData = read(json, within)?;
    Ok(Cancel {
        identity: Identity::parse(subject, &data.kind)?,
        revision: data.revision.map(parse_revision).transpose()?,
    })
}

/// The fields that [`read_put`] knows.
pub fn put_fields() -> &'static [&'static str] {
    fields::of::<PutData>()
}

/// The fields that [`read_cancel`] knows.
pub fn cancel_fields() -> &'static [&'static str] {
    fields::of::<CancelData>()
}

/// Reads one level of the event; `within` is its place, for the message.
fn read<'a, T: Deserialize<'a>>(json: &'a str, within: &str) -> Result<T, EventError> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        // Where the text breaks off, its last field is not known.
        let path = match error.path().to_string().trim_end_matches(['.', '?']) {
            "" => within.to_owned(),
            field => format!("{within}.{field}"),
        };
        misshapen(&path, error.inner())
    })?;
    let ended = reader.end();
    ended.map_err(|error| misshapen(within, &error))?;
    Ok(value)
}

/// Names the place also where the text is not JSON.
fn misshapen(path: &str, error: &serde_json::Error) -> EventError {
    let fault = of_json(path, error);
    EventError::Shape(if error.is_data() {
        fault
    } else {
        both!("`{path}`: ", "`{path}`：").joined(&fault)
    })
}

fn missing(field: &str) -> EventError {
    EventError::Shape(both!("`{field}` is missing", "缺少 `{field}`"))
}

#[cfg(test)]
mod tests;
