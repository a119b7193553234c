//! What a webhook sends, with the firing's own values filled in.
//!
//! A placeholder is a name in braces: `{slot}`. Everything else in braces is left as it is, so that
//! a template can be JSON or code. Only texts are filled in: a template that is JSON stays JSON,
//! whatever the values are.

use jiff::Timestamp;
use serde_json::Value;

/// What can be filled in.
pub const PLACEHOLDERS: [&str; 5] = ["slot", "date", "schedule", "firing", "attempt"];

/// The values of one attempt.
#[derive(Debug, Clone, Copy)]
pub struct Filling<'a> {
    pub slot: Timestamp,
    pub schedule: &'a str,
    /// Number of the firing's task: the same for all its attempts.
    pub firing: i64,
    pub attempt: u32,
}

impl Filling<'_> {
    /// The template with every text in it filled in.
    pub fn json(&self, template: &Value) -> Value {
        match template {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(pairs) => {
                let filled = pairs
                    .iter()
                    .map(|(key, value)| (key.clone(), self.json(value)));
                Value::Object(filled.collect())
            }
            plain => plain.clone(),
        }
    }

    /// The text with its placeholders filled in.
    pub fn text(&self, template: &str) -> String {
        let mut filled = String::with_capacity(template.len());
        let mut rest = template;
        while let Some((before, name, after)) = next_placeholder(rest) {
            filled.push_str(before);
            match self.value(name) {
                Some(value) => filled.push_str(&value),
                None => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            "slot" => Some(self.slot.to_string()),
            "date" => Some(self.slot.strftime("%Y-%m-%d").to_string()),
            "schedule" => Some(self.schedule.to_owned()),
            "firing" => Some(self.firing.to_string()),
            "attempt" => Some(self.attempt.to_string()),
            _ => None,
        }
    }
}

/// Whether a template has a placeholder that nothing fills in: a typing error that would be sent.
pub fn has_unknown(template: &Value) -> bool {
    match template {
        Value::String(text) => has_unknown_in(text),
        Value::Array(items) => items.iter().any(has_unknown),
        Value::Object(pairs) => pairs.values().any(has_unknown),
        _ => false,
    }
}

fn has_unknown_in(mut text: &str) -> bool {
    while let Some((_, name, after)) = next_placeholder(text) {
        if !PLACEHOLDERS.contains(&name) {
            return true;
        }
        text = after;
    }
    false
}

/// The text before the next placeholder, its name, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let named = |c: char| c.is_ascii_alphabetic() || c == '_';
    for (start, _) in text.match_indices('{') {
        let inside = &text[start + 1..];
        let end = inside.find(|c: char| !named(c)).unwrap_or(inside.len());
        if end > 0
            && let Some(after) = inside[end..].strip_prefix('}')
        {
            return Some((&text[..start], &inside[..end], after));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filling() -> Filling<'static> {
        Filling {
            slot: "2026-01-05T08:00:00Z".parse().unwrap(),
            schedule: "nightly",
            firing: 42,
            attempt: 2,
        }
    }

    #[test]
    fn every_placeholder_is_filled_in_and_json_stays_json() {
        let template = json!({
            "text": "{schedule} of {date} ({slot}), try {attempt} of \"{firing}\"",
            "n": [1, true, null, "{date}"],
            "{date}": {}
        });
        let filled = filling().json(&template);
        let expected = json!({
            "text": "nightly of 2026-01-05 (2026-01-05T08:00:00Z), try 2 of \"42\"",
            "n": [1, true, null, "2026-01-05"],
            "{date}": {}
        });
        assert_eq!(filled, expected);
        assert!(!has_unknown(&template));
    }

    #[test]
    fn what_is_no_placeholder_stays_and_what_looks_like_one_is_refused() {
        for text in [
            "{}",
            "{ slot }",
            "{1}",
            "{\"a\": {\"b\": 1}}",
            "{",
            "}{",
            "{sl",
        ] {
            assert!(!has_unknown(&json!(text)), "{text}");
            assert_eq!(filling().text(text), text);
        }
        for text in ["{slott}", "a {Date} b", "{{x}}", "{slot} {y}"] {
            assert!(has_unknown(&json!({ "a": [text] })), "{text}");
        }
        assert_eq!(filling().text("{{date}}"), "{2026-01-05}");
    }
}
