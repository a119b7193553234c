//! Golden files: what people and programs see, and pages of the reference, made anew by tests.
//!
//! A change of such a file is a change that users will notice. `ALMANACK_FACES=accept` writes down
//! what is made now.

use std::{fs, path::Path};

/// Fails where the file differs from what is made now, with the first lines that do; or writes it.
#[expect(
    clippy::disallowed_methods,
    reason = "how a person asks a test to write; product code has a configuration"
)]
#[track_caller]
pub fn compare(path: &Path, now: &str) {
    if std::env::var("ALMANACK_FACES").is_ok_and(|request| request == "accept") {
        return fs::write(path, now).unwrap();
    }
    let known = fs::read_to_string(path).unwrap_or_default();
    let differs = known.lines().zip(now.lines()).position(|(a, b)| a != b);
    let at = differs.unwrap_or_else(|| known.lines().count().min(now.lines().count()));
    let around = |text: &str| {
        let lines = text.lines().skip(at.saturating_sub(5)).take(12);
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(
        known == now,
        "{} differs from line {} on; ALMANACK_FACES=accept writes what is made now\nwas\n{}\n\nis\n{}",
        path.display(),
        at + 1,
        around(&known),
        around(now)
    );
}
