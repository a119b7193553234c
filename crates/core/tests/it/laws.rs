//! Laws: the next occurrence is later, fits, and skips none; the previous one mirrors it.

use almanack_core::schedule::{Expression, Mode, Timetable, Zone};
use jiff::{SignedDuration, Timestamp, ToSpan, civil::Date, tz::TimeZone};
use proptest::prelude::*;

use crate::{
    random::{self, Job},
    slow,
};

/// Zones with something to stumble over: half hours, midnight, two hours, days that never were.
const ZONES: [&str; 20] = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Dublin",
    "America/New_York",
    "America/St_Johns",
    "America/Sao_Paulo",
    "America/Havana",
    "America/Caracas",
    "America/Nuuk",
    "America/Goose_Bay",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Tehran",
    "Asia/Kathmandu",
    "Asia/Pyongyang",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Antarctica/Troll",
];

fn compiled(job: &Job) -> Timetable {
    let text = job.text();
    Expression::parse(&text, Mode::Strict).unwrap().compile("x")
}

fn after(timetable: &Timetable, zone: &Zone, (from, to): (Timestamp, Timestamp)) -> Vec<Timestamp> {
    let step = |at: Timestamp| timetable.next_after(at, zone);
    let found = std::iter::successors(step(from), |at| step(*at));
    found.take_while(|at| *at < to).collect()
}

fn before(
    timetable: &Timetable,
    zone: &Zone,
    (from, to): (Timestamp, Timestamp),
) -> Vec<Timestamp> {
    let step = |at: Timestamp| timetable.previous_before(at, zone);
    let found = std::iter::successors(step(to), |at| step(*at));
    let mut found: Vec<Timestamp> = found.take_while(|at| *at > from).collect();
    found.reverse();
    found
}

/// A change of the clocks, or the epoch where there is none.
fn change(zone: &TimeZone, number: usize) -> Timestamp {
    let year_2040 = Timestamp::from_second(2_208_988_800).unwrap();
    let changes = zone.following(Timestamp::UNIX_EPOCH);
    let changes: Vec<Timestamp> = changes
        .map(|change| change.timestamp())
        .take_while(|at| *at < year_2040)
        .collect();
    match changes.len() {
        0 => Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 19_000),
        many => changes[number % many],
    }
}

fn both_ways(job: &Job, zone: &str, around: (usize, i64), length_s: i64, step_s: i64) {
    let time_zone = TimeZone::get(zone).unwrap();
    let from = change(&time_zone, around.0) + SignedDuration::from_secs(around.1);
    let window = (from, from + SignedDuration::from_secs(length_s));
    let expected = slow::occurrences(job, &time_zone, window, step_s);
    let (timetable, zone) = (compiled(job), Zone::new(time_zone));
    let text = job.text();
    assert_eq!(
        after(&timetable, &zone, window),
        expected,
        "`{text}` after {from}"
    );
    assert_eq!(
        before(&timetable, &zone, window),
        expected,
        "`{text}` up to {}",
        window.1
    );
    for at in expected {
        assert!(timetable.matches(at, &zone), "`{text}` at {at}");
    }
}

proptest! {
    #[test]
    fn dp_04_around_a_change_of_the_clocks_none_is_skipped_and_none_is_doubled(
        job in random::times(),
        zone in prop::sample::select(&ZONES[..]),
        number in 0..200_usize,
        early_s in -2 * 86_400..7_200_i64,
    ) {
        both_ways(&job, zone, (number, early_s), 3 * 86_400, 60);
    }

    #[test]
    fn dp_04_seconds_around_a_change_of_the_clocks(
        job in random::seconds(),
        zone in prop::sample::select(&ZONES[..]),
        number in 0..200_usize,
        early_s in -7_200..3_600_i64,
    ) {
        both_ways(&job, zone, (number, early_s), 2 * 3_600, 1);
    }

    #[test]
    fn dp_02_dates_are_those_that_a_look_at_every_day_finds(
        job in random::dates(),
        days in 0..60_000_i64,
    ) {
        let zone = Zone::utc();
        let start = Date::constant(1970, 1, 1).checked_add(days.days()).unwrap();
        let noon = |date: Date| date.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
        let scanned = start.series(1.day()).take(2_000);
        let expected: Vec<Timestamp> = scanned.filter(|date| job.has_date(*date)).map(noon).collect();
        let end = noon(start.checked_add(2_000.days()).unwrap());
        let window = (noon(start) - SignedDuration::from_secs(1), end);
        let timetable = compiled(&job);
        prop_assert_eq!(&after(&timetable, &zone, window), &expected, "{}", job.text());
        prop_assert_eq!(&before(&timetable, &zone, window), &expected, "{}", job.text());
    }

    #[test]
    fn what_is_printed_means_the_same(job in prop_oneof![random::seconds(), random::dates()]) {
        let read = Expression::parse(&job.text(), Mode::Strict).unwrap();
        let again = Expression::parse(&read.to_string(), Mode::Strict).unwrap();
        prop_assert_eq!(again.to_string(), read.to_string());
        prop_assert_eq!(again.compile("x"), read.compile("x"));
    }

    #[test]
    fn strict_and_import_agree_on_what_both_read(job in prop_oneof![random::seconds(), random::dates()]) {
        let read = Expression::parse(&job.text(), Mode::Import).unwrap();
        prop_assert_eq!(read.compile("x"), compiled(&job));
    }

    #[test]
    fn a_hash_stays_in_its_range(
        name in ".{0,12}",
        (first, last) in (0..60_u32, 0..60_u32).prop_map(|(a, b)| (a.min(b), a.max(b))),
    ) {
        let zone = Zone::utc();
        let text = format!("H({first}-{last}) H H H H(1-5)");
        let timetable = Expression::parse(&text, Mode::Strict).unwrap().compile(&name);
        let tilde = format!("{first}~{last} H H H 1~5");
        prop_assert_eq!(&Expression::parse(&tilde, Mode::Strict).unwrap().compile(&name), &timetable);
        let at = timetable.next_after(Timestamp::UNIX_EPOCH, &zone).unwrap();
        let minute = TimeZone::UTC.to_datetime(at).minute();
        prop_assert!((first..=last).contains(&u32::from(minute.unsigned_abs())));
        prop_assert!(!timetable.never_fires());
    }

    #[test]
    fn no_text_is_too_strange_to_be_refused(text in "[-0-9*/,?#LWH~+@a-zA-Z() \u{a0}０=]{0,24}") {
        for mode in [Mode::Strict, Mode::Import] {
            match Expression::parse(&text, mode) {
                Ok(read) => {
                    let timetable = read.compile("x");
                    let next = timetable.next_after(Timestamp::UNIX_EPOCH, &Zone::utc());
                    prop_assert!(next.is_none_or(|next| next > Timestamp::UNIX_EPOCH));
                }
                Err(error) => {
                    prop_assert!(text.get(error.span.start..error.span.end).is_some());
                    if let Some(repair) = error.repair {
                        let repaired = repair.apply(&text);
                        prop_assert!(repaired != text);
                    }
                }
            }
        }
    }
}

/// What a fixed time comes to around one change: at the end of a gap, in the first pass of an
/// overlap, exactly once.
fn check_change(zone: &Zone, at: Timestamp, shift_s: i64, name: &str) {
    let halfway = SignedDuration::from_secs(shift_s.abs() / 2);
    let change = at - SignedDuration::from_secs(1);
    let ended = zone
        .time_zone()
        .to_datetime(change)
        .saturating_add(1.second());
    let nominal = if shift_s > 0 {
        ended + halfway
    } else {
        ended - halfway
    };
    let (hour, minute, second) = (nominal.hour(), nominal.minute(), nominal.second());
    let text = format!("{second} {minute} {hour} * * *");
    let timetable = Expression::parse(&text, Mode::Strict).unwrap().compile("x");
    let expected = if shift_s > 0 { at } else { at - halfway };
    // Beyond both passes, and less than a day.
    let margin = SignedDuration::from_secs(shift_s.abs() + 3_600);
    let window = (expected - margin, expected + margin);
    let found = after(&timetable, zone, window);
    assert_eq!(found, [expected], "`{text}` in {name} around {at}");
    assert_eq!(
        before(&timetable, zone, window),
        found,
        "`{text}` in {name} around {at}"
    );
}

#[test]
fn dp_04_a_fixed_time_happens_once_at_every_change_of_every_zone() {
    let mut changes = 0;
    for name in jiff::tz::db().available() {
        let Ok(time_zone) = TimeZone::get(name.as_str()) else {
            continue;
        };
        let zone = Zone::new(time_zone.clone());
        let year_2038 = Timestamp::from_second(2_145_916_800).unwrap();
        let first = Timestamp::from_second(86_400).unwrap();
        let mut last = first;
        for change in time_zone.following(first) {
            let at = change.timestamp();
            let quiet = at.duration_since(last) > SignedDuration::from_hours(12);
            let earlier = time_zone.to_offset(at - SignedDuration::from_secs(1));
            let shift_s = i64::from(change.offset().seconds() - earlier.seconds());
            last = at;
            if at > year_2038 {
                break;
            }
            if quiet && (1..=3 * 3_600).contains(&shift_s.abs()) {
                check_change(&zone, at, shift_s, name.as_str());
                changes += 1;
            }
        }
    }
    assert!(changes > 10_000, "only {changes} changes were looked at");
}

#[test]
fn what_never_fires_is_found_out_and_what_rarely_does_is_not_lost() {
    let zone = Zone::utc();
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    for (text, from, expected) in [
        (
            "0 0 29 2 *",
            "2096-03-01T00:00:00Z",
            Some("2104-02-29T00:00:00Z"),
        ),
        (
            "0 0 * 2 MON#5",
            "2024-01-01T00:00:00Z",
            Some("2044-02-29T00:00:00Z"),
        ),
        (
            "0 0 29 2 +MON",
            "2024-03-01T00:00:00Z",
            Some("2044-02-29T00:00:00Z"),
        ),
        ("0 0 31 4,6,9,11 *", "1970-01-01T00:00:00Z", None),
        ("0 0 30 2 *", "1970-01-01T00:00:00Z", None),
        (
            "59 59 23 31 12 * 2199",
            "1970-01-01T00:00:00Z",
            Some("2199-12-31T23:59:59Z"),
        ),
        ("* * * * *", "2199-12-31T23:59:00Z", None),
    ] {
        let timetable = Expression::parse(text, Mode::Strict).unwrap().compile("x");
        assert_eq!(
            timetable.next_after(at(from), &zone),
            expected.map(at),
            "{text}"
        );
    }
}

#[test]
fn dp_03_an_interval_stays_on_its_slots_whatever_the_zone() {
    let zone = Zone::new(TimeZone::get("Australia/Lord_Howe").unwrap());
    let timetable = Expression::parse("@90s", Mode::Strict)
        .unwrap()
        .compile("x");
    for micros in [0_i64, 1, 89_999_999, 90_000_000, 1_700_000_000_123_456] {
        let at = Timestamp::from_microsecond(micros).unwrap();
        let next = timetable.next_after(at, &zone).unwrap();
        assert!(next > at && next.as_second() % 90 == 0 && next.subsec_nanosecond() == 0);
        assert!(next.duration_since(at) <= SignedDuration::from_secs(90));
        let previous = timetable.previous_before(next, &zone);
        assert_eq!(
            previous.map(|at| next.duration_since(at).as_secs()),
            (next.as_second() > 0).then_some(90)
        );
    }
}
