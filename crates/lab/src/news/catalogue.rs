//! The stories and remarks of the news site, written by hand in English and Chinese.
//!
//! The site prints the English ones. The simulated model looks a text up here and answers with what
//! a person wrote, in the language asked for, so that an edition made from them reads well.

use std::sync::LazyLock;

use crate::{chance::Chance, feeds::language::Language};

/// Stories that appear again carry an earlier year, as reposts do on the real site.
const YEAR: i64 = 2026;
/// The shortest sentence that is recognised, in bytes.
const SENTENCE_MIN: usize = 12;

/// The same text in two languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    english: &'static str,
    chinese: &'static str,
}

impl Pair {
    /// English for every language that it is not written in.
    pub(crate) fn of(self, language: Language) -> &'static str {
        match language {
            Language::Chinese => self.chinese,
            _ => self.english,
        }
    }

    /// Whether a text contains its first sentence.
    fn begins_in(self, text: &str) -> bool {
        let first = |of: Language| first_sentence(self.of(of));
        let languages = [Language::English, Language::Chinese];
        languages
            .into_iter()
            .map(first)
            .any(|it| it.len() >= SENTENCE_MIN && text.contains(it))
    }
}

/// A story as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    title: Pair,
    pub(crate) summary: Pair,
}

/// A story and the year that a repost carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) story: &'static Written,
    year: Option<i64>,
}

/// What a reader says, with a number for `#`, and how others retell it.
struct Remark {
    said: &'static str,
    retold: Pair,
}

/// Four lines to a story: the title and the summary, each in English and in Chinese.
static STORIES: LazyLock<Vec<Written>> = LazyLock::new(|| {
    let written = groups(include_str!("catalogue/stories.txt"));
    let written = written.map(|[title, title_zh, summary, summary_zh]| Written {
        title: Pair {
            english: title,
            chinese: title_zh,
        },
        summary: Pair {
            english: summary,
            chinese: summary_zh,
        },
    });
    written.collect()
});

/// Three lines to a remark: as it is said, and as it is retold in English and in Chinese.
static REMARKS: LazyLock<Vec<Remark>> = LazyLock::new(|| {
    let written = groups(include_str!("catalogue/remarks.txt"));
    let written = written.map(|[said, english, chinese]| Remark {
        said,
        retold: Pair { english, chinese },
    });
    written.collect()
});

fn groups<const LINES: usize>(text: &'static str) -> impl Iterator<Item = [&'static str; LINES]> {
    let groups = text.trim_end().split("\n\n");
    groups.filter_map(|group| group.lines().collect::<Vec<_>>().try_into().ok())
}

/// The story at a place of a day. Days follow one another through the catalogue, so two days of at
/// most half its length share none.
pub(super) fn at(seed: u64, day: i64, index: i64, per_day: i64) -> Option<Printed> {
    let length = i64::try_from(STORIES.len()).ok().filter(|it| *it > 0)?;
    let start = Chance::new(seed).between(0, length - 1);
    let place = (start + day * per_day + index).rem_euclid(length);
    let story = STORIES.get(usize::try_from(place).ok()?)?;
    let reposted = index / length;
    let year = (reposted > 0).then(|| YEAR - reposted);
    Some(Printed { story, year })
}

/// The story with this title, in either language.
pub(crate) fn titled(title: &str) -> Option<Printed> {
    let (bare, year) = split_year(title.trim());
    let languages = [Language::English, Language::Chinese];
    let mut stories = STORIES.iter();
    let story = stories.find(|it| languages.iter().any(|of| it.title.of(*of) == bare))?;
    Some(Printed { story, year })
}

/// The story whose summary a text contains.
pub(crate) fn summarised_in(text: &str) -> Option<&'static Written> {
    STORIES.iter().find(|story| story.summary.begins_in(text))
}

/// What is said in a discussion, retold.
pub(crate) fn retold(text: &str, language: Language) -> impl Iterator<Item = &'static str> {
    let is_said = |remark: &&Remark| {
        let mut parts = remark.said.split('#');
        parts.all(|part| text.contains(part))
    };
    let said: Vec<&Remark> = REMARKS.iter().filter(is_said).collect();
    said.into_iter()
        .map(move |remark| remark.retold.of(language))
}

impl Printed {
    /// Its title in a language.
    pub(crate) fn title(self, language: Language) -> String {
        let title = self.story.title.of(language);
        match (self.year, language) {
            (None, _) => title.to_owned(),
            (Some(year), Language::Chinese) => format!("{title}（{year}年）"),
            (Some(year), _) => format!("{title} ({year})"),
        }
    }

    /// Whether it asks readers, without a link.
    pub(super) fn asks(self) -> bool {
        self.story.title.english.starts_with("Ask HN:")
    }
}

/// A title without its year.
fn split_year(title: &str) -> (&str, Option<i64>) {
    for (open, close) in [(" (", ")"), ("（", "年）")] {
        let parts = title
            .strip_suffix(close)
            .and_then(|it| it.rsplit_once(open));
        if let Some((bare, Ok(year))) = parts.map(|(bare, year)| (bare, year.parse())) {
            return (bare, Some(year));
        }
    }
    (title, None)
}

/// A text up to its first full stop.
pub(crate) fn first_sentence(text: &str) -> &str {
    let english = text.find(". ").map(|at| at + 1);
    let chinese = text.find('。').map(|at| at + '。'.len_utf8());
    let end = english.into_iter().chain(chinese).min();
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Draws a remark.
pub(super) fn remark(chance: &mut Chance) -> String {
    let said = chance.pick(&REMARKS).map_or("", |it| it.said);
    let number = chance.between(2, 99).to_string();
    said.replace('#', &number)
}

#[cfg(test)]
mod tests;
