//! The quality gate: what an edition must have before it leaves by itself (ED-39).
//!
//! An edition of thirty bare titles is worse than none: readers take it for all there is, and
//! nobody hears that a token has expired. So a finished edition is held against a standard that the
//! operator states. One below it is held and reported; it leaves when it has become good enough, or
//! when a person publishes it as it is.

use std::fmt;

use jiff::Timestamp;

use super::{
    document::Document,
    hold::{Hold, HoldReason},
    rules::Rules,
};

/// The standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quality {
    /// Least share of the stories that have a text beside their title, in percent.
    pub text_percent_min: u8,
    /// Fewest stories.
    pub stories_min: usize,
    /// Whether every destination must be ready to take it.
    pub destinations: bool,
}

/// What an edition lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortfall {
    /// Too few of its stories have a text.
    Text {
        /// Stories that have one.
        with_text: u32,
        /// All of them.
        stories: u32,
        /// The least share, in percent.
        percent_min: u8,
    },
    /// It has too few stories.
    Stories {
        stories: u32,
        /// The fewest.
        stories_min: u32,
    },
    /// A destination is not ready.
    Destination {
        destination: String,
        /// Why not.
        detail: String,
    },
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text {
                with_text,
                stories,
                percent_min,
            } => write!(
                f,
                "{with_text} of {stories} stories have a text, fewer than {percent_min} percent"
            ),
            Self::Stories {
                stories,
                stories_min,
            } => write!(f, "{stories} stories, fewer than {stories_min}"),
            Self::Destination {
                destination,
                detail,
            } => write!(f, "{destination} is not ready: {detail}"),
        }
    }
}

impl Quality {
    /// What a document lacks, by itself.
    pub fn shortfalls(&self, document: &Document) -> Vec<Shortfall> {
        let printed = &document.inputs.stories;
        let with_text = printed
            .iter()
            .filter(|story| story.content_summary.is_some());
        let (stories, with_text) = (printed.len(), with_text.count());
        let mut lacks = Vec::new();
        if stories < self.stories_min {
            lacks.push(Shortfall::Stories {
                stories: count(stories),
                stories_min: count(self.stories_min),
            });
        }
        if with_text * 100 < stories * usize::from(self.text_percent_min) {
            lacks.push(Shortfall::Text {
                with_text: count(with_text),
                stories: count(stories),
                percent_min: self.text_percent_min,
            });
        }
        lacks
    }
}

/// Why an edition that lacks something is held, in words; none if it lacks nothing.
pub fn reason(lacks: &[Shortfall]) -> Option<String> {
    let words: Vec<String> = lacks.iter().map(ToString::to_string).collect();
    (!lacks.is_empty()).then(|| format!("below its quality standard: {}", words.join("; ")))
}

/// The hold of such an edition; one that was held for it before is held since then. A destination
/// may become ready without anything that we see, so it is asked again.
pub fn hold(lacks: &[Shortfall], before: Option<&Hold>, rules: &Rules, now: Timestamp) -> Hold {
    let held = |hold: &&Hold| hold.reason == HoldReason::Quality && hold.is_waiting();
    let since = before.filter(held).map_or(now, |hold| hold.since);
    let asks = lacks
        .iter()
        .any(|it| matches!(it, Shortfall::Destination { .. }));
    let again_at = now.saturating_add(rules.improve_after).ok();
    Hold {
        until: again_at.filter(|_| asks),
        ..Hold::new(HoldReason::Quality, since)
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::{fixture, story::Status};

    fn document(stories: usize, with_text: usize) -> Document {
        let mut account = fixture::account(&vec![Status::Completed; stories]);
        for story in account.stories.iter_mut().take(with_text) {
            story.written.content_summary = Some("a text".to_owned());
        }
        fixture::document(&account)
    }

    #[test]
    fn ed_39_a_document_is_held_against_the_stated_standard() {
        let standard = Quality {
            text_percent_min: 50,
            stories_min: 5,
            destinations: false,
        };
        for (stories, with_text, lacks) in [
            (30, 30, 0),
            (30, 15, 0),
            (30, 14, 1),
            (5, 3, 0),
            (4, 4, 1),
            (4, 0, 2),
        ] {
            let found = standard.shortfalls(&document(stories, with_text));
            assert_eq!(
                found.len(),
                lacks,
                "{stories} stories, {with_text} with text"
            );
        }
        let none = Quality::default().shortfalls(&document(1, 0));
        assert_eq!(none, [], "nothing is stated");
        let lacks = standard.shortfalls(&document(4, 0));
        insta::assert_snapshot!(reason(&lacks).unwrap(), @"below its quality standard: 4 stories, fewer than 5; 0 of 4 stories have a text, fewer than 50 percent");
        assert_eq!(reason(&[]), None);
        let rules = Rules::default();
        let first = hold(&lacks, None, &rules, fixture::NOW);
        let later = fixture::NOW + jiff::SignedDuration::from_mins(5);
        let again = hold(&lacks, Some(&first), &rules, later);
        assert_eq!(again, first, "it is the same trouble");
    }
}
