//! The classic policy: the founding design's rules, exactly (SS-02 … SS-04, SS-07).
//!
//! A source is analysed now and then ([`is_due`]); between analyses its cadence stays. Two defects
//! of the original are not kept, because promises say so: hours are averaged on the circle, so that
//! 23:30 and 00:30 meet at midnight, and a cadence set by hand survives while there is too little
//! history. What the rules make of busy days and of dead sources is kept: the adaptive policy is
//! the answer to that, and this one is what it is measured against.

use std::f64::consts::TAU;

use jiff::{SignedDuration, Timestamp};

use super::{
    Budget, Next, Reason,
    cadence::{self, Cadence, Frequency},
    chance,
};

/// How many of the latest entries the publish hour is averaged over.
const AVERAGED: usize = 30;
const DAY_S: i64 = 86_400;
const HOUR_S: f64 = 3_600.0;
/// Bounds of the spread of publish hours.
const SPREAD_H: (f64, f64) = (1.0, 6.0);
/// Below this concentration the hours point nowhere: 30 hours drawn at random stay below it 19
/// times in 20 (Rayleigh: 30 r² < 3), and the spread is at its bound anyway.
const CONCENTRATION_MIN: f64 = 0.316;
/// Checks between two analyses.
const ANALYSED_EVERY: u32 = 10;
/// During so many first checks, every hit is analysed.
const EARLY_CHECKS: u32 = 3;
/// No wait is longer.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);

/// What the last analysis found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Analysis {
    pub(super) frequency: Frequency,
    pub(super) cadence: Cadence,
    pub(super) hour: Option<PublishHour>,
}

/// When on the day a source publishes, in hours UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishHour {
    /// The mean, on the circle: 0 ≤ mean < 24.
    pub mean: f64,
    /// The spread, between 1 and 6 hours.
    pub spread: f64,
    /// Whether the hours point anywhere at all; if not, the mean is not worth showing.
    pub is_pattern: bool,
}

impl Default for Analysis {
    fn default() -> Self {
        Self {
            frequency: Frequency::Daily,
            cadence: Frequency::Daily.cadence(),
            hour: None,
        }
    }
}

/// Whether check number `checks` (from 1) is followed by an analysis (SS-07). The first check
/// always is: it returns the source's past.
pub(super) fn is_due(checks: u32, hit: bool) -> bool {
    checks.is_multiple_of(ANALYSED_EVERY) || checks == 1 || (hit && checks <= EARLY_CHECKS)
}

/// Looks at the latest entries, in ascending order.
pub(super) fn analyse(published: &[i64], by_hand: Option<Cadence>) -> Analysis {
    let found = cadence::classify(published);
    let frequency = found.unwrap_or(Frequency::Daily);
    let cadence = match (found, by_hand) {
        (None, Some(kept)) => kept,
        _ => frequency.cadence(),
    };
    let hour = publish_hour(published);
    Analysis {
        frequency,
        cadence,
        hour,
    }
}

/// Mean and spread of the hour of publication over the latest entries; none below three.
pub(super) fn publish_hour(published: &[i64]) -> Option<PublishHour> {
    let latest = &published[published.len().saturating_sub(AVERAGED)..];
    if latest.len() < cadence::ENTRIES_MIN {
        return None;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds of a day, and at most 30"
    )]
    let (count, angles) = (
        latest.len() as f64,
        latest
            .iter()
            .map(|at| at.rem_euclid(DAY_S) as f64 / DAY_S as f64 * TAU),
    );
    let (sines, cosines) = angles.fold((0.0, 0.0), |(sines, cosines), angle| {
        (sines + angle.sin(), cosines + angle.cos())
    });
    let concentration = (sines.hypot(cosines) / count).clamp(1e-9, 1.0);
    let mean = sines.atan2(cosines).rem_euclid(TAU) / TAU * 24.0;
    let spread = (-2.0 * concentration.ln()).sqrt() / TAU * 24.0;
    Some(PublishHour {
        // What is a hair below a full circle may round to it.
        mean: if mean >= 24.0 { 0.0 } else { mean },
        spread: spread.clamp(SPREAD_H.0, SPREAD_H.1),
        is_pattern: concentration >= CONCENTRATION_MIN,
    })
}

/// The next check after `now` (SS-04).
pub(super) fn next(analysis: &Analysis, now: Timestamp, budget: &Budget, jitter: u64) -> Next {
    // P7 has none, and a source that has P7 is not looked at: it never comes here.
    let base = analysis.cadence.interval().unwrap_or(LONGEST);
    let predicted = matches!(
        analysis.frequency,
        Frequency::Daily | Frequency::DailyFixed | Frequency::Weekly
    );
    let (wait, reason) = if let Some(hour) = analysis.hour.filter(|_| predicted) {
        predict(hour, base, now)
    } else {
        let share = 0.85 + 0.3 * chance::unit(chance::at(jitter, now));
        (base.mul_f64(share), Reason::Cadence(analysis.cadence))
    };
    let wait = wait.min(LONGEST).mul_f64(budget.stretch());
    Next {
        at: budget.bounded(now, wait),
        reason,
    }
}

/// Mean plus spread, today or else tomorrow, but no later than twice the base interval.
fn predict(hour: PublishHour, base: SignedDuration, now: Timestamp) -> (SignedDuration, Reason) {
    #[expect(clippy::cast_precision_loss, reason = "seconds of a day")]
    let of_day = now.as_second().rem_euclid(DAY_S) as f64 / HOUR_S;
    let ahead = (hour.mean + hour.spread - of_day).rem_euclid(24.0);
    // Exactly now means tomorrow: a check has just been made.
    let ahead = if ahead * HOUR_S < 1.0 { 24.0 } else { ahead };
    let wait = SignedDuration::from_secs_f64(ahead * HOUR_S);
    if wait <= base * 2 {
        (wait, Reason::PublishHour(hour))
    } else {
        (base * 2, Reason::BeforePublishHour(hour))
    }
}

#[cfg(test)]
mod tests;
