//! What is not known to the minute: entries that came within a stretch of time, and a rhythm that
//! moves as a whole.
//!
//! An entry that was first seen by one check and not by the check before is spread evenly over the
//! time between the two. A source that is checked hourly is then not known better than to the hour,
//! and our own checking leaves no pattern in what is learned.

use super::{MONDAY_S, PHASE_S, Rhythm};
use crate::source::policy::number::{hours, real, small};

impl Rhythm {
    /// Counts an entry of about `at_s`, which is only known to have come between two instants.
    pub(in crate::source::policy) fn count_within(&mut self, at_s: i64, from_s: i64, to_s: i64) {
        let weight = self.count_level(at_s);
        let (from_s, to_s) = (from_s - PHASE_S, to_s - PHASE_S);
        spread(&mut self.minute, [from_s, to_s], 60, weight);
        spread(&mut self.slot, [from_s, to_s], 300, weight);
        let week = [from_s + MONDAY_S, to_s + MONDAY_S];
        spread(&mut self.week, week, 3_600, weight);
    }

    /// Moves everything by some quarters of an hour: the clock that the times came from was wrong.
    pub(in crate::source::policy) fn shift(&mut self, by_s: i64) {
        if self.is_watched() {
            self.since_s += by_s;
            self.as_of_s += by_s;
        }
        turn(&mut self.minute, by_s, 60);
        turn(&mut self.slot, by_s, 300);
        turn(&mut self.week, by_s, 3_600);
    }
}

/// Adds a weight to the slots of a circle between two instants, to each its share.
fn spread(circle: &mut [f32], [from_s, to_s]: [i64; 2], slot_s: i64, weight: f32) {
    let length_s = (to_s - from_s).max(1);
    let count = i64::try_from(circle.len()).unwrap_or(i64::MAX);
    if length_s >= count * slot_s {
        let share = weight / real(circle.len());
        for sum in circle.iter_mut() {
            *sum += share;
        }
        return;
    }
    let mut begin_s = from_s;
    while begin_s < from_s + length_s {
        let slot = begin_s.div_euclid(slot_s);
        let end_s = ((slot + 1) * slot_s).min(from_s + length_s);
        let share = small(hours(end_s - begin_s) / hours(length_s));
        let place = usize::try_from(slot.rem_euclid(count)).unwrap_or(0);
        circle[place] += weight * share;
        begin_s = end_s;
    }
}

/// Turns a circle; where the distance is no whole number of slots, each gives a part to the next.
fn turn(circle: &mut [f32], by_s: i64, slot_s: i64) {
    let count = i64::try_from(circle.len()).unwrap_or(i64::MAX);
    let whole = by_s.div_euclid(slot_s).rem_euclid(count);
    circle.rotate_right(usize::try_from(whole).unwrap_or(0));
    let part = small(hours(by_s.rem_euclid(slot_s)) / hours(slot_s));
    if part > 0.0 {
        let before = circle.to_vec();
        for (place, sum) in circle.iter_mut().enumerate() {
            let neighbour = before[(place + before.len() - 1) % before.len()];
            *sum = (1.0 - part) * before[place] + part * neighbour;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::policy::rhythm::SLOTS;

    fn alike(one: &[f32], other: &[f32]) -> bool {
        one.len() == other.len()
            && one
                .iter()
                .zip(other)
                .all(|(one, other)| close(*one, *other))
    }

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn ss_25_what_is_known_to_the_hour_is_spread_over_the_hour() {
        for (why, from_s, to_s, slot, expected) in [
            ("within one slot", 310, 590, 1, 1.0),
            ("half of it", 450, 750, 1, 0.5),
            ("the other half", 450, 750, 2, 0.5),
            ("over the end of the day", 86_250, 86_550, 0, 0.5),
            ("two hours are 24 slots", 0, 7_200, 5, 1.0 / 24.0),
            (
                "more than the circle says nothing",
                77,
                200_000,
                9,
                1.0 / 288.0,
            ),
        ] {
            let mut circle = [0.0; SLOTS];
            spread(&mut circle, [from_s, to_s], 300, 1.0);
            assert!(close(circle[slot], expected), "{why}: {}", circle[slot]);
            assert!(close(circle.iter().sum(), 1.0), "{why}");
        }
    }

    #[test]
    fn ss_25_a_shifted_rhythm_is_the_rhythm_of_shifted_times() {
        const MONDAY: i64 = 1_699_833_600;
        for by_s in [-8 * 3_600, 3_600, 5 * 3_600 + 1_800, -45 * 60] {
            let (mut moved, mut known) = (Rhythm::default(), Rhythm::default());
            for day in 0..20 {
                let at_s = MONDAY + day * 86_400 + 9 * 3_600 + 600 + PHASE_S;
                moved.count(at_s);
                known.count(at_s + by_s);
            }
            moved.shift(by_s);
            assert_eq!(
                (moved.since_s, moved.as_of_s),
                (known.since_s, known.as_of_s)
            );
            assert!(alike(&moved.minute, &known.minute), "{by_s}");
            assert!(alike(&moved.slot, &known.slot), "{by_s}");
            if by_s % 3_600 == 0 {
                assert!(alike(&moved.week, &known.week), "{by_s}");
            }
            assert!(close(moved.week.iter().sum(), known.week.iter().sum()));
        }
    }
}
