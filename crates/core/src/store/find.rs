//! Which tasks are looked for.
//!
//! The same filter lists tasks, counts them and selects those of a bulk change, so what was counted
//! is what was listed and what is changed.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::page::EXAMINED_MAX;
use crate::{
    lang::reader::refuse,
    task::{Kind, Status, Tags, TaskId},
};

/// How many rows a count examines at most.
pub const COUNTED_MAX: usize = 100_000;
/// How many groups a count names at most.
pub const GROUPS_MAX: usize = 200;

/// What is read of the rows that are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reading {
    /// To be shown: one that cannot be read keeps its place.
    #[default]
    Shown,
    /// To be changed: one that cannot be read is left out.
    Changed,
    /// The same without payloads: a walk over many rows must not cost what they carry.
    Counted,
}

/// Which tasks to list. What is not set fits every row.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TaskFilter {
    /// Only these rows.
    #[serde(rename = "task_id", skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<TaskId>,
    /// Only kinds of Almanack's own, or only the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal: Option<bool>,
    /// Only this kind.
    #[serde(deserialize_with = "kind", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Only subjects that start so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_prefix: Option<String>,
    /// Only subjects that contain this, in any case of ASCII letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_contains: Option<String>,
    /// Only this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Only live ones, or only those that have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<bool>,
    /// Only those that have all of these.
    #[serde(
        rename = "tag",
        deserialize_with = "tags",
        skip_serializing_if = "Tags::is_empty"
    )]
    pub tags: Tags,
    /// Only those whose `execute_at` is not earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Only those whose `execute_at` is earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// Only those whose last detail contains this, in any case of ASCII letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Only rows numbered below this: the cursor of the page before.
    #[serde(skip)]
    pub before: Option<TaskId>,
    /// How many rows are examined at most; [`EXAMINED_MAX`] where nothing is said.
    #[serde(skip)]
    pub among: Option<usize>,
    /// What is read of each row.
    #[serde(skip)]
    pub reading: Reading,
    /// How many at most.
    #[serde(skip)]
    pub limit: usize,
}

impl TaskFilter {
    /// Whether every row fits.
    pub fn is_empty(&self) -> bool {
        *self == self.page_alone()
    }

    /// Whether every row fits but internal ones.
    pub fn is_wide(&self) -> bool {
        let internal = None;
        Self {
            internal,
            ..self.clone()
        }
        .is_empty()
    }

    /// How many rows a page examines at most.
    pub fn examines(&self) -> usize {
        self.among.unwrap_or(EXAMINED_MAX)
    }

    fn page_alone(&self) -> Self {
        Self {
            before: self.before,
            among: self.among,
            reading: self.reading,
            limit: self.limit,
            ..Self::default()
        }
    }
}

fn kind<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<Kind>, D::Error> {
    let given = Option::<String>::deserialize(reader)?;
    given
        .as_deref()
        .map(Kind::parse)
        .transpose()
        .map_err(|invalid| refuse(&invalid))
}

fn tags<'de, D: Deserializer<'de>>(reader: D) -> Result<Tags, D::Error> {
    let given = Vec::<String>::deserialize(reader)?;
    Tags::parse(&given).map_err(|invalid| refuse(&invalid))
}

names! {
    /// By what tasks are counted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CountBy {
        Kind = "kind",
        Status = "status",
        Tag = "tag",
    }
}

/// How many tasks of one sort.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskCount {
    /// The kind, status or tag.
    pub name: String,
    pub tasks: u64,
}

/// How many tasks a filter finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TaskCounts {
    pub tasks: u64,
    /// Whether all rows were examined. If not, there are at least so many: the newest 100,000 rows
    /// were examined.
    pub exact: bool,
    /// By kind, status or tag, largest first; at most 200. A task with two tags counts in both.
    pub groups: Vec<TaskCount>,
}
