#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "numbers of a test are small"
)]

use proptest::prelude::*;

use super::*;

const H: i64 = 3_600;

fn at(hour: f64) -> Timestamp {
    Timestamp::from_second(1_700_006_400 + (hour * 3_600.0) as i64).unwrap()
}

/// The same hours on days far enough apart.
fn on_days(hours: &[f64]) -> Vec<i64> {
    let numbered = hours.iter().enumerate();
    let time = |(day, hour): (usize, &f64)| at(*hour).as_second() + day as i64 * 86_400;
    numbered.map(time).collect()
}

fn budget() -> Budget {
    Budget {
        floor: SignedDuration::from_secs(1),
        ..Budget::default()
    }
}

#[test]
fn ss_03_hours_are_averaged_on_the_circle() {
    for (hours, mean, spread, why) in [
        (
            &[23.5, 0.5, 23.5, 0.5][..],
            0.0,
            1.0,
            "around midnight, not noon",
        ),
        (
            &[8.0, 9.0, 10.0],
            9.0,
            1.0,
            "a narrow spread is clamped to an hour",
        ),
        (&[12.0, 12.0, 12.0], 12.0, 1.0, "no spread at all"),
        (&[6.0, 10.0, 14.0], 10.0, 3.4, "a wide one is what it is"),
    ] {
        let hour = publish_hour(&on_days(hours)).unwrap();
        let off = (hour.mean - mean + 12.0).rem_euclid(24.0) - 12.0;
        assert!(off.abs() < 0.01, "{why}: mean {}", hour.mean);
        assert!(
            (hour.spread - spread).abs() < 0.1,
            "{why}: spread {}",
            hour.spread
        );
        assert!(hour.is_pattern, "{why}");
    }
    assert_eq!(
        publish_hour(&on_days(&[8.0, 9.0])),
        None,
        "none below three"
    );
    let anywhere = publish_hour(&on_days(&[0.0, 6.0, 12.0, 18.0])).unwrap();
    assert!(!anywhere.is_pattern, "the hours point nowhere");
    assert_eq!(anywhere.spread.to_bits(), 6.0_f64.to_bits());
}

#[test]
fn ss_04_prediction_is_capped_at_twice_the_base_and_never_in_the_past() {
    let hour = PublishHour {
        mean: 8.0,
        spread: 1.0,
        is_pattern: true,
    };
    for (frequency, now_h, wait_h, why) in [
        (Frequency::Daily, 8.0, 1.0, "mean + spread is an hour ahead"),
        (
            Frequency::Daily,
            3.0,
            2.0,
            "six hours ahead: twice the base of an hour",
        ),
        (
            Frequency::Daily,
            9.0,
            2.0,
            "exactly now means tomorrow, capped",
        ),
        (
            Frequency::DailyFixed,
            10.0,
            4.0,
            "past means tomorrow, capped",
        ),
        (Frequency::Weekly, 2.0, 7.0, "seven hours fit into eight"),
        (Frequency::Weekly, 10.0, 8.0, "past means tomorrow, capped"),
    ] {
        let analysis = Analysis {
            frequency,
            cadence: frequency.cadence(),
            hour: Some(hour),
        };
        let next = next(&analysis, at(now_h), &budget(), 7);
        let wait = next.at.duration_since(at(now_h));
        assert_eq!(wait.as_secs(), (wait_h * 3_600.0) as i64, "{why}");
    }
}

#[test]
fn ss_07_analysis_on_the_first_check_every_tenth_and_on_early_hits() {
    let due: Vec<u32> = (1..=31).filter(|checks| is_due(*checks, false)).collect();
    assert_eq!(due, [1, 10, 20, 30]);
    let due: Vec<u32> = (1..=31).filter(|checks| is_due(*checks, true)).collect();
    assert_eq!(due, [1, 2, 3, 10, 20, 30]);
}

#[test]
fn ss_02_too_little_history_keeps_what_was_set_by_hand() {
    let little = analyse(&[5, 6], Some(Cadence::P5));
    assert_eq!(
        (little.frequency, little.cadence),
        (Frequency::Daily, Cadence::P5)
    );
    assert_eq!(analyse(&[5, 6], None).cadence, Cadence::P2);
    let enough: Vec<i64> = (0..5).map(|number| number * 100 * H).collect();
    assert_eq!(analyse(&enough, Some(Cadence::P0)).cadence, Cadence::P4);
}

proptest! {
    /// Property 2: the statistics are within their bounds and do not care about the order of days.
    #[test]
    fn ss_11_publish_hours_are_sound(hours in prop::collection::vec(0.0_f64..24.0, 0..60), turn in 0.0_f64..24.0) {
        let found = publish_hour(&on_days(&hours));
        prop_assert_eq!(found.is_some(), hours.len() >= 3);
        if let Some(hour) = found {
            prop_assert!((0.0..24.0).contains(&hour.mean));
            prop_assert!((1.0..=6.0).contains(&hour.spread));
            let turned: Vec<f64> = hours.iter().map(|hour| (hour + turn) % 24.0).collect();
            let other = publish_hour(&on_days(&turned)).unwrap();
            prop_assert!((other.spread - hour.spread).abs() < 0.1, "a circle has no beginning");
            if hour.is_pattern {
                let off = (other.mean - hour.mean - turn + 36.0).rem_euclid(24.0) - 12.0;
                prop_assert!(off.abs() < 0.1, "{} turned by {turn} is {}", hour.mean, other.mean);
            }
        }
    }

    /// Properties 5 and 6: bounds of the wait, and of the jitter where there is one.
    #[test]
    fn ss_11_waits_stay_within_their_bounds(
        kind in 0_usize..7, mean in 0.0_f64..24.0, spread in 1.0_f64..6.0, has_hour: bool,
        now_h in 0.0_f64..500.0, jitter: u64,
    ) {
        let frequency = Frequency::ALL[kind];
        let hour = has_hour.then_some(PublishHour { mean, spread, is_pattern: true });
        let analysis = Analysis { frequency, cadence: frequency.cadence(), hour };
        let base = frequency.cadence().interval().unwrap();
        let wait = next(&analysis, at(now_h), &budget(), jitter).at.duration_since(at(now_h));
        prop_assert!(wait > SignedDuration::ZERO);
        prop_assert!(wait <= LONGEST && wait <= base * 2);
        if !has_hour || !(2..5).contains(&kind) {
            let share = wait.as_secs_f64() / base.as_secs_f64();
            prop_assert!((0.8499..=1.1501).contains(&share), "{share}");
        }
    }

    /// Property 10: when an analysis is made.
    #[test]
    fn ss_11_analysis_is_triggered_as_designed(checks in 1_u32..10_000, hit: bool) {
        let expected = checks % 10 == 0 || checks == 1 || (hit && checks <= 3);
        prop_assert_eq!(is_due(checks, hit), expected);
    }
}
