//! `[[calendar]]` in the file: named sets of days, each checked for itself.
//!
//! As of schedules, an invalid calendar prevents no start. An iCalendar file is read with the
//! configuration, so the store keeps its text, and every node plans by the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use almanack_core::calendar::{Calendar, Calendars, Definition, Unfit, check_name};
use almanack_core::lang::reader::in_english;
use serde_json::Value;
use toml::{Spanned, de::DeValue};

use super::{
    list::{Item, at},
    report::Problem,
    schedule::shape::{Field, fields},
    table::Shape,
};

/// What the tables are called.
pub(crate) const CALENDARS: &str = "calendar";
const EXPECTED: &str = "write `[[calendar]]` on its own line, then `name = …`";

/// The keys of `[[calendar]]`.
pub(crate) const CALENDAR: &[Field] = fields! {
    /// Name of the calendar; schedules name it in `except` and `only`.
    /// 日历的名称，供调度的 `except` 和 `only` 引用。
    "name": Shape::Text, "for example name = \"holidays\"";
    /// Single days: `{ on = "2026-12-24", name = "Christmas Eve" }`.
    /// 单个日期：`{ on = "2026-12-24", name = "平安夜" }`。
    "dates": Shape::Anything;
    /// Days of every week: `["saturday", "sunday"]`.
    /// 每周的日子：`["saturday", "sunday"]`。
    "weekdays": Shape::Anything;
    /// iCalendar file whose all-day events are its days; relative to this file.
    /// iCalendar 文件，其全天事件即为日历中的日子；相对于本文件。
    "ical": Shape::Text;
    /// Address of an iCalendar file, read again every 6 h.
    /// iCalendar 文件的地址，每 6 小时重新读取。
    "url": Shape::Text;
};

/// The calendars of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileCalendars {
    pub(crate) wanted: BTreeMap<String, Definition>,
    /// What is wrong with the others.
    pub(crate) problems: Vec<Problem>,
    /// The names of those others, where they have one: they stay unchanged.
    pub(crate) keep: BTreeSet<String>,
    /// The iCalendar files that were read.
    pub(crate) files: Vec<PathBuf>,
    /// What addresses last answered, by address: nodes read them, and the store keeps the answers.
    pub(crate) copies: BTreeMap<String, String>,
}

impl FileCalendars {
    /// What schedules can be checked by. The days of an address may not be known here; a schedule
    /// that uses it is as good as any.
    pub(crate) fn compiled(&self) -> Calendars {
        let compiled = self.wanted.iter().map(|(name, definition)| {
            let compiled = match Calendar::new(name, definition, self.copy_of(definition)) {
                Err(Unfit::Unread) => Ok(Calendar::unread(name)),
                compiled => compiled,
            };
            (name.clone(), compiled.map(Arc::new))
        });
        compiled.collect()
    }

    /// The calendars whose days this process does not know.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &str> {
        let is_unread = |it: &Definition| it.url.is_some() && self.copy_of(it).is_none();
        let unread = self.wanted.iter().filter(move |(_, it)| is_unread(it));
        unread.map(|(name, _)| name.as_str())
    }

    /// What the address of a calendar last answered.
    fn copy_of(&self, definition: &Definition) -> Option<&str> {
        let copy = self.copies.get(definition.url.as_ref()?)?;
        Some(copy.as_str())
    }

    /// Adds what is stored: calendars that the file does not name, and what addresses answered.
    pub(crate) fn add_stored(&mut self, stored: Self) {
        self.copies.extend(stored.copies);
        for (name, definition) in stored.wanted {
            self.wanted.entry(name).or_insert(definition);
        }
    }
}

/// Reads the calendars; `folder` is where the file is.
pub(super) fn read(
    value: &Spanned<DeValue<'_>>,
    folder: &Path,
) -> (FileCalendars, Vec<Range<usize>>) {
    let mut found = FileCalendars::default();
    let mut covered = Vec::new();
    let DeValue::Array(items) = value.get_ref() else {
        let what = "`calendar` is a list of tables";
        found.problems.push(at(what, value.span()).hint(EXPECTED));
        return (found, covered);
    };
    for (index, item) in items.iter().enumerate() {
        let mut table = Item::new(format!("calendar #{}", index + 1), item);
        let read = one(&mut table, folder, &mut found.files);
        match read {
            Some((name, _)) if found.wanted.contains_key(&name) => {
                let what = "an earlier calendar has the same name";
                table.refuse::<()>("name", Problem::new(what, "give each a different name"));
            }
            Some((name, Some(definition))) => _ = found.wanted.insert(name, definition),
            Some((name, None)) => _ = found.keep.insert(name),
            None => {}
        }
        found.problems.append(&mut table.problems);
        covered.append(&mut table.covered);
    }
    (found, covered)
}

/// One table: its name, and its definition unless something is wrong with it.
fn one(
    table: &mut Item<'_>,
    folder: &Path,
    files: &mut Vec<PathBuf>,
) -> Option<(String, Option<Definition>)> {
    let written = table.table(EXPECTED)?;
    let mut given = table.fields("", written, CALENDAR);
    let name = given.remove("name")?.as_str()?.to_owned();
    table.title = format!("calendar `{name}`");
    if let Err(unfit) = check_name(&name) {
        table.point("name", Problem::error(unfit.to_string(), None));
        return None;
    }
    if !table.problems.is_empty() {
        return Some((name, None));
    }
    if let Some(path) = given.get("ical").and_then(Value::as_str) {
        let path = folder.join(path);
        match std::fs::read_to_string(&path) {
            Ok(text) => _ = given.insert("ical".to_owned(), text.into()),
            Err(error) => {
                let what = format!("cannot read `{}`: {error}", path.display());
                table.refuse::<()>("ical", Problem::error(what, None));
            }
        }
        files.push(path);
        if !table.problems.is_empty() {
            return Some((name, None));
        }
    }
    let read = serde_path_to_error::deserialize::<_, Definition>(Value::Object(given));
    let checked = match read {
        Ok(definition) => match definition.check() {
            Ok(()) => Some(definition),
            Err(unfit) => {
                table.point(unfit.path(), Problem::error(unfit.to_string(), None));
                None
            }
        },
        Err(error) => {
            let path = error.path().to_string();
            let path = path.split(['[', '.']).next().unwrap_or_default().to_owned();
            table.refuse(&path, Problem::error(in_english(error.inner()), None))
        }
    };
    Some((name, checked.filter(|_| table.problems.is_empty())))
}
