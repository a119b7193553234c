//! Refusals: what is said, where it points, and what is offered.

use crate::{
    lang::Lang,
    schedule::{Expression, Mode},
};

/// The refusal, with a caret line as people see it.
fn refusal(text: &str, mode: Mode) -> String {
    let error = Expression::parse(text, mode).unwrap_err();
    let before = text[..error.span.start].chars().count();
    let marked = text[error.span.start..error.span.end]
        .chars()
        .count()
        .max(1);
    let hint = error
        .hint(Lang::English)
        .map(|hint| format!("\nhint: {hint}"))
        .unwrap_or_default();
    format!(
        "{error}\n{text}\n{}{}{hint}",
        " ".repeat(before),
        "^".repeat(marked)
    )
}

/// The expression after its repairs.
fn repaired(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..8 {
        match Expression::parse(&text, Mode::Strict) {
            Ok(_) => return text,
            Err(error) => text = error.repair.unwrap().apply(&text),
        }
    }
    panic!("{text} is not getting better");
}

#[test]
fn a_refusal_points_and_offers_a_repair() {
    insta::assert_snapshot!(refusal("0/15 * * * *", Mode::Strict), @"
    minute: a step needs `*` or a range before it; `0/15` means different things elsewhere
    0/15 * * * *
    ^^^^
    hint: write `0-59/15`
    ");
    insta::assert_snapshot!(refusal("0 9 * * FRI-MON", Mode::Strict), @"
    day of week: the range `FRI-MON` runs backwards
    0 9 * * FRI-MON
            ^^^^^^^
    hint: write `5-6,0-1`
    ");
    insta::assert_snapshot!(refusal("0 9 * * 1 2025", Mode::Strict), @"
    six fields begin with the second; a year is the last of seven
    0 9 * * 1 2025
              ^^^^
    hint: put `0` in front
    ");
    insta::assert_snapshot!(refusal("0 25 * * *", Mode::Strict), @"
    hour: 25 is not between 0 and 23
    0 25 * * *
      ^^
    ");
    insta::assert_snapshot!(refusal("0 9 * *", Mode::Strict), @"
    an expression has five fields, six with seconds first or seven with a year last; this has 4
    0 9 * *
    ^^^^^^^
    hint: write minute, hour, day of month, month, day of week
    ");
    insta::assert_snapshot!(refusal("0 9\u{a0}* * *", Mode::Strict), @r#"
    only spaces and tabs separate fields; this is U+00A0
    0 9 * * *
       ^
    hint: write a space
    "#);
    insta::assert_snapshot!(refusal("@reboot", Mode::Strict), @"
    `@reboot` names no time: nothing fires because of a restart
    @reboot
    ^^^^^^^
    ");
    insta::assert_snapshot!(refusal("TZ=Asia/Tokyo 0 9 * * *", Mode::Strict), @"
    the time zone belongs to the schedule, not into its expression
    TZ=Asia/Tokyo 0 9 * * *
    ^^^^^^^^^^^^^
    hint: name the zone beside the expression, as `tz` or `--tz`
    ");
    insta::assert_snapshot!(refusal("0 0 * * L", Mode::Import), @"
    day of week: `L` needs the weekday it is the last of, like 5L
    0 0 * * L
            ^
    hint: write SAT for Saturdays, 6L for the month's last Saturday
    ");
    insta::assert_snapshot!(refusal("*/5,*/0 * * * *", Mode::Strict), @"
    minute: a step is a number from 1, not `0`
    */5,*/0 * * * *
          ^
    ");
}

#[test]
fn repairs_say_what_was_meant() {
    for (text, expected) in [
        ("0/15 * * * *", "0-59/15 * * * *"),
        ("0 0 * * 1/2", "0 0 * * 1-6/2"),
        ("0 0 * * FRI-MON", "0 0 * * 5-6,0-1"),
        ("0 0 * * 6-0", "0 0 * * 6,0"),
        ("0 0 * * 7-2", "0 0 * * 0-2"),
        ("0 22-2 * * *", "0 22-23,0-2 * * *"),
        ("0 22-4/3 * * *", "0 22-22/3,1-4/3 * * *"),
        ("0 0 1 NOV-FEB *", "0 0 1 11-12,1-2 *"),
        ("0 0 * * MONDAY", "0 0 * * MON"),
        ("0 0 * Sept *", "0 0 * SEP *"),
        ("0 0 15w * *", "0 0 15W * *"),
        ("0 0 WL * *", "0 0 LW * *"),
        ("0 0 * * 5l", "0 0 * * 5L"),
        ("h h * * *", "H H * * *"),
        ("~ 0~ * * *", "H 0~23 * * *"),
        ("0 9 * * 1 2025", "0 0 9 * * 1 2025"),
        ("０ 9 * * *", "0 9 * * *"),
        ("@10m", "@600s"),
        ("@ 10s", "@10s"),
        ("@Daily", "@daily"),
        ("@5", "@5s"),
    ] {
        assert_eq!(repaired(text), expected, "{text}");
    }
}

#[test]
fn a_repair_means_what_the_import_mode_reads() {
    for text in [
        "0/15 8/4 * * *",
        "0 0 * * FRI-MON",
        "0 0 25-5/2 11-2 1/2",
        "0 22-4/3 * * 7-1",
    ] {
        let import = Expression::parse(text, Mode::Import).unwrap();
        let strict = Expression::parse(&repaired(text), Mode::Strict).unwrap();
        assert_eq!(strict.compile("x"), import.compile("x"), "{text}");
    }
}

#[test]
fn hashes_are_read_where_a_value_can_stand() {
    for text in [
        "H H(1-5) H H H",
        "H/15 * * * *",
        "H(5-20)/7 * * * *",
        "0~30 3~5 * * 1~5",
        "H,30 H 1-5 * MON",
    ] {
        Expression::parse(text, Mode::Strict).unwrap();
    }
    for text in [
        "H(5) * * * *",
        "H(20-5) * * * *",
        "H5 * * * *",
        "H(0-60) * * * *",
        "H/0 * * * *",
        "20~5 * * * *",
        "0 0 0 1 1 * H",
    ] {
        assert!(Expression::parse(text, Mode::Strict).is_err(), "{text}");
    }
}

#[test]
fn what_is_printed_reads_back() {
    for (text, expected) in [
        ("@daily", "0 0 * * *"),
        ("@every 1h30m", "@5400s"),
        ("@every 1h30m/5m", "@every 5400s/300s"),
        ("0 0 ? jan sun", "0 0 * 1 0"),
        ("0 0 0 * * *", "0 0 * * *"),
        ("5 0 0 L,3W,LW * +MON#2,5L", "5 0 0 L,3W,LW * +1#2,5L"),
        ("0 0 0 * * * 2025", "0 0 0 * * * 2025"),
        ("H H/6 H(1-7) * FRI-SUN", "H H/6 H(1-7) * 5-7"),
    ] {
        let expression = Expression::parse(text, Mode::Strict).unwrap();
        assert_eq!(expression.to_string(), expected, "{text}");
        let again = Expression::parse(expected, Mode::Strict).unwrap();
        assert_eq!(again.compile("x"), expression.compile("x"), "{text}");
    }
}
