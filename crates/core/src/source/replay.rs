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
//! The policy is asked through [`next_check`] and informed through [`History::observe`], exactly as
//! a node does. Looking at the past at the start is no check: no reader waited for it.

mod calibrate;
mod report;
mod trace;

use jiff::{SignedDuration, Timestamp};

use super::policy::{Budget, History, Policy, next_check};
use crate::schedule::hash_of;

pub use calibrate::Calibration;
pub use report::{Class, Figures, Report};
pub use trace::{BadLine, Trace, Traces};

/// How many entries a document shows.
const SHOWN: usize = 30;
/// How long a source is new.
const EARLY_S: i64 = 14 * 86_400;
/// At most this much of a source is replayed.
const LONGEST_S: i64 = 365 * 86_400;

/// What happened to one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Checks from the start to the last entry.
    pub checks: u64,
    /// Those of them that revealed at least one new entry.
    pub hits: u64,
    /// Entries pushed out of the document before any check.
    pub missed: u64,
    /// From the start to the last entry, in days.
    pub days: f64,
    /// The delay of each entry, in hours, in the order they were published.
    pub delays_h: Vec<f64>,
    /// How many of them came within the first fortnight.
    pub early: usize,
    /// Checks of the first fortnight.
    pub early_checks: u64,
}

impl Run {
    /// How much of the first fortnight was replayed, in days.
    fn early_days(&self) -> f64 {
        self.days
            .min(hours(SignedDuration::from_secs(EARLY_S)) / 24.0)
    }
}

/// Sources to replay, and a callback for every source done.
#[derive(Clone, Copy)]
pub struct Replay<'a> {
    pub traces: &'a [Trace],
    /// Called after every run of one source; there are many runs when a budget is searched for.
    pub watch: &'a dyn Fn(),
}

impl<'a> Replay<'a> {
    /// A replay without a callback.
    pub fn new(traces: &'a [Trace]) -> Self {
        Self {
            traces,
            watch: &|| {},
        }
    }

    /// Runs every source that has enough entries.
    pub fn runs(&self, policy: &Policy, budget: &Budget) -> Vec<(&'a Trace, Run)> {
        let one = |trace: &'a Trace| {
            let run = run(policy, trace, budget);
            (self.watch)();
            Some((trace, run?))
        };
        self.traces.iter().filter_map(one).collect()
    }

    /// Everything about one policy. For every class, a fixed interval is replayed beside it.
    pub fn report(&self, policy: &Policy, budget: &Budget) -> Report {
        report::new(*self, policy, budget)
    }

    /// How many checks a policy makes.
    pub fn checks(&self, policy: &Policy, budget: &Budget) -> u64 {
        let runs = self.runs(policy, budget);
        runs.iter().map(|(_, run)| run.checks).sum()
    }

    /// Scales the policy's price or interval until it makes about `checks` checks. More checks than
    /// the floor allows, or fewer than the ceiling does, cannot be had: then the nearest is given.
    pub fn calibrate(&self, policy: &Policy, checks: u64, budget: &Budget) -> Calibration {
        calibrate::calibrate(*self, policy, checks, budget)
    }
}

/// Where a replay of a source starts: the instant, and how many entries lie before it.
fn start(trace: &Trace) -> Option<(i64, usize)> {
    let times = &trace.published_s;
    let last = *times.last()?;
    let known = (times.len() / 4).min(SHOWN);
    let before = *times.get(known.checked_sub(1)?)?;
    let gap = times[known] - before;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "53 bits of a hash, and a part of a gap of seconds"
    )]
    let into = {
        let share = (hash_of(&trace.source, "replay") >> 11) as f64 / 9_007_199_254_740_992.0;
        (share * gap as f64) as i64
    };
    let start = (before + into).max(last - LONGEST_S);
    Some((start, times.partition_point(|time| *time <= start)))
}

/// Replays one source. None if it has too few entries to start with.
pub fn run(policy: &Policy, trace: &Trace, budget: &Budget) -> Option<Run> {
    let times = &trace.published_s;
    let (start_s, mut seen) = start(trace)?;
    let end = at(*times.last()?);
    let jitter = hash_of(&trace.source, "source");
    let mut now = at(start_s);
    let mut history = History::new();
    history.observe(
        now,
        &instants(&times[seen.saturating_sub(SHOWN)..seen]),
        None,
    );
    let mut run = Run {
        checks: 0,
        hits: 0,
        missed: 0,
        days: hours(end.duration_since(now)) / 24.0,
        delays_h: Vec::with_capacity(times.len() - seen),
        early: times[seen..].partition_point(|time| time - start_s <= EARLY_S),
        early_checks: 0,
    };
    let early_end = end.min(at(start_s + EARLY_S));
    while seen < times.len() {
        now = next_check(policy, &history, now, budget, jitter).at;
        let shown = seen + times[seen..].partition_point(|time| at(*time) <= now);
        let new = &times[seen..shown];
        run.checks += u64::from(now <= end);
        run.early_checks += u64::from(now <= early_end);
        run.hits += u64::from(now <= end && !new.is_empty());
        let delays = new.iter().map(|time| hours(now.duration_since(at(*time))));
        run.delays_h.extend(delays);
        let visible = &new[new.len().saturating_sub(SHOWN)..];
        run.missed += (new.len() - visible.len()) as u64;
        // What an interval or a schedule decides, no history changes; most of a replay's time goes
        // here.
        if policy.learns() {
            history.observe(now, &instants(visible), None);
        }
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

fn hours(length: SignedDuration) -> f64 {
    length.as_secs_f64() / 3_600.0
}

#[cfg(test)]
mod tests;
