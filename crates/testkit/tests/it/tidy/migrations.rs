//! Numbered files: migrations come in pairs, decisions in order.

use super::{TextFile, assert_none, assert_one, file, paths, text_files};

const SQLITE: &str = "crates/store/migrations/sqlite/";
const POSTGRES: &str = "crates/store/migrations/postgres/";
const DECISIONS: &str = "docs/adr/";

fn names<'a>(paths: &'a [String], folder: &str) -> Vec<&'a str> {
    paths
        .iter()
        .filter_map(|path| path.strip_prefix(folder))
        .collect()
}

fn unpaired(paths: &[String]) -> Vec<String> {
    let (sqlite, postgres) = (names(paths, SQLITE), names(paths, POSTGRES));
    let missing = |from: &[&str], other: &[&str], folder: &str| -> Vec<String> {
        let alone = from.iter().filter(|name| !other.contains(name));
        let fault = |name: &&str| {
            format!("{folder}{name} is missing: both databases take the same numbered steps")
        };
        alone.map(fault).collect()
    };
    let mut faults = missing(&sqlite, &postgres, POSTGRES);
    faults.extend(missing(&postgres, &sqlite, SQLITE));
    faults.extend(misnumbered(paths, SQLITE, "sql"));
    faults
}

/// Names are `NNNN_name.ext` or `NNNN-name.ext`, numbered from 0001 without a gap or a double.
fn misnumbered(paths: &[String], folder: &str, extension: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, name) in names(paths, folder).iter().enumerate() {
        let expected = format!("{:04}", index + 1);
        let (number, rest) = name.split_at_checked(4).unwrap_or((name, ""));
        let shaped = rest.starts_with(['_', '-']) && rest.ends_with(&format!(".{extension}"));
        if number != expected || !shaped {
            faults.push(format!(
                "{folder}{name}: expected number {expected} and a name after it; numbers are \
                 consecutive and never used twice"
            ));
        }
    }
    faults
}

fn uncommented(file: &TextFile) -> Option<String> {
    let migration = file.path.starts_with(SQLITE) || file.path.starts_with(POSTGRES);
    (migration && !file.text.starts_with("--"))
        .then(|| format!("{}: open it with a `--` comment that says why", file.path))
}

fn incomplete_decision(file: &TextFile) -> Option<String> {
    let sections = [
        "## Context",
        "## Decision",
        "## Alternatives",
        "## Consequences",
    ];
    let missing: Vec<&str> = sections
        .into_iter()
        .filter(|section| !file.text.contains(section))
        .collect();
    (file.path.starts_with(DECISIONS) && !missing.is_empty())
        .then(|| format!("{}: add {}", file.path, missing.join(", ")))
}

#[test]
fn migrations_are_paired_numbered_and_commented() {
    assert_none(&unpaired(&paths()));
    assert_none(
        &text_files()
            .iter()
            .filter_map(uncommented)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn decisions_are_numbered_and_complete() {
    assert_none(&misnumbered(&paths(), DECISIONS, "md"));
    assert_none(
        &text_files()
            .iter()
            .filter_map(incomplete_decision)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_lone_migration_is_found() {
    let both = [
        format!("{SQLITE}0001_task.sql"),
        format!("{POSTGRES}0001_task.sql"),
    ];
    assert_none(&unpaired(&both));
    assert_one(&unpaired(&both[..1]), "postgres/0001_task.sql is missing");
}

#[test]
fn a_number_left_out_or_used_twice_is_found() {
    let gap = ["docs/adr/0001-a.md", "docs/adr/0003-b.md"].map(str::to_owned);
    assert_one(&misnumbered(&gap, DECISIONS, "md"), "expected number 0002");
    let double = ["docs/adr/0001-a.md", "docs/adr/0001-b.md"].map(str::to_owned);
    assert_one(
        &misnumbered(&double, DECISIONS, "md"),
        "0001-b.md: expected number 0002",
    );
}

#[test]
fn a_silent_migration_and_half_a_decision_are_found() {
    let silent = file(&format!("{SQLITE}0001_task.sql"), "create table task ();");
    assert_one(
        &uncommented(&silent).into_iter().collect::<Vec<_>>(),
        "`--` comment",
    );
    let half = file(
        "docs/adr/0001-a.md",
        "## Context\n## Decision\n## Consequences\n",
    );
    assert_one(
        &incomplete_decision(&half).into_iter().collect::<Vec<_>>(),
        "## Alternatives",
    );
}
