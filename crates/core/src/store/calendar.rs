//! The store's side of calendars: few rows, read whole.

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Applied, Result};
use crate::{
    calendar::{CalendarRecord, CalendarVersion},
    plan::ScheduleName,
};

/// Calendars.
#[async_trait]
pub trait CalendarStore: Send + Sync {
    /// All of them, by name. A row that cannot be read is left out: schedules that need it are
    /// parked.
    async fn load_calendars(&self) -> Result<Vec<CalendarRecord>>;

    /// The versions of all, by name: whether a node's copies are still what is stored, and whether
    /// their addresses can be read.
    async fn load_calendar_versions(&self) -> Result<Vec<CalendarVersion>>;

    /// Writes a calendar over version `seen` of it, or a new one if there is none of its name. Its
    /// own `version` is what the row has afterwards. `Lost` changes nothing.
    async fn write_calendar(&self, calendar: &CalendarRecord, seen: Option<i64>)
    -> Result<Applied>;

    /// Takes the right to read a calendar's address: whether it was last taken at `seen`, and is
    /// now taken at `now`. Of several nodes that saw the same one gets it; if that one dies, the
    /// next turn comes at its time.
    async fn take_calendar_check(
        &self,
        name: &str,
        seen: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool>;

    /// Notes that all schedules are planned by this version. An older one changes nothing.
    async fn note_calendar_applied(&self, name: &str, version: i64) -> Result<()>;

    /// Removes a calendar if it is still version `seen`; whether it was.
    async fn remove_calendar(&self, name: &str, seen: i64) -> Result<bool>;

    /// Names of schedules that are not removed and whose definition may name this calendar, in
    /// order, after `after`. It reads every schedule: calendars change rarely.
    async fn load_schedules_naming(
        &self,
        calendar: &str,
        after: Option<ScheduleName>,
        limit: usize,
    ) -> Result<Vec<ScheduleName>>;
}
