//! Lists of tables in the file, `[[schedule]]` and `[[source]]`: each is read by the shapes of its
//! fields, with the place of every value, and with everything that is wrong with it.

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    file::cover,
    report::{Place, Problem},
    schedule::shape::{self, Field},
    secret,
    sources::shape::READING,
    table::Shape,
    value,
};

/// A table whose keys depend on one of them.
pub(super) struct Variants {
    /// The key that decides.
    pub(super) by: &'static Field,
    /// The keys for each of its values.
    pub(super) fields: fn(&str) -> &'static [Field],
    pub(super) example: &'static str,
}

/// One table, being read.
pub(super) struct Item<'a> {
    written: &'a Spanned<DeValue<'a>>,
    /// Its name in error messages.
    pub(super) title: String,
    /// The place of each value, by its path: `grace`, `target.url`.
    pub(super) spans: BTreeMap<String, Range<usize>>,
    pub(super) problems: Vec<Problem>,
    /// Bytes of the file that must not be shown.
    pub(super) covered: Vec<Range<usize>>,
}

impl<'a> Item<'a> {
    pub(super) fn new(title: String, written: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            written,
            title,
            spans: BTreeMap::new(),
            problems: Vec::new(),
            covered: Vec::new(),
        }
    }

    /// The table that it must be.
    pub(super) fn table(&mut self, expected: &str) -> Option<&'a DeTable<'a>> {
        let written = self.written;
        if let DeValue::Table(table) = written.get_ref() {
            return Some(table);
        }
        let what = format!("{}: expected a table", self.title);
        self.problems.push(at(what, written.span()).hint(expected));
        None
    }

    /// The values of a table by the shapes of its fields.
    pub(super) fn fields(
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
                Shape::Target => self.variant(field.name, &shape::TARGET, value),
                Shape::Retry => self.retry(field.name, value),
                Shape::Reading => self.variant(field.name, &READING, value),
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
        self.cover_secrets(field, value);
        match shape::read(&field.shape, value) {
            Ok(found) => Some(found),
            // To leave it out, as the general advice is, would not help.
            Err(problem) => match field.needed.filter(|_| is_empty(value)) {
                Some(example) => self.refuse(path, problem.hint(example)),
                None => self.refuse(path, problem),
            },
        }
    }

    /// A value that may be a secret is not shown, unless it only says where one is kept.
    fn cover_secrets(&mut self, field: &Field, value: &Spanned<DeValue<'_>>) {
        match (&field.shape, value.get_ref()) {
            (Shape::Secret, DeValue::String(text)) if secret::is_reference(text) => {}
            (Shape::Secret, _) => cover(&mut self.covered, value),
            (_, DeValue::String(text)) if secret::has_password(text) => {
                cover(&mut self.covered, value);
            }
            (Shape::Headers, DeValue::Table(table)) => {
                let is_secret =
                    |value: &DeValue<'_>| !value.as_str().is_some_and(secret::is_reference);
                let secrets = table.iter().filter(|(_, value)| is_secret(value.get_ref()));
                secrets.for_each(|(_, value)| cover(&mut self.covered, value));
            }
            _ => {}
        }
    }

    fn retry(&mut self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let DeValue::Table(table) = value.get_ref() else {
            let example = "for example retry = { count = 3, backoff = \"10s\" }";
            return self.refuse(name, Problem::new("expected a table", example));
        };
        let read = self.fields(&format!("{name}."), table, shape::RETRY);
        Some(Value::Object(read))
    }

    fn variant(
        &mut self,
        name: &str,
        variants: &Variants,
        value: &Spanned<DeValue<'_>>,
    ) -> Option<Value> {
        let (by, example) = (variants.by.name, variants.example);
        let DeValue::Table(table) = value.get_ref() else {
            return self.refuse(name, Problem::new("expected a table", example));
        };
        let Some((_, which)) = table.iter().find(|(key, _)| key.get_ref() == by) else {
            let problem = Problem::new(format!("the {by} is missing"), example);
            return self.refuse(name, problem);
        };
        let path = format!("{name}.{by}");
        self.spans.insert(path.clone(), which.span());
        let which = self.value(&path, variants.by, which)?;
        let fields = (variants.fields)(which.as_str().unwrap_or_default());
        let mut read = self.fields(&format!("{name}."), table, fields);
        read.insert(by.to_owned(), which);
        Some(Value::Object(read))
    }

    /// Refuses the value at `path`.
    pub(super) fn refuse<T>(&mut self, path: &str, problem: Problem) -> Option<T> {
        let what = format!("{path}: {}", problem.what);
        self.point(path, Problem { what, ..problem });
        None
    }

    /// Points at the value at `path`, or at the nearest thing there is.
    pub(super) fn point(&mut self, path: &str, problem: Problem) {
        let parent = path.split('.').next().unwrap_or(path);
        let known = self.spans.get(path).or_else(|| self.spans.get(parent));
        let span = known.cloned().unwrap_or_else(|| self.written.span());
        self.problems.push(Problem {
            what: format!("{}: {}", self.title, problem.what),
            place: problem.place.or(Some(Place::File { span })),
            ..problem
        });
    }

    fn unknown(&mut self, path: &str, key: &str, span: Range<usize>, fields: &[Field]) {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let hint = value::known(key, &names);
        let what = format!("{}: unknown key `{path}`", self.title);
        self.problems.push(at(what, span).hint(hint));
    }
}

fn is_empty(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::String(text) if text.is_empty())
}

pub(super) fn at(what: impl Into<String>, span: Range<usize>) -> Problem {
    Problem::error(what, Some(Place::File { span }))
}
