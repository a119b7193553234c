//! A calendar as the store keeps it: what was written, and what its address last answered.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Calendar, Definition, Unfit};
use crate::plan::Origin;

/// One calendar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Calendar))]
pub struct CalendarRecord {
    pub name: String,
    /// Who it belongs to.
    pub origin: Origin,
    /// What was written.
    pub definition: Definition,
    /// What its address last answered.
    #[serde(skip)]
    pub copy: Option<Copy>,
    /// How reading its address went.
    pub reading: Reading,
    /// Counts every write of its days, from 1; the compare-and-set.
    #[serde(skip)]
    pub version: i64,
    /// The version that all its schedules are planned by.
    #[serde(skip)]
    pub applied: i64,
    /// When it was first written.
    pub created_at: Timestamp,
    /// When its days last changed.
    pub changed_at: Timestamp,
}

/// What names a version of a calendar, and how reading its address goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarVersion {
    pub name: String,
    pub version: i64,
    pub applied: i64,
    pub reading: Reading,
}

/// The last text that could be read, and how to ask whether it still holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// How reading an address went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CalendarReading))]
pub struct Reading {
    /// When it was last asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
    /// When it last answered with a calendar, or that nothing had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
    /// Failures in a row.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl CalendarRecord {
    /// The set of its days, or why it has none.
    pub fn compile(&self) -> Result<Calendar, Unfit> {
        let copy = self.copy.as_ref().map(|copy| copy.text.as_str());
        Calendar::new(&self.name, &self.definition, copy)
    }
}
