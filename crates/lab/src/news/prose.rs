//! Texts of articles and comments: after what the catalogue says of a story, drawn sentences that
//! read like news about computers.
//!
//! Paragraphs are long and end in full stops, because extractors rate text by that; titles and
//! remarks carry `&`, `<` and quotes, so that missing escapes are detected.

use std::sync::LazyLock;

use super::catalogue;
use crate::{chance::Chance, feeds::language::Language};

/// What can be drawn, one to a line, in the order of [`Phrase`].
static PHRASES: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let groups = include_str!("prose/phrases.txt").split("\n\n");
    groups.map(|group| group.lines().collect()).collect()
});

/// A group of phrases.
#[derive(Debug, Clone, Copy)]
enum Phrase {
    Opening,
    Turn,
    Name,
}

/// Keeps one draw of a text with its number filled in.
fn filled(chance: &mut Chance, from: Phrase) -> String {
    let from = PHRASES.get(from as usize).map_or(&[][..], Vec::as_slice);
    let text = chance.pick(from).copied().unwrap_or_default();
    let number = chance.between(2, 99).to_string();
    text.replace('#', &number)
}

/// A sentence about the news.
fn sentence(chance: &mut Chance) -> String {
    let (opening, turn) = (
        filled(chance, Phrase::Opening),
        filled(chance, Phrase::Turn),
    );
    format!("{opening}, {turn}.")
}

/// The paragraphs of an article.
pub fn paragraphs(language: Language, chance: &mut Chance) -> Vec<String> {
    let count = chance.between(5, 9);
    let paragraph = |_| match language {
        Language::English => {
            let sentences = chance.between(3, 5);
            let all: Vec<String> = (0..sentences).map(|_| sentence(chance)).collect();
            all.join(" ")
        }
        other => (0..4).map(|_| other.text(chance)).collect(),
    };
    (0..count).map(paragraph).collect()
}

/// The paragraphs of an article about being locked out: it contains everything a block page
/// contains, and is none.
pub fn about_blocking(chance: &mut Chance) -> Vec<String> {
    let topical = [
        "For a year the author collected every page that greeted a polite crawler with the words \
         \"Access Denied\". The collection holds thousands of them, and most were sent with the \
         status 200, as if refusing were an article.",
        "A file called robots.txt asks programs to stay away, and it was never meant to be more \
         than a request. Autonomous fetching by assistants has turned that courtesy into a wall: \
         sites now disallow everything and hope that no one asks why.",
        "\"Please enable JavaScript\" and \"verify you are human\" are the two sentences that \
         appear most often. Neither shows the reader what went wrong, and a program that takes \
         them for news will summarise a locked door.",
    ];
    let mut all: Vec<String> = topical.map(str::to_owned).to_vec();
    all.extend(paragraphs(Language::English, chance));
    all
}

/// A comment on a story, paragraph by paragraph.
pub fn remarks(chance: &mut Chance) -> Vec<String> {
    let count = chance.between(1, 3);
    (0..count).map(|_| catalogue::remark(chance)).collect()
}

/// A user name.
pub fn author(chance: &mut Chance) -> String {
    format!("{}{}", filled(chance, Phrase::Name), chance.below(90) + 10)
}
