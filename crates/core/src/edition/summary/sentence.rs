//! Where sentences end.
//!
//! A full stop is many things: the end of a sentence, of an abbreviation, a decimal point. So it
//! ends one only before white space, not before a small letter, and not after what is usually
//! abbreviated. The full stops of Chinese and Japanese are nothing else and always end one; so does
//! an empty line.

use super::is_cjk;

/// After these a full stop says nothing. In small letters, without their stops.
const ABBREVIATED: [&str; 22] = [
    "mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "e.g", "i.e", "eg", "ie", "no", "fig",
    "inc", "ltd", "co", "corp", "approx", "cf", "al", "jr",
];
/// What may stand between the end of a sentence and the next one.
const CLOSERS: &str = "\"')]}”’»」』）】》";

/// Most of these after one sentence.
const CLOSERS_MAX: usize = 8;

/// The sentences of a text, trimmed, without empty ones. What has no end is the last one.
pub fn sentences(text: &str) -> Vec<&str> {
    let (mut found, rest) = split(text);
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

/// Only those sentences that come to their end within the text.
pub(super) fn complete(text: &str) -> Vec<&str> {
    let (mut found, rest) = split(text);
    let ends = |c: char| is_wide_stop(c) || is_stop(c);
    if rest
        .trim_end_matches(|c| CLOSERS.contains(c))
        .ends_with(ends)
    {
        found.push(rest);
    }
    found
}

/// The sentences that end before something else begins, and what is left.
fn split(text: &str) -> (Vec<&str>, &str) {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !ends_at(text, start, at, c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((at, closer)) = chars.next_if(|(_, c)| CLOSERS.contains(*c) || is_end(*c)) {
            end = at + closer.len_utf8();
        }
        push(&mut found, text.get(start..end));
        start = end;
    }
    (found, text.get(start..).unwrap_or_default().trim())
}

fn push<'a>(found: &mut Vec<&'a str>, sentence: Option<&'a str>) {
    let sentence = sentence.map(str::trim).filter(|it| !it.is_empty());
    found.extend(sentence);
}

/// Whether the character at a place ends the sentence that began at `start`.
fn ends_at(text: &str, start: usize, at: usize, c: char) -> bool {
    let after = text.get(at + c.len_utf8()..).unwrap_or_default();
    match c {
        '\n' => {
            let blank = after.trim_start_matches([' ', '\t', '\r']);
            blank.starts_with('\n')
        }
        _ if is_wide_stop(c) => true,
        '!' | '?' => begins_anew(after),
        '.' => begins_anew(after) && !is_abbreviated(text.get(start..at).unwrap_or_default()),
        _ => false,
    }
}

fn is_end(c: char) -> bool {
    is_stop(c) || is_wide_stop(c)
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?')
}

fn is_wide_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '；' | '｡')
}

/// Whether what follows a stop is the beginning of something else.
fn begins_anew(after: &str) -> bool {
    // Bounded: a text may consist of nothing but stops.
    let closing = |c: &char| CLOSERS.contains(*c) || is_stop(*c);
    let closers = after.chars().take(CLOSERS_MAX).take_while(closing);
    let closed: usize = closers.map(char::len_utf8).sum();
    let after = after.get(closed..).unwrap_or_default();
    let Some(next) = after.chars().next() else {
        return true;
    };
    let next_word = after.chars().find(|c| !c.is_whitespace());
    (next.is_whitespace() || is_cjk(next)) && !next_word.is_some_and(char::is_lowercase)
}

/// Whether the word before a stop is one that ends with it: `e.g`, `Dr`, an initial.
fn is_abbreviated(sentence: &str) -> bool {
    let word = sentence
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next();
    let word = word.unwrap_or_default().to_lowercase();
    let mut messages = word.chars();
    let initial = matches!((messages.next(), messages.next()), (Some(c), None) if c.is_alphabetic() && !is_cjk(c));
    initial && word != "i" || ABBREVIATED.contains(&word.as_str())
}
