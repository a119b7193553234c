#![expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]

use proptest::prelude::*;

use super::*;

const H: i64 = 3_600;

/// Entries a constant gap apart.
fn every(gap_s: i64, count: i64) -> Vec<i64> {
    (0..count)
        .map(|number| 1_700_000_000 + number * gap_s)
        .collect()
}

#[test]
fn ss_02_the_mean_gap_decides() {
    for (gap_s, frequency, cadence) in [
        (6 * H - 1, Frequency::Realtime, Cadence::P0),
        (6 * H, Frequency::High, Cadence::P1),
        (18 * H - 1, Frequency::High, Cadence::P1),
        (18 * H, Frequency::Daily, Cadence::P2),
        (36 * H, Frequency::DailyFixed, Cadence::P3),
        (72 * H, Frequency::Weekly, Cadence::P4),
        (168 * H, Frequency::Monthly, Cadence::P5),
        (720 * H - 1, Frequency::Monthly, Cadence::P5),
        (720 * H, Frequency::Low, Cadence::P6),
        (9_000 * H, Frequency::Low, Cadence::P6),
    ] {
        let found = classify(&every(gap_s, 4)).unwrap();
        assert_eq!(
            (found, found.cadence()),
            (frequency, cadence),
            "gap {gap_s} s"
        );
    }
}

#[test]
fn ss_02_special_cases() {
    assert_eq!(classify(&[]), None);
    assert_eq!(classify(&every(H, 2)), None, "two entries say too little");
    assert_eq!(
        classify(&[5, 5, 5, 5, 5, 5]),
        None,
        "no gap at all, before the busy day counts"
    );
    let busy_day = [
        0,
        30 * 86_400,
        60 * 86_400,
        60 * 86_400 + H,
        60 * 86_400 + 2 * H,
    ];
    assert_eq!(
        classify(&busy_day),
        Some(Frequency::Monthly),
        "three on a day are no five"
    );
    let mut busy_day = busy_day.to_vec();
    busy_day.extend([60 * 86_400 + 3 * H, 60 * 86_400 + 4 * H]);
    assert_eq!(
        classify(&busy_day),
        Some(Frequency::Realtime),
        "five on one day"
    );
    let mut old_rush = every(60, 40);
    old_rush.extend(every(100 * H, 21).iter().map(|time| time + 1_000 * H));
    assert_eq!(
        classify(&old_rush),
        Some(Frequency::Weekly),
        "only the last 20 count"
    );
}

#[test]
fn ss_02_intervals_and_names() {
    let minutes: Vec<Option<i64>> = Cadence::ALL
        .map(|cadence| cadence.interval().map(|wait| wait.as_mins()))
        .to_vec();
    let expected = [15, 30, 60, 120, 240, 480, 1_440].map(Some);
    assert_eq!(minutes[..7], expected);
    assert_eq!(minutes[7], None, "P7 is not checked");
    let names: Vec<&str> = Frequency::ALL.map(Frequency::as_str).to_vec();
    assert_eq!(
        names,
        [
            "realtime",
            "high",
            "daily",
            "daily_fixed",
            "weekly",
            "monthly",
            "low"
        ]
    );
    for cadence in Cadence::ALL {
        assert_eq!(cadence.to_string().parse(), Ok(cadence));
    }
    assert_eq!("p3".parse(), Ok(Cadence::P3));
    assert!("P8".parse::<Cadence>().is_err());
}

proptest! {
    /// Property 1: the class is that of the mean gap, unless a day was busy.
    #[test]
    fn ss_11_classification_follows_the_gaps(gaps in prop::collection::vec(1_i64..4_000_000, 2..40)) {
        let mut times = vec![1_600_000_000];
        for gap in &gaps {
            times.push(times.last().unwrap() + gap);
        }
        let latest = &times[times.len().saturating_sub(20)..];
        let span_h = (latest[latest.len() - 1] - latest[0]) as f64 / 3_600.0;
        let mean_h = span_h / (latest.len() - 1) as f64;
        let found = classify(&times).unwrap();
        let mut days: Vec<i64> = latest.iter().map(|time| time / 86_400).collect();
        days.dedup_by_key(|day| *day);
        let busy = days.iter().any(|day| latest.iter().filter(|time| *time / 86_400 == *day).count() >= 5);
        let expected = if busy { Frequency::Realtime } else { Frequency::of_mean_gap(mean_h) };
        prop_assert_eq!(found, expected);
    }

    /// Property 9: whatever happens, a cadence is one of the seven.
    #[test]
    fn ss_11_every_class_has_a_cadence_of_its_own(hours in 0.0_f64..10_000.0) {
        let frequency = Frequency::of_mean_gap(hours);
        prop_assert!(Cadence::ALL[..7].contains(&frequency.cadence()));
        prop_assert!(Frequency::of_mean_gap(hours * 1.5) >= frequency, "slower is never busier");
    }
}
