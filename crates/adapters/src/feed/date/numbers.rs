//! Dates in numbers that end with their year: `14.11.2026 15:04`, `11/14/2026`.
//!
//! Only where the month is certain: a number above 12 is a day, and dots are written by those who
//! put the day first. `03/04/2026` is March or April, and `14.11.26` may start with its year.

use jiff::{Timestamp, civil::Date};

use super::{small_number, words};

/// The instant that such a date names, with the time behind it.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = after_weekday(text)?;
    let (first, rest) = small_number(text)?;
    let mark = rest.chars().next()?;
    if !matches!(mark, '.' | '/' | '-') {
        return None;
    }
    let (second, rest) = small_number(rest.strip_prefix(mark)?.trim_start())?;
    let rest = rest.strip_prefix(mark)?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits != 4 {
        return None;
    }
    let (year, rest) = rest.split_at(digits);
    let (day, month) = day_and_month(mark, first, second)?;
    let date = Date::new(year.parse().ok()?, month, day).ok()?;
    words::on(
        date,
        rest.trim_start_matches([' ', ',', '-', '–', '|', 'T']),
    )
}

/// A day of the week in any language, or another word, is no part of the date.
fn after_weekday(text: &str) -> Option<&str> {
    let start = text.find(|char: char| char.is_ascii_digit())?;
    let (before, date) = text.split_at(start);
    let word = before.trim_end().trim_end_matches([',', '.', ':']);
    word.chars().all(char::is_alphabetic).then_some(date)
}

fn day_and_month(mark: char, first: i8, second: i8) -> Option<(i8, i8)> {
    match (first, second) {
        (1..=12, 13..) => Some((second, first)),
        _ if first > 12 || first == second || mark == '.' => Some((first, second)),
        _ => None,
    }
}
