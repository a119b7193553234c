//! What a spread changed.

use jiff::Timestamp;
use serde::Serialize;

use crate::plan::{Origin, ScheduleName};

/// What a spread changed, or would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AppliedSpread {
    /// The second that is spread.
    pub at: Timestamp,
    /// Over how many seconds.
    pub splay_s: u32,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Schedules that have this splay now.
    pub schedules: Vec<ScheduleName>,
    /// Schedules of files: what to write there; at most 200.
    pub managed: Vec<Managed>,
    /// Schedules that could not be changed, and why.
    pub refused: Vec<Refused>,
    /// How many schedules are left for another call.
    pub schedules_left: usize,
    /// How many waiting tasks were moved.
    pub tasks: u64,
    /// How many were not moved because they would expire at their new time or before. Another call
    /// does not move them either.
    pub tasks_refused: u64,
    /// How many others are left for another call.
    pub tasks_left: u64,
}

/// A schedule that its file must change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SpreadByFile))]
pub struct Managed {
    pub schedule: ScheduleName,
    pub origin: Origin,
    /// What to write there.
    pub write: String,
}

/// A schedule that was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SpreadRefused))]
pub struct Refused {
    pub schedule: ScheduleName,
    pub why: String,
}
