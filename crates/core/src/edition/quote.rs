//! Quotes: what readers said, in their own words, each under their own name.
//!
//! Where no model sums up a discussion, two of its comments are quoted. Sentences of several people
//! run together would be an opinion that nobody holds, so each quote is the beginning of one
//! comment, and says whose. The two are kept as one text, a paragraph each: `“Text” — name`. Whoever
//! shows them can read them back ([`parse`]) and set them as quotes; whoever cannot shows them as
//! they are.

use serde::{Deserialize, Serialize};

use super::summary::{cut_chars, is_prose, shorten};

/// Most comments that are quoted.
const QUOTES_MAX: usize = 2;
/// Longest name, in characters.
const AUTHOR_CHARS_MAX: usize = 60;
/// Shorter ones say too little to be quoted where there are longer ones, in characters.
const CHARS_MIN: usize = 40;
/// Between a quote and its author.
const BY: &str = "” — ";

/// What one person says about a story.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Comment {
    /// Whose it is, if that is known.
    pub author: Option<String>,
    /// A plain text, not empty.
    pub text: String,
}

impl Comment {
    /// A comment by nobody in particular.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            author: None,
            text: text.into(),
        }
    }
}

/// The words of one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub author: Option<String>,
    /// One line.
    pub text: String,
}

/// The most relevant comments, quoted from their beginning to the end of a sentence, in at most
/// `chars_max` characters together. No person is quoted twice.
pub fn quotes(comments: &[Comment], chars_max: usize) -> Vec<Quote> {
    let chars_max = chars_max / QUOTES_MAX;
    let mut all: Vec<Quote> = Vec::new();
    for comment in comments {
        let Some(quote) = quote(comment, chars_max) else {
            continue;
        };
        let known = |other: &Quote| {
            other.text == quote.text || other.author.is_some() && other.author == quote.author
        };
        if !all.iter().any(known) {
            all.push(quote);
        }
    }
    // The order of relevance stays; short ones only fill up.
    all.sort_by_key(|quote| quote.text.chars().count() < CHARS_MIN);
    all.truncate(QUOTES_MAX);
    all
}

fn quote(comment: &Comment, chars_max: usize) -> Option<Quote> {
    let lines = comment.text.lines().map(str::trim);
    // What a comment answers to was said by somebody else.
    let own = lines.filter(|line| !line.starts_with('>') && is_prose(line));
    let own = own.collect::<Vec<_>>().join(" ");
    let own = own.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = shorten(&own, chars_max);
    let says_something = text.chars().any(char::is_alphanumeric);
    says_something.then(|| Quote {
        author: comment.author.as_deref().and_then(name),
        text,
    })
}

/// A name on one line, without what would end it.
fn name(author: &str) -> Option<String> {
    let name = author.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = name.replace(['“', '”'], "");
    let name = cut_chars(name.trim(), AUTHOR_CHARS_MAX).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Quotes as a text, one paragraph each.
pub fn to_text(quotes: &[Quote]) -> String {
    let paragraph = |quote: &Quote| match &quote.author {
        Some(author) => format!("“{}{BY}{author}", quote.text),
        None => format!("“{}”", quote.text),
    };
    quotes
        .iter()
        .map(paragraph)
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// The quotes in a text that is nothing but quotes; none in any other.
pub fn parse(text: &str) -> Vec<Quote> {
    let paragraphs = text.split("\n\n").map(str::trim);
    let read: Option<Vec<Quote>> = paragraphs
        .filter(|it| !it.is_empty())
        .map(parse_one)
        .collect();
    read.unwrap_or_default()
}

fn parse_one(paragraph: &str) -> Option<Quote> {
    let said = paragraph.strip_prefix('“')?;
    let (text, author) = match said.rsplit_once(BY) {
        Some((text, author)) if !author.contains('”') => (text, Some(author.to_owned())),
        _ => (said.strip_suffix('”')?, None),
    };
    let is_quote = !text.is_empty() && !paragraph.contains('\n');
    is_quote.then(|| Quote {
        author,
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests;
