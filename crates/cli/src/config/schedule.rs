//! `[[schedule]]` in the file: schedules as people write them, each checked for itself.
//!
//! Unlike a setting, an invalid schedule prevents no start (DP-18): `serve` runs the valid ones and
//! reports the others, while `check` counts every problem. So schedules are separate from the
//! settings, and so are their problems.
//!
//! Every value is first read by its [`Shape`], which knows the place and the words for a refusal,
//! and only then put together to a definition.

pub(super) mod fault;
pub(super) mod idle;
pub(crate) mod shape;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use almanack_core::plan::{Definition, ScheduleName, Unfit};
use almanack_engine::{schedules::Wanted, zones::Zones};
use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    file::cover,
    report::{Place, Problem},
    secret,
    table::Shape,
    value,
};
use shape::{Field, SCHEDULE, TARGET_TYPE_FIELD, fields_of_target};

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
    /// Where the kinds of the valid ones are written: only the settings know which kinds exist.
    kinds: BTreeMap<ScheduleName, Range<usize>>,
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
pub(super) fn read(value: &Spanned<DeValue<'_>>, text: &str) -> (FileSchedules, Vec<Range<usize>>) {
    let mut found = FileSchedules::default();
    let mut covered = Vec::new();
    let DeValue::Array(items) = value.get_ref() else {
        let what = "`schedule` is a list of tables";
        found.problems.push(at(what, value.span()).hint(EXPECTED));
        return (found, covered);
    };
    let zones = Zones::default();
    for (index, item) in items.iter().enumerate() {
        let mut reading = Reading::new(index + 1, item, text);
        match reading.schedule(&zones) {
            Some(wanted) if found.wanted.iter().any(|it| it.name == wanted.name) => {
                let what = "an earlier schedule has the same name";
                reading.refuse::<()>("name", Problem::new(what, "give each a different name"));
            }
            Some(wanted) => {
                let place = reading.spans.remove("target.kind");
                found
                    .kinds
                    .extend(place.map(|span| (wanted.name.clone(), span)));
                found.wanted.push(wanted);
            }
            None => found.keep.extend(reading.name.take()),
        }
        found.problems.append(&mut reading.problems);
        covered.append(&mut reading.covered);
    }
    (found, covered)
}

fn is_empty(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::String(text) if text.is_empty())
}

fn at(what: impl Into<String>, span: Range<usize>) -> Problem {
    Problem::error(what, Some(Place::File { span }))
}

/// One table, being read.
struct Reading<'a> {
    item: &'a Spanned<DeValue<'a>>,
    text: &'a str,
    /// Its name in error messages.
    title: String,
    name: Option<ScheduleName>,
    /// The place of each value, by its path: `grace`, `target.url`.
    spans: BTreeMap<String, Range<usize>>,
    problems: Vec<Problem>,
    covered: Vec<Range<usize>>,
}

impl<'a> Reading<'a> {
    fn new(number: usize, item: &'a Spanned<DeValue<'a>>, text: &'a str) -> Self {
        Self {
            item,
            text,
            title: format!("schedule #{number}"),
            name: None,
            spans: BTreeMap::new(),
            problems: Vec::new(),
            covered: Vec::new(),
        }
    }

    /// The schedule, unless something is wrong with it.
    fn schedule(&mut self, zones: &Zones) -> Option<Wanted> {
        let item = self.item;
        let DeValue::Table(table) = item.get_ref() else {
            let what = format!("{}: expected a table", self.title);
            self.problems.push(at(what, item.span()).hint(EXPECTED));
            return None;
        };
        self.read_name(table);
        let mut given = self.fields("", table, SCHEDULE);
        given.remove("name");
        let name = self.name.clone().filter(|_| self.problems.is_empty())?;
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
                    self.title = format!("schedule `{name}`");
                    self.name = Some(name);
                }
                Err(unfit) => {
                    self.spans.insert("name".to_owned(), value.span());
                    self.unfit(&unfit);
                }
            }
        }
    }

    /// The values of a table by the shapes of its fields.
    fn fields(
        &mut self,
        prefix: &str,
        table: &DeTable<'_>,
        fields: &[Field],
    ) -> Map<String, Value> {
        let mut read = Map::new();
        for (key, value) in table {
            let path = format!("{prefix}{}", key.get_ref());
            let Some(field) = fields.iter().find(|field| field.name == key.get_ref()) else {
                cover(&mut self.covered, value);
                self.unknown(&path, key.get_ref(), key.span(), fields);
                continue;
            };
            self.spans.insert(path.clone(), value.span());
            let found = match field.shape {
                Shape::Target => self.target(value),
                _ => self.value(&path, field, value),
            };
            read.extend(found.map(|found| (field.name.to_owned(), found)));
        }
        for field in fields {
            let path = format!("{prefix}{}", field.name);
            if let Some(example) = field.needed.filter(|_| !self.spans.contains_key(&path)) {
                self.refuse::<()>(&path, Problem::new("is missing", example));
            }
        }
        read
    }

    fn value(&mut self, path: &str, field: &Field, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        if let DeValue::String(text) = value.get_ref()
            && secret::has_password(text)
        {
            cover(&mut self.covered, value);
        }
        match shape::read(&field.shape, value) {
            Ok(found) => Some(found),
            // To leave it out, as the general advice is, would not help.
            Err(problem) => match field.needed.filter(|_| is_empty(value)) {
                Some(example) => self.refuse(path, problem.hint(example)),
                None => self.refuse(path, problem),
            },
        }
    }

    fn target(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let DeValue::Table(table) = value.get_ref() else {
            let problem = Problem::new("expected a table", shape::TARGET_EXAMPLE);
            return self.refuse("target", problem);
        };
        let Some((_, type_name)) = table.iter().find(|(key, _)| key.get_ref() == "type") else {
            let problem = Problem::new("the type is missing", shape::TARGET_EXAMPLE);
            return self.refuse("target", problem);
        };
        self.spans
            .insert("target.type".to_owned(), type_name.span());
        let type_name = self.value("target.type", &TARGET_TYPE_FIELD[0], type_name)?;
        let fields = fields_of_target(type_name.as_str().unwrap_or_default());
        let mut read = self.fields("target.", table, fields);
        read.insert("type".to_owned(), type_name);
        Some(Value::Object(read))
    }

    /// The shapes have checked every value; what is left to serde is to put them together.
    fn definition(&mut self, given: Value) -> Option<Definition> {
        match serde_path_to_error::deserialize::<_, Definition>(given) {
            Ok(definition) => Some(definition),
            Err(error) => {
                let path = error.path().to_string();
                self.refuse(&path, Problem::error(error.into_inner().to_string(), None))
            }
        }
    }

    /// Refuses the value at `path`.
    fn refuse<T>(&mut self, path: &str, problem: Problem) -> Option<T> {
        let what = format!("{path}: {}", problem.what);
        self.point(path, Problem { what, ..problem });
        None
    }

    /// Points at the value at `path`, or at the nearest thing there is.
    fn point(&mut self, path: &str, problem: Problem) {
        let parent = path.split('.').next().unwrap_or(path);
        let known = self.spans.get(path).or_else(|| self.spans.get(parent));
        let span = known.cloned().unwrap_or_else(|| self.item.span());
        self.problems.push(Problem {
            what: format!("{}: {}", self.title, problem.what),
            place: problem.place.or(Some(Place::File { span })),
            ..problem
        });
    }

    fn unfit(&mut self, unfit: &Unfit) {
        let mut problem = fault::problem(unfit);
        if let (Unfit::Expression { expression, error }, Some(span)) =
            (unfit, self.spans.get("expression"))
        {
            let part = fault::inside(self.text, span, expression, error.span);
            problem.place = part.map(|span| Place::File { span });
        }
        self.point(unfit.path(), problem);
    }

    fn unknown(&mut self, path: &str, key: &str, span: Range<usize>, fields: &[Field]) {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let hint = value::known(key, &names);
        let what = format!("{}: unknown key `{path}`", self.title);
        self.problems.push(at(what, span).hint(hint));
    }
}
