//! The definition of a schedule as a form, both ways.
//!
//! What is filled in becomes the very JSON that the API takes, and is read by the API's own reader: a form knows no rule of its
//! own, and what is left empty gets the default.

use almanack_core::plan::Definition;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    call::read_object,
    problem::{Code, Problem},
};

/// What a schedule can fire at.
pub(crate) const TARGETS: [&str; 4] = ["webhook", "task", "workflow", "command"];

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
    pub(crate) fn to_json(&self) -> Result<Value, Problem> {
        let mut body = Map::new();
        body.insert("expression".to_owned(), json!(self.expression));
        body.insert("target".to_owned(), self.target_json()?);
        let texts = [
            ("tz", &self.tz),
            ("catch_up", &self.catch_up),
            ("grace", &self.grace),
            ("catch_up_pace", &self.catch_up_pace),
            ("overlap", &self.overlap),
            ("splay", &self.splay),
            ("on_resume", &self.on_resume),
            ("retry_for", &self.retry_for),
        ];
        let numbers = [
            ("max_catch_up", &self.max_catch_up),
            ("priority", &self.priority),
        ];
        let given = texts.map(|(name, text)| (name, text, false)).into_iter();
        for (name, text, number) in given.chain(numbers.map(|(name, text)| (name, text, true))) {
            let text = text.trim();
            let value = match text.parse::<u64>() {
                Ok(value) if number => json!(value),
                _ => json!(text),
            };
            if !text.is_empty() {
                body.insert(name.to_owned(), value);
            }
        }
        Ok(Value::Object(body))
    }

    fn target_json(&self) -> Result<Value, Problem> {
        let mut target = match self.target.as_str() {
            "workflow" => json!({
                "type": "workflow",
                "repository": self.repository.trim(),
                "workflow": self.workflow.trim(),
                "inputs": inputs(&self.inputs),
            }),
            "command" => {
                let argv: Vec<&str> = self.argv.lines().filter(|line| !line.is_empty()).collect();
                json!({ "type": "command", "argv": argv })
            }
            "task" => {
                json!({ "type": "task", "kind": self.kind.trim(), "subject": self.subject.trim() })
            }
            _ => json!({ "type": "webhook", "url": self.url.trim() }),
        };
        let more = match self.target.as_str() {
            "workflow" => ("ref", text(&self.r#ref)),
            "command" => ("timeout", text(&self.timeout)),
            "task" => ("payload", json_text(&self.payload, "target.payload")?),
            _ => ("body", json_text(&self.body, "target.body")?),
        };
        if let (Some(object), (name, Some(value))) = (target.as_object_mut(), more) {
            object.insert(name.to_owned(), value);
        }
        Ok(target)
    }

    /// The definition, read as the API reads it.
    pub(crate) fn definition(&self) -> Result<Definition, Problem> {
        let text = self.to_json()?.to_string();
        read_object(&text)
    }

    /// A definition, to be changed.
    pub(crate) fn of(name: &str, definition: Definition, revision: i64) -> Self {
        let body = serde_json::to_value(definition).unwrap_or_default();
        let target = &body["target"];
        let lines = |list: &Value| -> String {
            let lines = list.as_array().into_iter().flatten().map(shown);
            lines.collect::<Vec<_>>().join("\n")
        };
        let pairs = |map: &Value| -> String {
            let pairs = map.as_object().into_iter().flatten();
            let pairs = pairs.map(|(name, value)| format!("{name}={}", shown(value)));
            pairs.collect::<Vec<_>>().join("\n")
        };
        let printed = |value: &Value| match value {
            Value::Null => String::new(),
            value => value.to_string(),
        };
        Self {
            name: name.to_owned(),
            expression: shown(&body["expression"]),
            tz: shown(&body["tz"]),
            target: shown(&target["type"]),
            url: shown(&target["url"]),
            body: printed(&target["body"]),
            repository: shown(&target["repository"]),
            workflow: shown(&target["workflow"]),
            r#ref: shown(&target["ref"]),
            inputs: pairs(&target["inputs"]),
            argv: lines(&target["argv"]),
            timeout: shown(&target["timeout"]),
            kind: shown(&target["kind"]),
            subject: shown(&target["subject"]),
            payload: printed(&target["payload"]),
            catch_up: shown(&body["catch_up"]),
            grace: shown(&body["grace"]),
            max_catch_up: shown(&body["max_catch_up"]),
            catch_up_pace: shown(&body["catch_up_pace"]),
            overlap: shown(&body["overlap"]),
            splay: shown(&body["splay"]),
            on_resume: shown(&body["on_resume"]),
            retry_for: shown(&body["retry_for"]),
            priority: shown(&body["priority"]),
            revision: Some(revision),
            act: String::new(),
        }
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

fn json_text(given: &str, path: &str) -> Result<Option<Value>, Problem> {
    if given.trim().is_empty() {
        return Ok(None);
    }
    let read = serde_json::from_str(given).map(Some);
    read.map_err(|error| {
        let detail = format!("{path} must be JSON: {error}");
        Problem::new(Code::InvalidValue, detail).at(path)
    })
}

/// A value as it stands in a field.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
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
