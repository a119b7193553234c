//! The file as a layer: `almanack.toml` read with the place of every value.
//!
//! The document is walked by hand instead of being deserialized into structs, because serde stops
//! at the first error and we report them all.

mod subscription;

use std::{ops::Range, path::Path};

use toml::{
    Spanned,
    de::{DeInteger, DeString, DeTable, DeValue},
};

use almanack_core::{edition::EditionName, task::Kind};

use super::{
    calendar::{self, CALENDARS, FileCalendars},
    key::{self, EDITION, EDITIONS, KINDS, KeyPath, SUBSCRIPTIONS, Shown},
    layer::{Given, Layer, Raw},
    report::{Place, Problem},
    schedule::{self, FileSchedules, SCHEDULES},
    secret,
    source::Source,
    sources::{self, FileSources, SOURCES},
    value,
};
use crate::suggest;

type Entry<'a> = (&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>);

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// Its settings.
    pub(crate) layer: Layer,
    /// Problems with their shape.
    pub(crate) problems: Vec<Problem>,
    /// Its schedules, and what is wrong with them.
    pub(crate) schedules: FileSchedules,
    /// Its sources, and what is wrong with them.
    pub(crate) sources: FileSources,
    /// Its calendars, and what is wrong with them.
    pub(crate) calendars: FileCalendars,
}

/// Reads everything, and covers in `source` what must not be shown.
pub(crate) fn read(source: &mut Source) -> Document {
    let text = source.text().to_owned();
    let (document, errors) = DeTable::parse_recoverable(&text);
    let mut walk = Walk::default();
    let folder = Path::new(&source.name).parent().unwrap_or(Path::new(""));
    // First: schedules are checked by them.
    let is_calendars = |(name, _): &Entry<'_>| name.get_ref() == CALENDARS;
    if let Some((_, value)) = document.get_ref().iter().find(is_calendars) {
        let (calendars, covered) = calendar::read(value, folder);
        walk.calendars = calendars;
        walk.covered.extend(covered);
    }
    for (name, value) in document.get_ref() {
        if name.get_ref() == CALENDARS {
            continue;
        }
        if name.get_ref() == SCHEDULES {
            let compiled = walk.calendars.compiled();
            let (schedules, covered) = schedule::read(value, &text, compiled);
            walk.schedules = schedules;
            walk.covered.extend(covered);
        } else if name.get_ref() == SOURCES {
            let (sources, covered) = sources::read(value);
            walk.sources = sources;
            walk.covered.extend(covered);
        } else if name.get_ref() == SUBSCRIPTIONS {
            walk.subscriptions(value);
        } else if name.get_ref() == EDITIONS {
            walk.editions(value);
        } else {
            walk.section((name, value));
        }
    }
    let mut syntax = Vec::new();
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        cover_broken_line(source, &text, span.start);
        syntax.push(syntax_problem(error.message(), &text, span));
    }
    // Past a syntax error the parser guesses; complaints about its guesses would only confuse.
    let broken: Vec<usize> = syntax.iter().filter_map(|p| line_of(source, p)).collect();
    walk.layer.retain(|_, given| match &given.place {
        Place::File { span } => !broken.contains(&source.position(span.start).line),
        _ => true,
    });
    walk.problems
        .retain(|p| line_of(source, p).is_none_or(|line| !broken.contains(&line)));
    for span in walk.covered {
        source.cover(span);
    }
    let (schedules, sources, calendars) = if syntax.is_empty() {
        (walk.schedules, walk.sources, walk.calendars)
    } else {
        Default::default()
    };
    syntax.extend(walk.problems);
    Document {
        layer: walk.layer,
        problems: syntax,
        schedules,
        sources,
        calendars,
    }
}

fn syntax_problem(message: &str, text: &str, span: Range<usize>) -> Problem {
    let place = Some(Place::File { span: span.clone() });
    if message.contains("duplicate key") {
        let name = text.get(span).unwrap_or("a key").trim();
        return Problem::error(format!("`{name}` is set twice"), place)
            .hint("set a key only once in its table; remove one of them");
    }
    if message.contains("must be quoted") || message.contains("unquoted") {
        return Problem::error("text must be quoted", place).hint("for example \"30s\"");
    }
    Problem::error(message.trim_end(), place)
}

fn line_of(source: &Source, problem: &Problem) -> Option<usize> {
    match &problem.place {
        Some(Place::File { span }) => Some(source.position(span.start).line),
        _ => None,
    }
}

/// On an invalid line the value is unknown; unless its key is one of ours and harmless, it may be a
/// secret without quotes.
fn cover_broken_line(source: &mut Source, text: &str, byte: usize) {
    let byte = (0..=byte.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0);
    let start = text[..byte].rfind('\n').map_or(0, |at| at + 1);
    let end = text[byte..].find('\n').map_or(text.len(), |at| byte + at);
    let Some(equals) = text[start..end].find('=').map(|at| start + at) else {
        return;
    };
    let name = text[start..equals].rsplit('.').next().unwrap_or("").trim();
    let harmless = key::KEYS
        .iter()
        .any(|key| key.name == name && key.shown() == Shown::Whole);
    if !harmless || secret::has_password(&text[equals..end]) {
        let value = text[equals + 1..end].trim();
        let value_start = end - text[equals + 1..end].trim_start().len();
        source.cover(value_start..value_start + value.len());
    }
}

#[derive(Default)]
struct Walk {
    layer: Layer,
    schedules: FileSchedules,
    sources: FileSources,
    calendars: FileCalendars,
    problems: Vec<Problem>,
    covered: Vec<Range<usize>>,
}

impl Walk {
    fn section(&mut self, (name, value): Entry<'_>) {
        let given = name.get_ref().as_ref();
        if !key::sections().contains(&given) && key::inside(given).is_empty() {
            cover(&mut self.covered, value);
            let is_table = matches!(value.get_ref(), DeValue::Table(_));
            return self.unknown_section(name, is_table);
        }
        self.table(given, None, value);
    }

    /// The tables of editions with names: each has the keys of `[edition]`.
    fn editions(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Table(table) = value.get_ref() else {
            let hint = "write `[editions.NAME]` for each edition that has a name";
            return self.refuse(value, "`editions` holds one section per edition", hint);
        };
        for (name, value) in table {
            let given = name.get_ref().as_ref();
            match EditionName::parse(given) {
                Ok(named) if named.is_default() => {
                    let what = "the edition `default` is configured in [edition]";
                    self.refuse(value, what, "move these keys to [edition]");
                }
                Ok(_) => self.table(EDITION, Some(given), value),
                Err(error) => {
                    cover(&mut self.covered, value);
                    let hint = "for example [editions.weekly]";
                    self.complain(format!("`{given}`: {error}"), name.span(), hint);
                }
            }
        }
    }

    /// The table of the section of this name, with the sections inside it.
    fn table(&mut self, section: &str, which: Option<&str>, value: &Spanned<DeValue<'_>>) {
        let shown = table_name(section, which);
        let DeValue::Table(table) = value.get_ref() else {
            let hint = format!("write `[{shown}]` on its own line");
            return self.refuse(value, format!("`{shown}` is a section, not a value"), hint);
        };
        let inside = key::inside(section);
        if table.is_empty() {
            self.note_empty(section, which, value.span());
        }
        for (name, value) in table {
            if section == KINDS {
                self.kind((name, value));
            } else if inside.contains(&name.get_ref().as_ref()) {
                self.table(&format!("{section}.{}", name.get_ref()), which, value);
            } else {
                self.value(section, which, (name, value));
            }
        }
    }

    /// An empty table says something only where all its keys are inherited: in a named edition.
    fn note_empty(&mut self, section: &str, which: Option<&str>, span: Range<usize>) {
        let known = key::sections().into_iter().find(|known| *known == section);
        let Some((section, name)) = known.zip(which) else {
            return;
        };
        let path = KeyPath::in_table(section, Some(name), key::WHOLE);
        let (raw, place) = (Raw::Other("a section"), Place::File { span });
        if path.is_within(EDITION) {
            self.layer.insert(path, Given { raw, place });
        }
    }

    fn kind(&mut self, (name, value): Entry<'_>) {
        let kind = name.get_ref().as_ref();
        if let Err(error) = Kind::parse(kind) {
            cover(&mut self.covered, value);
            let hint = "for example [kinds.ARTICLE_PUBLISH]";
            return self.complain(error.to_string(), name.span(), hint);
        }
        let DeValue::Table(table) = value.get_ref() else {
            let what = format!("`{kind}` in [kinds] is a section, not a value");
            return self.refuse(
                value,
                what,
                format!("write `[kinds.{kind}]`, then `url = …`"),
            );
        };
        for entry in table {
            self.value(KINDS, Some(kind), entry);
        }
    }

    fn value(&mut self, section: &str, kind: Option<&str>, (name, value): Entry<'_>) {
        let Some(key) = key::find(section, name.get_ref()) else {
            cover(&mut self.covered, value);
            return self.unknown_key(section, kind, name);
        };
        let raw = raw(value.get_ref());
        let reference = raw.as_text().is_some_and(secret::is_reference);
        let covered = match key.shown() {
            Shown::Whole => false,
            Shown::Host => raw.texts().any(|text| secret::only_host(text) != text),
            Shown::Never => true,
        };
        if (covered && !reference) || raw.texts().any(secret::has_password) {
            cover(&mut self.covered, value);
        }
        let place = Place::File { span: value.span() };
        self.layer
            .insert(KeyPath::of(key, kind), Given { raw, place });
    }

    fn unknown_section(&mut self, name: &Spanned<DeString<'_>>, is_table: bool) {
        let given = name.get_ref();
        let home = key::KEYS
            .iter()
            .find(|key| key.name == given.as_ref() && !key::is_named(key.section));
        let hint = match (suggest::nearest(given, key::sections()), home) {
            (None, Some(key)) => format!("`{given}` belongs in [{}]", key.section),
            _ => value::known(given, &key::sections()),
        };
        let what = if is_table {
            format!("unknown section `{given}`")
        } else {
            format!("unknown key `{given}` outside of any section")
        };
        self.complain(what, name.span(), hint);
    }

    fn unknown_key(&mut self, section: &str, kind: Option<&str>, name: &Spanned<DeString<'_>>) {
        let given = name.get_ref();
        let names = key::keys_of(section).map(|key| key.name);
        let names: Vec<&str> = names.chain(key::inside(section)).collect();
        let hint = value::known(given, &names);
        let table = table_name(section, kind);
        self.complain(
            format!("unknown key `{given}` in [{table}]"),
            name.span(),
            hint,
        );
    }

    fn complain(&mut self, what: impl Into<String>, span: Range<usize>, hint: impl Into<String>) {
        let problem = Problem::error(what, Some(Place::File { span }));
        self.problems.push(problem.hint(hint));
    }

    /// Refuses a value that may be anything.
    fn refuse(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        cover(&mut self.covered, value);
        self.complain(what, value.span(), hint);
    }
}

/// What a table is called in the file; `which` says of which of several.
fn table_name(section: &str, which: Option<&str>) -> String {
    match (which, section.strip_prefix(EDITION)) {
        (None, _) => section.to_owned(),
        (Some(edition), Some(inside)) => format!("{EDITIONS}.{edition}{inside}"),
        (Some(kind), None) => format!("{section}.{kind}"),
    }
}

/// Covers a value: an unknown key may hold anything, even a secret. A table's own span may be its
/// header only.
pub(super) fn cover(covered: &mut Vec<Range<usize>>, value: &Spanned<DeValue<'_>>) {
    match value.get_ref() {
        DeValue::Table(table) => table.iter().for_each(|(_, inner)| cover(covered, inner)),
        _ => covered.push(value.span()),
    }
}

/// A value for the readers of settings.
pub(super) fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Integer(number) => whole(number).map_or(Raw::Other("a huge number"), Raw::Number),
        DeValue::Float(_) => Raw::Other("a fraction"),
        DeValue::Boolean(truth) => Raw::Truth(*truth),
        DeValue::Datetime(_) => Raw::Other("a date"),
        DeValue::Table(_) => Raw::Other("a table"),
        DeValue::Array(items) => Raw::List(
            items
                .iter()
                .map(|item| (raw(item.get_ref()), item.span()))
                .collect(),
        ),
    }
}

fn whole(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
