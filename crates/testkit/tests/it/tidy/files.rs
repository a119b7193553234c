//! Rust files: how long they are and how they open.

use super::{TextFile, assert_none, assert_one, file, text_files};

/// A file this long holds two ideas. Tests are not counted.
const LINES_MAX: usize = 500;

/// Lines before the test module, which by custom comes last.
fn product_lines(text: &str) -> usize {
    text.lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .count()
}

fn too_long(file: &TextFile) -> Option<String> {
    let lines = product_lines(&file.text);
    let counted = file.is_rust() && !file.is_test();
    (counted && lines > LINES_MAX).then(|| {
        format!(
            "{}: {lines} lines without tests, over {LINES_MAX}: find the second idea in it and \
             move it into its own module",
            file.path
        )
    })
}

fn unexplained(file: &TextFile) -> Option<String> {
    let asked = file.is_rust() && file.path.contains("/src/") && !file.is_test();
    (asked && !file.text.starts_with("//!")).then(|| {
        format!(
            "{}: open it with `//!`: the problem, the idea, what must stay true",
            file.path
        )
    })
}

/// Crates whose public things are read by people who do not read their code.
const DESCRIBED: [&str; 3] = [
    "crates/core/src/",
    "crates/engine/src/",
    "crates/client/src/",
];
const ITEMS: [&str; 6] = ["fn ", "struct ", "enum ", "trait ", "type ", "const "];

/// Public items without a sentence. Fields and variants are not asked for one: their names say it,
/// or a comment that says more than the name.
fn undescribed(file: &TextFile) -> Vec<String> {
    let asked = DESCRIBED.iter().any(|folder| file.path.starts_with(folder)) && !file.is_test();
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let product = product_lines(&file.text);
    let is_item = |line: &str| {
        // What a macro writes is described where it is used.
        let rest = line
            .strip_prefix("pub ")
            .filter(|rest| !rest.contains(" $"));
        let rest = rest.map(|rest| rest.strip_prefix("async ").unwrap_or(rest));
        let rest = rest.unwrap_or_default();
        ITEMS.iter().any(|item| rest.starts_with(item))
    };
    let items = lines[..product].iter().enumerate();
    let mute = items.filter(|(number, line)| is_item(line) && !is_described(&lines[..*number]));
    let mute = mute.filter(|_| asked).map(|(number, line)| {
        let (path, number) = (&file.path, number + 1);
        format!("{path}:{number}: say in a sentence what it is: {line}")
    });
    mute.collect()
}

/// Whether the text between the last item and here has a doc comment.
fn is_described(before: &[&str]) -> bool {
    let own = before.iter().rev().take_while(|line| {
        line.starts_with("///") || !(line.is_empty() || line.ends_with(['}', ';', '{']))
    });
    own.into_iter().any(|line| line.starts_with("///"))
}

#[test]
fn public_things_of_core_engine_and_client_are_described() {
    let files = text_files();
    assert_none(&files.iter().flat_map(undescribed).collect::<Vec<_>>());
}

#[test]
fn a_public_thing_without_a_sentence_is_found() {
    let text = "/// Noted.\n#[derive(Debug)]\npub struct Noted {\n    pub field: u8,\n}\n\npub fn mute() {}\n";
    assert_one(&undescribed(&file("crates/core/src/x.rs", text)), "x.rs:7:");
}

#[test]
fn no_rust_file_is_longer_than_one_idea() {
    assert_none(&text_files().iter().filter_map(too_long).collect::<Vec<_>>());
}

#[test]
fn every_module_says_what_it_is_about() {
    assert_none(
        &text_files()
            .iter()
            .filter_map(unexplained)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_long_file_is_found_and_long_tests_are_not() {
    let long = "x\n".repeat(LINES_MAX + 1);
    let tested = format!("x\n#[cfg(test)]\n{long}");
    let files = [
        file("crates/core/src/long.rs", &long),
        file("crates/core/src/tested.rs", &tested),
        file("crates/core/src/long/tests.rs", &long),
        file("crates/core/tests/it/long.rs", &long),
    ];
    let faults: Vec<String> = files.iter().filter_map(too_long).collect();
    assert_one(&faults, "crates/core/src/long.rs: 501 lines");
}

#[test]
fn a_module_without_a_word_is_found() {
    let files = [
        file("crates/core/src/mute.rs", "use std::fmt;\n"),
        file("crates/core/src/noted.rs", "//! Noted.\n"),
        file("crates/core/src/mute/tests.rs", "use super::*;\n"),
    ];
    let faults: Vec<String> = files.iter().filter_map(unexplained).collect();
    assert_one(&faults, "crates/core/src/mute.rs: open it with `//!`");
}
