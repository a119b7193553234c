//! Words that are retired: each thing has the name that the field gives it.

use super::{TextFile, assert_none, assert_one, file, has_extension, text_files};

/// A retired word and what to write instead. Found as a word, and as a part of a name.
const RETIRED: [(&str, &str); 22] = [
    ("happening", "event"),
    ("herald", "publisher"),
    ("teller", "notifier"),
    ("messenger", "notifier"),
    ("wish", "request"),
    ("asker", "requester"),
    ("purse", "request budget"),
    ("newsroom", "the thing's noun"),
    ("errand", "what the command requires of the database"),
    ("rehearsal", "simulation"),
    ("rehearse", "simulate"),
    ("tally", "counters"),
    ("blow", "injected fault"),
    ("fate", "injected fault"),
    (
        "stranger",
        "what it is: an unknown client, an unexpected answer",
    ),
    ("told", "delivered, notified, recorded, reported or printed"),
    ("tell", "deliver, notify, record, report or print"),
    (
        "telling",
        "delivering, notifying, recording, reporting or printing",
    ),
    ("untold", "not yet notified"),
    ("calm", "cool-down"),
    ("manner", "behaviour"),
    ("patience", "timeout, or wait backoff"),
];

/// Records of what was decided, released or migrated keep the words of their day; a dictionary has them all.
const RECORDS: [&str; 5] = [
    "docs/adr/",
    "CHANGELOG.md",
    "crates/store/migrations/",
    "crates/lab/src/model/mind.rs",
    "crates/testkit/tests/it/tidy/words.rs",
];

/// The parts of names and words of a line, in lower case: `HostPace::told_at` is host, pace, told, at.
fn parts(line: &str) -> impl Iterator<Item = String> + use<> {
    let line = line.replace("GitHub", "Github");
    let words: Vec<String> = line
        .split(|c: char| !c.is_ascii_alphabetic())
        .map(str::to_owned)
        .collect();
    words.into_iter().flat_map(|word| {
        let mut parts = vec![String::new()];
        let mut was_lower = false;
        for letter in word.chars() {
            if letter.is_ascii_uppercase() && was_lower {
                parts.push(String::new());
            }
            was_lower = letter.is_ascii_lowercase();
            if let Some(part) = parts.last_mut() {
                part.push(letter.to_ascii_lowercase());
            }
        }
        parts
    })
}

fn retired(part: &str) -> Option<&'static str> {
    let is_it = |word: &str| {
        let plural = part
            .strip_prefix(word)
            .is_some_and(|rest| rest == "s" || rest == "es");
        part == word || plural
    };
    let mut all = RETIRED.iter();
    all.find(|(word, _)| is_it(word))
        .map(|(_, instead)| *instead)
}

fn old_words(file: &TextFile) -> Vec<String> {
    let asked = (file.is_rust() || has_extension(&file.path, "md"))
        && !RECORDS.iter().any(|record| file.path.starts_with(record));
    let lines = file.text.lines().enumerate().filter(|_| asked);
    let faults = lines.flat_map(|(number, line)| {
        parts(line).filter_map(move |part| {
            let instead = retired(&part)?;
            let (path, number) = (&file.path, number + 1);
            Some(format!("{path}:{number}: `{part}` is retired: {instead}"))
        })
    });
    faults.collect()
}

#[test]
fn retired_words_stay_out() {
    let files = text_files();
    assert_none(&files.iter().flat_map(old_words).collect::<Vec<_>>());
}

#[test]
fn a_retired_word_is_found() {
    for line in [
        "fn told_at() {}",
        "// a wish",
        "struct HappeningHandler;",
        "two Blows",
    ] {
        assert_one(
            &old_words(&file("crates/core/src/a.rs", line)),
            "is retired",
        );
    }
    for line in ["blower", "GitHub", "stall", "intellect"] {
        assert_none(&old_words(&file("crates/core/src/a.rs", line)));
    }
}
