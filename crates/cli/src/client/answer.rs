//! What the API answered.
//!
//! A body is kept as the text that came: through a tree of values, large numbers of a payload would
//! come out changed, and some payloads (nested too deeply, numbers out of range) would not come out
//! at all.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, value::RawValue};

use super::Reply;
use crate::failure::{Failure, Result};

/// An answer that says yes.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    text: String,
    pub(crate) status: u16,
    /// When it came, by the clock of who answered.
    pub(crate) now: Timestamp,
}

impl Answer {
    pub(super) fn new(reply: Reply, now: Timestamp) -> Result<Self> {
        let status = reply.status;
        let text = String::from_utf8(reply.body);
        let text = text.map_err(|_| Failure::failed("the answer is not text"))?;
        Ok(Self { text, status, now })
    }

    /// The body as it came.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The body to look into.
    pub(crate) fn value(&self) -> Value {
        object(&self.text)
    }

    /// One field of the body as it came.
    pub(crate) fn raw(&self, name: &str) -> Option<&str> {
        self.fields().get(name).map(|raw| raw.get())
    }

    /// Every field of the body as it came.
    pub(crate) fn fields(&self) -> BTreeMap<String, &RawValue> {
        fields(&self.text)
    }

    /// Where the next page of a list begins.
    pub(crate) fn next_cursor(&self) -> Option<String> {
        serde_json::from_str(self.raw("next_cursor")?).ok()
    }

    /// The items of a list, each as it came.
    pub(crate) fn items(&self, name: &str) -> Vec<&str> {
        let list = self.raw(name).unwrap_or("[]");
        let items: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        items.into_iter().map(RawValue::get).collect()
    }
}

fn fields(text: &str) -> BTreeMap<String, &RawValue> {
    serde_json::from_str(text).unwrap_or_default()
}

/// An object to look into; a field that no tree can hold is its text.
pub(crate) fn object(text: &str) -> Value {
    let fields = fields(text).into_iter();
    let value = |raw: &RawValue| {
        serde_json::from_str(raw.get()).unwrap_or_else(|_| Value::from(raw.get().to_owned()))
    };
    fields.map(|(name, raw)| (name, value(raw))).collect()
}
