//! Selection: which stories an edition takes, and what they are about.
//!
//! Keep and block rules and topics are written in the language of sources' rules
//! ([`crate::source::filter`]). A topic is a name and what a story of it is like, and the first that
//! fits counts:
//!
//! ```text
//!   Rust: title contains rust
//!   Databases: title matches "sqlite|postgres" and category is programming
//! ```

use super::{story::Listed, weight::Weights};
use crate::source::{
    entry::FoundEntry,
    filter::{BadRule, Filters},
};

/// Most topics of an edition.
pub const TOPICS_MAX: usize = 30;
/// Longest name of a topic, in characters.
const NAME_CHARS_MAX: usize = 40;

/// What an operator says about the stories of an edition.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Stories that these drop are left out.
    pub rules: Filters,
    pub topics: Topics,
    pub weights: Weights,
}

impl Selection {
    /// Leaves out what the rules drop, and says what the others are about.
    pub fn take(&self, mut story: Listed) -> Option<Listed> {
        let found = FoundEntry {
            title: story.title.clone(),
            link: Some(story.url.clone()),
            content: story.text.clone(),
            ..FoundEntry::default()
        };
        story.topic = self.topics.of(&found).map(str::to_owned);
        self.rules.dropped_by(&found).is_none().then_some(story)
    }
}

/// Topics, in order.
#[derive(Debug, Clone, Default)]
pub struct Topics(Vec<(String, Filters)>);

/// Why a topic cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTopic {
    #[error("a topic is a name of at most {NAME_CHARS_MAX} characters, a colon and a test")]
    Name,
    #[error("{what}", what = .0.what)]
    Rule(BadRule),
}

impl Topics {
    /// Reads topics, one a line.
    pub fn parse<T: AsRef<str>>(lines: &[T]) -> Result<Self, BadTopic> {
        let topic = |line: &T| {
            let (name, tests) = line.as_ref().split_once(':').ok_or(BadTopic::Name)?;
            let name = name.trim();
            let fits = !name.is_empty() && name.chars().count() <= NAME_CHARS_MAX;
            if !fits || name.chars().any(char::is_control) {
                return Err(BadTopic::Name);
            }
            // What a rule keeps is what a topic is of.
            let rule = Filters::parse(&[format!("keep {}", tests.trim())]);
            Ok((name.to_owned(), rule.map_err(BadTopic::Rule)?))
        };
        lines.iter().map(topic).collect::<Result<_, _>>().map(Self)
    }

    /// The first that fits.
    pub fn of(&self, found: &FoundEntry) -> Option<&str> {
        let mut topics = self.0.iter();
        let fitting = topics.find(|(_, rule)| rule.dropped_by(found).is_none());
        fitting.map(|(name, _)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(title: &str) -> Listed {
        Listed {
            title: title.to_owned(),
            url: "https://shop.example/1".to_owned(),
            ..Listed::default()
        }
    }

    #[test]
    fn the_first_topic_that_fits_counts() {
        let lines = [
            "Rust: title contains rust",
            "C: S 语言: title contains rust and title contains c",
            "Shops: link starts with \"https://shop.\"",
        ];
        let bad = Topics::parse(&lines).unwrap_err();
        assert!(matches!(bad, BadTopic::Rule(_)), "{bad}");
        let topics = Topics::parse(&[lines[0], lines[2]]).unwrap();
        let selection = Selection {
            topics,
            ..Selection::default()
        };
        for (title, expected) in [("Rust 2.0", "Rust"), ("Shoes", "Shops")] {
            let taken = selection.take(titled(title)).unwrap();
            assert_eq!(taken.topic.as_deref(), Some(expected));
        }
        for bad in ["Rust", ": title is x", "\u{7}: title is x"] {
            assert_eq!(Topics::parse(&[bad]).unwrap_err(), BadTopic::Name, "{bad}");
        }
    }

    #[test]
    fn rules_of_an_edition_leave_stories_out() {
        let selection = Selection {
            rules: Filters::parse(&["block title contains shoes", "keep link contains shop"])
                .unwrap(),
            ..Selection::default()
        };
        assert!(selection.take(titled("Hats")).is_some());
        assert!(selection.take(titled("Shoes")).is_none());
        let other = Listed {
            url: "https://other.example/".to_owned(),
            ..titled("Hats")
        };
        assert!(selection.take(other).is_none());
    }
}
