//! Lists of subscribers as CSV (RFC 4180), as other newsletter services write and read them.
//!
//! The first line may name its columns: `email` (or `address`) and, optionally, `language` and
//! `state`. Without such a line, the first column is the address. A line whose `state` is not one
//! that gets mail is left out: who unsubscribed elsewhere is not subscribed here.

use super::{Address, Subscriber};

/// Lines read at most.
pub const LINES_MAX: usize = 1_000_000;
/// Longest tag of a language.
const LANGUAGE_BYTES_MAX: usize = 35;
/// States of other services whose addresses get mail.
const WANTED: [&str; 5] = ["", "confirmed", "subscribed", "active", "enabled"];

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Whom to add, in which language; or why not.
    pub read: Result<(Address, Option<String>), String>,
}

/// The lines of a list; lines that are empty are left out.
pub fn read(text: &str) -> Vec<Line> {
    let mut lines = records(text.trim_start_matches('\u{feff}'))
        .into_iter()
        .peekable();
    let columns = lines.peek().and_then(|(_, first)| Columns::named(first));
    if columns.is_some() {
        lines.next();
    }
    let columns = columns.unwrap_or_default();
    let lines = lines.filter(|(_, record)| record.iter().any(|field| !field.trim().is_empty()));
    lines
        .take(LINES_MAX)
        .map(|(number, record)| Line {
            number,
            read: columns.read(&record),
        })
        .collect()
}

#[derive(Default)]
struct Columns {
    address: usize,
    language: Option<usize>,
    state: Option<usize>,
}

impl Columns {
    fn named(record: &[String]) -> Option<Self> {
        let place = |names: &[&str]| {
            let is = |field: &String| names.contains(&field.trim().to_ascii_lowercase().as_str());
            record.iter().position(is)
        };
        Some(Self {
            address: place(&["email", "address", "e-mail", "email address"])?,
            language: place(&["language", "lang", "locale"]),
            state: place(&["state", "status"]),
        })
    }

    fn read(&self, record: &[String]) -> Result<(Address, Option<String>), String> {
        let field = |at: Option<usize>| at.and_then(|at| record.get(at)).map(|it| it.trim());
        let address = field(Some(self.address)).unwrap_or_default();
        let address = Address::parse(address).map_err(|why| why.to_string())?;
        let state = field(self.state).unwrap_or_default().to_ascii_lowercase();
        if !WANTED.contains(&state.as_str()) {
            return Err(format!("left out: its state is `{state}`"));
        }
        let language = field(self.language).filter(|tag| !tag.is_empty());
        if language.is_some_and(|tag| !is_language(tag)) {
            return Err("the language is not a tag such as en or zh-CN".to_owned());
        }
        Ok((address, language.map(str::to_owned)))
    }
}

/// Whether a text is shaped like the tag of a language.
pub fn is_language(tag: &str) -> bool {
    let part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    tag.len() <= LANGUAGE_BYTES_MAX && tag.split('-').all(part)
}

/// Records with the number of the line that each begins at. A quote that never ends takes the rest.
fn records(text: &str) -> Vec<(usize, Vec<String>)> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut line, mut begun_at) = (false, 1, 1);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if quoted || field.trim().is_empty() => quoted = !quoted,
            ',' | ';' | '\t' if !quoted => record.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push((begun_at, std::mem::take(&mut record)));
                begun_at = line;
            }
            '\r' if !quoted => {}
            c => field.push(c),
        }
    }
    if !field.is_empty() || !record.is_empty() {
        record.push(field);
        records.push((begun_at, record));
    }
    records
}

/// The first line of an export.
pub const HEAD: &str = "email,state,language,edition,created_at,confirmed_at,ended_at\r\n";

/// One line of an export. No field needs quotes, and none begins like a formula of a spreadsheet:
/// addresses begin with a letter, a digit or `_`.
pub fn write(row: &Subscriber) -> String {
    let at = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    let Subscriber {
        address,
        state,
        edition,
        created_at,
        ..
    } = row;
    let language = row.language.as_deref().unwrap_or_default();
    let (confirmed, ended) = (at(row.confirmed_at), at(row.ended_at));
    format!("{address},{state},{language},{edition},{created_at},{confirmed},{ended}\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, Result<String, String>)> {
        let lines = read(text).into_iter();
        let shown = lines.map(|line| {
            let read = line.read.map(|(address, language)| match language {
                Some(tag) => format!("{address} {tag}"),
                None => address.to_string(),
            });
            (line.number, read)
        });
        shown.collect()
    }

    #[test]
    fn ed_43_lists_of_other_services_are_read() {
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(
            found("a@b.co\nC@D.co\n"),
            [(1, ok("a@b.co")), (2, ok("c@d.co"))]
        );
        let text = "\u{feff}Name;Email;Language\r\n\"Lovelace; Ada\";ada@site.example;en\r\n\r\n";
        assert_eq!(found(text), [(2, ok("ada@site.example en"))]);
        let quoted = "email,status\n\"a@b.co\",subscribed\nc@d.co,unsubscribed\nx,active\n";
        let read = found(quoted);
        assert_eq!(read[0], (2, ok("a@b.co")));
        assert_eq!(
            read[1],
            (3, Err("left out: its state is `unsubscribed`".to_owned()))
        );
        assert!(read[2].1.is_err());
        assert_eq!(found(""), []);
        assert_eq!(found("email\n"), []);
        let tag = found("email,language\na@b.co,not a tag\n");
        assert!(tag[0].1.is_err(), "{tag:?}");
    }

    #[test]
    fn a_field_may_hold_quotes_and_lines() {
        let read = records("\"a \"\"b\"\"\nc\",d\ne");
        assert_eq!(
            read,
            [
                (1, vec!["a \"b\"\nc".to_owned(), "d".to_owned()]),
                (3, vec!["e".to_owned()])
            ]
        );
        assert_eq!(records("\"open"), [(1, vec!["open".to_owned()])]);
    }
}
