//! What the values of a schedule look like, before anybody asks what they mean.

use almanack_core::plan::MAX_CATCH_UP_MAX;
use jiff::SignedDuration;
use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeFloat, DeInteger, DeValue},
};

use super::super::{
    file::raw,
    value::{self, Complaint, Read},
};
use crate::when;

/// One key of a table.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) required: bool,
    /// What to write when it is missing.
    pub(super) example: &'static str,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Text,
    Duration,
    /// A whole number within these bounds.
    Number(i64, i64),
    Choice(&'static [(&'static str, ())]),
    Texts,
    TextByName,
    Anything,
    /// A table whose fields depend on its type.
    Target,
}

pub(super) const TARGET_EXAMPLE: &str =
    "for example target = { type = \"webhook\", url = \"https://example.org/hook\" }";
const TARGET_TYPE: Shape = Shape::Choice(&[
    ("webhook", ()),
    ("workflow", ()),
    ("command", ()),
    ("task", ()),
]);
pub(super) const TARGET_TYPE_FIELD: Field = needed("type", TARGET_TYPE, TARGET_EXAMPLE);
const CATCH_UP: Shape = Shape::Choice(&[("none", ()), ("latest", ()), ("all", ())]);
const OVERLAP: Shape = Shape::Choice(&[
    ("skip", ()),
    ("queue_one", ()),
    ("allow", ()),
    ("cancel_running", ()),
]);
const ON_RESUME: Shape = Shape::Choice(&[("skip", ()), ("latest", ())]);

/// The keys of `[[schedule]]`.
pub(super) const SCHEDULE: &[Field] = &[
    needed("name", Shape::Text, "for example name = \"nightly-report\""),
    needed(
        "expression",
        Shape::Text,
        "for example expression = \"0 8 * * 1-5\"",
    ),
    field("tz", Shape::Text),
    needed("target", Shape::Target, TARGET_EXAMPLE),
    field("catch_up", CATCH_UP),
    field("grace", Shape::Duration),
    field("max_catch_up", Shape::Number(1, MAX_CATCH_UP_MAX as i64)),
    field("catch_up_pace", Shape::Duration),
    field("overlap", OVERLAP),
    field("splay", Shape::Duration),
    field("on_resume", ON_RESUME),
    field("retry_for", Shape::Duration),
    field("priority", Shape::Number(0, 9)),
];

const WEBHOOK: &[Field] = &[
    field("type", TARGET_TYPE),
    needed(
        "url",
        Shape::Text,
        "for example url = \"https://example.org/hook\"",
    ),
    field("body", Shape::Anything),
];
const WORKFLOW: &[Field] = &[
    field("type", TARGET_TYPE),
    needed(
        "repository",
        Shape::Text,
        "for example repository = \"owner/name\"",
    ),
    needed(
        "workflow",
        Shape::Text,
        "for example workflow = \"daily.yml\"",
    ),
    field("ref", Shape::Text),
    field("inputs", Shape::TextByName),
];
const COMMAND: &[Field] = &[
    field("type", TARGET_TYPE),
    needed(
        "argv",
        Shape::Texts,
        "for example argv = [\"/usr/bin/rsync\", \"-a\", \"from/\", \"to/\"]",
    ),
    field("timeout", Shape::Duration),
];
const TASK: &[Field] = &[
    field("type", TARGET_TYPE),
    needed("kind", Shape::Text, "for example kind = \"EDITION_RUN\""),
    needed(
        "subject",
        Shape::Text,
        "for example subject = \"edition:{date}\"",
    ),
    field("payload", Shape::Anything),
];

const fn field(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: false,
        example: "",
    }
}

const fn needed(name: &'static str, shape: Shape, example: &'static str) -> Field {
    Field {
        name,
        shape,
        required: true,
        example,
    }
}

/// The keys of a target of this type.
pub(super) fn fields_of_target(type_name: &str) -> &'static [Field] {
    match type_name {
        "webhook" => WEBHOOK,
        "workflow" => WORKFLOW,
        "command" => COMMAND,
        _ => TASK,
    }
}

impl Shape {
    /// The value as JSON, durations as everybody reads them.
    pub(super) fn read(self, given: &Spanned<DeValue<'_>>) -> Read<Value> {
        let raw = raw(given.get_ref());
        match self {
            Self::Text => Ok(value::text(&raw)?.into()),
            Self::Duration => {
                // What it may be is checked with the whole; this only asks whether it is one.
                let bounds = SignedDuration::MIN..=SignedDuration::MAX;
                let found = value::duration(bounds)(&raw)?;
                Ok(when::show_duration(found).into())
            }
            Self::Number(from, to) => Ok(value::count(from..=to)(&raw)?.into()),
            Self::Choice(words) => {
                value::choice(words)(&raw)?;
                Ok(json_of(given.get_ref()))
            }
            Self::Texts => {
                value::texts(|text| Ok(text.to_owned()))(&raw)?;
                Ok(json_of(given.get_ref()))
            }
            Self::TextByName => text_by_name(given.get_ref()),
            Self::Anything | Self::Target => Ok(json_of(given.get_ref())),
        }
    }
}

fn text_by_name(given: &DeValue<'_>) -> Read<Value> {
    let hint = "for example { environment = \"staging\" }";
    let DeValue::Table(table) = given else {
        return Err(Complaint::new("expected a table of texts", hint));
    };
    for (_, value) in table {
        if !matches!(value.get_ref(), DeValue::String(_)) {
            let what = format!("expected text, found {}", raw(value.get_ref()).name());
            return Err(Complaint {
                span: Some(value.span()),
                ..Complaint::new(what, "inputs are texts; put it in quotes")
            });
        }
    }
    Ok(json_of(given))
}

fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => whole(number),
        DeValue::Float(number) => fraction(number),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| json_of(item.get_ref()));
            Value::Array(items.collect())
        }
        DeValue::Table(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref())));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// A number too large for a whole one stays what was written.
fn whole(number: &DeInteger<'_>) -> Value {
    match i64::from_str_radix(number.as_str(), number.radix()) {
        Ok(number) => number.into(),
        Err(_) => Value::String(number.as_str().to_owned()),
    }
}

/// Infinity is no number of JSON.
fn fraction(number: &DeFloat<'_>) -> Value {
    let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
    parsed.map_or_else(|| Value::String(number.as_str().to_owned()), Value::Number)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use almanack_core::{plan::Definition, target::Target};

    use super::*;

    fn names(fields: &[Field]) -> BTreeSet<String> {
        let names = fields.iter().map(|field| field.name.to_owned());
        names.collect()
    }

    fn keys(value: &Value) -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn every_key_of_a_definition_can_be_written() {
        let target = |json: &str| serde_json::from_str::<Target>(json).unwrap();
        let targets = [
            r#"{"type":"webhook","url":"http://x","body":1}"#,
            r#"{"type":"workflow","repository":"o/r","workflow":"w","ref":"m","inputs":{"a":"b"}}"#,
            r#"{"type":"command","argv":["x"],"timeout":"1s"}"#,
            r#"{"type":"task","kind":"K","subject":"s","payload":{}}"#,
        ];
        for json in targets {
            let target = target(json);
            let written = serde_json::to_value(&target).unwrap();
            let known = names(fields_of_target(target.type_name()));
            assert_eq!(keys(&written), known, "{json}");
        }
        let mut definition = Definition::new("@daily", target(targets[0]));
        definition.grace = Some(SignedDuration::from_secs(1));
        definition.retry_for = definition.grace;
        let mut written = keys(&serde_json::to_value(&definition).unwrap());
        written.insert("name".to_owned());
        assert_eq!(written, names(SCHEDULE));
    }
}
