//! What a task carries along: JSON that is opaque here.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{Invalid, PAYLOAD_BYTES_MAX};
use crate::{json, lang::reader};

/// What the handler needs to know, as JSON text. Opaque to Almanack.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = serde_json::Value)
)]
pub struct Payload(Box<str>);

/// Byte for byte as given: through a value tree, large numbers would come out changed.
impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = serde_json::from_str::<&RawValue>(&self.0);
        raw.unwrap_or(RawValue::NULL).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Box::<RawValue>::deserialize(deserializer)?.into()))
    }
}

impl Payload {
    /// Accepts JSON text of at most `limit` bytes.
    pub fn parse(text: &str, limit: usize) -> Result<Self, Invalid> {
        let limit = limit.min(PAYLOAD_BYTES_MAX);
        if text.len() > limit {
            return Err(Invalid::PayloadTooLarge {
                bytes: text.len(),
                limit,
            });
        }
        json::check(text).map_err(Invalid::Payload)?;
        Ok(Self(text.into()))
    }

    /// What Almanack itself wrote around something that was checked: it may nest a little deeper.
    pub(crate) fn of<T: Serialize>(value: &T) -> Result<Self, Invalid> {
        let text = serde_json::to_string(value)
            .map_err(|error| Invalid::Payload(json::Unfit::Syntax(reader::of_syntax(&error))))?;
        if text.len() > PAYLOAD_BYTES_MAX {
            return Err(Invalid::PayloadTooLarge {
                bytes: text.len(),
                limit: PAYLOAD_BYTES_MAX,
            });
        }
        Ok(Self(text.into()))
    }

    /// Takes text that passed [`Payload::parse`] before it was stored.
    pub fn from_store(text: String) -> Self {
        Self(text.into_boxed_str())
    }

    /// What it says, as a type of the reader's.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self("null".into())
    }
}
