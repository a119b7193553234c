use super::*;

const NOW: &str = "2026-01-05T08:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

#[test]
fn durations_are_read_as_people_write_them() {
    for (text, seconds) in [
        ("30s", 30),
        ("10m", 600),
        ("1h30m", 5_400),
        ("1h 30m", 5_400),
        ("7d", 604_800),
        ("0s", 0),
    ] {
        assert_eq!(
            parse_duration(text),
            Ok(SignedDuration::from_secs(seconds)),
            "{text}"
        );
    }
    assert_eq!(
        parse_duration("250ms"),
        Ok(SignedDuration::from_millis(250))
    );
}

#[test]
fn a_duration_is_shown_so_that_it_reads_back() {
    for text in ["30s", "1h30m", "250ms", "0s", "24h"] {
        assert_eq!(show_duration(parse_duration(text).unwrap()), text);
    }
}

#[test]
fn what_is_no_duration_says_what_to_write() {
    for (text, hint) in [
        ("30", "did you mean \"30s\"?"),
        ("soon", "write numbers with units"),
        ("", "write numbers with units"),
        ("1 month", "write numbers with units"),
    ] {
        let unclear = parse_duration(text).unwrap_err();
        assert!(unclear.hint.starts_with(hint), "{text}: {unclear:?}");
    }
}

#[test]
fn instants_are_read_in_every_documented_form() {
    for (text, expected) in [
        ("now", NOW),
        ("+10m", "2026-01-05T08:10:00Z"),
        ("2026-01-05T08:00Z", NOW),
        ("2026-01-05T09:00+01:00", NOW),
        ("2026-01-05 09:00 Europe/Berlin", NOW),
        ("2026-01-05T09:00 Europe/Berlin", NOW),
        ("2026-01-05T09:00[Europe/Berlin]", NOW),
        ("2026-07-05 09:00 Europe/Berlin", "2026-07-05T07:00:00Z"),
    ] {
        assert_eq!(
            parse_at(text, now()),
            Ok(expected.parse().unwrap()),
            "{text}"
        );
    }
}

#[test]
fn what_is_no_instant_says_why() {
    for (text, what) in [
        ("tomorrow", "`tomorrow` is not a time"),
        ("2026-01-05 08:00", "`2026-01-05 08:00` has no time zone"),
        (
            "2026-01-05 08:00 Europe/Berlni",
            "there is no time zone `Europe/Berlni`",
        ),
        (
            "2026-13-05 08:00 Europe/Berlin",
            "`2026-13-05 08:00` is not a date and time",
        ),
        ("+10", "`10` has no unit"),
        ("+9999999d", "`9999999d` is too long"),
        (
            "+99999999999999999999s",
            "`99999999999999999999s` is too long",
        ),
        ("+5000000d", "`+5000000d` is too far away"),
        ("10000-01-01T00:00Z", "`10000-01-01T00:00Z` is out of range"),
        (
            "10000-01-01 00:00 Europe/Berlin",
            "`10000-01-01 00:00` is out of range",
        ),
        ("2026-01-05", "`2026-01-05` has no time of day"),
        (
            "2026-03-29 02:30 Europe/Berlin",
            "2026-03-29 02:30 does not exist in Europe/Berlin: the clocks skip it",
        ),
        (
            "2026-10-25 02:30 Europe/Berlin",
            "2026-10-25 02:30 occurs twice in Europe/Berlin",
        ),
    ] {
        assert_eq!(parse_at(text, now()).unwrap_err().what, what, "{text}");
    }
}

#[test]
fn a_date_alone_is_reported_how_to_go_on_and_that_works() {
    let hint = parse_at("2026-01-05", now()).unwrap_err().hint;
    assert_eq!(
        hint,
        "write 2026-01-05T08:00Z, or with a zone: \"2026-01-05 08:00 Europe/Berlin\""
    );
    assert!(parse_at("2026-01-05T08:00Z", now()).is_ok());
    assert!(parse_at("2026-01-05 08:00 Europe/Berlin", now()).is_ok());
}

#[test]
fn the_two_instants_of_a_repeated_hour_are_named_so_that_they_can_be_typed() {
    let hint = parse_at("2026-10-25 02:30 Europe/Berlin", now())
        .unwrap_err()
        .hint;
    assert_eq!(
        hint,
        "choose one: 2026-10-25T02:30:00+02 or 2026-10-25T02:30:00+01"
    );
    assert!(parse_at("2026-10-25T02:30:00+02", now()).is_ok());
}

#[test]
fn a_distance_names_its_two_largest_units() {
    for (seconds, expected) in [
        (0, "now"),
        (59, "in 59s"),
        (-61, "1m 1s ago"),
        (7_200, "in 2h"),
        (-93_600, "1d 2h ago"),
    ] {
        let at = now() + SignedDuration::from_secs(seconds);
        assert_eq!(Relative { at, now: now() }.to_string(), expected);
    }
}
