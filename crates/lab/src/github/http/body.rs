//! Request bodies, refused in GitHub's words where they are not what they must be.

use serde_json::{Map, Value};

use crate::github::refusal::Refusal;

/// The fields of a JSON object.
#[derive(Debug)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a body that has at least these fields; no body at all is an empty object.
    pub(super) fn read(body: &[u8], required: &[&'static str]) -> Result<Self, Refusal> {
        let value = match body {
            [] => Value::Object(Map::new()),
            _ => serde_json::from_slice(body).map_err(|_| Refusal::BadJson)?,
        };
        let Value::Object(fields) = value else {
            return Err(Refusal::NotAnObject);
        };
        let missing = required.iter().filter(|name| !fields.contains_key(**name));
        let missing: Vec<&'static str> = missing.copied().collect();
        if missing.is_empty() {
            Ok(Self(fields))
        } else {
            Err(Refusal::Missing(missing))
        }
    }

    /// Refuses fields other than these. Most endpoints ignore what they do not know.
    pub(super) fn permit(&self, known: &[&str]) -> Result<(), Refusal> {
        let mut names = self.0.keys();
        let unknown = names.find(|name| !known.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(Refusal::NotPermitted(name.clone())))
    }

    /// A text that must be there.
    pub(super) fn text(&self, name: &'static str) -> Result<&str, Refusal> {
        let found = self.optional_text(name)?;
        found.ok_or_else(|| Refusal::Missing(vec![name]))
    }

    /// A text that may be left out; `null` is not the same as left out.
    pub(super) fn optional_text(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, other, "a string")),
        }
    }

    /// A switch that may be left out.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, Refusal> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(wrong(name, other, "a boolean")),
        }
    }

    /// An object that may be left out.
    pub(super) fn object(&self, name: &'static str) -> Result<Map<String, Value>, Refusal> {
        match self.0.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(map)) => Ok(map.clone()),
            Some(other) => Err(wrong(name, other, "an object")),
        }
    }
}

fn wrong(field: &'static str, found: &Value, wanted: &'static str) -> Refusal {
    let found = match found {
        Value::Null => "nil".to_owned(),
        other => other.to_string(),
    };
    Refusal::WrongType {
        field,
        found,
        wanted,
    }
}
