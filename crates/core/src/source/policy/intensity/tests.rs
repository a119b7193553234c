use jiff::Timestamp;

use super::{Course, Features, features::FEATURES};
use crate::source::policy::{
    History,
    rhythm::{hour_of_week, minute_of, slot_of},
    weights::WEIGHTS,
};

/// A source with habits, bursts and a recent pause.
fn lively() -> History {
    let mut history = History::new();
    let mut time = 1_700_000_000_i64;
    for number in 0..300_i64 {
        time += 1_800 + (number * number * 7_919) % 40_000;
        let entry = Timestamp::from_second(time - time % 300).unwrap();
        history.observe(Timestamp::from_second(time + 60).unwrap(), &[entry], None);
    }
    history
}

/// Decisions take a short cut; what they see must be what the weights were fitted to.
#[test]
fn ss_15_the_short_cut_says_what_the_features_say() {
    let history = lively();
    let now = history.newest_at().unwrap().as_second() + 5_000;
    let features = Features::new(&history, Timestamp::from_second(now).unwrap());
    let course = Course::new(&history, now);
    for ahead in [0, 61, 700, 3_600, 20_000, 86_400] {
        let at_s = now + ahead;
        let slow = features.at(Timestamp::from_second(at_s).unwrap());
        let log: f32 = slow
            .iter()
            .zip(WEIGHTS)
            .map(|(feature, weight)| feature * weight)
            .sum();
        let factors = &history.factors;
        let rhythm = factors.week[hour_of_week(at_s)]
            * factors.slot[slot_of(at_s)]
            * factors.minute[minute_of(at_s)];
        let fast = course.at(ahead) * rhythm;
        assert!(
            (fast / log.exp() - 1.0).abs() < 1e-3,
            "{ahead} s: {fast} and {}",
            log.exp()
        );
    }
}

#[test]
fn features_of_nothing_are_numbers() {
    let history = History::new();
    let now = Timestamp::from_second(1_700_000_000).unwrap();
    let features: [f32; FEATURES] = Features::new(&history, now).at(now);
    assert!(features.iter().all(|feature| feature.is_finite()));
}
