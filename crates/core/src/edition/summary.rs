//! Summaries without a model: the sentences of a text that say the most (ED-36).
//!
//! A text keeps coming back to what it is about, so a sentence made of the words that the text uses
//! most says most of it; and authors say it early. Nothing is rephrased: every sentence of a
//! summary is in the text, unchanged and in the text's order. The same text always gives the same
//! summary: counts are whole numbers, and of two equal sentences the earlier wins. Code, navigation
//! and what every page of a site says are left out before anything is counted.
//!
//! Most pages say about themselves what they are about ([`describe`]). That is written for people
//! who have not read them, so it goes first, unless it is no more than a slogan.
//!
//! INVARIANT: a summary has at most as many characters as requested, and is empty only where the
//! text has no letter.

mod prose;
mod sentence;

use std::collections::{BTreeMap, BTreeSet};

pub use prose::is_prose;
pub use sentence::sentences;

/// Fewest comments that are summarised: below it there is nothing to sum up.
pub const COMMENTS_MIN: usize = 3;
/// How much of a text is looked at, in characters. What a text is about is said by then.
const TEXT_CHARS_MAX: usize = 40_000;
/// Shorter sentences are headings, bylines and crumbs of navigation.
const WORDS_MIN: usize = 4;
/// Added to a sentence's words before its weight is shared among them, so that three heavy words do
/// not outweigh a whole sentence.
const DAMPING: usize = 5;
/// A text is cut at a sentence if that keeps at least this part of what would fit: a fifth.
const ENDED_MIN: usize = 5;
/// Shorter descriptions are slogans, or names of sites, in characters.
const DESCRIPTION_CHARS_MIN: usize = 60;
/// The same in a script without spaces, which says as much in fewer.
const DESCRIPTION_CHARS_MIN_CJK: usize = 20;
/// How much more the first sentences weigh, in hundredths.
const EARLY: [usize; 3] = [150, 125, 110];
/// Words that say nothing about what a text is about.
const IDLE: [&str; 44] = [
    "about", "after", "also", "and", "any", "are", "because", "been", "but", "can", "could", "did",
    "does", "for", "from", "had", "has", "have", "how", "into", "its", "just", "more", "not",
    "one", "our", "out", "she", "some", "than", "that", "the", "their", "there", "they", "this",
    "was", "were", "what", "which", "will", "with", "you", "your",
];
/// Shortest word of letters that says something.
const WORD_CHARS_MIN: usize = 3;

/// The sentences of a text that say the most, in its order, in at most `chars_max` characters
/// together.
pub fn extract(text: &str, chars_max: usize) -> String {
    let text = prose::only(cut_chars(text, TEXT_CHARS_MAX));
    let candidates = candidates(&text);
    let ranked = rank(&candidates);
    let mut chosen = BTreeSet::new();
    let mut chars = 0;
    for index in ranked.iter().copied() {
        let cost = chars_of(&candidates, index);
        if chars + cost <= chars_max && !repeats(&candidates, &chosen, index) {
            chosen.insert(index);
            chars += cost;
        }
    }
    if chosen.is_empty() {
        let best = ranked.first().and_then(|index| candidates.get(*index));
        return best.map_or_else(String::new, |best| shorten(&best.text, chars_max));
    }
    join(chosen.iter().filter_map(|index| candidates.get(*index)))
}

/// A summary of a page: what it says about itself, if that is a sentence that says something, and
/// as much of its text as fits beside it; else of its text alone.
pub fn describe(text: &str, description: Option<&str>, chars_max: usize) -> String {
    let described = description.map(|it| description_of(it, chars_max));
    let Some(described) = described.filter(|it| says_enough(it)) else {
        return extract(text, chars_max);
    };
    let room = chars_max.saturating_sub(described.chars().count() + 1);
    let more = extract(text, room);
    // A cut sentence beside a whole description, or the same once more, would say less.
    if !is_complete(&more) || repeats_words(&described, &more) {
        return described;
    }
    let space = if described.ends_with(is_wide) {
        ""
    } else {
        " "
    };
    format!("{described}{space}{more}")
}

/// What a page says about itself, on one line, without a sentence that it cuts off itself.
fn description_of(description: &str, chars_max: usize) -> String {
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut_off = line.ends_with('…') || line.ends_with("...");
    let line = if cut_off { whole(&line) } else { &line };
    let line = shorten(line, chars_max);
    if is_complete(&line) || line.is_empty() || line.ends_with('…') {
        return line;
    }
    // Descriptions often go without the last full stop.
    let stop = if line.ends_with(is_cjk) { '。' } else { '.' };
    if line.chars().count() < chars_max {
        return format!("{line}{stop}");
    }
    line
}

/// Whether a description is more than a slogan, and is prose.
fn says_enough(description: &str) -> bool {
    let chars = description.chars().count();
    let cjk = description.chars().filter(|c| is_cjk(*c)).count();
    let enough = if cjk * 2 > chars {
        DESCRIPTION_CHARS_MIN_CJK
    } else {
        DESCRIPTION_CHARS_MIN
    };
    chars >= enough && is_prose(description) && !description.ends_with('…')
}

/// Whether most of what a text says was said by another before it.
fn repeats_words(said: &str, more: &str) -> bool {
    let known: BTreeSet<String> = words(said).into_iter().collect();
    let new = words(more);
    let again = new.iter().filter(|word| known.contains(*word)).count();
    again * 2 > new.len()
}

/// Whether a text ends where a sentence does.
pub fn is_complete(text: &str) -> bool {
    let text = text.trim_end();
    !text.is_empty() && whole(text).len() == text.len()
}

/// A text up to the end of its last whole sentence; nothing where it has none.
pub fn whole(text: &str) -> &str {
    let end = sentence::complete(text)
        .last()
        .map(|last| offset(text, last) + last.len());
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// At most so many characters of a text: up to the last end of a sentence; where not one fits, up
/// to wherever it is cut, with an ellipsis.
pub fn shorten(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let kept = cut_chars(text, chars_max);
    if kept.len() == text.len() {
        return text.to_owned();
    }
    match whole(kept) {
        // "No. " or "Wow!" alone would be a worse end than a cut.
        ended if ended.chars().count() * ENDED_MIN >= chars_max => ended.to_owned(),
        _ => with_ellipsis(kept, chars_max),
    }
}

/// The longest beginning of a text with at most so many characters.
pub fn cut_chars(text: &str, chars_max: usize) -> &str {
    let end = text.char_indices().nth(chars_max).map(|(at, _)| at);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Whether a character belongs to a script that writes without spaces: Han, kana, hangul.
pub fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// A sentence that may become part of a summary.
struct Candidate {
    text: String,
    /// Its words, each as often as it occurs.
    words: Vec<String>,
}

/// The sentences worth choosing from; all of them, where none is.
fn candidates(text: &str) -> Vec<Candidate> {
    let all = sentences(text).into_iter().map(|sentence| Candidate {
        text: sentence.split_whitespace().collect::<Vec<_>>().join(" "),
        words: words(sentence),
    });
    let all: Vec<Candidate> = all
        .filter(|candidate| candidate.text.chars().any(char::is_alphanumeric))
        .collect();
    if all.iter().any(|it| it.words.len() >= WORDS_MIN) {
        return all
            .into_iter()
            .filter(|it| it.words.len() >= WORDS_MIN)
            .collect();
    }
    all
}

/// The candidates by score, the highest first.
fn rank(candidates: &[Candidate]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in candidates.iter().flat_map(|it| &it.words) {
        *counts.entry(word).or_default() += 1;
    }
    let score = |index: usize, candidate: &Candidate| {
        // Each word once: repeating a word within a sentence adds nothing.
        let distinct: BTreeSet<&str> = candidate.words.iter().map(String::as_str).collect();
        let weight: usize = distinct.iter().filter_map(|word| counts.get(word)).sum();
        let share = weight * 1_000 / (candidate.words.len() + DAMPING);
        share * EARLY.get(index).copied().unwrap_or(100)
    };
    let mut ranked: Vec<(usize, usize)> = candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| (score(index, candidate), index))
        .collect();
    ranked.sort_by_key(|(score, index)| (std::cmp::Reverse(*score), *index));
    ranked.into_iter().map(|(_, index)| index).collect()
}

/// What a sentence adds to a summary, the space before it included.
fn chars_of(candidates: &[Candidate], index: usize) -> usize {
    let text = candidates.get(index).map_or("", |it| it.text.as_str());
    text.chars().count() + 1
}

/// Whether the same sentence is chosen already.
fn repeats(candidates: &[Candidate], chosen: &BTreeSet<usize>, index: usize) -> bool {
    let text = |index: usize| candidates.get(index).map(|it| it.text.as_str());
    chosen.iter().any(|other| text(*other) == text(index))
}

/// One after the other, with spaces except after a full-width stop.
fn join<'a>(sentences: impl Iterator<Item = &'a Candidate>) -> String {
    let mut joined = String::new();
    for sentence in sentences {
        let ends_wide = joined.chars().next_back().is_none_or(is_wide);
        if !ends_wide {
            joined.push(' ');
        }
        joined.push_str(&sentence.text);
    }
    joined
}

/// Full-width stops and closing quotes, which include their own space.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}

/// Words of letters in lower case; scripts without spaces by pairs of characters, which come close.
fn words(sentence: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in sentence.split(|c: char| !c.is_alphanumeric()) {
        let lower = run.to_lowercase();
        let chars: Vec<char> = lower.chars().collect();
        if chars.iter().copied().any(is_cjk) {
            words.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if chars.len() >= WORD_CHARS_MIN && !IDLE.contains(&lower.as_str()) {
            words.push(lower);
        }
    }
    words
}

/// Where a part of a text begins in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Room is made for the ellipsis, so that the bound holds.
fn with_ellipsis(kept: &str, chars_max: usize) -> String {
    let Some(room) = chars_max.checked_sub(1) else {
        return String::new();
    };
    let kept = cut_chars(kept, room);
    // A word that is cut in half says something else; a long run without spaces has to be cut
    // anyway.
    let space = kept
        .rfind(char::is_whitespace)
        .filter(|at| at * 2 >= kept.len());
    let kept = space.and_then(|at| kept.get(..at)).unwrap_or(kept);
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests;
