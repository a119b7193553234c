use proptest::prelude::*;

use super::*;

const START: Timestamp = Timestamp::constant(1_767_225_600, 0);

fn secs(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn reading(wall: i64, uptime: i64) -> Reading {
    Reading {
        wall: START + secs(wall),
        uptime: secs(uptime),
    }
}

fn mark(at: i64, uptime: i64, boot: &str) -> Mark {
    Mark {
        at: START + secs(at),
        uptime: secs(uptime),
        boot: boot.to_owned(),
        revision: 0,
    }
}

fn begun() -> Guard {
    Guard::start(reading(0, 100), "boot", None)
}

const DAY: i64 = 86_400;

#[test]
fn dp_24_a_clock_that_is_kept_right_is_never_doubted() {
    let mut guard = begun();
    // Corrected slowly, by small steps, across a suspend of a night, and by a leap second.
    let rows = [(10, 110), (24, 120), (30_000, 30_096), (30_001, 30_098)];
    for (wall, uptime) in rows {
        let now = guard.read(reading(wall, uptime));
        assert_eq!(now, START + secs(wall), "the wall clock is the truth");
        assert_eq!(guard.standing(), Standing::Steady, "{wall} at {uptime}");
    }
}

#[test]
fn dp_24_time_goes_on_steadily_while_the_clock_is_wrong() {
    for (step, may_act) in [(DAY, true), (40 * DAY, true), (-600, false), (-DAY, false)] {
        let mut guard = begun();
        guard.read(reading(10, 110));
        for second in 11..55 {
            let now = guard.read(reading(second + step, second + 100));
            assert_eq!(now, START + secs(second), "{step}: it does not jump");
            let standing = guard.standing();
            assert_eq!(standing.may_act(), may_act, "{step}");
            assert!(!standing.may_delete(), "{step}");
        }
        assert_eq!(guard.read(reading(55, 155)), START + secs(55));
        assert_eq!(guard.standing(), Standing::Steady, "{step}: it came back");
    }
}

#[test]
fn what_it_shows_survives_the_store() {
    let mut guard = begun();
    let now = guard.read(Reading {
        uptime: SignedDuration::new(160, 123_456_789),
        ..reading(DAY, 0)
    });
    assert_eq!(now, to_micros(now));
    assert!(guard.doubt.is_some());
}

#[test]
fn dp_24_a_small_step_is_believed_once_it_lasts_and_a_large_one_never() {
    for (step, believed) in [
        (3_600, true),
        (-3_600, true),
        (3_602, false),
        (-2 * DAY, false),
    ] {
        let mut guard = begun();
        for second in 0..600 {
            let shown = reading(second + step, second + 100);
            guard.believe(shown);
            assert!(guard.doubt.is_some(), "{step} after {second} s");
            assert_eq!(guard.read(shown), START + secs(second), "{step}");
        }
        guard.believe(reading(600 + step, 700));
        let now = guard.read(reading(600 + step, 700));
        assert_eq!(guard.doubt.is_none(), believed, "{step}");
        let expected = if believed { 600 + step } else { 600 };
        assert_eq!(now, START + secs(expected), "{step}");
    }
}

#[test]
fn dp_24_a_clock_that_steps_again_must_last_anew() {
    let mut guard = begun();
    guard.believe(reading(60, 100));
    guard.believe(reading(120 + 599, 100 + 599));
    guard.believe(reading(120 + 601, 100 + 601));
    assert!(guard.doubt.is_some(), "the second step is two seconds old");
}

#[test]
fn dp_24_a_start_is_held_against_what_the_store_remembers() {
    let year = 365 * DAY;
    // The wall clock and uptime at the start, the start of the machine, and what is to come of it.
    let rows = [
        (1_000, 1_100, "boot", None, "restarted"),
        (
            DAY,
            100 + DAY - 60,
            "boot",
            None,
            "a day later, drifted by a minute",
        ),
        (
            year,
            1_100,
            "boot",
            Some(Reference::Count),
            "set ahead meanwhile",
        ),
        (
            400,
            1_100,
            "boot",
            Some(Reference::Count),
            "set back meanwhile",
        ),
        (10 * DAY, 30, "next", None, "was off for ten days"),
        (-3, 30, "next", None, "the same moment"),
        (
            year,
            30,
            "next",
            Some(Reference::Record),
            "a battery a year ahead",
        ),
        (
            -DAY,
            30,
            "next",
            Some(Reference::Record),
            "a battery a day behind",
        ),
        (
            year,
            1_100,
            "",
            Some(Reference::Record),
            "nothing names the start",
        ),
    ];
    for (wall, uptime, boot, doubted, why) in rows {
        let first = reading(wall, uptime);
        let guard = Guard::start(first, boot, Some(&mark(0, 100, "boot")));
        let found = guard.doubt.map(|doubt| doubt.reference);
        assert_eq!(found, doubted, "{why}");
        let unproven = doubted == Some(Reference::Record);
        assert!(!unproven || !guard.standing().may_act(), "{why}");
    }
}

#[test]
fn dp_24_a_guess_is_not_remembered_and_what_a_person_accepts_is() {
    struct Fixed(Reading, &'static str);
    impl TimeSource for Fixed {
        fn read(&self) -> Reading {
            self.0
        }
        fn boot(&self) -> &str {
            self.1
        }
    }
    let source = Arc::new(Fixed(reading(365 * DAY, 30), "next"));
    let known = mark(0, 100, "boot");
    let clock = GuardedClock::start(source.clone(), Some(&known));
    assert_eq!(clock.mark(), None, "a record is no count");
    assert_eq!(clock.now(), START);
    let accepted = Mark::accept(source.as_ref(), Some(&known));
    clock.adopt(&accepted);
    assert_eq!(clock.standing(), Standing::Steady);
    assert_eq!(clock.now(), START + secs(365 * DAY));
    assert_eq!(clock.mark(), Some(accepted), "and from now on it counts");
}

#[test]
fn what_is_wrong_is_said_in_two_units() {
    for (seconds, said) in [
        (0, "0 s"),
        (600, "10 min"),
        (-90, "1 min 30 s"),
        (93_784, "1 d 2 h"),
    ] {
        assert_eq!(short(secs(seconds)), said);
    }
}

proptest! {
    /// Whatever the wall clock does, time neither goes back nor runs ahead of the uptime, except
    /// by steps that are believed.
    #[test]
    fn dp_24_time_never_jumps_by_more_than_is_believed(
        steps in proptest::collection::vec((1_i64..120, -100_000_i64..100_000), 1..60),
    ) {
        let mut guard = begun();
        let (mut uptime, mut before) = (100, START);
        for (wait, offset) in steps {
            uptime += wait;
            let shown = reading(uptime - 100 + offset, uptime);
            guard.believe(shown);
            let now = guard.read(shown);
            let moved = now.duration_since(before) - secs(wait);
            let bound = BELIEVED_MAX + STEP_MIN + secs(wait);
            prop_assert!(moved.abs() <= bound, "{moved:#} in {wait} s");
            before = now;
        }
    }
}
