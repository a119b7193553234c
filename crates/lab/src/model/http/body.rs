//! The body of a request, refused where it is not what it must be.

use serde_json::Value;

use crate::model::{refusal::Refusal, task::Message};

/// What a caller wants.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    pub(super) temperature: Option<f64>,
    pub(super) max_tokens: Option<u64>,
}

impl Wanted {
    pub(super) fn read(body: &[u8]) -> Result<Self, Refusal> {
        let body: Value = serde_json::from_slice(body).map_err(|_| Refusal::BadJson)?;
        if body["stream"] == Value::Bool(true) {
            return Err(Refusal::NotModelled);
        }
        let model = body["model"].as_str().filter(|model| !model.is_empty());
        let limit = match &body["max_tokens"] {
            Value::Null => &body["max_completion_tokens"],
            limit => limit,
        };
        Ok(Self {
            model: model
                .ok_or(invalid("model", "the name of a model"))?
                .to_owned(),
            messages: messages(&body["messages"])?,
            temperature: temperature(&body["temperature"])?,
            max_tokens: max_tokens(limit)?,
        })
    }

    /// Characters and tokens are counted over this.
    pub(super) fn prompt(&self) -> String {
        let contents = self.messages.iter().map(|message| message.content.as_str());
        contents.collect::<Vec<&str>>().join("\n")
    }

    /// The last message of the user.
    pub(super) fn input(&self) -> &str {
        let mut messages = self.messages.iter();
        let last = messages.rfind(|message| message.role == "user");
        last.map_or("", |message| message.content.as_str())
    }
}

fn invalid(field: &'static str, wanted: &'static str) -> Refusal {
    Refusal::Invalid { field, wanted }
}

fn messages(value: &Value) -> Result<Vec<Message>, Refusal> {
    let wrong = || invalid("messages", "an array of messages with role and content");
    let messages = value.as_array().filter(|messages| !messages.is_empty());
    let read = |message: &Value| {
        Some(Message {
            role: message["role"].as_str()?.to_owned(),
            content: content(&message["content"])?,
        })
    };
    let messages = messages.ok_or_else(wrong)?.iter().map(read);
    messages.collect::<Option<_>>().ok_or_else(wrong)
}

/// A text, or parts of one.
fn content(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts.iter().map(|part| part["text"].as_str()).collect(),
        _ => None,
    }
}

fn temperature(value: &Value) -> Result<Option<f64>, Refusal> {
    if value.is_null() {
        return Ok(None);
    }
    let number = value.as_f64().filter(|it| (0.0..=2.0).contains(it));
    let number = number.ok_or(invalid("temperature", "a number from 0 to 2"))?;
    Ok(Some(number))
}

fn max_tokens(value: &Value) -> Result<Option<u64>, Refusal> {
    if value.is_null() {
        return Ok(None);
    }
    let number = value.as_u64().filter(|it| *it > 0);
    let number = number.ok_or(invalid("max_tokens", "a positive integer"))?;
    Ok(Some(number))
}
