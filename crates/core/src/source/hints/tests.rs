use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn ss_12_a_publishers_requests_are_floors_with_a_cap() {
    let looked = "2026-03-02T10:00:00Z"; // a Monday
    let fresh = |seconds| Hints {
        fresh_for: Some(seconds),
        ..Hints::default()
    };
    let every = |seconds| Hints {
        every: Some(seconds),
        ..fresh(60)
    };
    let skips = |skip_hours, skip_days| Hints {
        skip_hours,
        skip_days,
        ..Hints::default()
    };
    let soon = "2026-03-02T10:15:00Z";
    let rows = [
        // (why, hints, policy's choice, what is left of it)
        ("no request", Hints::default(), soon, soon),
        ("puts it off", fresh(3600), soon, "2026-03-02T11:00:00Z"),
        ("never hurries", fresh(60), soon, soon),
        (
            "ttl counts as much",
            every(7200),
            soon,
            "2026-03-02T12:00:00Z",
        ),
        ("no year", fresh(31_536_000), soon, "2026-03-03T10:00:00Z"),
        (
            "skipped hours, to the minute",
            skips(0b1100 << 8, 0),
            soon,
            "2026-03-02T12:00:00Z",
        ),
        // Tuesday is skipped, but no longer than a day after the last look.
        (
            "a skipped day",
            skips(0, 0b10),
            "2026-03-03T01:00:00Z",
            "2026-03-03T10:00:00Z",
        ),
        (
            "who skips all is asked daily",
            skips(u32::MAX, u32::MAX),
            soon,
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
