//! Sentences for readers are short: at most [`WORDS_MAX`] words in the READMEs, guide and tutorials.
//!
//! What stands before a colon or a semicolon can be read alone, so it is counted alone.

use super::{TextFile, assert_none, assert_one, file, text_files};

const WORDS_MAX: usize = 30;
const FENCE: &str = "```";
const READERS: [&str; 4] = [
    "README.md",
    "docs/guide/",
    "docs/tutorials/",
    "docs/explanation/",
];

/// The text that is read as sentences: each paragraph, item and cell with the line it begins in.
fn passages(text: &str) -> Vec<(usize, String)> {
    let mut all = vec![(1, String::new())];
    let mut is_code = false;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if line.starts_with(FENCE) {
            is_code = !is_code;
        }
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let item = [(line, "- "), (line, "* "), (numbered, ". ")]
            .iter()
            .find_map(|(text, mark)| text.strip_prefix(mark));
        let begins = item.is_some()
            || line.is_empty()
            || line.starts_with(['#', '|'])
            || line.starts_with(FENCE);
        if begins {
            all.push((number, String::new()));
        }
        if is_code || line.starts_with(FENCE) || line.starts_with('#') {
            continue;
        }
        for (index, cell) in item.unwrap_or(line).split(" | ").enumerate() {
            if index > 0 {
                all.push((number, String::new()));
            }
            if let Some((_, passage)) = all.last_mut() {
                passage.push(' ');
                passage.push_str(cell);
            }
        }
    }
    all
}

/// How many words there are; code in backquotes is one, and the address of a link none.
fn words(sentence: &str) -> usize {
    let prose = sentence.split('`').enumerate();
    let prose = prose.map(|(index, part)| if index % 2 == 1 { "code" } else { part });
    let prose: String = prose.collect();
    let count = |text: &str| {
        let words = text.split_whitespace();
        words
            .filter(|it| it.contains(char::is_alphanumeric))
            .count()
    };
    let addresses = prose
        .split("](")
        .skip(1)
        .filter_map(|it| it.split(')').next());
    // The address is a part of the word before it, unless it is broken into words itself.
    count(&prose)
        - addresses
            .map(|it| count(it).saturating_sub(1))
            .sum::<usize>()
}

fn long_sentences(file: &TextFile) -> Vec<String> {
    if !READERS.iter().any(|path| file.path.starts_with(path)) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (line, passage) in passages(&file.text) {
        for sentence in split(&passage) {
            let count = words(&sentence);
            if count > WORDS_MAX {
                let (path, advice) = (&file.path, "make it two sentences");
                faults.push(format!(
                    "{path}:{line}: {count} words: {advice}: {sentence}"
                ));
            }
        }
    }
    faults
}

/// The sentences of a passage: each ends with a mark that a blank follows.
fn split(passage: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for word in passage.split_whitespace() {
        if let Some(sentence) = sentences.last_mut() {
            sentence.push_str(word);
            sentence.push(' ');
        }
        if word
            .trim_end_matches(['*', ')', '"'])
            .ends_with(['.', '!', '?', ':', ';'])
        {
            sentences.push(String::new());
        }
    }
    sentences
}

#[test]
fn sentences_are_short() {
    let files = text_files();
    assert_none(&files.iter().flat_map(long_sentences).collect::<Vec<_>>());
}

#[test]
fn a_long_sentence_is_found_and_code_is_not() {
    let long = "word ".repeat(WORDS_MAX + 1);
    let code = format!("```sh\n{long}\n```\n- Short. [Short](a.md) `{long}`\n\n| {long} |\n");
    assert_one(&long_sentences(&file("docs/guide/a.md", &code)), "a.md:6:");
    let short = format!("{}. {long}", "word ".repeat(20)).replace("word word", "word; word");
    assert_none(&long_sentences(&file("docs/guide/a.md", &short)));
    assert_none(&long_sentences(&file("docs/adr/0001-a.md", &long)));
}
