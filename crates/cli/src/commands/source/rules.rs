//! How a source is read, from flags or from a file of rules.

use almanack_core::{lang::reader::of_json, source::reading::Reading};

use crate::commands::prelude::*;

/// The flags, and the formats that each is for.
const FLAGS: [(&str, &[&str]); 7] = [
    ("--item", &["html", "json"]),
    ("--title", &["html", "json"]),
    ("--link", &["html", "json"]),
    ("--date", &["html", "json"]),
    ("--summary", &["html", "json"]),
    ("--id", &["json"]),
    ("--containing", &["sitemap"]),
];

/// The rules as the API takes them, if any are given. Those of the same format that are not given
/// stay as they were `before`.
pub(super) fn reading(given: &RuleArguments, before: Option<&Value>) -> Result<Option<Value>> {
    if let Some(file) = &given.rules {
        return from_file(file).map(Some);
    }
    let values = [
        &given.item,
        &given.title,
        &given.link,
        &given.date,
        &given.summary,
        &given.id,
        &given.containing,
    ];
    if given.format.is_none() && values.iter().all(|value| value.is_none()) {
        return Ok(None);
    }
    let how = before.and_then(|before| before["how"].as_str());
    let format = given.format.as_deref().or(how).unwrap_or("feed");
    let same = before.filter(|_| how == Some(format)).cloned();
    let mut rules = same.unwrap_or_else(|| json!({ "how": format }));
    for ((flag, formats), value) in FLAGS.iter().zip(values) {
        let key = match (format, *flag) {
            ("json", "--item") => "items",
            (_, flag) => flag.trim_start_matches('-'),
        };
        let fits = formats.contains(&format);
        match value.as_deref() {
            Some(_) if !fits => return Err(stray(flag, formats, format)),
            // As of every option: an empty text resets it.
            Some("") => rules[key] = Value::Null,
            Some(value) => rules[key] = json!(value),
            None => {}
        }
        if fits && matches!(*flag, "--item" | "--title") && rules[key].is_null() {
            return Err(missing(format, flag));
        }
    }
    Ok(Some(rules))
}

/// A flag that would have no effect.
fn stray(flag: &str, formats: &[&str], format: &str) -> Failure {
    let fitting: Vec<String> = formats.iter().map(|it| format!("--as {it}")).collect();
    let what = format!("{flag} does not apply to a {format}");
    Failure::usage(what).hint(format!("it is for {}", fitting.join(" or ")))
}

fn missing(format: &str, flag: &str) -> Failure {
    let example = match format {
        "json" => "--item '$.posts[*]' --title '$.title'",
        _ => "--item article --title h2",
    };
    Failure::usage(format!("--as {format} needs {flag}"))
        .hint(format!("for example --as {format} {example}"))
}

fn from_file(file: &str) -> Result<Value> {
    let text = read_text(file, "read rules from", FILE_BYTES_MAX)?;
    let read = serde_json::from_str::<Reading>(&text).map(|rules| json!(rules));
    read.map_err(|error| {
        let what = format!("--rules: {}", of_json(".", &error));
        Failure::usage(what).hint(
            "for example {\"how\":\"html\",\"item\":\"article\",\"title\":\"h2\"}; how is html, json or sitemap",
        )
    })
}
