//! Positions on an axis, and its ticks.
//!
//! A picture must handle whatever the store contains: no rows, one row, a clock that went
//! backwards, NaN. What must stay true: a position is a finite number between the ends of its axis,
//! and there are never more ticks than requested.

use super::prelude::*;

/// Maps values from nought to `until` to a line; `high` may be less than `low`, as on an axis that
/// grows upwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// The value at `high`.
    until: f64,
    /// Where the axis begins.
    low: f64,
    high: f64,
}

impl Scale {
    pub(crate) fn new(until: f64, low: f64, high: f64) -> Self {
        Self { until, low, high }
    }

    /// The position of a value; values beyond an end are at that end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let part = finite(value / self.until).clamp(0.0, 1.0);
        self.low + part * (self.high - self.low)
    }
}

/// Maps instants to a line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeScale {
    /// The instant at the left end.
    pub(crate) from: Timestamp,
    /// The instant at the right end.
    pub(crate) until: Timestamp,
    pub(crate) left: f64,
    pub(crate) right: f64,
}

impl TimeScale {
    /// The position of an instant; instants outside the window are at its edge.
    pub(crate) fn x(&self, at: Timestamp) -> f64 {
        let seconds = |at: Timestamp| at.duration_since(self.from).as_secs_f64();
        Scale::new(seconds(self.until), self.left, self.right).place(seconds(at))
    }

    /// Whether an instant is in the window.
    pub(crate) fn holds(&self, at: Timestamp) -> bool {
        self.from <= at && at <= self.until
    }
}

/// An axis of round numbers that grows upwards: its scale, and its lines with their labels.
pub(crate) fn number_axis(
    max: f64,
    [foot, top]: [f64; 2],
    [left, right]: [f64; 2],
) -> (Scale, Markup) {
    let ticks = number_ticks(max, 5);
    let scale = Scale::new(ticks.last().copied().unwrap_or(1.0), foot, top);
    let lines = ticks
        .iter()
        .map(|tick| (scale.place(*tick), tick.to_string()));
    (scale, rungs(lines, left, right))
}

/// Round numbers from nought to the first that is at least `max`: 1, 2 or 5 of a power of ten
/// apart.
fn number_ticks(max: f64, most: usize) -> Vec<f64> {
    let max = finite(max).max(1.0);
    let parts = real(most.max(2) - 1);
    let rough = (max / parts).max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| (max / step).ceil() <= parts)
        .unwrap_or(max);
    let mut ticks = vec![0.0];
    while ticks.len() < most.max(2) && ticks.last().is_some_and(|last| *last < max) {
        ticks.push(real(ticks.len()) * step);
    }
    ticks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn number_axes_have_round_ticks() {
        for (max, most, ticks) in [
            (0.0, 5, &[0.0, 1.0][..]),
            (1.0, 5, &[0.0, 1.0]),
            (4.0, 5, &[0.0, 1.0, 2.0, 3.0, 4.0]),
            (7.0, 5, &[0.0, 2.0, 4.0, 6.0, 8.0]),
            (93.0, 5, &[0.0, 50.0, 100.0]),
            (1_000.0, 5, &[0.0, 500.0, 1_000.0]),
            (f64::NAN, 5, &[0.0, 1.0]),
        ] {
            assert_eq!(number_ticks(max, most), ticks, "{max}");
        }
    }

    proptest! {
        #[test]
        fn number_ticks_cover_what_is_shown(max in 0.0..1e12_f64, most in 2..20_usize) {
            let ticks = number_ticks(max, most);
            prop_assert!(ticks.len() <= most, "{ticks:?}");
            prop_assert!(ticks.is_sorted());
            prop_assert!(ticks.last().is_some_and(|last| *last >= max), "{ticks:?}");
        }

        #[test]
        fn every_instant_has_a_place(from: i64, until: i64, at: i64) {
            let instant = |n: i64| {
                let seconds = n.rem_euclid(500_000_000_000) - 250_000_000_000;
                Timestamp::from_second(seconds).unwrap()
            };
            let scale = TimeScale {
                from: instant(from),
                until: instant(until),
                left: 10.0,
                right: 90.0,
            };
            let x = scale.x(instant(at));
            prop_assert!((10.0..=90.0).contains(&x), "{x}");
        }
    }
}
