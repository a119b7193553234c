use proptest::prelude::*;

use super::*;

fn labels(from: &str, until: &str, zone: &str, most: usize) -> String {
    let zone = TimeZone::get(zone).unwrap();
    let ticks = ticks(
        from.parse().unwrap(),
        until.parse().unwrap(),
        &zone,
        Lang::English,
        most,
    );
    let labels: Vec<_> = ticks.into_iter().map(|tick| tick.label).collect();
    labels.join(" ")
}

/// Why, from, until, zone, most ticks, and the expected labels.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    usize,
    &'static str,
);

const ROWS: [Row; 14] = [
    (
        "an ordinary day",
        "2026-01-05T12:20:00Z",
        "2026-01-06T12:20:00Z",
        "UTC",
        12,
        "15:00 18:00 21:00 6 Jan 03:00 06:00 09:00 12:00",
    ),
    (
        "Kolkata is half an hour off",
        "2026-01-05T12:00:00Z",
        "2026-01-06T00:00:00Z",
        "Asia/Kolkata",
        6,
        "18:00 21:00 6 Jan 03:00",
    ),
    (
        "Berlin has no 02:00 in spring",
        "2026-03-28T23:00:00Z",
        "2026-03-29T04:00:00Z",
        "Europe/Berlin",
        6,
        "29 Mar 01:00 03:00 04:00 05:00 06:00",
    ),
    (
        "the day of 23 hours in steps of three",
        "2026-03-28T23:00:00Z",
        "2026-03-29T22:00:00Z",
        "Europe/Berlin",
        10,
        "29 Mar 03:00 06:00 09:00 12:00 15:00 18:00 21:00 30 Mar",
    ),
    (
        "Berlin has 02:00 twice in autumn",
        "2026-10-24T22:00:00Z",
        "2026-10-25T03:00:00Z",
        "Europe/Berlin",
        6,
        "25 Oct 01:00 02:00 02:00 03:00 04:00",
    ),
    (
        "every two hours, the second 02:00 has no separate tick",
        "2026-10-24T22:00:00Z",
        "2026-10-25T09:00:00Z",
        "Europe/Berlin",
        7,
        "25 Oct 02:00 04:00 06:00 08:00 10:00",
    ),
    (
        "New York has 01:00 twice in autumn",
        "2026-11-01T04:00:00Z",
        "2026-11-01T08:00:00Z",
        "America/New_York",
        6,
        "1 Nov 01:00 01:00 02:00 03:00",
    ),
    (
        "New York in spring, every two hours",
        "2026-03-08T05:00:00Z",
        "2026-03-08T17:00:00Z",
        "America/New_York",
        7,
        "8 Mar 04:00 06:00 08:00 10:00 12:00",
    ),
    (
        "Lord Howe moves by half an hour",
        "2026-04-04T13:00:00Z",
        "2026-04-04T18:00:00Z",
        "Australia/Lord_Howe",
        6,
        "5 Apr 01:00 02:00 03:00 04:00",
    ),
    (
        "seconds",
        "2026-01-05T12:20:07Z",
        "2026-01-05T12:20:27Z",
        "UTC",
        5,
        "12:20:10 12:20:15 12:20:20 12:20:25",
    ),
    (
        "days begin at local midnight, also when a clock is changed",
        "2026-03-27T23:00:00Z",
        "2026-03-31T22:00:00Z",
        "Europe/Berlin",
        6,
        "28 Mar 29 Mar 30 Mar 31 Mar 1 Apr",
    ),
    (
        "weeks begin on Mondays",
        "2026-01-01T00:00:00Z",
        "2026-02-01T00:00:00Z",
        "UTC",
        6,
        "5 Jan 12 Jan 19 Jan 26 Jan",
    ),
    (
        "an empty window",
        "2026-01-05T12:20:00Z",
        "2026-01-05T12:20:00Z",
        "UTC",
        6,
        "12:20:00",
    ),
    (
        "a window turned round",
        "2026-01-06T00:00:00Z",
        "2026-01-05T00:00:00Z",
        "UTC",
        6,
        "",
    ),
];

#[test]
fn ticks_stand_at_round_times_of_the_wall_clock() {
    for (why, from, until, zone, most, expected) in ROWS {
        assert_eq!(labels(from, until, zone, most), expected, "{why}");
    }
}

#[test]
fn instants_are_written_in_both_languages() {
    let zone = TimeZone::get("Asia/Kolkata").unwrap();
    for (at, english, chinese) in [
        ("2026-01-05T12:00:00Z", "5 Jan, 17:30", "1月5日 17:30"),
        ("2026-12-31T23:59:59Z", "1 Jan, 05:29:59", "1月1日 05:29:59"),
    ] {
        let at = at.parse().unwrap();
        assert_eq!(moment(at, &zone, Lang::English), english);
        assert_eq!(moment(at, &zone, Lang::Chinese), chinese);
    }
    assert_eq!(zone_name(&zone), "Asia/Kolkata");
    assert_eq!(zone_name(&TimeZone::UTC), "UTC");
}

#[test]
fn windows_of_all_time_have_ticks() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let all = ticks(Timestamp::MIN, Timestamp::MAX, &zone, Lang::English, 20);
    assert!(all.len() <= 20);
    ticks(Timestamp::MAX, Timestamp::MAX, &zone, Lang::English, 20);
    ticks(Timestamp::MIN, Timestamp::MIN, &zone, Lang::English, 20);
}

proptest! {
    #[test]
    fn ticks_are_in_the_window_in_order_and_few(
        from in 0..4_000_000_000_i64,
        length in 1..40_000_000_i64,
        most in 2..20_usize,
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]),
    ) {
        let zone = TimeZone::get(zone).unwrap();
        let (from, until) = (
            Timestamp::from_second(from).unwrap(),
            Timestamp::from_second(from + length).unwrap(),
        );
        let ticks = ticks(from, until, &zone, Lang::English, most);
        prop_assert!(ticks.is_sorted_by(|a, b| a.at < b.at));
        prop_assert!(ticks.iter().all(|tick| from <= tick.at && tick.at <= until));
        prop_assert!(ticks.len() <= most + 2, "{ticks:?}");
    }
}
