//! Messages in a service's own JSON, read by configured paths.
//!
//! A service that already publishes its changes has its own format and readers who rely on it. It
//! need not learn ours: the operator configures where in its messages the subject, the time and the
//! revision are. The revision stays required, because without it a redelivery could restore an old
//! time.
//!
//! What must stay true: a message that lacks what the mapping names is refused and never guessed
//! at, and a payload is passed on byte for byte.

mod path;

use jiff::Timestamp;
use serde_json::{Value, value::RawValue};

use super::{
    EventError, TaskEvent,
    envelope::{Incoming, body},
    read,
};
use crate::{
    both,
    lang::Sentence,
    reschedule::{Cancel, Put, Request},
    task::{Identity, Payload, parse_revision},
    time::{from_milliseconds, from_seconds, parse_instant},
};

pub use path::{Path, Template, Unreadable};

/// Milliseconds below this lie before April 1973: the service sends seconds. Taken as they are they
/// would mean "at once".
const EARLIEST_MS: i64 = 100_000_000_000;

/// Where in a message is what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The task's subject: `article:{/id}`.
    pub subject: Template,
    pub kind: Template,
    pub execute_at: Path,
    /// How that is written.
    pub unit: Unit,
    /// The number of the change.
    pub revision: Path,
    /// Which messages withdraw; without it, all set a time.
    pub action: Option<Action>,
    pub payload: Option<Path>,
    pub callback_url: Option<Template>,
    /// The message's own name; otherwise its place in the queue.
    pub id: Option<Path>,
    /// Who sent it; otherwise the topic.
    pub source: Option<Template>,
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `2026-01-05T08:00:00Z`, with any offset.
    Rfc3339,
    /// Seconds since 1970.
    Seconds,
    /// Milliseconds since 1970.
    Milliseconds,
}

/// How to distinguish messages that withdraw from those that set a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    pub path: Path,
    pub cancel: Vec<String>,
    /// Values that set a time; none named means all others.
    pub put: Vec<String>,
}

/// What a message requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intent {
    Put,
    Cancel,
}

impl Mapping {
    pub(super) fn read(
        &self,
        message: &Incoming,
        payload_bytes: usize,
    ) -> Result<TaskEvent, EventError> {
        let document: &RawValue = read(body(message)?, "message")?;
        let key = message.key.as_deref();
        let look = Look { document, key };
        let wanted = self.wanted(&look)?;
        let subject = look.fill(&self.subject, "subject")?;
        let identity = Identity::parse(&subject, &look.fill(&self.kind, "kind")?)?;
        let revision = Some(parse_revision(whole(&look, &self.revision, "revision")?)?);
        let request = match wanted {
            Intent::Cancel => Request::Cancel(Cancel { identity, revision }),
            Intent::Put => Request::Put(Put {
                payload: self.payload(&look, payload_bytes)?,
                callback_url: look.fill_optional(self.callback_url.as_ref(), "callback_url")?,
                revision,
                ..Put::at(identity, self.execute_at(&look)?)
            }),
        };
        let id = self.id.as_ref().map(|path| look.scalar(path, "id"));
        let source = look.fill_optional(self.source.as_ref(), "source")?;
        let usual = || format!("{}:{}", message.bus, message.channel);
        Ok(TaskEvent {
            id: id.transpose()?.unwrap_or_else(|| message.place.clone()),
            source: source.unwrap_or_else(usual),
            request,
        })
    }

    fn wanted(&self, look: &Look<'_>) -> Result<Intent, EventError> {
        let Some(action) = &self.action else {
            return Ok(Intent::Put);
        };
        let found = look.scalar(&action.path, "action")?;
        if action.cancel.contains(&found) {
            Ok(Intent::Cancel)
        } else if action.put.is_empty() || action.put.contains(&found) {
            Ok(Intent::Put)
        } else {
            Err(EventError::Type(found.chars().take(100).collect()))
        }
    }

    fn execute_at(&self, look: &Look<'_>) -> Result<Timestamp, EventError> {
        let wrong =
            |why: Sentence| EventError::Shape(both!("execute_at: ", "execute_at：").joined(&why));
        let number = || whole(look, &self.execute_at, "execute_at");
        let at = match self.unit {
            Unit::Rfc3339 => parse_instant(&look.scalar(&self.execute_at, "execute_at")?),
            Unit::Seconds => from_seconds(number()?),
            Unit::Milliseconds => match number()? {
                early @ 0..EARLIEST_MS => {
                    return Err(wrong(both!(
                        "{early} milliseconds would be 1973 or before; seconds?",
                        "{early} 毫秒会是 1973 年或更早；是否为秒？"
                    )));
                }
                number => from_milliseconds(number),
            },
        };
        at.map_err(|error| wrong(error.to_string().into()))
    }

    fn payload(&self, look: &Look<'_>, bytes_max: usize) -> Result<Option<Payload>, EventError> {
        let found = self.payload.as_ref().and_then(|path| look.find(path));
        let parsed = found.map(|raw| Payload::parse(raw.get(), bytes_max));
        Ok(parsed.transpose()?)
    }
}

/// A message that is being looked into.
struct Look<'a> {
    document: &'a RawValue,
    key: Option<&'a [u8]>,
}

impl<'a> Look<'a> {
    fn find(&self, path: &Path) -> Option<&'a RawValue> {
        path.find(self.document).filter(|raw| raw.get() != "null")
    }

    /// Text, a number or a truth, as text.
    fn scalar(&self, path: &Path, field: &str) -> Result<String, EventError> {
        let raw = self
            .find(path)
            .ok_or_else(|| nothing(field, &both!("at `{path}`", "`{path}`")))?;
        match serde_json::from_str(raw.get()) {
            Ok(Value::String(text)) => Ok(text),
            Ok(Value::Number(_) | Value::Bool(_)) => Ok(raw.get().to_owned()),
            _ => Err(EventError::Shape(both!(
                "{field}: `{path}` is neither text nor a number",
                "{field}：`{path}` 既不是文本也不是数字"
            ))),
        }
    }

    fn fill(&self, template: &Template, field: &str) -> Result<String, EventError> {
        template.fill(|hole| match hole {
            path::Hole::Path(path) => self.scalar(path, field),
            path::Hole::Key => {
                let key = self.key.and_then(|key| std::str::from_utf8(key).ok());
                let key = key.filter(|key| !key.is_empty());
                key.map(str::to_owned)
                    .ok_or_else(|| nothing(field, &both!("in the message's key", "消息的键中")))
            }
        })
    }

    fn fill_optional(
        &self,
        template: Option<&Template>,
        field: &str,
    ) -> Result<Option<String>, EventError> {
        template
            .map(|template| self.fill(template, field))
            .transpose()
    }
}

fn nothing(field: &str, place: &Sentence) -> EventError {
    let nothing = both!("{field}: there is nothing ", "{field}：没有内容，位置：");
    EventError::Shape(nothing.joined(place))
}

fn whole(look: &Look<'_>, path: &Path, field: &str) -> Result<i64, EventError> {
    let text = look.scalar(path, field)?;
    text.parse().map_err(|_| {
        EventError::Shape(both!(
            "{field}: `{path}` is not a whole number",
            "{field}：`{path}` 不是整数"
        ))
    })
}

#[cfg(test)]
mod tests;
