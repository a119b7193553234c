//! What timetables are called.

use crate::lang::Lang;
use crate::schedule::{Expression, Mode};

fn check(text: &str, english: &str, chinese: &str) {
    let timetable = Expression::parse(text, Mode::Strict)
        .unwrap()
        .compile("nightly");
    assert_eq!(timetable.describe(Lang::English), english, "{text}");
    assert_eq!(timetable.describe(Lang::Chinese), chinese, "{text}");
}

#[test]
fn exact_times_are_described_by_the_clock() {
    check("0 8 * * 1-5", "at 08:00 on weekdays", "周一至周五 08:00");
    check(
        "30 8,20 * * *",
        "at 08:30 and 20:30 every day",
        "每天 08:30、20:30",
    );
    check("15 30 8 * * *", "at 08:30:15 every day", "每天 08:30:15");
    check("@daily", "at 00:00 every day", "每天 00:00");
    check("@weekly", "at 00:00 on Sunday", "周日 00:00");
    check(
        "@yearly",
        "at 00:00 on day 1 of the month in January",
        "1 月的1 日 00:00",
    );
}

#[test]
fn paces_are_described_by_their_step() {
    check("* * * * *", "every minute", "每分钟");
    check("*/15 * * * *", "every 15 minutes", "每 15 分钟");
    check(
        "*/15 9-17 * * *",
        "every 15 minutes from 09:00 to 17:59",
        "09:00 至 17:59 每 15 分钟",
    );
    check(
        "* 9 * * *",
        "every minute from 09:00 to 09:59",
        "9 点每分钟",
    );
    check("0 */2 * * *", "every 2 hours", "每 2 小时");
    check(
        "5 */2 * * *",
        "at minute 5 of every 2nd hour",
        "每 2 小时中第 5 分钟",
    );
    check("@hourly", "at minute 0 of every hour", "每小时第 0 分钟");
    check(
        "*/25 * * * *",
        "at minutes 0, 25 and 50 of every hour",
        "每小时第 0、25、50 分钟",
    );
    check("*/10 * * * * *", "every 10 seconds", "每 10 秒");
    check(
        "5 * * * * *",
        "at second 5 of every minute",
        "每分钟的第 5 秒",
    );
    check("@10s", "every 10 seconds", "每 10 秒");
    check(
        "@every 1h30m/5m",
        "every 90 minutes, 300 s late",
        "每 90 分钟（错后 300 秒）",
    );
}

#[test]
fn days_are_described_by_what_makes_them_fit() {
    check(
        "0 0 1,15 * *",
        "at 00:00 on days 1 and 15 of the month",
        "每月 1、15 日 00:00",
    );
    check(
        "0 0 L * *",
        "at 00:00 on the last day of the month",
        "每月最后一天 00:00",
    );
    check(
        "0 0 LW * *",
        "at 00:00 on the last day from Monday to Friday of the month",
        "每月最后一个周一至周五 00:00",
    );
    check(
        "0 0 * * FRI#2",
        "at 00:00 on the second Friday of the month",
        "每月第二个周五 00:00",
    );
    check(
        "0 0 * * 5L",
        "at 00:00 on the last Friday of the month",
        "每月最后一个周五 00:00",
    );
    check(
        "0 0 13 * FRI",
        "at 00:00 on day 13 of the month or on Friday",
        "每月 13 日或周五 00:00",
    );
    check(
        "0 0 13 * +FRI",
        "at 00:00 on day 13 of the month when that falls on Friday",
        "每月 13 日（须为周五） 00:00",
    );
    check(
        "0 0 * 6-8 SAT,SUN",
        "at 00:00 on weekends in June to August",
        "6 月至8 月的周日、周六 00:00",
    );
    check(
        "0 0 0 1 1 * 2024-2040/4",
        "at 00:00 on day 1 of the month in January in 2024, 2028, 2032, 2036 and 2040",
        "2024 年、2028 年、2032 年、2036 年、2040 年 1 月的1 日 00:00",
    );
}

#[test]
fn a_hash_is_described_as_what_it_has_become() {
    let expression = Expression::parse("H H * * *", Mode::Strict).unwrap();
    let words = expression.compile("nightly").describe(Lang::English);
    assert!(
        words.starts_with("at ") && words.ends_with(" every day"),
        "{words}"
    );
    assert_eq!(words, expression.compile("nightly").describe(Lang::English));
    assert_ne!(words, expression.compile("hourly").describe(Lang::English));
}
