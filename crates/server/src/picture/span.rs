//! Durations in words, and the ticks of duration axes.
//!
//! Durations between a millisecond and a month span nine powers of ten and are unevenly
//! distributed: a check takes 80 ms, its interval is an hour. Duration axes are therefore
//! logarithmic, with common durations as ticks.

use std::sync::LazyLock;

use super::prelude::*;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// So many of each unit.
type Lengths = [(i64, &'static [i64]); 5];

/// Common durations.
const SAID: Lengths = [
    (1, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    (SECOND, &[1, 2, 5, 10, 20]),
    (MINUTE, &[1, 2, 5, 10, 20]),
    (HOUR, &[1, 2, 4, 8]),
    (DAY, &[1, 2, 7, 14, 30, 90, 180, 365, 3_650]),
];
/// Powers of ten, for dense axes.
const NAMED: Lengths = [
    (1, &[1, 10, 100]),
    (SECOND, &[1, 10]),
    (MINUTE, &[1, 10]),
    (HOUR, &[1, 6]),
    (DAY, &[1, 7, 30]),
];

/// Common durations, in milliseconds.
pub(crate) static ROUND: LazyLock<Vec<i64>> = LazyLock::new(|| millis_of(&SAID).collect());

fn millis_of(lengths: &'static Lengths) -> impl Iterator<Item = i64> {
    let of_unit = |(unit, counts): &(i64, &'static [i64])| {
        let unit = *unit;
        counts.iter().map(move |count| count * unit)
    };
    lengths.iter().flat_map(of_unit)
}

/// A length in whole milliseconds.
pub(crate) fn millis(length: SignedDuration) -> i64 {
    i64::try_from(length.as_millis()).unwrap_or(if length.is_negative() {
        i64::MIN
    } else {
        i64::MAX
    })
}

/// The position on a logarithmic axis; anything below a millisecond is at its start.
pub(crate) fn log_place(length: SignedDuration) -> f64 {
    finite((length.as_secs_f64() * 1_000.0).max(1.0).log10())
}

/// The ticks that lie between two lengths.
pub(crate) fn ticks(
    from: SignedDuration,
    until: SignedDuration,
) -> impl Iterator<Item = SignedDuration> {
    let between = move |tick: &SignedDuration| from <= *tick && *tick <= until;
    millis_of(&NAMED)
        .map(SignedDuration::from_millis)
        .filter(between)
}

/// A length in words of one or two units: `80 ms`, `1.5 s`, `2 min 5 s`, `3 h`.
pub(crate) fn words(length: SignedDuration, lang: Lang) -> String {
    let whole = millis(length);
    if whole < 0 {
        let length = words(SignedDuration::from_millis(whole.saturating_neg()), lang);
        return format!("−{length}");
    }
    let (ms, s, min) = (
        lang.pick("ms", "毫秒"),
        lang.pick("s", "秒"),
        lang.pick("min", "分"),
    );
    let (h, d) = (lang.pick("h", "小时"), lang.pick("d", "天"));
    match whole {
        ..SECOND => format!("{whole} {ms}"),
        SECOND..MINUTE => format!("{} {s}", tenths(whole, SECOND)),
        MINUTE..HOUR => two(whole, (MINUTE, min), (SECOND, s)),
        HOUR..DAY => two(whole, (HOUR, h), (MINUTE, min)),
        _ => two(whole, (DAY, d), (HOUR, h)),
    }
}

/// Tenths where they can be seen: `1.5`, `20`.
fn tenths(whole: i64, unit: i64) -> String {
    let tenths = whole * 10 / unit;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        _ if tenths >= 200 => (tenths / 10).to_string(),
        part => format!("{}.{part}", tenths / 10),
    }
}

fn two(whole: i64, (large, large_name): (i64, &str), (small, small_name): (i64, &str)) -> String {
    let (count, rest) = (whole / large, whole % large / small);
    match rest {
        0 => format!("{count} {large_name}"),
        _ => format!("{count} {large_name} {rest} {small_name}"),
    }
}

/// The percentile by nearest rank; none for an empty list.
pub(crate) fn percentile(sorted: &[SignedDuration], percent: usize) -> Option<SignedDuration> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_said_as_people_say_them() {
        for (length, english, chinese) in [
            (0, "0 ms", "0 毫秒"),
            (80, "80 ms", "80 毫秒"),
            (1_000, "1 s", "1 秒"),
            (1_540, "1.5 s", "1.5 秒"),
            (25_900, "25 s", "25 秒"),
            (60_000, "1 min", "1 分"),
            (125_000, "2 min 5 s", "2 分 5 秒"),
            (HOUR, "1 h", "1 小时"),
            (HOUR + 59 * MINUTE, "1 h 59 min", "1 小时 59 分"),
            (3 * DAY + 2 * HOUR, "3 d 2 h", "3 天 2 小时"),
            (-1_500, "−1.5 s", "−1.5 秒"),
        ] {
            let length = SignedDuration::from_millis(length);
            assert_eq!(words(length, Lang::English), english);
            assert_eq!(words(length, Lang::Chinese), chinese);
        }
        for extreme in [SignedDuration::MIN, SignedDuration::MAX] {
            assert!(!words(extreme, Lang::English).is_empty());
            assert!(log_place(extreme).is_finite());
        }
    }

    #[test]
    fn percentiles_are_lengths_that_were_seen() {
        let seen: Vec<_> = (1..=100).map(SignedDuration::from_millis).collect();
        for (of, percent, expected) in [
            (&seen[..], 50, Some(50)),
            (&seen[..], 99, Some(99)),
            (&seen[..1], 99, Some(1)),
            (&seen[..2], 50, Some(1)),
            (&seen[..0], 50, None),
        ] {
            let expected = expected.map(SignedDuration::from_millis);
            assert_eq!(percentile(of, percent), expected);
        }
    }

    #[test]
    fn an_axis_names_what_lies_on_it() {
        let (from, until) = (
            SignedDuration::from_millis(1),
            SignedDuration::from_secs(60),
        );
        let named: Vec<_> = ticks(from, until)
            .map(|tick| words(tick, Lang::English))
            .collect();
        assert_eq!(named, ["1 ms", "10 ms", "100 ms", "1 s", "10 s", "1 min"]);
        assert!(ROUND.is_sorted() && millis_of(&NAMED).is_sorted());
    }
}
