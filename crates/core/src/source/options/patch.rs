//! Changes of options: what is named is replaced, null removes, everything else stays.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Options, form::Unfit};
use crate::{both, lang::reader::of_json};

/// How options are to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// To these.
    Whole(Box<Options>),
    /// By a patch.
    Merged(Patch),
}

/// A JSON Merge Patch (RFC 7396) of options. Lists are replaced whole.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Patch(pub Map<String, Value>);

impl Change {
    /// The options after it; whether they can be stored is not checked. Who defines a source is no
    /// option that people set.
    pub fn apply(&self, before: &Options) -> Result<Options, Unfit> {
        let mut after = match self {
            Self::Whole(options) => Options::clone(options),
            Self::Merged(patch) => patch.apply(before)?,
        };
        after.from_file = before.from_file;
        Ok(after)
    }
}

impl Patch {
    /// The options with these changes.
    pub fn apply(&self, before: &Options) -> Result<Options, Unfit> {
        let mut whole = serde_json::to_value(before).unwrap_or_default();
        merge(&mut whole, &self.0);
        serde_path_to_error::deserialize(whole).map_err(|error| {
            let path = error.path().to_string();
            let why = both!("cannot be read: ", "无法读取：").joined(&of_json(".", error.inner()));
            Unfit::new(path, &why)
        })
    }
}

/// The input's depth is bounded by its reader.
fn merge(whole: &mut Value, patch: &Map<String, Value>) {
    if !whole.is_object() {
        *whole = Value::Object(Map::new());
    }
    let Value::Object(whole) = whole else { return };
    for (key, value) in patch {
        match value {
            Value::Null => drop(whole.remove(key)),
            Value::Object(inner) => merge(whole.entry(key).or_insert(Value::Null), inner),
            value => drop(whole.insert(key.clone(), value.clone())),
        }
    }
}
