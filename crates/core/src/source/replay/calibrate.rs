//! Finding the price, or the stretch of intervals, at which a policy makes a given number of
//! checks.

use jiff::SignedDuration;

use super::Replay;
use crate::source::policy::{Budget, Policy};

/// The total is met within this share, if it can be met at all.
const NEAR: f64 = 0.003;
/// Prices and stretches are looked for between these.
const RANGE: (f64, f64) = (1e-5, 1e4);
/// Checks are whole, so a small trace may have no answer nearer than what was found by then.
const TRIES: u32 = 40;

/// A budget at which a policy makes about as many checks as requested.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    pub budget: Budget,
    /// How many checks it came to.
    pub checks: u64,
}

/// Bisection on the logarithm, with a guess by the law that checks follow: with one over the root
/// of the price, or one over the stretch.
pub(super) fn calibrate(
    replay: Replay<'_>,
    policy: &Policy,
    checks: u64,
    budget: &Budget,
) -> Calibration {
    let priced = matches!(policy, Policy::Adaptive);
    let budget = &Budget {
        even: even(replay, checks),
        ..*budget
    };
    let (start, power) = if priced {
        (budget.price_h, 2.0)
    } else {
        (budget.stretch, 1.0)
    };
    let wanted = log_of(checks);
    let (mut low, mut high) = (RANGE.0.ln(), RANGE.1.ln());
    let mut log = start.clamp(RANGE.0, RANGE.1).ln();
    let mut best: Option<(f64, Calibration)> = None;
    for _ in 0..TRIES {
        let tried = scaled(budget, priced, log.exp());
        let made = replay.checks(policy, &tried);
        let off = log_of(made) - wanted;
        if best.is_none_or(|(least, _)| off.abs() < least) {
            let found = Calibration {
                budget: tried,
                checks: made,
            };
            best = Some((off.abs(), found));
        }
        if off.abs() < NEAR || high - low < 1e-6 {
            break;
        }
        if off > 0.0 {
            low = log;
        } else {
            high = log;
        }
        let guess = log + power * off;
        log = if low < guess && guess < high {
            guess
        } else {
            low.midpoint(high)
        };
    }
    let untouched = Calibration {
        budget: *budget,
        checks: 0,
    };
    best.map_or(untouched, |(_, found)| found)
}

/// The interval at which so many checks are spread evenly over all sources.
fn even(replay: Replay<'_>, checks: u64) -> Option<SignedDuration> {
    let spans = replay.traces.iter().filter_map(|trace| {
        let (start_s, _) = super::start(trace)?;
        Some(trace.published_s.last()? - start_s)
    });
    let whole = SignedDuration::from_secs(spans.sum());
    let checks = i32::try_from(checks.max(1)).ok()?;
    whole.checked_div(checks)
}

fn scaled(budget: &Budget, priced: bool, scale: f64) -> Budget {
    if priced {
        Budget {
            price_h: scale,
            ..*budget
        }
    } else {
        Budget {
            stretch: scale,
            ..*budget
        }
    }
}

fn log_of(checks: u64) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of checks are below 2^53"
    )]
    let checks = checks.max(1) as f64;
    checks.ln()
}
