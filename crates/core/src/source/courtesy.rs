//! Courtesy: what was asked of each host in a day, and whether its publishers' requests were kept
//! (SS-26).
//!
//! Counted where requests leave (the HTTP client) and where they are decided (the check's handler),
//! in memory; a node adds what it has counted to the store every half minute, where the counts of
//! all nodes add up. INVARIANT: counts only grow within a day, and adding is all that is ever done
//! with them, so neither the order nor the number of writers matters. A node that is killed loses
//! at most the last half minute; a reply that was lost may count twice. A report can bear both.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde::{Serialize, Serializer};
use url::Url;

use super::{Source, check::FailureClass, hints::Hints};

/// How long days are kept.
pub const KEPT_DAYS: i64 = 90;
/// Hosts counted apart until the next write; the requests of further ones are counted together.
const HOSTS_MAX: usize = 50_000;
/// What further hosts are counted as. No host has this name.
pub const FURTHER_HOSTS: &str = "(further hosts)";

/// A day, UTC, counted from 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Day(pub i64);

impl Day {
    /// The day of an instant.
    pub fn of(at: Timestamp) -> Self {
        Self(at.as_second().div_euclid(86_400))
    }

    /// So many days before.
    #[must_use]
    pub fn back(self, days: i64) -> Self {
        Self(self.0.saturating_sub(days))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = Timestamp::from_second(self.0.saturating_mul(86_400));
        let start = start.unwrap_or(Timestamp::MAX);
        write!(f, "{}", start.to_zoned(TimeZone::UTC).date())
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What was asked of hosts, and how they answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CourtesyCounts))]
pub struct Counts {
    /// Requests, redirects and `robots.txt` included.
    pub requests: u64,
    /// Bytes of the bodies received, as they were sent: compressed if they were.
    pub bytes: u64,
    /// Requests answered 304: not modified.
    pub unchanged: u64,
    /// Requests answered 429 or 503: rate limits met.
    pub limited: u64,
    /// Requests without a usable answer, or with another error status.
    pub failed: u64,
    /// Checks deferred because the host asked for a pause, or its pace was reached.
    pub waited: u64,
    /// Checks of sources whose publisher had asked for a wait before.
    pub asked: u64,
    /// Those of them that came no earlier. A check that a person requests may come earlier.
    pub kept: u64,
    /// The longest waits that were asked for.
    #[serde(flatten)]
    pub requested: RequestedWaits,
}

/// What publishers asked for, the longest of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CourtesyRequests))]
pub struct RequestedWaits {
    /// Seconds for which an answer is fresh: `Cache-Control`, `Expires`.
    pub cache_s: Option<u32>,
    /// Seconds between checks: `ttl`, `sy:updatePeriod`, `Crawl-delay`.
    pub interval_s: Option<u32>,
    /// Whether hours or days are to be left out: `skipHours`, `skipDays`.
    pub skips: bool,
    /// Seconds to stay away: `Retry-After`.
    pub retry_after_s: Option<u32>,
}

impl RequestedWaits {
    /// What a document or an answer asked for.
    pub fn of_hints(hints: &Hints) -> Self {
        Self {
            cache_s: hints.fresh_for,
            interval_s: hints.every,
            skips: hints.skip_hours | hints.skip_days != 0,
            retry_after_s: None,
        }
    }

    /// What a host that limits its callers asked for.
    pub fn of_wait(wait: SignedDuration) -> Self {
        let seconds = u32::try_from(wait.as_secs().max(0)).unwrap_or(u32::MAX);
        Self {
            retry_after_s: Some(seconds),
            ..Self::default()
        }
    }

    fn add(&mut self, other: &Self) {
        self.cache_s = self.cache_s.max(other.cache_s);
        self.interval_s = self.interval_s.max(other.interval_s);
        self.skips |= other.skips;
        self.retry_after_s = self.retry_after_s.max(other.retry_after_s);
    }
}

impl Counts {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.bytes, other.bytes),
            (&mut self.unchanged, other.unchanged),
            (&mut self.limited, other.limited),
            (&mut self.failed, other.failed),
            (&mut self.waited, other.waited),
            (&mut self.asked, other.asked),
            (&mut self.kept, other.kept),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.requested.add(&other.requested);
    }
}

/// One host on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostDay {
    pub host: String,
    pub day: Day,
    pub counts: Counts,
}

/// One host, over some days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CourtesyHost))]
pub struct HostCounts {
    /// Name or address of the host.
    pub host: String,
    #[serde(flatten)]
    pub counts: Counts,
}

/// One day, of all hosts or of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CourtesyDay))]
pub struct DayCounts {
    /// The day, UTC.
    #[cfg_attr(feature = "schema", schema(value_type = String, format = Date))]
    pub day: Day,
    #[serde(flatten)]
    pub counts: Counts,
}

/// What this node has counted and not yet written.
#[derive(Debug, Default)]
pub struct Courtesy(Mutex<BTreeMap<Day, BTreeMap<String, Counts>>>);

impl Courtesy {
    /// Counts something about a host.
    pub fn count(&self, host: &str, now: Timestamp, counts: &Counts) {
        add(&mut self.open(), host, Day::of(now), counts);
    }

    /// Everything counted since the last time, by day and host.
    pub fn take(&self) -> Vec<HostDay> {
        let taken = std::mem::take(&mut *self.open());
        let days = taken.into_iter().flat_map(|(day, hosts)| {
            hosts
                .into_iter()
                .map(move |(host, counts)| HostDay { host, day, counts })
        });
        days.collect()
    }

    /// Takes back what could not be written.
    pub fn give_back(&self, days: &[HostDay]) {
        let mut open = self.open();
        for HostDay { host, day, counts } in days {
            add(&mut open, host, *day, counts);
        }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<Day, BTreeMap<String, Counts>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(days: &mut BTreeMap<Day, BTreeMap<String, Counts>>, host: &str, day: Day, counts: &Counts) {
    let hosts = days.entry(day).or_default();
    let is_full = hosts.len() >= HOSTS_MAX && !hosts.contains_key(host);
    let host = if is_full { FURTHER_HOSTS } else { host };
    match hosts.get_mut(host) {
        Some(known) => known.add(counts),
        None => {
            hosts.insert(host.to_owned(), *counts);
        }
    }
}

/// The host of an address, as it is counted.
pub fn host_of(address: &str) -> Option<String> {
    Some(Url::parse(address).ok()?.host_str()?.to_owned())
}

/// Whether a check at `now` keeps what the publisher asked for the last time; `None` if nothing was
/// asked.
pub fn keeps(source: &Source, now: Timestamp) -> Option<bool> {
    let stats = &source.stats;
    if stats.last_error_class == Some(FailureClass::RateLimited) {
        // A person who has it checked now ends the wait.
        return Some(stats.backoff_until.is_some_and(|until| until <= now));
    }
    let (hints, looked_at) = (&source.memory.hints, stats.last_check_at?);
    (!hints.is_empty()).then(|| hints.not_before(looked_at, now) <= now)
}

#[cfg(test)]
mod tests;
