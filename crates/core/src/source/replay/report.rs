//! What a replay of many sources comes to.

use jiff::SignedDuration;

use super::{Replay, Run, Trace};
use crate::source::policy::{Budget, Policy, cadence::Frequency};

/// Figures of a group of sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Sources that were replayed.
    pub sources: usize,
    /// Entries that came after the start.
    pub entries: usize,
    pub checks: u64,
    /// Checks a day and source.
    pub checks_per_source_day: f64,
    /// Mean delay of an entry, in hours.
    pub mean_delay_h: f64,
    pub median_delay_h: f64,
    /// Delay that 95 of 100 entries stay below.
    pub p95_delay_h: f64,
    /// Mean over sources of the source's mean delay.
    pub macro_mean_delay_h: f64,
    /// Mean delay of entries of a source's first fortnight; none where there are none.
    pub early_delay_h: Option<f64>,
    /// Checks a day and source in its first fortnight.
    pub early_checks_per_source_day: f64,
    /// Share of checks that revealed something.
    pub hit_rate: f64,
    /// Entries pushed out of the document unseen.
    pub missed: u64,
    /// Days replayed, over all sources.
    pub source_days: f64,
}

/// One cadence class.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    pub frequency: Frequency,
    pub figures: Figures,
    /// A fixed interval with the class's own number of checks, for comparison.
    pub fixed: Figures,
    /// One interval for all sources of all classes, with as many checks as all of them had.
    pub even: Figures,
}

/// Everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub overall: Figures,
    /// The classes that occur, busiest first.
    pub classes: Vec<Class>,
}

/// The class of a source, by the mean gap of all its entries.
fn class_of(trace: &Trace) -> Frequency {
    let times = &trace.published_s;
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Frequency::Low;
    };
    #[expect(clippy::cast_precision_loss, reason = "seconds and counts below 2^53")]
    let mean_h = (last - first) as f64 / 3_600.0 / (times.len().max(2) - 1) as f64;
    Frequency::of_mean_gap(mean_h)
}

impl Figures {
    /// Adds runs up.
    fn of<'a>(runs: impl Iterator<Item = &'a Run>) -> Self {
        let mut figures = Self::default();
        let (mut delays, mut hits, mut means) = (Vec::new(), 0, 0.0);
        let (mut early, mut early_checks, mut early_days) = (Vec::new(), 0, 0.0);
        for run in runs {
            figures.sources += 1;
            figures.checks += run.checks;
            figures.missed += run.missed;
            figures.source_days += run.days;
            hits += run.hits;
            means += mean(&run.delays_h);
            delays.extend_from_slice(&run.delays_h);
            early.extend_from_slice(&run.delays_h[..run.early]);
            early_checks += run.early_checks;
            early_days += run.early_days();
        }
        figures.early_delay_h = (!early.is_empty()).then(|| mean(&early));
        delays.sort_unstable_by(f64::total_cmp);
        figures.entries = delays.len();
        figures.mean_delay_h = mean(&delays);
        figures.median_delay_h = quantile(&delays, 0.5);
        figures.p95_delay_h = quantile(&delays, 0.95);
        #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
        {
            figures.macro_mean_delay_h = means / figures.sources.max(1) as f64;
            figures.hit_rate = hits as f64 / figures.checks.max(1) as f64;
            figures.checks_per_source_day = figures.checks as f64 / figures.source_days.max(1e-9);
            figures.early_checks_per_source_day = early_checks as f64 / early_days.max(1e-9);
        }
        figures
    }
}

fn mean(numbers: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    let count = numbers.len().max(1) as f64;
    numbers.iter().sum::<f64>() / count
}

/// Of ascending numbers, the one that this share of them does not exceed.
fn quantile(ascending: &[f64], share: f64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count is a place"
    )]
    let place = (ascending.len() as f64 * share).ceil() as usize;
    ascending
        .get(place.saturating_sub(1))
        .copied()
        .unwrap_or(0.0)
}

/// Replays everything, and a fixed interval beside every class.
pub(super) fn new(replay: Replay<'_>, policy: &Policy, budget: &Budget) -> Report {
    let runs = replay.runs(policy, budget);
    let overall = Figures::of(runs.iter().map(|(_, run)| run));
    let even = match policy {
        Policy::Fixed(_) => runs.clone(),
        _ => even_runs(replay.traces, &overall, budget),
    };
    let mut classes = Vec::new();
    for frequency in Frequency::ALL {
        let is_member = |(trace, _): &&(&Trace, Run)| class_of(trace) == frequency;
        let members: Vec<&(&Trace, Run)> = runs.iter().filter(is_member).collect();
        if members.is_empty() {
            continue;
        }
        let figures = Figures::of(members.iter().map(|(_, run)| run));
        let traces: Vec<Trace> = members.iter().map(|(trace, _)| (*trace).clone()).collect();
        // A fixed interval is its own comparison; another phase would only be other luck.
        let fixed = match policy {
            Policy::Fixed(_) => figures.clone(),
            _ => fixed_at(&traces, &figures, budget),
        };
        let even = even.iter().filter(is_member).map(|(_, run)| run);
        classes.push(Class {
            frequency,
            figures,
            fixed,
            even: Figures::of(even),
        });
    }
    Report { overall, classes }
}

/// What a fixed interval does with as many checks.
fn fixed_at(traces: &[Trace], figures: &Figures, budget: &Budget) -> Figures {
    let runs = even_runs(traces, figures, budget);
    Figures::of(runs.iter().map(|(_, run)| run))
}

/// Runs a fixed interval with as many checks. Floors do not bind it, because they did not bind the
/// number of checks either.
fn even_runs<'a>(traces: &'a [Trace], figures: &Figures, budget: &Budget) -> Vec<(&'a Trace, Run)> {
    let replay = Replay::new(traces);
    let day = SignedDuration::from_hours(24);
    let plain = Budget {
        floor: SignedDuration::from_secs(1),
        stretch: 1.0 / figures.checks_per_source_day.clamp(1e-3, 1e4),
        ..*budget
    };
    let policy = Policy::Fixed(day);
    let found = replay.calibrate(&policy, figures.checks, &plain);
    replay.runs(&policy, &found.budget)
}
