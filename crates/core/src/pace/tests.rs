use proptest::prelude::*;

use super::*;

fn at(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(1_767_600_000_000_000 + micros).unwrap()
}

#[test]
fn a_rate_is_read_and_shown_as_written() {
    for (text, gap_us, burst) in [
        ("100/min", 600_000, 1),
        ("50/s", 20_000, 50),
        ("7/s", 142_858, 7),
        ("1/day", 86_400_000_000, 1),
        ("90000/h", 40_000, 25),
        ("10000/s", 100, 10_000),
    ] {
        let rate = Rate::parse(text).unwrap();
        assert_eq!((rate.gap_us(), rate.burst()), (gap_us, burst), "{text}");
        assert_eq!(rate.to_string(), text);
    }
    assert_eq!(Rate::parse("5/min").unwrap().with_burst(20).burst(), 20);
}

#[test]
fn what_is_no_rate_is_refused() {
    for text in ["", "100", "100/week", "x/s", "-1/s", "1.5/s", "/s"] {
        assert_eq!(Rate::parse(text), Err(Invalid::Rate(text.to_owned())));
    }
    for text in ["0/s", "10001/s", "1000001/day"] {
        assert_eq!(Rate::parse(text), Err(Invalid::Starts), "{text}");
    }
}

#[test]
fn a_bucket_empties_and_fills_one_gap_at_a_time() {
    let rate = Rate::parse("60/min").unwrap().with_burst(3);
    let full_at = rate.after(at(0), at(0), 3);
    for (second, room) in [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3)] {
        assert_eq!(rate.room(full_at, at(second * 1_000_000)), room, "{second}");
    }
    assert_eq!(rate.look_at(full_at, at(0)), at(1_000_000));
    assert_eq!(
        rate.room(full_at, at(999_999)),
        0,
        "not a microsecond early"
    );
}

/// A rate of thousands per second is looked at in steps, not for every start.
#[test]
fn a_fast_rate_gathers_a_few_starts() {
    let fast = Rate::parse("1000/s").unwrap();
    assert_eq!(fast.gathered(), 10);
    assert_eq!(fast.with_burst(1).gathered(), 1, "it would lose the others");
    assert_eq!(Rate::parse("100/min").unwrap().gathered(), 1);
}

/// A clock that was a day ahead, or a rate of one a day that became one a second.
#[test]
fn a_bucket_of_another_day_is_as_empty_as_its_burst() {
    let rate = Rate::parse("1/s").unwrap();
    let tomorrow = at(86_400_000_000);
    assert_eq!(rate.room(tomorrow, at(0)), 0);
    assert_eq!(rate.look_at(tomorrow, at(0)), at(1_000_000));
    assert_eq!(rate.after(tomorrow, at(0), 0), at(1_000_000));
}

/// A flood of one key: what starts, starts at once, and the rest comes back one by one.
#[test]
fn wk_05_what_is_over_the_rate_is_put_off_in_order() {
    let rate = Rate::parse("60/min").unwrap().with_burst(2);
    let mut bucket = Bucket::default();
    let second = |s: i64| at(s * 1_000_000);
    let starts = rate.settle(&mut bucket, 5, second(0));
    assert_eq!((starts.granted, starts.next_at), (2, second(1)));
    let back: Vec<Timestamp> = (0..3)
        .map(|place| starts.comes_at(place, &rate, second(0)))
        .collect();
    assert_eq!(back, [second(1), second(2), second(3)]);
    let others = rate.settle(&mut bucket, 2, second(0));
    assert_eq!(
        (others.granted, others.next_at),
        (0, second(4)),
        "behind them"
    );
    let first = rate.settle(&mut bucket, 1, second(1));
    assert_eq!(first.granted, 1, "it comes back at its time");
    let flood = rate.settle(&mut bucket, 100_000, second(1));
    let last = flood.comes_at(99_999, &rate, second(1));
    assert_eq!(last, second(1) + BOOKED_MAX, "and is looked at again then");
}

#[test]
fn a_key_names_a_bucket_and_none_a_common_one() {
    let pace = Pace {
        rate: Rate::parse("1/s").unwrap(),
        by: Some(Path::parse("$.tenant").unwrap()),
    };
    let bucket = |payload: &str| {
        let task = ClaimedTask {
            payload: crate::task::Payload::parse(payload, 10_000).unwrap(),
            ..crate::fixture::claimed(1, 0)
        };
        pace.bucket(&task).unwrap()
    };
    let kind = crate::fixture::claimed(1, 0).identity.kind;
    for (payload, key) in [
        (r#"{"tenant":"a"}"#, r#""a""#),
        (r#"{"tenant": 7 }"#, "7"),
        (r#"{"tenant":null}"#, ""),
        (r#"{"other":1}"#, ""),
        ("[1]", ""),
    ] {
        assert_eq!(bucket(payload), format!("{kind} {key}"), "{payload}");
    }
    let long = bucket(&format!(r#"{{"tenant":"{}"}}"#, "x".repeat(900)));
    assert_eq!(long.len(), kind.as_str().len() + 201);
}

proptest! {
    /// Whatever is asked for and when: in no stretch are there more starts than the rate and the
    /// burst allow, and whoever waits until then gets a start.
    #[test]
    fn wk_05_no_stretch_has_more_starts_than_the_rate_allows(
        starts in 1_u32..200,
        unit in 0_usize..4,
        burst in 1_u32..20,
        asks in prop::collection::vec((0_i64..3, 0_u32..30), 1..60),
    ) {
        let rate = Rate::parse(&format!("{starts}/{}", UNITS[unit].0)).unwrap().with_burst(burst);
        let (mut now_us, mut full_at) = (0, at(0));
        let mut begun: Vec<i64> = Vec::new();
        for (wait, wanted) in asks {
            now_us += wait * rate.gap_us() / 2;
            let given = rate.room(full_at, at(now_us)).min(wanted);
            full_at = rate.after(full_at, at(now_us), given);
            begun.extend((0..given).map(|_| now_us));
            let look_at = rate.look_at(full_at, at(now_us));
            prop_assert!(rate.room(full_at, look_at.max(at(now_us))) > 0);
        }
        for (first, from) in begun.iter().enumerate() {
            for (last, until) in begun.iter().enumerate().skip(first) {
                let most = i64::from(burst) + (until - from) / rate.gap_us();
                prop_assert!(i64::try_from(last - first + 1).unwrap() <= most);
            }
        }
    }

    /// Nodes whose clocks differ, or one whose clock is set back: by their own times, which the
    /// history has, no stretch has more either, as long as they differ by less than is allowed.
    #[test]
    fn wk_05_clocks_that_differ_start_no_more(
        burst in 1_u32..5,
        asks in prop::collection::vec((0_i64..4, -20_i64..20), 1..60),
    ) {
        let rate = Rate::parse("1/s").unwrap().with_burst(burst);
        let (mut shared, mut full_at) = (0, at(-1_000_000_000));
        let mut begun: Vec<i64> = Vec::new();
        for (wait, drift) in asks {
            shared += wait;
            let now_us = (shared + drift) * 1_000_000;
            let given = rate.room(full_at, at(now_us));
            full_at = rate.after(full_at, at(now_us), given);
            begun.extend((0..given).map(|_| now_us));
        }
        begun.sort_unstable();
        for (first, from) in begun.iter().enumerate() {
            for (last, until) in begun.iter().enumerate().skip(first) {
                let most = i64::from(burst) + (until - from) / rate.gap_us();
                prop_assert!(i64::try_from(last - first + 1).unwrap() <= most);
            }
        }
    }
}
