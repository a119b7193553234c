//! `[[source]]` in the file: sources as people write them, each checked for itself.
//!
//! As of schedules, an invalid source prevents no start: `serve` keeps the valid ones and reports
//! the others, while `check` counts every problem. Whether an address may be called is known to a
//! node only, which reports it in its log.

pub(crate) mod shape;

use std::{collections::BTreeSet, ops::Range};

use almanack_adapters::feed;
use almanack_core::{
    address,
    lang::reader::in_english,
    source::{
        Definition, NAME_BYTES_MAX,
        entry::canonical_address,
        options::{Options, form::Unfit},
        policy::{Policy, cadence::Cadence},
        reading::Reading,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    list::{Item, at},
    report::Problem,
    secret,
};
use shape::{FETCH, OPTIONS, SOURCE};

/// What the tables are called.
pub(crate) const SOURCES: &str = "source";
const EXPECTED: &str = "write `[[source]]` on its own line, then `address = …`";

/// The sources of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileSources {
    /// Those that can be kept, in the order of the file. No two have the same address.
    pub(crate) wanted: Vec<Definition>,
    /// What is wrong with the others.
    pub(crate) problems: Vec<Problem>,
    /// The addresses of those others, where they have one: they are neither changed nor released.
    pub(crate) keep: BTreeSet<String>,
}

/// Reads the sources, and which bytes of the file must not be shown.
pub(super) fn read(value: &Spanned<DeValue<'_>>) -> (FileSources, Vec<Range<usize>>) {
    let mut found = FileSources::default();
    let mut covered = Vec::new();
    let DeValue::Array(items) = value.get_ref() else {
        let what = "`source` is a list of tables";
        found.problems.push(at(what, value.span()).hint(EXPECTED));
        return (found, covered);
    };
    for (index, item) in items.iter().enumerate() {
        let mut reading = Table::new(index + 1, item);
        match reading.source() {
            Some(wanted) if found.wanted.iter().any(|it| it.address == wanted.address) => {
                let what = "an earlier source has the same address";
                let problem = Problem::new(what, "remove one of them");
                reading.table.refuse::<()>("address", problem);
            }
            Some(wanted) => found.wanted.push(wanted),
            None => found.keep.extend(reading.address.take()),
        }
        found.problems.append(&mut reading.table.problems);
        covered.append(&mut reading.table.covered);
    }
    (found, covered)
}

/// One table, being read.
struct Table<'a> {
    table: Item<'a>,
    address: Option<String>,
}

impl<'a> Table<'a> {
    fn new(number: usize, item: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            table: Item::new(format!("source #{number}"), item),
            address: None,
        }
    }

    /// The source, unless something is wrong with it.
    fn source(&mut self) -> Option<Definition> {
        let table = self.table.table(EXPECTED)?;
        self.read_address(table);
        let mut given = self.table.fields("", table, SOURCE);
        if !self.table.problems.is_empty() {
            return None;
        }
        let mut options = taken(&mut given, OPTIONS);
        let fetch = taken(&mut given, FETCH);
        options.insert("fetch".to_owned(), Value::Object(fetch));
        let text = |name: &str| given.get(name).and_then(Value::as_str);
        let cadence = text("cadence").and_then(|text| text.parse::<Cadence>().ok());
        let definition = Definition {
            address: self.address.clone()?,
            name: text("name").unwrap_or_default().to_owned(),
            category: text("category").unwrap_or_default().to_owned(),
            policy: text("policy").map(str::to_owned),
            cadence,
            reading: self
                .put_together::<Option<Reading>>(given.get("reading"))?
                .unwrap_or_default(),
            options: self.put_together::<Options>(Some(&Value::Object(options)))?,
        };
        self.check(&definition);
        self.table.problems.is_empty().then_some(definition)
    }

    /// The address first: complaints about the rest use it.
    fn read_address(&mut self, table: &DeTable<'_>) {
        let entry = table.iter().find(|(key, _)| key.get_ref() == "address");
        if let Some(text) = entry.and_then(|(_, value)| value.get_ref().as_str())
            && !text.is_empty()
        {
            let address = canonical_address(text);
            self.table.title = format!("source `{}`", secret::without_password(&address));
            self.address = Some(address);
        }
    }

    /// The shapes have checked every value; what is left to serde is to put them together.
    fn put_together<T: DeserializeOwned>(&mut self, given: Option<&Value>) -> Option<T> {
        let given = given.cloned().unwrap_or_default();
        match serde_json::from_value(given) {
            Ok(read) => Some(read),
            Err(error) => {
                let problem = Problem::error(in_english(&error), None);
                self.table.refuse("reading", problem)
            }
        }
    }

    fn check(&mut self, definition: &Definition) {
        if let Err(refusal) = address::parse(&definition.address) {
            self.refuse("address", &refusal.to_string());
        }
        for (path, text) in [
            ("name", &definition.name),
            ("category", &definition.category),
        ] {
            if text.len() > NAME_BYTES_MAX || text.contains(char::is_control) {
                let what = format!("more than {NAME_BYTES_MAX} bytes, or control characters");
                self.refuse(path, &what);
            }
        }
        if let Some(Err(unknown)) = definition.policy.as_deref().map(str::parse::<Policy>) {
            self.refuse("policy", &unknown.to_string());
        }
        if let Err(error) = feed::validate(&definition.reading) {
            self.refuse("reading", &error.to_string());
        }
        if let Err(Unfit { path, why }) = definition.options.check() {
            let path = path.strip_prefix("fetch.").unwrap_or(&path);
            let problem = Problem::error(format!("{path} {why}"), None);
            self.table.point(path, problem);
        }
    }

    /// What is wrong, with what to do about it behind a semicolon.
    fn refuse(&mut self, path: &str, sentence: &str) {
        let problem = match sentence.split_once("; ") {
            Some((what, hint)) => Problem::new(what, hint),
            None => Problem::error(sentence, None),
        };
        self.table.refuse::<()>(path, problem);
    }
}

/// Those of these keys that were given.
fn taken(given: &mut Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let found = keys.iter().filter_map(|key| given.remove_entry(*key));
    found.collect()
}

#[cfg(test)]
mod tests;
