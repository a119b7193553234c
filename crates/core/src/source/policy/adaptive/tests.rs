use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600;
/// A Monday, 00:00.
const MONDAY: i64 = 1_699_833_600;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A source that published at these seconds of every day for so many days, checked at midnight.
fn daily(seconds: &[i64], days: i64) -> History {
    let mut history = History::new();
    for day in 0..days {
        let times: Vec<Timestamp> = seconds
            .iter()
            .map(|second| at(MONDAY + day * 86_400 + second))
            .collect();
        history.observe(at(MONDAY + (day + 1) * 86_400), &times, None);
    }
    history
}

fn wait(history: &History, now: i64, budget: &Budget) -> i64 {
    next(history, at(now), budget, 1).at.as_second() - now
}

#[test]
fn ss_15_a_busier_source_is_looked_at_more_often() {
    let budget = Budget {
        price_h: 0.05,
        ..Budget::default()
    };
    let now = MONDAY + 40 * 86_400;
    let (busy, slow): (Vec<i64>, Vec<i64>) = (
        (0..24).map(|hour| hour * HOUR + 1_000).collect(),
        vec![50_000],
    );
    let (busy, slow) = (daily(&busy, 40), daily(&slow, 40));
    assert!(wait(&busy, now, &budget) * 2 < wait(&slow, now, &budget));
}

#[test]
fn ss_15_looks_come_just_after_the_usual_time_not_before_it() {
    let history = daily(&[8 * HOUR], 60);
    let budget = Budget {
        price_h: 0.3,
        ..Budget::default()
    };
    let night = MONDAY + 60 * 86_400 + 7 * HOUR;
    let look = night + wait(&history, night, &budget);
    let into = look.rem_euclid(86_400) - 8 * HOUR;
    assert!((0..1_200).contains(&into), "08:00 plus {into} s");
}

#[test]
fn ss_15_a_dead_source_fades_to_the_ceiling() {
    let history = daily(&(0..24).map(|hour| hour * HOUR).collect::<Vec<_>>(), 30);
    let budget = Budget {
        price_h: 0.05,
        rate_min_per_day: 0.0,
        ..Budget::default()
    };
    let alive = wait(&history, MONDAY + 30 * 86_400, &budget);
    let dead = wait(&history, MONDAY + 700 * 86_400, &budget);
    assert!(alive < 2 * HOUR, "{alive}");
    assert_eq!(dead, 24 * HOUR, "two years of silence");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn ss_15_looks_are_later_and_within_the_bounds(
        seconds in prop::collection::vec(0_i64..86_400, 0..12), days in 0_i64..60, later in 0_i64..10_000_000,
        price in prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), -1.0_f64..100.0],
        floor_m in 0_i64..3_000, ceiling_m in 1_i64..3_000, jitter: u64,
    ) {
        let history = daily(&seconds, days);
        let budget = Budget {
            price_h: price,
            floor: SignedDuration::from_mins(floor_m),
            ceiling: SignedDuration::from_mins(ceiling_m),
            ..Budget::default()
        };
        let now = at(MONDAY + days * 86_400 + later);
        let next = next(&history, now, &budget, jitter);
        let waited = next.at.duration_since(now);
        prop_assert!(waited > SignedDuration::ZERO);
        prop_assert!(waited >= budget.floor(), "{waited} below {}", budget.floor());
        prop_assert!(waited <= budget.ceiling(), "{waited} above {}", budget.ceiling());
        prop_assert!(!next.reason.to_string().is_empty());
    }

    /// Dearer checks are never more checks, for one and the same look ahead.
    #[test]
    fn ss_15_a_higher_price_never_looks_sooner(
        seconds in prop::collection::vec(0_i64..86_400, 1..12), low in 1e-4_f64..10.0, times in 1.0_f64..50.0,
    ) {
        let history = daily(&seconds, 30);
        let now = MONDAY + 30 * 86_400;
        let at_price = |price_h: f64| wait(&history, now, &Budget { price_h, ..Budget::default() });
        prop_assert!(at_price(low) <= at_price(low * times));
    }
}
