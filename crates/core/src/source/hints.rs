//! When a publisher wants to be asked again.
//!
//! `Cache-Control`, `Expires`, `ttl` and `sy:updatePeriod` say how long nothing new is to be
//! expected; `skipHours` and `skipDays` say when nothing is published. They are floors: they can
//! put a check off, never hurry it. A misconfigured one must not silence a source, so no floor
//! holds longer than [`HONOURED_MAX`].

use jiff::{SignedDuration, Timestamp, civil::Weekday, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// How long a publisher's request is honoured.
pub const HONOURED_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Hours of a week: as far as skipped hours are looked through.
const WEEK_HOURS: usize = 7 * 24;

/// A publisher's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Hints {
    /// Seconds for which the answer is fresh: `Cache-Control: max-age` less `Age`, or `Expires`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_for: Option<u32>,
    /// Seconds between looks: `ttl`, or `sy:updatePeriod` divided by `sy:updateFrequency`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
    /// Hours of the day, UTC, one bit each.
    #[serde(skip_serializing_if = "is_zero")]
    pub skip_hours: u32,
    /// Days of the week, UTC, one bit each, Monday first.
    #[serde(skip_serializing_if = "is_zero")]
    pub skip_days: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn is_zero(bits: &u32) -> bool {
    *bits == 0
}

impl Hints {
    /// Whether the publisher requests anything at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The earliest time at or after `at` that a look made at `looked_at` leaves open.
    pub fn not_before(&self, looked_at: Timestamp, at: Timestamp) -> Timestamp {
        let wait = self.fresh_for.max(self.every).unwrap_or(0);
        let wait = SignedDuration::from_secs(i64::from(wait)).min(HONOURED_MAX);
        let floor = looked_at.saturating_add(wait).unwrap_or(at);
        self.not_skipped(looked_at, at.max(floor))
    }

    /// The first permitted minute at or after `at`, unless that is too long after the last look.
    fn not_skipped(&self, looked_at: Timestamp, at: Timestamp) -> Timestamp {
        let latest = looked_at.saturating_add(HONOURED_MAX).unwrap_or(at).max(at);
        let mut candidate = at;
        for _ in 0..WEEK_HOURS {
            if !self.skips(candidate) {
                return candidate;
            }
            candidate = next_hour(candidate);
            if candidate > latest {
                break;
            }
        }
        latest
    }

    fn skips(&self, at: Timestamp) -> bool {
        let civil = at.to_zoned(TimeZone::UTC);
        let hour = u32::try_from(civil.hour()).unwrap_or(0);
        let day = days_after_monday(civil.weekday());
        self.skip_hours >> hour & 1 == 1 || self.skip_days >> day & 1 == 1
    }
}

fn days_after_monday(day: Weekday) -> u32 {
    u32::try_from(day.to_monday_zero_offset()).unwrap_or(0)
}

fn next_hour(at: Timestamp) -> Timestamp {
    let hour = at.as_second().div_euclid(3600) + 1;
    Timestamp::from_second(hour * 3600).unwrap_or(at)
}

#[cfg(test)]
mod tests;
