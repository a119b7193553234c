//! Content sniffing: whether a text is an article.
//!
//! A site that does not want us as a reader seldom says so by a status: it shows a page, and that
//! page has words. No word alone gives it away, because there are articles about each of them. What
//! gives it away is that the page is short, that it contains several of these phrases, and that
//! they make up a good part of it. Text in quotes does not count: an article may quote a block
//! page.
//!
//! INVARIANT: a text of more than [`BLOCK_CHARS_MAX`] characters is never taken for a block page,
//! and the result has at most [`ARTICLE_CHARS_MAX`].

mod sign;

use almanack_core::edition::port::{Failure, FailureClass};

/// Longest article, in characters; the rest is cut off. More than any summary needs.
const ARTICLE_CHARS_MAX: usize = 20_000;
/// A text of more bytes is no article but a database.
const TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Shortest article, in letters and digits; characters that are whole words count as
/// [`WORD_LETTERS`].
const LETTERS_MIN: usize = 120;
const WORD_LETTERS: usize = 3;
/// The points that make a text a block page, by its length in characters. A certain sign has two, a
/// doubtful one has one.
const POINTS_MIN: [(usize, usize); 3] = [(500, 2), (1200, 4), (BLOCK_CHARS_MAX, 6)];
/// Longest text that can be a block page.
const BLOCK_CHARS_MAX: usize = 3000;
/// How much of a text, in percent, must be such sentences if one of the signs is certain, and if
/// none is.
const CERTAIN_SHARE: usize = 20;
const DOUBTFUL_SHARE: usize = 50;
/// How much of a sentence counts for that: block pages speak in short ones.
const SENTENCE_CHARS_MAX: usize = 100;
/// Longest error that a reader service answers with in place of a page, in characters.
const ERROR_CHARS_MAX: usize = 2000;
/// How much of a text is searched for a refusal to read it by itself.
const REFUSAL_BYTES: usize = 600;

/// The cleaned text, or why it is no article.
pub fn check_article(text: &str) -> Result<String, Failure> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(unusable("the page is too large for an article"));
    }
    let text = tidy(text);
    if text.is_empty() {
        return Err(unusable("the page has no text"));
    }
    // Checked first, because a block page is short as well, and this reason is more helpful.
    if is_service_error(&text) {
        return Err(unusable(
            "the page could not be read: the site shows an error instead",
        ));
    }
    if is_fetching_refused(&text) {
        return Err(unusable("the site does not want to be read by programs"));
    }
    if is_block_page(&text) {
        return Err(unusable(
            "the site shows a check or a login instead of the page",
        ));
    }
    if letters(&text) < LETTERS_MIN {
        return Err(unusable("the page has too little text for an article"));
    }
    Ok(cut(text))
}

fn unusable(detail: &str) -> Failure {
    Failure::new(FailureClass::Unusable, detail)
}

/// No control characters, no blanks at the ends of lines, no two empty lines in a row.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len().min(4 * ARTICLE_CHARS_MAX));
    let mut is_after_gap = true;
    for line in text.lines() {
        let line = line.replace(|char: char| char.is_control() && char != '\t', "");
        let line = line.trim_end();
        if line.is_empty() && is_after_gap {
            continue;
        }
        is_after_gap = line.is_empty();
        tidied.push_str(line);
        tidied.push('\n');
    }
    tidied.trim().to_owned()
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(ARTICLE_CHARS_MAX) {
        text.truncate(end);
        text.truncate(text.trim_end().len());
    }
    text
}

fn letters(text: &str) -> usize {
    // Han, kana and hangul: what other scripts spell with several letters is one character here.
    let is_word = |char: &char| matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3134f}');
    let weigh = |char: char| if is_word(&char) { WORD_LETTERS } else { 1 };
    let counted = text.chars().filter(|char| char.is_alphanumeric());
    counted.map(weigh).sum()
}

/// Reader services answer with `[…Error: …` where they have no page, and with JSON where they have
/// nothing at all.
fn is_service_error(text: &str) -> bool {
    if text.chars().nth(ERROR_CHARS_MAX).is_some() {
        return false;
    }
    let first = text.lines().next().unwrap_or_default();
    // A page may begin with a link, and an error with none.
    let is_error = first.starts_with('[')
        && first
            .split("](")
            .next()
            .is_some_and(|start| start.contains("Error:"));
    let is_data = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    is_error || (text.starts_with(['{', '[']) && is_data())
}

/// A reader service that obeys `robots.txt` begins by saying so, and may then quote all of the
/// file.
fn is_fetching_refused(text: &str) -> bool {
    let start = &text[..text.floor_char_boundary(REFUSAL_BYTES)];
    let start = start.to_lowercase();
    let first = sign::sentences(&start).next().unwrap_or_default();
    let says = |words: &str| first.contains(words);
    let refuses = ["not allow", "disallow", "not permit", "forbid"];
    let is_refusal =
        says("robots.txt") && says("autonomous fetching") && refuses.into_iter().any(says);
    is_refusal && (start.contains("<useragent>") || text.chars().nth(ERROR_CHARS_MAX).is_none())
}

fn is_block_page(text: &str) -> bool {
    let chars = text.chars().count();
    let of_length = POINTS_MIN.iter().find(|(chars_max, _)| chars <= *chars_max);
    let Some((_, points_min)) = of_length else {
        return false;
    };
    let text = sign::unquoted(&text.to_lowercase().replace('’', "'"));
    let mut found = sign::Signs::default();
    let mut reporting_chars = 0;
    for sentence in sign::sentences(&text) {
        if found.search(sentence) {
            reporting_chars += sentence.chars().take(SENTENCE_CHARS_MAX).count();
        }
    }
    let share_min = match found.certain {
        0 => DOUBTFUL_SHARE,
        _ => CERTAIN_SHARE,
    };
    found.points() >= *points_min && reporting_chars * 100 >= share_min * chars
}

#[cfg(test)]
mod tests;
