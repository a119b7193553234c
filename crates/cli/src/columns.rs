//! Answers of the API for people: tables and pages are lists of columns.
//!
//! A column defines where in an item its value is and how it looks. A table has a line for every
//! item; a page about one thing has a line for every column, and omits those without a value.

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    output::{Cell, Ink},
    when::Relative,
};

/// One column of a table, or one line of a page.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// Where in the item: a JSON pointer; empty for all of it.
    at: &'static str,
    look: Look,
    /// The text without a value.
    none: &'static str,
}

/// How a value looks, seen at an instant.
pub(crate) type Look = fn(&Value, Timestamp) -> Cell;

pub(crate) const fn column(title: &'static str, at: &'static str, look: Look) -> Column {
    Column {
        title,
        at,
        look,
        none: "",
    }
}

impl Column {
    /// The same, with a word where there is nothing.
    pub(crate) const fn or(self, none: &'static str) -> Self {
        Self { none, ..self }
    }

    /// The cell of an item.
    pub(crate) fn cell(&self, item: &Value, now: Timestamp) -> Cell {
        match item.pointer(self.at) {
            None | Some(Value::Null) => Cell::new(self.none),
            Some(value) => (self.look)(value, now),
        }
    }
}

/// As it is: text without its quotes, numbers, lists joined by commas.
pub(crate) fn plain(value: &Value, _: Timestamp) -> Cell {
    Cell::new(text(value))
}

/// The same, standing back.
pub(crate) fn faint(value: &Value, now: Timestamp) -> Cell {
    plain(value, now).ink(Ink::Faint)
}

/// The same, as something that is wrong.
pub(crate) fn bad(value: &Value, now: Timestamp) -> Cell {
    plain(value, now).ink(Ink::Bad)
}

pub(crate) fn at(value: &Value, _: Timestamp) -> Cell {
    Cell::new(instant_of(value))
}

/// How far away an instant is.
pub(crate) fn ago(value: &Value, now: Timestamp) -> Cell {
    Cell::new(time(value).map_or_else(String::new, |at| Relative { at, now }.to_string()))
}

/// An instant, and how far away it is.
pub(crate) fn moment(value: &Value, now: Timestamp) -> Cell {
    Cell::new(time(value).map_or_else(String::new, |at| moment_of(at, now)))
}

/// A state, in the ink that it has everywhere.
pub(crate) fn state(state: &Value, now: Timestamp) -> Cell {
    plain(state, now).ink(match state.as_str().unwrap_or_default() {
        "active" | "published" | "confirmed" => Ink::Good,
        "parked" | "empty" | "failed" | "unknown" => Ink::Bad,
        "removed" | "ended" | "archived" | "skipped" => Ink::Faint,
        _ => Ink::Notable,
    })
}

/// The ink of a task, by its status; a failure is bad once it is final.
pub(crate) fn status_ink(task: &Value) -> Ink {
    match (task["status"].as_str(), task["live"] == true) {
        (Some("SUCCESS"), _) => Ink::Good,
        (Some("FAIL"), false) => Ink::Bad,
        (Some("FAIL" | "RUNNING"), _) => Ink::Notable,
        (Some("CANCELLED"), _) => Ink::Faint,
        _ => Ink::Plain,
    }
}

/// The text of a value.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(text).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

/// `3 active, 1 paused`, or `none`.
pub(crate) fn joined(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        return "none".to_owned();
    }
    words.join(", ")
}

/// `1 entry`, `2 entries`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{count} {word}")
}

/// The items of a list; empty for anything else.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A value as an instant.
pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}

/// The status of a task in words; the API and `--status` keep the constants.
pub(crate) fn status_word(status: &str) -> &str {
    match status {
        "INIT" => "Waiting",
        "RUNNING" => "Running",
        "SUCCESS" => "Done",
        "FAIL" => "Failed",
        "CANCELLED" => "Cancelled",
        other => other,
    }
}

/// An instant for people: to the second, in UTC.
pub(crate) fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// The same of a value.
pub(crate) fn instant_of(value: &Value) -> String {
    time(value).map_or_else(String::new, instant)
}

/// An instant, and how far away it is.
pub(crate) fn moment_of(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", instant(at), Relative { at, now })
}
