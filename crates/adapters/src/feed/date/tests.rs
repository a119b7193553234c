use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: Option<&str>, why: &str) {
    let read = parse(text).map(|at| at.to_string());
    assert_eq!(read.as_deref(), expected, "{why}: `{text}`");
}

#[test]
fn ss_12_dates_are_read_in_more_than_twelve_formats() {
    for (text, why) in [
        ("Fri, 02 Jan 2026 03:04:05 GMT", "RFC 822"),
        ("Fri, 02 Jan 2026 03:04:05 +0000", "an offset of nothing"),
        ("Fri, 02 Jan 2026 05:04:05 +0200", "east"),
        ("Thu, 01 Jan 2026 22:04:05 -0500", "west, and another day"),
        ("Fri, 02 Jan 2026 08:34:05 +0530", "half hours"),
        ("Fri, 2 Jan 26 03:04:05 UT", "two digits"),
        ("2 Jan 2026 03:04:05 Z", "no weekday"),
        (
            "Monday, 02 January 2026 03:04:05 UTC",
            "full names, wrong weekday",
        ),
        ("Thu, 01 Jan 2026 22:04:05 EST", "a zone of RFC 822"),
        ("Thu, 01 Jan 2026 20:04:05 PDT", "a zone of RFC 822"),
        ("Fri, 02 Jan 2026 04:04:05 CET", "a zone of Europe"),
        ("Fri, 02 Jan 2026 05:04:05 +02:00", "a colon in the offset"),
        ("Fri, 02 Jan 2026 05:04:05 GMT+0200", "a named base"),
        ("Fri, 02 Jan 2026 05:04:05 +0200 (CEST)", "a comment"),
        ("Fri, 02 Jan 2026 03:04:05", "none given is UTC"),
        ("Friday, 02-Jan-26 03:04:05 GMT", "RFC 850"),
        ("Fri Jan  2 03:04:05 2026", "asctime"),
        ("Fri Jan  2 03:04:05 UTC 2026", "date(1)"),
        ("January 2, 2026 3:04:05 AM", "plain English"),
        ("Jan 2nd, 2026 at 03:04:05", "ordinals"),
        ("2026-01-02T03:04:05Z", "ISO 8601"),
        ("2026-01-02t03:04:05z", "small letters"),
        ("2026-01-02T05:04:05+02:00", "with an offset"),
        ("2026-01-02T05:04:05+0200", "without its colon"),
        ("2026-01-02T05:04:05+02", "hours only"),
        ("2026-01-01T22:04:05.678-05:00", "a fraction"),
        ("2026-01-02 03:04:05", "a space, no zone"),
        ("2026-01-02 03:04:05 +0000", "a space before the offset"),
        ("2026-01-02 03:04:05 UTC", "a name for the offset"),
        ("2026-01-02, 03:04:05", "a comma"),
        ("20260102T030405Z", "no separators"),
        ("2026/01/02 03:04:05", "slashes"),
        ("2026.1.2 3:04:05", "dots, no zeros"),
        ("2026年1月2日 03:04:05", "Chinese and Japanese"),
        ("1767323045", "seconds"),
        ("1767323045678", "milliseconds"),
        ("1767323045678901", "microseconds"),
        (" \n 2026-01-02T03:04:05Z\t", "blanks around it"),
    ] {
        let read = parse(text).map(Timestamp::as_second);
        assert_eq!(read, Some(1_767_323_045), "{why}: `{text}`");
    }
}

#[test]
fn what_is_missing_is_taken_for_the_first_instant() {
    for (text, expected, why) in [
        ("2026-01-02", "2026-01-02T00:00:00Z", "a date"),
        ("20260102", "2026-01-02T00:00:00Z", "a date, no separators"),
        ("2 Jan 2026", "2026-01-02T00:00:00Z", "a date in words"),
        ("Jan 2, 2026", "2026-01-02T00:00:00Z", "a date in words"),
        (
            "Fri, 02 Jan 2026 15:04 +0100",
            "2026-01-02T14:04:00Z",
            "no seconds",
        ),
        (
            "2026-01-02T15:04+01:00",
            "2026-01-02T14:04:00Z",
            "no seconds",
        ),
        ("Jan 2, 2026 3:04pm", "2026-01-02T15:04:00Z", "afternoon"),
        (
            "Jan 2, 2026 12:04 AM",
            "2026-01-02T00:04:00Z",
            "after midnight",
        ),
        ("Jan 2, 2026 12:04 PM", "2026-01-02T12:04:00Z", "after noon"),
        (
            "Fri, 02 Jan 2026 24:00:00 GMT",
            "2026-01-03T00:00:00Z",
            "the end of a day",
        ),
        (
            "2016-12-31T23:59:60Z",
            "2016-12-31T23:59:59Z",
            "a leap second",
        ),
        (
            "Fri, 02 Jan 2026 15:04:05 XYZ",
            "2026-01-02T15:04:05Z",
            "an unknown zone",
        ),
        (
            "Fri, 02 Jan 2026 15:04:05 A",
            "2026-01-02T15:04:05Z",
            "a single letter",
        ),
        (
            "02 Jan 98 15:04:05 GMT",
            "1998-01-02T15:04:05Z",
            "last century",
        ),
    ] {
        check(text, Some(expected), why);
    }
}

#[test]
fn ss_20_dates_in_numbers_are_read_where_they_can_mean_one_day_only() {
    let day = Some("2026-11-14T00:00:00Z");
    let time = Some("2026-11-14T15:04:00Z");
    for (text, expected, why) in [
        ("14.11.2026", day, "dots"),
        ("14. 11. 2026", day, "dots and blanks"),
        ("14/11/2026", day, "no month has the number 14"),
        ("11/14/2026", day, "nor here"),
        ("14-11-2026", day, "dashes"),
        ("2026/11/14", day, "its year first"),
        ("2026.11.14", day, "its year first"),
        (
            "3.4.2026",
            Some("2026-04-03T00:00:00Z"),
            "dots: the day first",
        ),
        (
            "03.04.2026",
            Some("2026-04-03T00:00:00Z"),
            "dots: the day first",
        ),
        ("11.14.2026", day, "dots, but no month has the number 14"),
        (
            "05/05/2026",
            Some("2026-05-05T00:00:00Z"),
            "the same either way",
        ),
        ("14.11.2026 15:04", time, "a time"),
        ("14.11.2026, 15:04:00", time, "a time"),
        ("14.11.2026 - 15:04", time, "a time"),
        ("14.11.2026 – 15:04 Uhr", time, "a time in German"),
        ("14/11/2026 3:04 PM", time, "a time"),
        ("14/11/2026 15:04:00 GMT", time, "a time and a zone"),
        ("14.11.2026 16:04 +0100", time, "a time and its offset"),
        ("14.11.2026 16:04:00+01:00", time, "a time and its offset"),
        ("Sat, 14.11.2026 15:04", time, "a day of the week"),
        ("Samstag, 14.11.2026", day, "a day of the week"),
        ("сб 14.11.2026 15:04", time, "a day of the week"),
        ("03/04/2026", None, "March or April?"),
        ("3-4-2026 15:04", None, "March or April?"),
        ("03/04/2026 15:04:00 +0000", None, "March or April?"),
        ("14.11.26", None, "which of the three is the year?"),
        ("14/11", None, "no year"),
        ("14/13/2026", None, "no month"),
        ("14.0.2026", None, "no month"),
        ("31.11.2026", None, "no such day"),
        ("0.11.2026", None, "no such day"),
        ("14.11/2026", None, "two kinds of marks"),
        ("14.11.20266", None, "no year"),
        ("-14.11.2026", None, "a sign is no part of a date"),
        ("14.11.2026 25:00", None, "no such hour"),
        ("14.11.2026 15.11.2026", None, "two dates"),
        ("between us: 14.11.2026", None, "a sentence"),
    ] {
        check(text, expected, why);
    }
}

#[test]
fn what_is_no_date_is_none() {
    for (text, why) in [
        ("", "nothing"),
        ("yesterday", "a word"),
        ("3 hours ago", "relative to when?"),
        ("03/04/2026", "March or April?"),
        ("2026-13-02", "no such month"),
        ("2026-02-30T00:00:00Z", "no such day"),
        ("Fri, 30 Feb 2026 00:00:00 GMT", "no such day"),
        ("2026-01-02T25:00:00Z", "no such hour"),
        ("2026-01-02T15:61:00Z", "no such minute"),
        ("2026-01-02T15:04:05+99:00", "no such offset"),
        ("0000-00-00 00:00:00", "a database's nothing"),
        ("-615111111-:4", "a sign is no part of a year"),
        ("2026+1+2", "a sign is no part of a month"),
        ("2026", "a year"),
        ("Jan 2026", "a month"),
        ("12345", "too few digits"),
        ("99999999999999999999999", "too many digits"),
        ("Jan 2, 2026 15:04 15:05", "two times"),
    ] {
        check(text, None, why);
    }
    check(&"2026-01-02 ".repeat(100), None, "too long");
}

proptest! {
    #[test]
    fn every_instant_survives_being_written(second in 0_i64..4_000_000_000, hours in -12_i8..=14, minutes in 0_u8..60) {
        let at = Timestamp::from_second(second).unwrap();
        let sign = if hours < 0 { -1 } else { 1 };
        let seconds = i32::from(hours) * 3600 + sign * i32::from(minutes) * 60;
        let local = at.to_zoned(Offset::from_seconds(seconds).unwrap().to_time_zone());
        for format in ["%a, %d %b %Y %H:%M:%S %z", "%Y-%m-%dT%H:%M:%S%:z", "%Y-%m-%d %H:%M:%S %z", "%A, %d-%b-%Y %H:%M:%S %z", "%B %-d, %Y %-I:%M:%S %p %z"] {
            let text = local.strftime(format).to_string();
            prop_assert_eq!(parse(&text), Some(at), "{}", text);
        }
        prop_assert_eq!(parse(&at.to_string()), Some(at));
    }

    #[test]
    fn no_text_breaks_it(text in ".{0,120}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_text_like_a_date_breaks_it(text in "[-+:/., TZ0-9a-zé年月日]{0,60}") {
        let _ = parse(&text);
    }
}
