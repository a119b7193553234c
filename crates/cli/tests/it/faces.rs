//! What the command line says, kept as sessions in `tests/faces/`: every command in text and in
//! JSON, with good and bad input.
//!
//! A session is a separate folder, files in it, and what a person types there:
//!
//! ```text
//! --- almanack.toml              a file, up to the next `---`
//! $ almanack task list           a line for the shell; what follows is what it answers:
//! …                              data
//! ! …                            notes and errors
//! ? 2                            the exit code, if it is not 0
//! ```
//!
//! A change of a file is a change that users will notice. `ALMANACK_FACES=accept` writes down what
//! is answered now; to see another command, write its line into a session first.

use std::{
    fs,
    path::{Path, PathBuf},
};

use almanack_testkit::golden;

use crate::harness::Home;

/// Of every session what the commands answer is what the file says.
fn session(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/faces/{name}.txt"));
    let known = fs::read_to_string(&path).unwrap();
    golden::compare(&path, &replay(&known));
}

/// The same session with what is answered now.
fn replay(known: &str) -> String {
    let home = Home::new();
    let mut now = Vec::new();
    let mut lines = known.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("--- ") {
            let text: Vec<&str> = lines.by_ref().take_while(|it| *it != "---").collect();
            fs::write(home.path().join(name), text.join("\n") + "\n").unwrap();
            now.push(line.to_owned());
            now.extend(text.into_iter().map(str::to_owned));
            now.push("---".to_owned());
        } else if let Some(typed) = line.strip_prefix("$ ") {
            now.push(line.to_owned());
            now.extend(answer(&home, typed));
        }
    }
    now.join("\n") + "\n"
}

fn answer(home: &Home, typed: &str) -> Vec<String> {
    let ran = home.shell(typed);
    let data = ran.data.lines().map(|line| constant(line, home.path()));
    let notes = ran.notes.lines();
    let notes = notes.map(|line| format!("! {}", constant(line, home.path())));
    let code = (ran.code != 0).then(|| format!("? {}", ran.code));
    let lines = data.chain(notes).chain(code);
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// The line without what differs from run to run.
fn constant(line: &str, home: &Path) -> String {
    let line = line.replace(&home.display().to_string(), "HOME");
    let mut shown = String::new();
    let mut rest = line.as_str();
    while let Some(first) = rest.chars().next() {
        let (taken, written) = [instant, secret, distance, checksum, version, port]
            .iter()
            .find_map(|find| find(rest, shown.chars().last()))
            .unwrap_or((first.len_utf8(), &rest[..first.len_utf8()]));
        shown += written;
        rest = &rest[taken..];
    }
    columns(&shown)
}

/// Columns are as wide as what differs; here two blanks part them.
fn columns(line: &str) -> String {
    let text = line.trim_start();
    let cells = text.split("  ").map(str::trim);
    let is_distance = |cell: &str| {
        let ahead = cell.strip_prefix("in ");
        cell == "now" || ahead.is_some_and(|it| unit(it) == Some(it.len()))
    };
    let cells = cells.map(|cell| if is_distance(cell) { "AGO" } else { cell });
    let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
    line[..line.len() - text.len()].to_owned() + &cells.join("  ")
}

/// An instant of these days: what a session asks for is later than that.
fn instant(text: &str, _: Option<char>) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    let is_day = bytes.len() >= 16
        && text.starts_with("20")
        && text.get(..10)? < "2029"
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && matches!(bytes[10], b'T' | b' ')
        && bytes[13] == b':';
    let rest = text.get(11..).filter(|_| is_day)?;
    let end = rest.find(|it: char| !(it.is_ascii_digit() || ":.Z".contains(it)));
    Some((11 + end.unwrap_or(rest.len()), "TIME"))
}

/// A secret of Almanack's own.
fn secret(text: &str, _: Option<char>) -> Option<(usize, &'static str)> {
    let rest = text.strip_prefix("alm_")?;
    let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "-_".contains(it)));
    Some((4 + end.unwrap_or(rest.len()), "alm_TOKEN"))
}

/// A distance from now, like `in 2h 3m`, `3s ago` or `now`. Of one unit, as `in 6d` is for an hour
/// of each day, it is one only where nothing else can be meant.
fn distance(text: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    if before == Some('(') && text.starts_with("now)") {
        return Some((3, "AGO"));
    }
    let reported = text.strip_prefix("in ").unwrap_or(text);
    let mut end = 0;
    while let Some(unit) = reported.get(end..).and_then(unit) {
        end += unit;
    }
    let ago = reported[end..].starts_with("ago");
    let end = if ago {
        end + 3
    } else {
        reported[..end].trim_end().len()
    };
    let alone = before == Some('(') && reported[end..].starts_with(')');
    let ahead = reported.len() < text.len() && (end > 3 || (end > 0 && alone));
    let is_one = ahead || (ago && end > 3);
    is_one.then_some((text.len() - reported.len() + end, "AGO"))
}

/// How long `2h ` at the beginning of a text is.
fn unit(text: &str) -> Option<usize> {
    let digits = text
        .find(|it: char| !it.is_ascii_digit())
        .filter(|it| *it > 0)?;
    let rest = &text[digits..];
    let is_unit = rest.starts_with(['d', 'h', 'm', 's']);
    let ends = rest[1..]
        .chars()
        .next()
        .is_none_or(|next| !next.is_alphanumeric());
    let blank = usize::from(rest[1..].starts_with(' '));
    (is_unit && ends).then_some(digits + 1 + blank)
}

/// A checksum of what differs.
fn checksum(text: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    let end = text
        .find(|it: char| !it.is_ascii_hexdigit())
        .unwrap_or(text.len());
    let zeros = text[..end].bytes().all(|byte| byte == b'0');
    (before == Some('"') && end >= 32 && !zeros).then_some((end, "CHECKSUM"))
}

/// A port that the system chose.
fn port(text: &str, before: Option<char>) -> Option<(usize, &'static str)> {
    let digits = text.find(|it: char| !it.is_ascii_digit());
    let end = digits.unwrap_or(text.len());
    (before == Some(':') && end == 5).then_some((end, "PORT"))
}

fn version(text: &str, _: Option<char>) -> Option<(usize, &'static str)> {
    let version = env!("CARGO_PKG_VERSION");
    text.starts_with(version)
        .then_some((version.len(), "VERSION"))
}

#[test]
fn every_session_has_a_test() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faces");
    for file in folder.read_dir().unwrap() {
        let name = file.unwrap().path();
        let name = name.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(SESSIONS.contains(&name.as_str()), "{name} has no test");
    }
}

macro_rules! sessions {
    ($($name:ident)*) => {
        const SESSIONS: &[&str] = &[$(stringify!($name)),*];
        $(
            #[test]
            fn $name() {
                session(stringify!($name));
            }
        )*
    };
}

sessions!(
    backup calendar check clock edition help import init kind monitor names next radar schedule search server simulate source
    task token user
);
