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
             give it a module of its own",
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
        file("crates/core/src/told.rs", "//! Told.\n"),
        file("crates/core/src/mute/tests.rs", "use super::*;\n"),
    ];
    let faults: Vec<String> = files.iter().filter_map(unexplained).collect();
    assert_one(&faults, "crates/core/src/mute.rs: open it with `//!`");
}
