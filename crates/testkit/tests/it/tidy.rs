//! The repository's own rules, checked like any other behaviour.
//!
//! What a tool can check, a tool checks: reviewers then talk about meaning. Each check is a
//! function from what it looks at to the list of faults, so that its own tests can show it
//! something broken. A fault names the place, the rule, and what to do about it.

mod arrows;
mod documents;
mod files;
mod migrations;
mod sentences;
mod text;
mod words;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// A tracked (or about to be tracked) text file.
struct TextFile {
    /// Relative to the repository's root, with `/` between its parts.
    path: String,
    text: String,
}

impl TextFile {
    fn is_rust(&self) -> bool {
        has_extension(&self.path, "rs")
    }

    /// Whether the whole file is test code.
    fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == extension)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Everything Git tracks or would track; build output and ignored files stay out.
fn paths() -> Vec<String> {
    let list = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ];
    let listing = output(Command::new("git").args(list));
    let mut paths: Vec<String> = listing
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// All files that are text; pictures and the like are skipped, and so is what was just deleted.
fn text_files() -> Vec<TextFile> {
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(TextFile { path, text })
    };
    paths().into_iter().filter_map(read).collect()
}

fn output(command: &mut Command) -> String {
    let output = command
        .current_dir(root())
        .output()
        .expect("the program must be installed");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?} failed: {complaint}");
    String::from_utf8(output.stdout).expect("paths and metadata are UTF-8")
}

#[track_caller]
fn assert_none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} to put right:\n  {}",
        faults.len(),
        faults.join("\n  ")
    );
}

/// A check that finds nothing in a broken example would find nothing anywhere.
#[track_caller]
fn assert_one(faults: &[String], containing: &str) {
    assert_eq!(faults.len(), 1, "{faults:#?}");
    assert!(
        faults[0].contains(containing),
        "{:?} should mention {containing:?}",
        faults[0]
    );
}

fn file(path: &str, text: &str) -> TextFile {
    TextFile {
        path: path.to_owned(),
        text: text.to_owned(),
    }
}
