//! A definition as the store keeps it, read once: where the row is read.
//!
//! One that this version cannot read, because a newer one wrote it, keeps its text, so that writing
//! its row loses nothing; and it says why, so that its schedule is parked and holds up no other
//! (DP-18).

use std::{ops::Deref, sync::Arc};

use serde::{Serialize, Serializer};

use super::{definition::Definition, unfit::Unfit};
use crate::lang::reader::in_english;

/// The text, and what it says. Rows are copied often, and their definitions are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDefinition(Arc<Stored>);

#[derive(Debug, PartialEq, Eq)]
struct Stored {
    text: String,
    read: Result<Definition, Unfit>,
}

impl StoredDefinition {
    /// The definition, or why this version cannot read it.
    pub fn read(&self) -> Result<&Definition, &Unfit> {
        self.0.read.as_ref()
    }

    /// Whether this version cannot read it.
    pub fn is_unreadable(&self) -> bool {
        self.0.read.is_err()
    }

    /// The text the store keeps.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }
}

impl From<String> for StoredDefinition {
    fn from(text: String) -> Self {
        let read = Definition::from_json(&text);
        Self(Arc::new(Stored { text, read }))
    }
}

impl From<Definition> for StoredDefinition {
    fn from(definition: Definition) -> Self {
        let text = definition.to_json();
        let read = Ok(definition);
        Self(Arc::new(Stored { text, read }))
    }
}

/// Serialised as its text.
impl Deref for StoredDefinition {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Serialize for StoredDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.read().ok().serialize(serializer)
    }
}

impl Definition {
    /// The text the store keeps.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what the store kept.
    pub fn from_json(text: &str) -> Result<Self, Unfit> {
        serde_json::from_str(text).map_err(|error| Unfit::Unreadable {
            why: in_english(&error),
        })
    }
}
