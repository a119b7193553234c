//! Miniflux's `entry_frequency` rule, for comparison.
//!
//! From the entries of the last seven days that were known *before* the latest check: their mean
//! gap gives how many a week are to be expected, and each of them gets one check. Without two of
//! them, once a day.

use jiff::{SignedDuration, Timestamp};

use super::{Budget, Next, Reason};

const WEEK_S: f64 = 604_800.0;
const SHORTEST_S: f64 = 300.0;
const LONGEST_S: f64 = 86_400.0;

/// The next check after `now`. `known` are the entries known before the latest check, ascending.
pub(super) fn next(known: &[i64], now: Timestamp, budget: &Budget) -> Next {
    let wait = SignedDuration::from_secs_f64(interval_s(known, now) * budget.stretch());
    Next {
        at: budget.bounded(now, wait),
        reason: Reason::Interval(wait),
    }
}

fn interval_s(known: &[i64], now: Timestamp) -> f64 {
    let begin = now.as_second() - 604_800;
    let week = &known[known.partition_point(|at| *at < begin)..];
    let (Some(oldest), Some(newest)) = (week.first(), week.last()) else {
        return LONGEST_S;
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds of a week, and few entries"
    )]
    let (spread_s, gaps) = ((newest - oldest) as f64, (week.len() - 1) as f64);
    if spread_s <= 0.0 {
        return LONGEST_S;
    }
    let a_week = (WEEK_S / (spread_s / gaps)).ceil();
    (WEEK_S / a_week).clamp(SHORTEST_S, LONGEST_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_gap_of_the_last_week_is_the_interval() {
        const DAY: i64 = 86_400;
        for (known, seconds, why) in [
            (&[][..], 86_400.0, "nothing known"),
            (&[9 * DAY], 86_400.0, "one entry has no gap"),
            (
                &[DAY, 9 * DAY],
                86_400.0,
                "the other one is older than a week",
            ),
            (&[9 * DAY, 9 * DAY], 86_400.0, "no spread"),
            (&[8 * DAY, 8 * DAY + DAY / 2], 43_200.0, "14 a week"),
            (
                &[9 * DAY, 9 * DAY + 60],
                300.0,
                "two within a minute: as often as allowed",
            ),
            (
                &[4 * DAY, 9 * DAY],
                86_400.0,
                "two a week round up, but a day is the longest",
            ),
            (
                &[7 * DAY, 8 * DAY, 8 * DAY + DAY / 2],
                604_800.0 / 10.0,
                "9.33 rounds up to 10",
            ),
        ] {
            let now = Timestamp::from_second(10 * DAY).unwrap();
            let interval = interval_s(known, now);
            assert!((interval - seconds).abs() < 1e-6, "{why}: {interval}");
        }
    }
}
