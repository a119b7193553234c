//! Converts between a form and the definition of a schedule.
//!
//! The form is converted to the API's JSON and read by the API's own reader: it has no rules
//! itself, and empty fields get their default.

use std::collections::BTreeMap;

use almanack_core::plan::Definition;
use serde_json::{Map, Value};

use crate::call::read_object;
use crate::ui::prelude::*;

pub(crate) const TARGETS: [&str; 5] = ["webhook", "task", "workflow", "command", "ping"];
/// Fields besides the expression and the target.
const GIVEN: [&str; 19] = [
    "tz",
    "move",
    "starts_at",
    "ends_at",
    "runs",
    "jitter",
    "catch_up",
    "grace",
    "max_catch_up",
    "catch_up_pace",
    "overlap",
    "splay",
    "on_resume",
    "retry_for",
    "run_timeout",
    "timeout",
    "firings_max",
    "owner",
    "priority",
];
/// Fields of `retry`, in the form under their own names.
const RETRY: [&str; 3] = ["count", "backoff", "backoff_max"];
/// Fields that are lists of words. Each is one line, in which a browser keeps no line breaks.
const LISTS: [&str; 2] = ["tags", "alerts"];
/// Fields that are numbers in JSON.
const NUMBERS: [&str; 5] = ["max_catch_up", "firings_max", "count", "priority", "runs"];
/// Fields that are lists in JSON, one item per line.
const LINES: [&str; 3] = ["except", "only", "quiet"];
/// Valid values of the fields that must not be empty.
pub(crate) const STAND_INS: &[(&str, &str)] = &[
    ("name", "x"),
    ("expression", "@daily"),
    ("tz", "UTC"),
    ("url", "https://example.org/"),
    ("repository", "owner/name"),
    ("workflow", "daily.yml"),
    ("argv", "true"),
    ("kind", "KIND"),
    ("subject", "subject"),
];
/// In place of a list of channels: an empty list, which is not the same as none.
const NOBODY: &str = "none";

/// A definition as form fields, all of them text. Also the `name`, the `revision` that was shown,
/// and the `act`: `check` only previews.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fields(BTreeMap<String, String>);

impl Fields {
    /// A field, if it is not empty.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    fn trimmed(&self, name: &str) -> Option<Value> {
        let value = self.get(name).trim();
        (!value.is_empty()).then(|| json!(value))
    }

    /// The JSON of the API.
    pub(crate) fn to_json(&self) -> Result<Value> {
        let mut body =
            json!({ "expression": self.get("expression"), "target": self.target_json()? });
        // A command's own timeout is part of its target.
        let is_called = !matches!(self.get("target"), "command" | "task");
        let given = GIVEN
            .into_iter()
            .filter(|name| *name != "timeout" || is_called);
        for name in given {
            if let Some(value) = self.value(name) {
                body[name] = value;
            }
        }
        for name in RETRY {
            if let Some(value) = self.value(name) {
                body["retry"][name] = value;
            }
        }
        for name in LISTS {
            let words: Vec<&str> = self.get(name).split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [NOBODY] if name == "alerts" => body[name] = json!([]),
                words => body[name] = json!(words),
            }
        }
        if self.trimmed("pings").is_some() {
            body["pings"] = inputs(self.get("pings"));
        }
        for name in LINES {
            if self.trimmed(name).is_some() {
                body[name] = self.lines(name).map(|line| json!(line)).collect();
            }
        }
        if self.trimmed("also").is_some() {
            body["also"] = self.lines("also").map(also).collect();
        }
        Ok(body)
    }

    /// Which of the further expressions this is, unless it is the first one.
    pub(super) fn line_of_also(&self, expression: &str) -> Option<usize> {
        let is_further = self.get("expression").trim() != expression.trim();
        let mut lines = self.lines("also").map(also);
        let found = lines.position(|it| it["expression"] == expression);
        found.filter(|_| is_further)
    }

    fn lines(&self, name: &str) -> impl Iterator<Item = &str> {
        let lines = self.get(name).lines().map(str::trim);
        lines.filter(|line| !line.is_empty())
    }

    /// A value as JSON: text, or a number where one is meant.
    fn value(&self, name: &str) -> Option<Value> {
        let value = self.trimmed(name)?;
        let number = self.get(name).trim().parse::<u64>().ok();
        let number = number.filter(|_| NUMBERS.contains(&name));
        Some(number.map_or(value, |number| json!(number)))
    }

    fn target_json(&self) -> Result<Value> {
        let of = |name| self.get(name).trim();
        let (mut target, name, more) = match self.get("target") {
            "workflow" => {
                let inputs = inputs(self.get("inputs"));
                let target = json!({ "type": "workflow", "repository": of("repository"), "workflow": of("workflow"), "inputs": inputs });
                (target, "ref", self.trimmed("ref"))
            }
            "command" => {
                let argv = self.get("argv").lines().filter(|line| !line.is_empty());
                let target = json!({ "type": "command", "argv": argv.collect::<Vec<_>>() });
                (target, "timeout", self.trimmed("timeout"))
            }
            "task" => {
                let target =
                    json!({ "type": "task", "kind": of("kind"), "subject": of("subject") });
                (target, "payload", self.json("payload")?)
            }
            "ping" => (json!({ "type": "ping" }), "note", self.trimmed("note")),
            _ => {
                let mut target = json!({ "type": "webhook", "url": of("url") });
                if let Some(method) = self.trimmed("method") {
                    target["method"] = method;
                }
                if let Some(within) = self.trimmed("report_within") {
                    target["report_within"] = within;
                }
                if let Some(template) = self.json("template")? {
                    target["template"] = template;
                }
                let headers = inputs(self.get("headers"));
                if headers != json!({}) {
                    target["headers"] = headers;
                }
                (target, "body", self.json("body")?)
            }
        };
        if let Some(more) = more {
            target[name] = more;
        }
        Ok(target)
    }

    fn json(&self, name: &str) -> Result<Option<Value>> {
        let given = self
            .trimmed(name)
            .map(|_| serde_json::from_str(self.get(name)));
        given.transpose().map_err(|error| {
            let path = format!("target.{name}");
            let detail = both!(
                "{path} must be valid JSON: {error}",
                "{path} 必须是有效的 JSON：{error}"
            );
            Problem::new(Code::InvalidValue, detail).at(path)
        })
    }

    /// The definition, read by the API's reader.
    pub(crate) fn definition(&self) -> Result<Definition> {
        let text = self.to_json()?.to_string();
        read_object(&text)
    }

    /// The form of an existing definition.
    pub(crate) fn of(name: &str, definition: &Definition, revision: i64) -> Self {
        let mut body = serde_json::to_value(definition).unwrap_or_default();
        let mut target = body["target"].take();
        let retry = body["retry"].take();
        if definition.alerts.as_ref().is_some_and(Vec::is_empty) {
            body["alerts"] = json!(NOBODY);
        }
        let kind = shown("type", &target["type"].take());
        let parts = [body, target, retry]
            .into_iter()
            .flat_map(|part| match part {
                Value::Object(fields) => fields,
                _ => Map::new(),
            });
        let shown = parts.map(|(name, value)| (shown(&name, &value), name));
        let mut fields = Self(shown.map(|(value, name)| (name, value)).collect());
        for (name, value) in [
            ("target", &*kind),
            ("name", name),
            ("revision", &revision.to_string()),
        ] {
            fields.set(name, value);
        }
        fields
    }
}

/// An expression, with its zone behind an `@` if it has one. A nickname has its `@` in front.
fn also(line: &str) -> Value {
    match line
        .rsplit_once('@')
        .filter(|(before, _)| !before.is_empty())
    {
        Some((expression, tz)) => json!({ "expression": expression.trim(), "tz": tz.trim() }),
        None => json!({ "expression": line }),
    }
}

/// `name=value` on each line.
fn inputs(lines: &str) -> Value {
    let pairs = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let pairs = pairs.map(|line| line.split_once('=').unwrap_or((line, "")));
    let pairs = pairs.map(|(name, value)| (name.to_owned(), json!(value)));
    Value::Object(pairs.collect())
}

/// A value as a person writes it: words side by side, other lists line by line, payloads as JSON.
fn shown(name: &str, value: &Value) -> String {
    let gap = if LISTS.contains(&name) { " " } else { "\n" };
    let lines = |lines: Vec<String>| lines.join(gap);
    match value {
        Value::Null => String::new(),
        value if matches!(name, "body" | "payload" | "template") => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(list) if name == "also" => {
            let line = |it: &Value| match it["tz"].as_str() {
                Some(tz) => format!("{} @{tz}", shown("", &it["expression"])),
                None => shown("", &it["expression"]),
            };
            lines(list.iter().map(line).collect())
        }
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
    use crate::ui::schedules::sheet::Sheet;
    use almanack_core::lang::Lang;

    /// The fields as a browser sends them: those that the form has, without line breaks in what has
    /// one line.
    fn as_sent(definition: &Definition, fields: &Fields) -> BTreeMap<String, String> {
        let sheet = Sheet {
            lang: Lang::English,
            fields,
        };
        let form = sheet.show().into_string();
        let elements = ["<input", "<textarea", "<select"];
        let named = fields.0.iter().filter_map(|(name, value)| {
            let at = form.find(&format!("name=\"{name}\""))?;
            let start = elements
                .iter()
                .filter_map(|it| form[..at].rfind(it))
                .max()?;
            let has_lines = form[start..].starts_with("<textarea");
            let kept = |c: &char| has_lines || *c != '\n';
            Some((name.clone(), value.chars().filter(kept).collect()))
        });
        let mut sent: BTreeMap<String, String> = named.collect();
        let target = definition.target.type_name();
        sent.insert("target".to_owned(), target.to_owned());
        sent
    }

    #[test]
    fn a_definition_survives_being_shown_in_a_form_and_sent_back() {
        for target in [
            r#"{"type":"webhook","url":"https://a.example/x","body":{"n":1}}"#,
            r#"{"type":"webhook","url":"https://a.example/x"}"#,
            r#"{"type":"webhook","url":"https://a.example/x","method":"PUT","template":"{slot}","headers":{"X-Key":"env:A"}}"#,
            r#"{"type":"webhook","url":"https://a.example/x","report_within":"1h 30m"}"#,
            r#"{"type":"workflow","repository":"o/r","workflow":"w.yml","ref":"v1","inputs":{"a":"b=c"}}"#,
            r#"{"type":"command","argv":["sync","--all"],"timeout":"90s"}"#,
            r#"{"type":"task","kind":"EDITION_RUN","subject":"edition:{date}","payload":[1]}"#,
            r#"{"type":"ping","note":"the backup"}"#,
        ] {
            let alerts = if target.contains("task") {
                "[]"
            } else {
                r#"["ntfy","mail"]"#
            };
            let text = format!(
                r#"{{"expression":"0 8 * * 1","tz":"Asia/Shanghai","target":{target},"catch_up":"all",
                "grace":"1h 30m","max_catch_up":7,"catch_up_pace":"2s","overlap":"queue_one",
                "splay":"5m","on_resume":"latest","retry_for":"10m","priority":9,
                "also":[{{"expression":"@daily"}},{{"expression":"0 9 * * *","tz":"Asia/Tokyo"}}],
                "except":["weekend","de"],"only":["market"],"move":"next_workday",
                "quiet":["22:00-06:00"],"starts_at":"2026-01-01T00:00:00Z",
                "ends_at":"2027-01-01T00:00:00Z","runs":3,"jitter":"1m",
                "retry":{{"count":3,"backoff":"2s","backoff_max":"1m"}},"firings_max":4,
                "tags":["a","b/c"],"owner":"Ada Löw","alerts":{alerts},
                "pings":{{"start":"https://x.example/a?b=c","failure":"https://x.example/f"}}}}"#
            );
            let definition = Definition::from_json(&text).unwrap();
            let fields = Fields::of("x", &definition, 1);
            let sent = Fields(as_sent(&definition, &fields));
            assert_eq!(sent.definition().unwrap(), definition, "{sent:?}");
        }
    }

    #[test]
    fn what_is_left_empty_gets_the_default_and_what_does_not_read_is_named() {
        let with = |fields: &Fields, name, value| {
            let mut fields = fields.clone();
            fields.set(name, value);
            fields
        };
        let fields = with(&Fields::default(), "expression", "@daily");
        let fields = with(&fields, "url", "https://a.example/x");
        let read = fields.definition().unwrap();
        assert_eq!(read, Definition::new("@daily", read.target.clone()));
        for (name, value, path) in [
            ("grace", "soon", "grace"),
            ("priority", "high", "priority"),
            ("overlap", "x", "overlap"),
            ("body", "{", "target.body"),
        ] {
            let wrong = with(&fields, name, value);
            let problem = wrong.definition().unwrap_err();
            assert_eq!(problem.place(), Some(path), "{problem:?}");
        }
    }
}
