//! `[[schedule]]` in the file: schedules as people write them, each checked for itself.
//!
//! Unlike a setting, an invalid schedule prevents no start (DP-18): `serve` runs the valid ones and
//! reports the others, while `check` counts every problem. So schedules are separate from the
//! settings, and so are their problems.
//!
//! Every value is first read by its `Shape`, which knows the place and the words for a refusal,
//! and only then put together to a definition.

pub(crate) mod advice;
pub(super) mod fault;
pub(super) mod idle;
pub(crate) mod shape;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use almanack_core::{
    calendar::Calendars,
    lang::reader::in_english,
    plan::{Definition, ScheduleName, Unfit},
};
use almanack_engine::{schedules::Wanted, zones::Zones};
use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    list::{Item, at},
    report::{Place, Problem},
};
use shape::SCHEDULE;

/// What the tables are called.
pub(crate) const SCHEDULES: &str = "schedule";
const EXPECTED: &str = "write `[[schedule]]` on its own line, then `name = …`";

/// The schedules of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileSchedules {
    /// Those that can be kept, in the order of the file. No two have the same name.
    pub(crate) wanted: Vec<Wanted>,
    /// What is wrong with the others.
    pub(crate) problems: Vec<Problem>,
    /// The names of those others, where they have one: they are neither changed nor removed.
    pub(crate) keep: BTreeSet<ScheduleName>,
    /// Where the values of the valid ones are written, by their paths: some warnings need the
    /// settings or the time.
    places: BTreeMap<ScheduleName, BTreeMap<String, Range<usize>>>,
}

impl FileSchedules {
    /// Refuses a schedule of this name, if the name is taken.
    pub(super) fn leave_name(&mut self, name: &str, taken: bool) {
        let before = self.wanted.len();
        if taken {
            self.wanted.retain(|wanted| wanted.name.as_str() != name);
        }
        if self.wanted.len() < before {
            let what = format!("schedule `{name}`: the name is taken by the ticks of [edition]");
            let problem = Problem::error(what, None);
            self.problems.push(problem.hint("give it another name"));
        }
    }
}

/// Reads the schedules, and which bytes of the file must not be shown.
pub(super) fn read(
    value: &Spanned<DeValue<'_>>,
    text: &str,
    calendars: Calendars,
) -> (FileSchedules, Vec<Range<usize>>) {
    let mut found = FileSchedules::default();
    let mut covered = Vec::new();
    let DeValue::Array(items) = value.get_ref() else {
        let what = "`schedule` is a list of tables";
        found.problems.push(at(what, value.span()).hint(EXPECTED));
        return (found, covered);
    };
    let zones = Zones::with_calendars(calendars);
    for (index, item) in items.iter().enumerate() {
        let mut reading = Reading::new(index + 1, item, text);
        match reading.schedule(&zones) {
            Some(wanted) if found.wanted.iter().any(|it| it.name == wanted.name) => {
                let what = "an earlier schedule has the same name";
                let problem = Problem::new(what, "give each a different name");
                reading.table.refuse::<()>("name", problem);
            }
            Some(wanted) => {
                let places = std::mem::take(&mut reading.table.spans);
                found.places.insert(wanted.name.clone(), places);
                found.wanted.push(wanted);
            }
            None => found.keep.extend(reading.name.take()),
        }
        found.problems.append(&mut reading.table.problems);
        covered.append(&mut reading.table.covered);
    }
    (found, covered)
}

/// One table, being read.
struct Reading<'a> {
    table: Item<'a>,
    text: &'a str,
    name: Option<ScheduleName>,
}

impl<'a> Reading<'a> {
    fn new(number: usize, item: &'a Spanned<DeValue<'a>>, text: &'a str) -> Self {
        Self {
            table: Item::new(format!("schedule #{number}"), item),
            text,
            name: None,
        }
    }

    /// The schedule, unless something is wrong with it.
    fn schedule(&mut self, zones: &Zones) -> Option<Wanted> {
        let table = self.table.table(EXPECTED)?;
        self.read_name(table);
        let mut given = self.table.fields("", table, SCHEDULE);
        given.remove("name");
        let is_good = self.table.problems.is_empty();
        let name = self.name.clone().filter(|_| is_good)?;
        let definition = self.definition(Value::Object(given))?;
        match zones.ready(&name, definition) {
            Ok(ready) => Some(Wanted {
                name,
                definition: ready.definition,
            }),
            Err(unfit) => {
                self.unfit(&unfit);
                None
            }
        }
    }

    /// The name first: complaints about the rest use it.
    fn read_name(&mut self, table: &DeTable<'_>) {
        let entry = table.iter().find(|(key, _)| key.get_ref() == "name");
        let Some((_, value)) = entry else {
            return;
        };
        if let DeValue::String(text) = value.get_ref() {
            match ScheduleName::parse(text) {
                Ok(name) => {
                    self.table.title = format!("schedule `{name}`");
                    self.name = Some(name);
                }
                Err(unfit) => {
                    self.table.spans.insert("name".to_owned(), value.span());
                    self.unfit(&unfit);
                }
            }
        }
    }

    /// The shapes have checked every value; what is left to serde is to put them together.
    fn definition(&mut self, given: Value) -> Option<Definition> {
        match serde_path_to_error::deserialize::<_, Definition>(given) {
            Ok(definition) => Some(definition),
            Err(error) => {
                let path = error.path().to_string();
                let problem = Problem::error(in_english(error.inner()), None);
                self.table.refuse(&path, problem)
            }
        }
    }

    fn unfit(&mut self, unfit: &Unfit) {
        let mut problem = fault::problem(unfit);
        if let (Unfit::Expression { expression, error }, Some(span)) =
            (unfit, self.table.spans.get("expression"))
        {
            let part = fault::inside(self.text, span, expression, error.span);
            let is_first = self.text.get(span.clone());
            let is_first = is_first.is_some_and(|written| written.contains(expression.as_str()));
            if !is_first && self.table.spans.contains_key("also") {
                return self.table.point("also", problem);
            }
            problem.place = part.map(|span| Place::File { span });
        }
        self.table.point(unfit.path(), problem);
    }
}
