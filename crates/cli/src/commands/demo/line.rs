//! Lines of the demo's output: when, who, what.

use std::fmt::Display;

use almanack_core::text::shorten;
use jiff::{SignedDuration, Timestamp};

use crate::{
    failure::Result,
    output::{Ink, Output},
    when,
};

/// Longest title in a line, in characters.
const TITLE_CHARS_MAX: usize = 48;

/// Lines to print about one moment, by the demo's clock: who, and what.
pub(super) struct Lines {
    pub(super) now: Timestamp,
    lines: Vec<(&'static str, Ink, String)>,
}

impl Lines {
    pub(super) fn at(now: Timestamp) -> Self {
        let lines = Vec::new();
        Self { now, lines }
    }

    pub(super) fn add(&mut self, who: &'static str, ink: Ink, what: impl Into<String>) {
        self.lines.push((who, ink, what.into()));
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        let time = self.now.strftime("%H:%M:%S");
        for (who, ink, what) in &self.lines {
            let line = output.paint(*ink, &format!("{who:9} {what}"));
            output.line(&format!("{time}Z  {line}"))?;
        }
        output.flush()
    }

    /// The time left, in words.
    pub(super) fn until(&self, at: Timestamp) -> String {
        let left = at.duration_since(self.now);
        if left <= SignedDuration::ZERO {
            "at once".to_owned()
        } else {
            format!("in {}", when::took(left))
        }
    }
}

/// A count with its noun.
pub(super) fn counted(count: impl Display, what: &str) -> String {
    let count = count.to_string();
    match (count.as_str(), what.strip_suffix('y')) {
        ("1", _) => format!("1 {what}"),
        (many, Some(stem)) => format!("{many} {stem}ies"),
        (many, None) if what.ends_with("ch") => format!("{many} {what}es"),
        (many, None) => format!("{many} {what}s"),
    }
}

/// A name in quotes, cut where it would fill the line.
pub(super) fn quoted(name: &str) -> String {
    format!("“{}”", shorten(name, TITLE_CHARS_MAX))
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
