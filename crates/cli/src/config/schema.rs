//! The JSON Schema of the configuration, for editors: generated from the tables of settings, of
//! schedules and of sources.
//!
//! It describes what the file may contain. `almanack check` also checks combinations of keys and
//! the bounds of durations.

use almanack_core::{plan::Definition, target::Target};
use serde_json::{Map, Value, json};

use super::{
    calendar::{CALENDAR, CALENDARS},
    key::{self, EDITION, EDITIONS, KINDS, Key, SUBSCRIPTIONS},
    schedule::{
        SCHEDULES,
        shape::{Field, RETRY, SCHEDULE, TARGETS},
    },
    settings,
    sources::{
        SOURCES,
        shape::{READINGS, SOURCE},
    },
    table::{Listed, Shape, Usual},
};
use crate::when::show_duration;

/// The schema as a document.
pub(crate) fn document() -> Value {
    let mut root = table("Configuration of Almanack.", Map::new());
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("almanack.toml");
    for Listed { name, about, .. } in settings::sections() {
        let keys = key::keys_of(name).map(|key| (key.name.to_owned(), of_key(key)));
        put(
            &mut root,
            name,
            of_section(name, table(about, keys.collect())),
        );
    }
    let about = "An edition with a name; what it does not set is as in [edition].";
    let mut named = root["properties"][EDITION].clone();
    named["description"] = json!(about);
    let editions = json!({ "type": "object", "additionalProperties": named });
    put(&mut root, EDITIONS, editions);
    let defaults = serde_json::to_value(Definition::new("", any_target())).unwrap_or_default();
    let schedule = of_fields("When to fire what.", SCHEDULE, &defaults);
    put(
        &mut root,
        SCHEDULES,
        json!({ "type": "array", "items": schedule }),
    );
    let calendar = of_fields("A named set of days.", CALENDAR, &Value::Null);
    put(
        &mut root,
        CALENDARS,
        json!({ "type": "array", "items": calendar }),
    );
    let source = of_fields("A source to check.", SOURCE, &Value::Null);
    put(
        &mut root,
        SOURCES,
        json!({ "type": "array", "items": source }),
    );
    root
}

/// A default of a key as JSON: it is shown as it would be written in the file.
fn json_of(written: &str) -> Option<Value> {
    let document: toml::Table = toml::from_str(&format!("value = {written}")).ok()?;
    serde_json::to_value(document.get("value")?).ok()
}

/// A table of these keys and no others.
fn table(about: &str, properties: Map<String, Value>) -> Value {
    let mut table = json!({ "type": "object", "additionalProperties": false });
    if !about.is_empty() {
        table["description"] = json!(about);
    }
    table["properties"] = Value::Object(properties);
    table
}

/// Puts the schema of a section where it belongs, inside of others if its name has dots.
fn put(outer: &mut Value, name: &str, section: Value) {
    let Some((first, rest)) = name.split_once('.') else {
        outer["properties"][name] = section;
        return;
    };
    if outer["properties"][first].is_null() {
        outer["properties"][first] = table("", Map::new());
    }
    put(&mut outer["properties"][first], rest, section);
}

/// Of kinds there is a table for each name, of subscriptions a list of tables that name themselves.
fn of_section(name: &str, mut table: Value) -> Value {
    match name {
        KINDS => json!({ "type": "object", "additionalProperties": table }),
        SUBSCRIPTIONS => {
            table["properties"]["name"] =
                json!({ "description": "Name of the subscription.", "type": "string" });
            table["required"] = json!(["name"]);
            json!({ "type": "array", "items": table })
        }
        _ => table,
    }
}

fn of_key(key: &Key) -> Value {
    let mut schema = of_shape(&key.shape);
    schema["description"] = json!(described(key));
    if let Usual::Value(written) = &key.usual {
        schema["default"] = json_of(written).unwrap_or_default();
    }
    schema
}

/// The description of a key, with what a schema has no word for.
fn described(key: &Key) -> String {
    let bounds = match &key.shape {
        Shape::Duration(least, most) => {
            format!(" {} to {}.", show_duration(*least), show_duration(*most))
        }
        _ => String::new(),
    };
    let usual = match &key.usual {
        Usual::Value(_) => String::new(),
        Usual::Unset(text) => format!(" Default: {}.", text.trim_matches(['(', ')'])),
        Usual::Depends(how) => format!(" Default: {how}."),
    };
    format!("{}{bounds}{usual}", key.words[0])
}

fn of_shape(shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string", "minLength": 1 }),
        Shape::Address => json!({ "type": "string", "format": "uri" }),
        Shape::Secret => json!({ "type": "string", "pattern": "^(env|file):." }),
        Shape::Duration(..) => json!({ "type": "string", "pattern": "^[+-]?[0-9P]" }),
        Shape::Count(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Shape::Share => json!({ "type": ["string", "integer"], "minimum": 0, "maximum": 1 }),
        Shape::Truth => json!({ "type": "boolean" }),
        Shape::Choice(words) => json!({ "enum": words }),
        Shape::TruthOrChoice(words) => {
            json!({ "anyOf": [{ "type": "boolean" }, { "enum": words }] })
        }
        Shape::Texts(words) if words.is_empty() => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
        Shape::Texts(words) => json!({ "type": "array", "items": { "enum": words } }),
        Shape::TextByName | Shape::Headers => {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
        Shape::Instant => json!({ "type": "string", "format": "date-time" }),
        Shape::Anything => json!({}),
        Shape::Retry => of_fields("", RETRY, &Value::Null),
        Shape::Target => json!({ "oneOf": variants("type", TARGETS) }),
        Shape::Reading => json!({ "oneOf": variants("how", READINGS) }),
    }
}

/// A schema for each value of the key that decides.
fn variants(by: &str, variants: &[(&str, &[Field])]) -> Vec<Value> {
    let variant = |(name, fields): &(&str, &[Field])| {
        let mut schema = of_fields("", fields, &Value::Null);
        schema["properties"][by] = json!({ "const": name });
        schema
    };
    variants.iter().map(variant).collect()
}

/// A table of a list; what is not written is as in `defaults`.
fn of_fields(about: &str, fields: &[Field], defaults: &Value) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = of_shape(&field.shape);
        schema["description"] = json!(field.words[0].trim());
        if field.needed.is_none() && !defaults[field.name].is_null() {
            schema["default"] = defaults[field.name].clone();
        }
        properties.insert(field.name.to_owned(), schema);
    }
    let needed = fields.iter().filter(|field| field.needed.is_some());
    let needed: Vec<&str> = needed.map(|field| field.name).collect();
    let mut schema = table(about, properties);
    schema["required"] = json!(needed);
    schema
}

fn any_target() -> Target {
    Target::webhook(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::key::KEYS;

    /// Where the schema of a section is.
    fn section<'a>(document: &'a Value, name: &str) -> &'a Value {
        let found = name
            .split('.')
            .fold(document, |outer, name| &outer["properties"][name]);
        match name {
            KINDS => &found["additionalProperties"],
            SUBSCRIPTIONS => &found["items"],
            _ => found,
        }
    }

    #[test]
    fn every_key_is_in_the_schema_with_its_default() {
        let document = document();
        for key in KEYS.iter() {
            let schema = &section(&document, key.section)["properties"][key.name];
            let path = format!("{}.{}", key.section, key.name);
            assert!(schema["description"].is_string(), "{path}");
            let is_fixed = matches!(key.usual, Usual::Value(_));
            assert_eq!(!schema["default"].is_null(), is_fixed, "{path}");
        }
    }
}
