//! Text that no tracked file may contain.
//!
//! The words looked for are put together from pieces, or these checks would find themselves.

use super::{TextFile, assert_none, assert_one, file, has_extension, text_files};

/// Paths that exist on one machine only.
const PRIVATE_PLACES: [&str; 5] = [
    concat!("/", "home/"),
    concat!("/", "Users/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
    concat!("/", "workspace/"),
];
const LATER: &str = concat!("TO", "DO");
const BROKEN: &str = concat!("FIX", "ME");
const CRATES_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NPM_REGISTRY: &str = "https://registry.npmjs.org/";

/// Where a word occurs alone, with what follows it.
fn occurrences<'a>(line: &'a str, word: &str) -> Vec<&'a str> {
    let joins = |c: char| c.is_alphanumeric() || "_-./}*".contains(c);
    let standing = |at: &usize| !line[..*at].ends_with(joins);
    let places = line.match_indices(word).map(|(at, _)| at).filter(standing);
    places.map(|at| &line[at + word.len()..]).collect()
}

fn is_lock(file: &TextFile) -> bool {
    has_extension(&file.path, "lock") || file.path.ends_with("package-lock.json")
}

/// Runs a check over every line of a file; the check answers a fault or nothing.
fn per_line(file: &TextFile, check: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    let fault = |(index, line): (usize, &str)| {
        check(line).map(|fault| format!("{}:{}: {fault}", file.path, index + 1))
    };
    lines.filter_map(fault).collect()
}

fn private_places(file: &TextFile) -> Vec<String> {
    per_line(file, |line| {
        let found = PRIVATE_PLACES
            .into_iter()
            .find(|place| !occurrences(line, place).is_empty())?;
        Some(format!(
            "`{found}…` exists on one machine only: use a path relative to the root"
        ))
    })
}

fn nameless_promises(file: &TextFile) -> Vec<String> {
    if is_lock(file) {
        return Vec::new();
    }
    per_line(file, |line| {
        if !occurrences(line, BROKEN).is_empty() {
            return Some(format!("{BROKEN} does not reach main: fix it"));
        }
        let nameless = occurrences(line, LATER).into_iter().any(|rest| {
            let number = rest.strip_prefix("(#").unwrap_or_default();
            let starts_word = rest.starts_with(|c: char| c.is_alphanumeric());
            !starts_word && !number.starts_with(|c: char| c.is_ascii_digit())
        });
        nameless.then(|| format!("{LATER} without an issue: write {LATER}(#12), or do it"))
    })
}

fn strange_registries(file: &TextFile) -> Vec<String> {
    let advice = "point it back to the public registry before committing";
    per_line(file, |line| {
        let line = line.trim();
        let (given, known) = if file.path.ends_with("Cargo.lock") {
            (line.strip_prefix("source = \"")?, CRATES_REGISTRY)
        } else if file.path.ends_with("package-lock.json") {
            (line.strip_prefix("\"resolved\": \"")?, NPM_REGISTRY)
        } else {
            let configures = [".npmrc", ".cargo/config.toml", "pip.conf"];
            let named = configures.iter().any(|name| file.path.ends_with(name));
            return (named && line.contains("registry"))
                .then(|| format!("a registry is everybody's own setting; {advice}"));
        };
        (!given.starts_with(known)).then(|| format!("not from {known}; {advice}"))
    })
}

fn faults(files: &[TextFile], check: fn(&TextFile) -> Vec<String>) -> Vec<String> {
    files.iter().flat_map(check).collect()
}

#[test]
fn no_file_names_a_path_on_one_machine() {
    assert_none(&faults(&text_files(), private_places));
}

#[test]
fn work_left_for_later_names_its_issue() {
    assert_none(&faults(&text_files(), nameless_promises));
}

#[test]
fn dependencies_come_from_the_public_registries() {
    assert_none(&faults(&text_files(), strange_registries));
}

#[test]
fn a_private_place_is_found_and_a_path_of_a_url_is_not() {
    let text = format!(
        "see {}\nhttp://host{}",
        PRIVATE_PLACES[0], PRIVATE_PLACES[0]
    );
    assert_one(&private_places(&file("README.md", &text)), "README.md:1:");
}

#[test]
fn a_nameless_promise_is_found_and_a_named_one_is_not() {
    let text = format!("// {LATER}: later\n// {LATER}(#12): later\n// {LATER}S\n");
    assert_one(&nameless_promises(&file("a.rs", &text)), "a.rs:1:");
    let text = format!("# {BROKEN}\n");
    assert_one(&nameless_promises(&file("a.toml", &text)), "fix it");
}

#[test]
fn a_mirror_in_a_lock_file_is_found() {
    let lock = format!("source = \"{CRATES_REGISTRY}\"\nsource = \"sparse+https://mirror/\"\n");
    assert_one(
        &strange_registries(&file("Cargo.lock", &lock)),
        "Cargo.lock:2:",
    );
    let lock = "    \"resolved\": \"https://mirror/a.tgz\",\n";
    assert_one(
        &strange_registries(&file("e2e/package-lock.json", lock)),
        "package-lock.json:1:",
    );
    assert_one(
        &strange_registries(&file(".npmrc", "registry=https://mirror/\n")),
        ".npmrc:1:",
    );
}
