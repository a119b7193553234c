//! Finding the price, or the stretch of intervals, at which a policy makes a given number of
//! checks.

use jiff::SignedDuration;

use super::{Figures, Run, Trace, run};
use crate::source::policy::{Budget, Policy};

/// The total is met within this share.
const NEAR: f64 = 0.002;
const TRIES: usize = 40;

/// A budget at which a policy makes about as many checks as asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibrated {
    /// The budget.
    pub budget: Budget,
    /// How many checks it came to.
    pub checks: u64,
}

/// Scales the policy's price or interval until the total is `checks`. More checks than the floor
/// allows, or fewer than the ceiling does, cannot be had: then the nearest is returned.
pub fn calibrate(policy: &Policy, traces: &[Trace], checks: u64, budget: &Budget) -> Calibrated {
    let total = |budget: &Budget| -> u64 {
        let runs = traces.iter().filter_map(|trace| run(policy, trace, budget));
        runs.map(|run| run.checks).sum()
    };
    let scaled = |log: f64| match policy {
        Policy::Adaptive => Budget {
            price_h: log.exp(),
            ..*budget
        },
        _ => Budget {
            stretch: log.exp(),
            ..*budget
        },
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of checks are below 2^53"
    )]
    let wanted = checks.max(1) as f64;
    let (mut low, mut high) = (1e-5_f64.ln(), 1e4_f64.ln());
    let start = match policy {
        Policy::Adaptive => budget.price_h,
        _ => budget.stretch,
    };
    let mut log = start.clamp(1e-5, 1e4).ln();
    let mut best: Option<(f64, Calibrated)> = None;
    for _ in 0..TRIES {
        let budget = scaled(log);
        let checks = total(&budget);
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of checks are below 2^53"
        )]
        let off = (checks as f64).max(1.0).ln() - wanted.ln();
        if best.is_none_or(|(least, _)| off.abs() < least) {
            best = Some((off.abs(), Calibrated { budget, checks }));
        }
        if off.abs() < NEAR || high - low < 1e-9 {
            break;
        }
        if off > 0.0 {
            low = log;
        } else {
            high = log;
        }
        // Checks go about with 1/√price or 1/stretch; what that suggests is taken if it is inside.
        let power = if matches!(policy, Policy::Adaptive) {
            2.0
        } else {
            1.0
        };
        let guess = log + power * off;
        log = if guess > low && guess < high {
            guess
        } else {
            low.midpoint(high)
        };
    }
    best.map_or(
        Calibrated {
            budget: *budget,
            checks: 0,
        },
        |(_, found)| found,
    )
}

/// What a fixed interval does with so many checks.
pub(super) fn fixed_at(traces: &[Trace], checks: u64, budget: &Budget) -> Figures {
    let policy = Policy::Fixed(SignedDuration::from_hours(1));
    let plain = Budget {
        floor: SignedDuration::from_secs(60),
        ..*budget
    };
    let found = calibrate(&policy, traces, checks, &plain);
    let runs: Vec<Run> = traces
        .iter()
        .filter_map(|trace| run(&policy, trace, &found.budget))
        .collect();
    Figures::of(runs.iter())
}
