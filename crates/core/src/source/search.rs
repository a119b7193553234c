//! Search over entries: by which words an entry is found, and what a person asks for.
//!
//! Two databases must find the same, and each has its own idea of a word. So the words are made
//! here: lower case, letters and digits of all scripts. They are stored as tokens of `a`–`z` and
//! `0`–`9` that begin with a letter, which no parser of either database takes apart:
//!
//! ```text
//! Ferry 2026   ferry n2026          a word as it is; a number behind an `n`
//! Übung        v4c8k…               any other word: `v` and a hash of it
//! 渡轮停航      渡轮 轮停 停航 航       scripts without blanks: pairs of characters, and the last one;
//!                                   each character is four digits behind a `u`
//! ```
//!
//! The database looks for entries that have all tokens of a query, through its index. Whether they
//! stand in the right order, and whether a word is absent, is decided here ([`Query::finds`]).
//! INVARIANT: the tokens of a stored entry never change their meaning, or old entries are lost to
//! searches; a new way to write them needs all words to be written again.

use std::fmt;

use super::entry::{FoundEntry, key_hash};
use crate::edition::plain::plain_text;

/// Most tokens of one entry: its title, author and categories, and some 2,500 characters of text.
pub const TOKENS_MAX: usize = 400;
/// Most tokens of one query; what follows is not looked for.
pub const QUERY_TOKENS_MAX: usize = 20;
/// Longest query, in bytes; what follows is not looked for.
pub const QUERY_BYTES_MAX: usize = 400;
/// How much of a text is read for its tokens, in characters.
const TEXT_CHARS_MAX: usize = 4_000;
/// Longest word, in characters: what follows does not distinguish it.
const WORD_CHARS_MAX: usize = 40;
/// Digits of a character's number; enough for every character there is.
const CHAR_DIGITS: usize = 4;
/// Digits of a word's hash.
const HASH_DIGITS: usize = 10;

/// What an entry is found by, separated by blanks.
pub fn words_of(found: &FoundEntry) -> String {
    let mut tokens = Tokens::up_to(TOKENS_MAX);
    tokens.read(&found.title);
    tokens.read(found.author.as_deref().unwrap_or_default());
    for category in &found.categories {
        tokens.read(category);
    }
    for markup in [&found.summary, &found.content].into_iter().flatten() {
        if !tokens.is_full() {
            tokens.read(&plain_text(markup, TEXT_CHARS_MAX));
        }
    }
    let written: Vec<String> = tokens.found.iter().map(Token::to_string).collect();
    written.join(" ")
}

/// What a person looks for: words, `"phrases"`, and `-words` that must not be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query(Vec<Term>);

/// Tokens that stand one behind the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    tokens: Vec<String>,
    /// Whether the last token may go on: one character of a script without blanks is the beginning
    /// of a pair.
    goes_on: bool,
    is_absent: bool,
}

impl Query {
    /// Reads whatever was typed; there are no mistakes. `None` for nothing but blanks.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text[..text.floor_char_boundary(QUERY_BYTES_MAX)].trim();
        let mut terms = Vec::new();
        let mut left = QUERY_TOKENS_MAX;
        let mut rest = text;
        while !rest.is_empty() && left > 0 {
            let (is_absent, part, after) = next_part(rest);
            rest = after.trim_start();
            if let Some(term) = Term::of(part, is_absent, left) {
                left -= term.tokens.len();
                terms.push(term);
            }
        }
        (!text.is_empty()).then_some(Self(terms))
    }

    /// Tokens that an entry must have, each with whether it may go on; none where the query looks
    /// for nothing, and so finds nothing.
    pub fn tokens(&self) -> impl Iterator<Item = (&str, bool)> {
        let present = self.0.iter().filter(|term| !term.is_absent);
        present.flat_map(|term| {
            let last = term.tokens.len() - 1;
            let tokens = term.tokens.iter().enumerate();
            tokens.map(move |(at, token)| (token.as_str(), term.goes_on && at == last))
        })
    }

    /// Whether an entry with these words is found.
    pub fn finds(&self, words: &str) -> bool {
        let words: Vec<&str> = words.split(' ').collect();
        self.tokens().next().is_some()
            && self
                .0
                .iter()
                .all(|term| term.is_in(&words) != term.is_absent)
    }
}

impl Term {
    fn of(part: &str, is_absent: bool, most: usize) -> Option<Self> {
        let mut tokens = Tokens::up_to(most);
        tokens.read(part);
        let mut found = tokens.found;
        let goes_on = matches!(found.last(), Some(Token::Single(_)));
        // In an entry the text may go on behind the last pair; then it has no single one.
        let behind_pair = matches!(found.as_slice(), [.., Token::Pair(..), Token::Single(_)]);
        if goes_on && behind_pair {
            found.pop();
        }
        let tokens: Vec<String> = found.iter().map(Token::to_string).collect();
        (!tokens.is_empty()).then_some(Self {
            tokens,
            goes_on: goes_on && !behind_pair,
            is_absent,
        })
    }

    fn is_in(&self, words: &[&str]) -> bool {
        let Some((last, before)) = self.tokens.split_last() else {
            return false;
        };
        words.windows(self.tokens.len()).any(|window| {
            let (end, start) = window.split_last().unwrap_or((&"", &[]));
            let ends = end == last || self.goes_on && end.starts_with(last.as_str());
            ends && start.iter().zip(before).all(|(word, token)| word == token)
        })
    }
}

/// The next part of a query: whether it must be absent, what it is, and what comes after it.
fn next_part(text: &str) -> (bool, &str, &str) {
    let bare = text.strip_prefix('-');
    let (is_absent, text) = (bare.is_some(), bare.unwrap_or(text));
    let quoted = text.strip_prefix(['"', '“', '”']);
    let (part, after) = if let Some(quoted) = quoted {
        quoted.split_once(['"', '“', '”']).unwrap_or((quoted, ""))
    } else {
        let end = text.find(|c: char| c.is_whitespace() || c == '"');
        text.split_at(end.unwrap_or(text.len()))
    };
    (is_absent, part, after)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// Two characters of a script without blanks.
    Pair(char, char),
    /// The last character of a run of those.
    Single(char),
}

/// Tokens of one or more texts, in order.
struct Tokens {
    found: Vec<Token>,
    most: usize,
}

impl Tokens {
    fn up_to(most: usize) -> Self {
        let found = Vec::new();
        Self { found, most }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.most
    }

    fn read(&mut self, text: &str) {
        let (mut word, mut chars) = (String::new(), 0);
        let mut before: Option<char> = None;
        // One blank more ends what the text ends with.
        for c in text
            .chars()
            .map(narrow)
            .flat_map(char::to_lowercase)
            .chain([' '])
        {
            if self.is_full() {
                return;
            }
            let pairs = is_unspaced(c);
            if let Some(first) = before.take() {
                let token = if pairs {
                    Token::Pair(first, c)
                } else {
                    Token::Single(first)
                };
                self.found.push(token);
            }
            if pairs {
                before = Some(c);
            } else if c.is_alphanumeric() {
                if chars < WORD_CHARS_MAX {
                    word.push(c);
                }
                chars += 1;
                continue;
            } else if is_mark(c) {
                continue;
            }
            if chars > 0 {
                self.add(std::mem::take(&mut word));
                chars = 0;
            }
        }
    }

    fn add(&mut self, word: String) {
        if !self.is_full() {
            self.found.push(Token::Word(word));
        }
    }
}

/// Wide letters and digits as everyone types them.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// An accent that follows its letter does not end the word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Whether a character belongs to a script that is written without blanks, or like Korean with
/// endings that no one types: Thai to Myanmar, Khmer, kana, Han, Hangul.
fn is_unspaced(c: char) -> bool {
    let script = matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}');
    script && c.is_alphanumeric()
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) if !word.is_ascii() => {
                write!(f, "v{}", digits(key_hash(word), HASH_DIGITS))
            }
            Self::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                write!(f, "n{word}")
            }
            Self::Word(word) => f.write_str(word),
            Self::Pair(first, second) => write!(f, "u{}{}", number(*first), number(*second)),
            Self::Single(only) => write!(f, "u{}", number(*only)),
        }
    }
}

fn number(c: char) -> String {
    digits(u64::from(u32::from(c)), CHAR_DIGITS)
}

/// The last so many digits of a number to the base 36.
fn digits(mut number: u64, count: usize) -> String {
    let mut digits = vec!['0'; count];
    for digit in digits.iter_mut().rev() {
        let last = u32::try_from(number % 36).unwrap_or(0);
        *digit = char::from_digit(last, 36).unwrap_or('0');
        number /= 36;
    }
    digits.into_iter().collect()
}

#[cfg(test)]
mod tests;
