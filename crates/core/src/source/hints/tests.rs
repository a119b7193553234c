use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn ss_12_a_publishers_wishes_are_floors_with_a_cap() {
    let looked = "2026-03-02T10:00:00Z"; // a Monday
    let fresh = |seconds| Hints {
        fresh_for: Some(seconds),
        ..Hints::default()
    };
    let rows = [
        // (why, hints, policy's choice, what is left of it)
        (
            "no wish",
            Hints::default(),
            "2026-03-02T10:15:00Z",
            "2026-03-02T10:15:00Z",
        ),
        (
            "a floor puts it off",
            fresh(3600),
            "2026-03-02T10:15:00Z",
            "2026-03-02T11:00:00Z",
        ),
        (
            "a floor never hurries",
            fresh(60),
            "2026-03-02T10:15:00Z",
            "2026-03-02T10:15:00Z",
        ),
        (
            "a year is not believed",
            fresh(31_536_000),
            "2026-03-02T10:15:00Z",
            "2026-03-03T10:00:00Z",
        ),
        (
            "ttl counts as much",
            Hints {
                fresh_for: Some(60),
                every: Some(7200),
                ..Hints::default()
            },
            "2026-03-02T10:15:00Z",
            "2026-03-02T12:00:00Z",
        ),
        (
            "skipped hours are waited out, to the minute",
            Hints {
                skip_hours: 0b1100 << 8,
                ..Hints::default()
            },
            "2026-03-02T10:15:00Z",
            "2026-03-02T12:00:00Z",
        ),
        (
            "a skipped day too",
            Hints {
                skip_days: 0b10,
                ..Hints::default()
            },
            "2026-03-03T01:00:00Z",
            "2026-03-03T10:00:00Z", // but no longer than a day after the last look
        ),
        (
            "who skips everything is asked daily",
            Hints {
                skip_hours: u32::MAX,
                skip_days: u32::MAX,
                ..Hints::default()
            },
            "2026-03-02T10:15:00Z",
            "2026-03-03T10:00:00Z",
        ),
    ];
    for (why, hints, chosen, left) in rows {
        assert_eq!(hints.not_before(at(looked), at(chosen)), at(left), "{why}");
    }
}

proptest! {
    #[test]
    fn ss_12_a_floor_delays_and_never_beyond_a_day(
        fresh_for in proptest::option::of(any::<u32>()),
        every in proptest::option::of(any::<u32>()),
        skip_hours in any::<u32>(),
        skip_days in any::<u32>(),
        wait in 0_i64..200_000,
    ) {
        let hints = Hints { fresh_for, every, skip_hours, skip_days };
        let looked = at("2026-03-02T10:20:30Z");
        let chosen = looked + SignedDuration::from_secs(wait);
        let left = hints.not_before(looked, chosen);
        prop_assert!(left >= chosen);
        prop_assert!(left <= chosen.max(looked + HONOURED_MAX));
    }
}
