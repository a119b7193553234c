//! How an event is put into a request or a message, as CloudEvents 1.0 lays it down.
//!
//! Every carrier sends the same three things; only the spelling of header names is its own.

use super::{Batch, CloudEvent};

/// What says that the body is a whole event.
const WHOLE: &str = "application/cloudevents+json";
/// What says that the body is a list of whole events.
const BATCHED: &str = "application/cloudevents-batch+json";

/// How an event is put into a request or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The whole event is the body.
    #[default]
    Structured,
    /// The event's data is the body, its attributes are headers.
    Binary,
    /// A list of whole events is the body.
    Batched,
}

/// An event as a carrier sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What the body is.
    pub content_type: String,
    /// The attributes that are not in the body, under the names that HTTP and NATS give them. Kafka
    /// has `_` for the `-`.
    pub attributes: Vec<(&'static str, String)>,
    pub body: String,
}

impl CloudEvent {
    /// This event in `mode`.
    pub fn written(&self, mode: Mode) -> Result<Written, serde_json::Error> {
        Ok(match mode {
            Mode::Structured => Written {
                content_type: WHOLE.to_owned(),
                attributes: Vec::new(),
                body: serde_json::to_string(self)?,
            },
            Mode::Batched => batched(serde_json::to_string(&[self])?),
            Mode::Binary => Written {
                content_type: self.datacontenttype.clone(),
                attributes: vec![
                    ("ce-specversion", self.specversion.clone()),
                    ("ce-id", self.id.clone()),
                    ("ce-source", self.source.clone()),
                    ("ce-type", self.r#type.clone()),
                    ("ce-subject", self.subject.clone()),
                    ("ce-time", self.time.to_string()),
                ],
                body: self.data.get().to_owned(),
            },
        })
    }
}

impl Batch<'_> {
    /// All its events.
    pub fn written(&self) -> Written {
        batched(self.body())
    }
}

fn batched(body: String) -> Written {
    Written {
        content_type: BATCHED.to_owned(),
        attributes: Vec::new(),
        body,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::fixture::NOW;

    fn event() -> CloudEvent {
        CloudEvent {
            specversion: "1.0".to_owned(),
            id: "task-1-1".to_owned(),
            source: "/almanack".to_owned(),
            r#type: "almanack.task.finished.v1".to_owned(),
            subject: "article:42".to_owned(),
            time: NOW,
            datacontenttype: "application/json".to_owned(),
            data: to_raw_value(&json!({ "status": "SUCCESS" })).unwrap(),
        }
    }

    #[test]
    fn a_structured_event_is_all_in_its_body() {
        let written = event().written(Mode::Structured).unwrap();
        assert_eq!(written.content_type, "application/cloudevents+json");
        assert_eq!(written.attributes, []);
        let body: Value = serde_json::from_str(&written.body).unwrap();
        assert_eq!(body["id"], "task-1-1");
        assert_eq!(body["data"]["status"], "SUCCESS");
    }

    /// Whatever the event says is in one mode where it is in the other, so an attribute that is
    /// added cannot be forgotten here.
    #[test]
    fn a_binary_event_says_the_same_in_headers() {
        let event = event();
        let written = event.written(Mode::Binary).unwrap();
        let mut said = serde_json::Map::new();
        for (name, value) in &written.attributes {
            said.insert(name.strip_prefix("ce-").unwrap().to_owned(), json!(value));
        }
        said.insert("datacontenttype".to_owned(), json!(written.content_type));
        let body: Value = serde_json::from_str(&written.body).unwrap();
        said.insert("data".to_owned(), body);
        assert_eq!(Value::Object(said), serde_json::to_value(&event).unwrap());
    }
}
