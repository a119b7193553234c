//! Replays recorded publication times through a policy, to see what it would have done.
//!
//! The protocol, so that figures compare: a source's entries are sorted; with n of them, the first
//! k₀ = min(30, n/4) are known at the start, and the source is subscribed at an instant between
//! entry k₀ and the next that a hash of its id picks. If more than 365 days follow, the replay
//! starts 365 days before the last entry instead. A check shows the newest 30 entries up to its
//! instant. An entry's delay is the time to the first check at or after it; entries that were
//! pushed out of the 30 before any check are missed, and their delay counts too. Checks are counted
//! from the start to the last entry.
//!
//! The policy is asked through [`next_check`] and told through [`History::observe`], exactly as a
//! node does.

mod calibrate;
mod report;
mod trace;

use jiff::{SignedDuration, Timestamp};

use super::policy::{Budget, History, Policy, next_check};
use crate::schedule::hash_of;

pub use calibrate::{Calibrated, calibrate};
pub use report::{Class, Figures, Report};
pub use trace::{BadLine, Trace, Traces};

/// How many entries a document shows.
const SHOWN: usize = 30;
/// At most this much of a source is replayed.
const LONGEST_S: i64 = 365 * 86_400;

/// What happened to one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Checks from the start to the last entry.
    pub checks: u64,
    /// Checks that revealed at least one new entry.
    pub hits: u64,
    /// Entries pushed out of the document before any check.
    pub missed: u64,
    /// From the start to the last entry, in days.
    pub days: f64,
    /// The delay of each entry, in hours.
    pub delays_h: Vec<f64>,
}

/// Where a replay of a source starts: the instant, and how many entries lie before it.
fn start(trace: &Trace) -> Option<(i64, usize)> {
    let times = &trace.published_s;
    let last = *times.last()?;
    let known = (times.len() / 4).min(SHOWN);
    if known == 0 || known >= times.len() {
        return None;
    }
    let (before, behind) = (times[known - 1], times[known]);
    let bits = hash_of(&trace.source, "replay") >> 11;
    #[expect(clippy::cast_precision_loss, reason = "53 bits, and a gap of seconds")]
    let into = (bits as f64 / 9_007_199_254_740_992.0) * (behind - before) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a part of a gap of seconds"
    )]
    let drawn = before + into as i64;
    let start = drawn.max(last - LONGEST_S);
    Some((start, times.partition_point(|time| *time <= start)))
}

/// Replays one source. None if it has too few entries to start with.
pub fn run(policy: &Policy, trace: &Trace, budget: &Budget) -> Option<Run> {
    let times = &trace.published_s;
    let (start_s, known) = start(trace)?;
    let last = *times.last()?;
    let jitter = hash_of(&trace.source, "source");
    let mut history = History::new();
    let mut now = Timestamp::from_second(start_s).ok()?;
    let past = instants(&times[known.saturating_sub(SHOWN)..known]);
    history.observe(now, &past, None);
    let mut seen = known;
    let mut run = Run {
        checks: 0,
        hits: 0,
        missed: 0,
        days: days(last - start_s),
        delays_h: Vec::with_capacity(times.len() - known),
    };
    while seen < times.len() {
        now = next_check(policy, &history, now, budget, jitter).at;
        let at_s = now.as_second();
        let shown = seen + times[seen..].partition_point(|time| at(*time) <= now);
        let new = &times[seen..shown];
        if at_s <= last {
            run.checks += 1;
            run.hits += u64::from(!new.is_empty());
        }
        let delay = |time: &i64| now.duration_since(at(*time)).as_secs_f64() / 3_600.0;
        run.delays_h.extend(new.iter().map(delay));
        let visible = &new[new.len().saturating_sub(SHOWN)..];
        run.missed += (new.len() - visible.len()) as u64;
        history.observe(now, &instants(visible), None);
        seen = shown;
    }
    Some(run)
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(Timestamp::MAX)
}

fn instants(seconds: &[i64]) -> Vec<Timestamp> {
    seconds.iter().map(|second| at(*second)).collect()
}

fn days(seconds: i64) -> f64 {
    SignedDuration::from_secs(seconds).as_secs_f64() / 86_400.0
}

#[cfg(test)]
mod tests;
