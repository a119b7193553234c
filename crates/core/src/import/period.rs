//! Spans of time as systemd writes them: `1h 30min`, `90`, `2 weeks`.

/// Seconds in each unit. A month and a year are what systemd takes them for.
const UNITS: [(&[&str], u64); 7] = [
    (&["s", "sec", "second", "seconds", ""], 1),
    (&["m", "min", "minute", "minutes"], 60),
    (&["h", "hr", "hour", "hours"], 3_600),
    (&["d", "day", "days"], 86_400),
    (&["w", "week", "weeks"], 7 * 86_400),
    (&["M", "month", "months"], 2_629_800),
    (&["y", "year", "years"], 31_557_600),
];

/// The seconds of a span; `None` if it is none, or not of whole seconds.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let mut total: u64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let count: u64 = rest.get(..digits)?.parse().ok()?;
        let after = rest.get(digits..)?.trim_start();
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = (after.get(..letters)?, after.get(letters..)?);
        let found = UNITS.iter().find(|(names, _)| names.contains(&unit));
        total = total.checked_add(count.checked_mul(found?.1)?)?;
        rest = after.trim_start();
    }
    Some(total)
}
