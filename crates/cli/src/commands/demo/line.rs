//! Lines of the demo's output: when, who, what.

use std::{collections::BTreeSet, fmt::Display};

use almanack_adapters::alert::Language;
use almanack_core::text::shorten;
use jiff::{SignedDuration, Timestamp};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    failure::Result,
    output::{Ink, Output},
    when,
};

/// Columns of who a line is about.
const NAME_WIDTH: usize = 9;
/// Longest title in a line, in characters.
const TITLE_CHARS_MAX: usize = 48;

/// What the story of a demo consists of: the first of each is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scene {
    SlotFired,
    SlotSkipped,
    RhythmLearned,
    SourceInNeed,
    StoriesChosen,
    BatchDone,
    EditionPublished,
    ArticleWritten,
    ArticlePublished,
    ChangedWhileRunning,
    ChangeDecided,
    CallWithoutEffect,
}

/// One line: who did what.
struct Line {
    who: Who,
    ink: Ink,
    what: String,
    scene: Option<Scene>,
}

/// Who a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Schedule,
    Sources,
    Edition,
    Author,
    Editor,
    Service,
    Almanack,
}

impl Who {
    fn name(self, language: Language) -> &'static str {
        let (english, chinese) = match self {
            Self::Schedule => ("schedule", "日程"),
            Self::Sources => ("sources", "信源"),
            Self::Edition => ("edition", "日报"),
            Self::Author => ("author", "作者"),
            Self::Editor => ("editor", "编辑"),
            Self::Service => ("service", "服务"),
            Self::Almanack => ("almanack", "almanack"),
        };
        language.choose(english, chinese)
    }
}

/// Lines to print about one moment, by the demo's clock: who, and what.
pub(super) struct Lines {
    pub(super) now: Timestamp,
    pub(super) language: Language,
    printed: Vec<Line>,
}

impl Lines {
    pub(super) fn at(now: Timestamp, language: Language) -> Self {
        Self {
            now,
            language,
            printed: Vec::new(),
        }
    }

    /// Adds a line that is printed only with every event.
    pub(super) fn add(&mut self, who: Who, ink: Ink, what: impl Into<String>) {
        self.push(who, ink, what.into(), None);
    }

    /// Adds a line of the story.
    pub(super) fn add_scene(&mut self, scene: Scene, who: Who, ink: Ink, what: impl Into<String>) {
        self.push(who, ink, what.into(), Some(scene));
    }

    pub(super) fn push(&mut self, who: Who, ink: Ink, what: String, scene: Option<Scene>) {
        self.printed.push(Line {
            who,
            ink,
            what,
            scene,
        });
    }

    /// A text in the language of the demo.
    pub(super) fn pick<T>(&self, english: T, chinese: T) -> T {
        self.language.choose(english, chinese)
    }

    /// The time left, in words.
    pub(super) fn until(&self, at: Timestamp) -> String {
        let left = at.duration_since(self.now);
        let took = when::took(left);
        if left <= SignedDuration::ZERO {
            return self.pick("at once", "立即").to_owned();
        }
        self.pick(format!("in {took}"), format!("{took} 后"))
    }
}

/// Prints lines: every event, or the story.
pub(super) struct Printer {
    every_event: bool,
    /// Scenes that were printed.
    printed: BTreeSet<Scene>,
    /// Whether something else has the terminal.
    pub(super) waits: bool,
}

impl Printer {
    pub(super) fn new(every_event: bool) -> Self {
        Self {
            every_event,
            printed: BTreeSet::new(),
            waits: false,
        }
    }

    pub(super) fn print(&mut self, lines: &Lines, output: &mut Output) -> Result<()> {
        let time = lines.now.strftime("%H:%M:%S");
        for line in &lines.printed {
            if !self.is_due(line.scene) {
                continue;
            }
            let name = line.who.name(lines.language);
            let space = " ".repeat(NAME_WIDTH.saturating_sub(name.width()));
            let text = output.paint(line.ink, &format!("{name}{space} {}", line.what));
            output.line(&format!("{time}Z  {text}"))?;
        }
        output.flush()
    }

    fn is_due(&mut self, scene: Option<Scene>) -> bool {
        if self.waits {
            return false;
        }
        let is_first = scene.is_some_and(|scene| self.printed.insert(scene));
        self.every_event || is_first
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
    fn the_story_has_each_scene_once_and_nothing_else() {
        let mut story = Printer::new(false);
        let scene = Some(Scene::SlotFired);
        story.waits = true;
        assert!(!story.is_due(scene), "the tour has the terminal");
        story.waits = false;
        assert_eq!(
            [scene, scene, None].map(|it| story.is_due(it)),
            [true, false, false]
        );
        let mut all = Printer::new(true);
        assert_eq!([scene, scene, None].map(|it| all.is_due(it)), [true; 3]);
    }

    #[test]
    fn long_names_are_cut_between_letters() {
        assert_eq!(quoted("潮汐"), "“潮汐”");
        let long = quoted(&"é".repeat(60));
        assert!(long.ends_with("é…”"), "{long}");
        assert_eq!(long.chars().count(), TITLE_CHARS_MAX + 3);
    }
}
