//! One line of the demo's output: when, who, what.

use almanack_core::text::shorten;
use jiff::{SignedDuration, Timestamp};

use crate::{
    failure::Failure,
    output::{Ink, Output},
    when,
};

/// Longest title in a line, in characters.
const TITLE_CHARS_MAX: usize = 48;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// By the demo's clock.
    pub(super) at: Timestamp,
    pub(super) who: &'static str,
    pub(super) ink: Ink,
    pub(super) what: String,
}

impl Line {
    pub(super) fn new(at: Timestamp, who: &'static str, ink: Ink, what: String) -> Self {
        Self { at, who, ink, what }
    }

    pub(super) fn report(&self, output: &mut Output) -> Result<(), Failure> {
        let time = self.at.strftime("%H:%M:%S");
        let line = output.paint(self.ink, &format!("{:9} {}", self.who, self.what));
        output.line(&format!("{time}Z  {line}"))
    }
}

/// A count with its noun.
pub(super) fn counted(count: u64, what: &str) -> String {
    match (count, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (many, Some(stem)) => format!("{many} {stem}ies"),
        (many, None) if what.ends_with("ch") => format!("{many} {what}es"),
        (many, None) => format!("{many} {what}s"),
    }
}

/// A name in quotes, cut where it would fill the line.
pub(super) fn quoted(name: &str) -> String {
    format!("“{}”", shorten(name, TITLE_CHARS_MAX))
}

/// The time left, in words.
pub(super) fn until(now: Timestamp, at: Timestamp) -> String {
    let left = at.duration_since(now);
    if left <= SignedDuration::ZERO {
        "at once".to_owned()
    } else {
        format!("in {}", when::took(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_counted_in_english() {
        for (count, what, expected) in [
            (1, "new entry", "1 new entry"),
            (0, "new entry", "0 new entries"),
            (3, "batch", "3 batches"),
            (2, "slot", "2 slots"),
        ] {
            assert_eq!(counted(count, what), expected);
        }
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        assert_eq!(quoted("潮汐"), "“潮汐”");
        let long = quoted(&"é".repeat(60));
        assert!(long.ends_with("é…”"), "{long}");
        assert_eq!(long.chars().count(), TITLE_CHARS_MAX + 3);
    }
}
