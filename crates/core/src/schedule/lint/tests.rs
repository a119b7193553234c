//! What is warned of, and what is not.

use jiff::{Timestamp, tz::TimeZone};

use crate::schedule::{Expression, Mode, Zone};

const FROM: &str = "2024-01-01T00:00:00Z";

fn codes(text: &str, zone: &str) -> Vec<&'static str> {
    let expression = Expression::parse(text, Mode::Strict).unwrap();
    let zone = Zone::new(TimeZone::get(zone).unwrap());
    let from: Timestamp = FROM.parse().unwrap();
    let warnings = expression.lints(&expression.compile("x"), &zone, from, 10);
    warnings.iter().map(|warning| warning.lint.code()).collect()
}

#[test]
fn what_surprises_is_warned_of() {
    for (text, expected, why) in [
        (
            "0 0 13 * 5",
            &["either_day"][..],
            "OR, where some expect AND",
        ),
        ("0 0 13 * +5", &[], "AND was asked for"),
        (
            "0 0 */2 * 5",
            &["step_is_restriction", "uneven_step"],
            "AND elsewhere",
        ),
        (
            "0 0 1 * */2",
            &["step_is_restriction", "uneven_step"],
            "AND elsewhere",
        ),
        ("*/7 * * * *", &["uneven_step"], "56 to 0 is 4 minutes"),
        ("*/15 * * * *", &[], "divides the hour"),
        (
            "*/90 * * * *",
            &["large_step"],
            "is `0`, not every 90 minutes",
        ),
        ("0 0 31 * *", &["skips_months"], "seven months a year"),
        ("0 0 29 2 *", &["skips_months"], "once in four years"),
        ("0 0 31 1,3 *", &[], "both have a 31st"),
        ("0 0 30 2 *", &["never_fires"], "no year has it"),
        ("* * * * *", &["every_minute"], "load"),
        ("* * * * * *", &["frequent"], "load"),
        (
            "*/10 * * * * *",
            &["every_minute"],
            "a round is 10 s, but it never rests",
        ),
        ("@5s", &["frequent"], "a round is 10 s"),
        ("@10s", &[], "a round is 10 s"),
    ] {
        assert_eq!(codes(text, "UTC"), expected, "{text}: {why}");
    }
}

#[test]
fn dp_04_a_time_the_clocks_skip_is_warned_of_where_they_do() {
    for (text, zone, expected) in [
        ("30 2 * * *", "Europe/Berlin", &["in_gap"][..]),
        ("30 2 * * *", "America/New_York", &["in_gap"]),
        ("30 2 * * *", "Asia/Shanghai", &[]),
        ("30 3 * * *", "Europe/Berlin", &[]),
        ("30 2 * * 1", "Europe/Berlin", &[]),
        ("*/15 2 * * *", "Europe/Berlin", &["in_gap"]),
        ("*/15 * * * *", "Europe/Berlin", &[]),
    ] {
        assert_eq!(codes(text, zone), expected, "{text} in {zone}");
    }
}
