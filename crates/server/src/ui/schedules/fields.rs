//! The definition of a schedule as a form, both ways.
//!
//! What is filled in becomes the very JSON that the API takes, and is read by the API's own reader: a form knows no rule of its
//! own, and what is left empty gets the default.

use almanack_core::plan::Definition;
use serde_json::{Map, Value};

use crate::call::read_object;
use crate::ui::prelude::*;

/// What a schedule can fire at.
pub(crate) const TARGETS: [&str; 4] = ["webhook", "task", "workflow", "command"];
/// Fields that are numbers in JSON.
const NUMBERS: [&str; 2] = ["max_catch_up", "priority"];

/// A definition as it is filled in; everything is text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Fields {
    pub(crate) name: String,
    pub(crate) expression: String,
    pub(crate) tz: String,
    pub(crate) target: String,
    pub(crate) url: String,
    pub(crate) body: String,
    pub(crate) repository: String,
    pub(crate) workflow: String,
    pub(crate) r#ref: String,
    pub(crate) inputs: String,
    pub(crate) argv: String,
    pub(crate) timeout: String,
    pub(crate) kind: String,
    pub(crate) subject: String,
    pub(crate) payload: String,
    pub(crate) catch_up: String,
    pub(crate) grace: String,
    pub(crate) max_catch_up: String,
    pub(crate) catch_up_pace: String,
    pub(crate) overlap: String,
    pub(crate) splay: String,
    pub(crate) on_resume: String,
    pub(crate) retry_for: String,
    pub(crate) priority: String,
    /// The revision that was looked at.
    pub(crate) revision: Option<i64>,
    /// `check` only tells what would be.
    pub(crate) act: String,
}

impl Fields {
    /// The JSON that the API takes.
    pub(crate) fn to_json(&self) -> Result<Value> {
        let mut body = Map::new();
        body.insert("expression".to_owned(), json!(self.expression));
        body.insert("target".to_owned(), self.target_json()?);
        let given = [
            ("tz", &self.tz),
            ("catch_up", &self.catch_up),
            ("grace", &self.grace),
            ("max_catch_up", &self.max_catch_up),
            ("catch_up_pace", &self.catch_up_pace),
            ("overlap", &self.overlap),
            ("splay", &self.splay),
            ("on_resume", &self.on_resume),
            ("retry_for", &self.retry_for),
            ("priority", &self.priority),
        ];
        for (name, value) in given {
            let value = text(value).map(|value| match value.as_str().map(str::parse::<u64>) {
                Some(Ok(number)) if NUMBERS.contains(&name) => json!(number),
                _ => value,
            });
            body.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok(Value::Object(body))
    }

    fn target_json(&self) -> Result<Value> {
        let (mut target, (name, more)) = match self.target.as_str() {
            "workflow" => (
                json!({
                    "type": "workflow",
                    "repository": self.repository.trim(),
                    "workflow": self.workflow.trim(),
                    "inputs": inputs(&self.inputs),
                }),
                ("ref", text(&self.r#ref)),
            ),
            "command" => {
                let argv: Vec<&str> = self.argv.lines().filter(|line| !line.is_empty()).collect();
                (
                    json!({ "type": "command", "argv": argv }),
                    ("timeout", text(&self.timeout)),
                )
            }
            "task" => (
                json!({ "type": "task", "kind": self.kind.trim(), "subject": self.subject.trim() }),
                ("payload", json_text(&self.payload, "target.payload")?),
            ),
            _ => (
                json!({ "type": "webhook", "url": self.url.trim() }),
                ("body", json_text(&self.body, "target.body")?),
            ),
        };
        if let Some(more) = more {
            target[name] = more;
        }
        Ok(target)
    }

    /// The definition, read as the API reads it.
    pub(crate) fn definition(&self) -> Result<Definition> {
        let text = self.to_json()?.to_string();
        read_object(&text)
    }

    /// A definition, to be changed.
    pub(crate) fn of(name: &str, definition: Definition, revision: i64) -> Self {
        let mut body = serde_json::to_value(definition).unwrap_or_default();
        let target = body["target"].take();
        let parts = [body, target].into_iter().flat_map(|part| match part {
            Value::Object(fields) => fields,
            _ => Map::new(),
        });
        let mut fields: Map<String, Value> = parts
            .map(|(name, value)| {
                let text = shown(&name, &value);
                (name, json!(text))
            })
            .collect();
        let target = fields.remove("type").unwrap_or_default();
        fields.extend([
            ("target".to_owned(), target),
            ("name".to_owned(), json!(name)),
            ("revision".to_owned(), json!(revision)),
        ]);
        serde_json::from_value(Value::Object(fields)).unwrap_or_default()
    }
}

fn text(value: &str) -> Option<Value> {
    let value = value.trim();
    (!value.is_empty()).then(|| json!(value))
}

/// `name=value` on each line.
fn inputs(lines: &str) -> Value {
    let pairs = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let pairs = pairs.map(|line| line.split_once('=').unwrap_or((line, "")));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), json!(value)));
    Value::Object(pairs.collect())
}

fn json_text(given: &str, path: &str) -> Result<Option<Value>> {
    if given.trim().is_empty() {
        return Ok(None);
    }
    let read = serde_json::from_str(given).map(Some);
    read.map_err(|error| {
        let detail = format!("{path} must be JSON: {error}");
        Problem::new(Code::InvalidValue, detail).at(path)
    })
}

/// A value of a definition as a person writes it: lists line by line, payloads as JSON.
fn shown(name: &str, value: &Value) -> String {
    let lines = |lines: Vec<String>| lines.join("\n");
    match value {
        Value::Null => String::new(),
        value if matches!(name, "body" | "payload") => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) => lines(list.iter().map(|value| shown("", value)).collect()),
        Value::Object(pairs) => {
            let pair = |(name, value): (&String, &Value)| format!("{name}={}", shown("", value));
            lines(pairs.iter().map(pair).collect())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_survives_being_shown_in_a_form_and_sent_back() {
        for target in [
            r#"{"type":"webhook","url":"https://a.example/x","body":{"n":1}}"#,
            r#"{"type":"webhook","url":"https://a.example/x"}"#,
            r#"{"type":"workflow","repository":"o/r","workflow":"w.yml","ref":"v1","inputs":{"a":"b=c"}}"#,
            r#"{"type":"command","argv":["sync","--all"],"timeout":"90s"}"#,
            r#"{"type":"task","kind":"EDITION_RUN","subject":"edition:{date}","payload":[1]}"#,
        ] {
            let text = format!(
                r#"{{"expression":"0 8 * * 1","tz":"Asia/Shanghai","target":{target},"catch_up":"all",
                "grace":"1h 30m","max_catch_up":7,"catch_up_pace":"2s","overlap":"queue_one",
                "splay":"5m","on_resume":"latest","retry_for":"10m","priority":9}}"#
            );
            let definition = Definition::from_json(&text).unwrap();
            let fields = Fields::of("x", definition.clone(), 1);
            assert_eq!(fields.definition().unwrap(), definition, "{fields:?}");
        }
    }

    #[test]
    fn what_is_left_empty_gets_the_default_and_what_does_not_read_is_named() {
        let fields = Fields {
            expression: "@daily".to_owned(),
            url: "https://a.example/x".to_owned(),
            ..Fields::default()
        };
        let read = fields.definition().unwrap();
        assert_eq!(read, Definition::new("@daily", read.target.clone()));
        for (wrong, path) in [
            (
                Fields {
                    grace: "soon".to_owned(),
                    ..fields.clone()
                },
                "grace",
            ),
            (
                Fields {
                    priority: "high".to_owned(),
                    ..fields.clone()
                },
                "priority",
            ),
            (
                Fields {
                    overlap: "x".to_owned(),
                    ..fields.clone()
                },
                "overlap",
            ),
            (
                Fields {
                    body: "{".to_owned(),
                    ..fields.clone()
                },
                "target.body",
            ),
        ] {
            let problem = wrong.definition().unwrap_err();
            assert_eq!(problem.place(), Some(path), "{problem:?}");
        }
    }
}
