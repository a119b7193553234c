//! `docs/reference/api.md`, made from the OpenAPI document: every operation with its parameters, the
//! fields of its body, and an exchange that a test has made.

use std::fmt::Write as _;

use almanack_core::lang::Lang;
use almanack_server::problem::Code;
use serde_json::Value;

const HEAD: &str = "# HTTP API

<!-- Generated from the OpenAPI document. To write it anew:
     ALMANACK_FACES=accept cargo nextest run -p almanack-server the_api_describes_itself -->

Rules that all calls share, such as tokens, errors and pages of lists, are in [the guide](../guide/http-api.md). A node
serves the same as OpenAPI under `/api/v1/openapi.json`, with every schema. Examples are real answers.
";

const PROBLEMS: &str = "
## Problems

A refusal has one of these codes. Its `type` is a page of the node: `/problems/CODE` says what to do, in the reader's
language.

| code | status | meaning |
| --- | --- | --- |
";

/// The tags of operations in the order of the page, with their headings.
const GROUPS: [(&str, &str); 21] = [
    ("search", "Search"),
    ("tasks", "Tasks"),
    ("receipts", "Receipts"),
    ("kinds", "Kinds"),
    ("work", "Workers"),
    ("schedules", "Schedules"),
    ("monitors", "Monitors"),
    ("calendars", "Calendars"),
    ("sources", "Sources"),
    ("editions", "Editions"),
    ("newsletter", "Newsletter"),
    ("events", "Events"),
    ("radar", "Radar"),
    ("alerts", "Alerts"),
    ("tick", "Ticks"),
    ("nodes", "Nodes"),
    ("access", "Tokens and users"),
    ("health", "Health"),
    ("pages", "Pages and files"),
    ("compat", "Compatible endpoints"),
    ("description", "Description"),
];

/// The page.
pub(crate) fn page(document: &Value) -> String {
    let mut page = HEAD.to_owned();
    let operations: Vec<_> = operations(document).collect();
    for (tag, title) in GROUPS {
        let _ = writeln!(page, "\n## {title}");
        for it in operations.iter().filter(|it| it.tag() == tag) {
            it.write(&mut page);
        }
    }
    page.push_str(PROBLEMS);
    for code in Code::ALL {
        let (name, status) = (code.as_str(), code.status().as_u16());
        let _ = writeln!(
            page,
            "| `{name}` | {status} | {} |",
            code.meaning(Lang::English)
        );
    }
    for it in operations {
        assert!(
            GROUPS.iter().any(|(tag, _)| *tag == it.tag()),
            "{}",
            it.tag()
        );
    }
    page
}

struct Operation<'a> {
    method: String,
    path: &'a str,
    about: &'a Value,
    document: &'a Value,
}

fn operations(document: &Value) -> impl Iterator<Item = Operation<'_>> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(move |(path, methods)| {
        let methods = methods.as_object().unwrap();
        methods.iter().map(move |(method, about)| Operation {
            method: method.to_uppercase(),
            path,
            about,
            document,
        })
    })
}

impl Operation<'_> {
    fn tag(&self) -> &str {
        text(&self.about["tags"][0])
    }

    fn write(&self, page: &mut String) {
        let _ = writeln!(page, "\n### `{} {}`\n", self.method, self.path);
        for part in ["summary", "description"] {
            let part = text(&self.about[part]);
            if !part.is_empty() {
                let _ = writeln!(page, "{}\n", part.trim());
            }
        }
        let scope = text(&self.about["security"][0]["token"][0]);
        if !scope.is_empty() {
            let _ = writeln!(page, "Scope: `{scope}`.\n");
        }
        self.write_parameters(page);
        self.write_exchange(page);
    }

    /// What is given in the address and the headers, and the fields of the body.
    fn write_parameters(&self, page: &mut String) {
        let mut rows = Vec::new();
        for it in self.about["parameters"].as_array().into_iter().flatten() {
            let place = format!("{}{}", text(&it["in"]), mark(it["required"] == true));
            rows.push((text(&it["name"]), place, one_line(&it["description"])));
        }
        let content = &self.about["requestBody"]["content"];
        let fields = fields(self.document, &content["application/json"]["schema"]);
        for (name, about, is_required) in &fields {
            let place = format!("body{}", mark(*is_required));
            rows.push((name, place, one_line(&about["description"])));
        }
        if rows.is_empty() {
            return;
        }
        page.push_str("| name | in | meaning |\n| --- | --- | --- |\n");
        for (name, place, meaning) in rows {
            let _ = writeln!(page, "| `{name}` | {place} | {meaning} |");
        }
        page.push('\n');
    }

    fn write_exchange(&self, page: &mut String) {
        let parameters = || self.about["parameters"].as_array().into_iter().flatten();
        let mut path = self.path.to_owned();
        for it in parameters().filter(|it| it["in"] == "path") {
            let example = it["example"].as_str().unwrap_or("…");
            path = path.replace(&format!("{{{}}}", text(&it["name"])), example);
        }
        let _ = writeln!(page, "```http\n{} {path}", self.method);
        let body = self.about["requestBody"]["content"].as_object();
        for (media, content) in body.into_iter().flatten().take(1) {
            let _ = writeln!(page, "Content-Type: {media}");
            if let Some(example) = shown(&content["example"]) {
                let _ = writeln!(page, "\n{example}");
            }
        }
        page.push_str("```\n");
        let answers = self.about["responses"].as_object().unwrap();
        let successes = answers.iter().filter(|(status, _)| status.starts_with('2'));
        let examples = successes.flat_map(|(status, answer)| {
            let media = answer["content"].as_object().into_iter().flatten();
            media.filter_map(move |(_, it)| Some((status, answer, shown(&it["example"])?)))
        });
        for (status, answer, example) in examples.take(1) {
            let meaning = one_line(&answer["description"]);
            let _ = writeln!(page, "\n{status}: {meaning}\n\n```text\n{example}\n```");
        }
    }
}

/// The fields of an object, through references and compositions: name, schema, whether it is needed.
fn fields<'a>(document: &'a Value, schema: &'a Value) -> Vec<(&'a String, &'a Value, bool)> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return fields(document, &document["components"]["schemas"][name]);
    }
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let mut all: Vec<_> = parts.flat_map(|part| fields(document, part)).collect();
    let own = schema["properties"].as_object().into_iter().flatten();
    let is_required = |name: &String| {
        let required = schema["required"].as_array();
        required.is_some_and(|list| list.iter().any(|it| it == name))
    };
    all.extend(own.map(|(name, about)| (name, about, is_required(name))));
    all
}

fn mark(is_required: bool) -> &'static str {
    if is_required { ", required" } else { "" }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A description as a cell of a table.
fn one_line(value: &Value) -> String {
    let words: Vec<&str> = text(value).split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// An example as people read it, without the end of a long one.
fn shown(example: &Value) -> Option<String> {
    const LINES_MAX: usize = 40;
    let whole = match example {
        Value::Null => return None,
        Value::String(text) => text.trim_end().to_owned(),
        other => serde_json::to_string_pretty(other).unwrap(),
    };
    let mut lines: Vec<&str> = whole.lines().take(LINES_MAX).collect();
    if whole.lines().count() > LINES_MAX {
        lines.push("…");
    }
    Some(lines.join("\n"))
}
