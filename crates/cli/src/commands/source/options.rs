//! Options of a source, from flags: a patch as the API takes it.

use serde_json::Map;

use crate::commands::prelude::*;

/// The options to change, if any are given; an empty text resets one.
pub(super) fn patch(given: &OptionArguments) -> Result<Option<Value>> {
    let mut fetch = Map::new();
    let mut options = Map::new();
    let headers = given.headers.iter().map(|it| header(it));
    let headers: Map<String, Value> = headers.collect::<Result<_>>()?;
    if !headers.is_empty() {
        fetch.insert("headers".to_owned(), Value::Object(headers));
    }
    if let Some(basic) = &given.basic {
        fetch.extend(credentials(basic)?);
    }
    let texts = [
        ("bearer", &given.bearer),
        ("proxy", &given.proxy),
        ("user_agent", &given.user_agent),
    ];
    fetch.extend(texts.into_iter().filter_map(text_or_null));
    let robots = given.robots.as_deref().map(switch);
    fetch.extend(robots.map(|on| ("robots".to_owned(), on)));
    if !fetch.is_empty() {
        options.insert("fetch".to_owned(), Value::Object(fetch));
    }
    let lists = [
        ("filters", &given.filters),
        ("error_texts", &given.error_texts),
    ];
    for (name, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let lines: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
        options.insert(name.to_owned(), json!(lines));
    }
    let full_text = given.full_text.as_deref().map(switch);
    options.extend(full_text.map(|on| ("full_text".to_owned(), on)));
    options.extend(text_or_null(("site", &given.site)));
    Ok((!options.is_empty()).then_some(Value::Object(options)))
}

/// What is reset is left out, where there is nothing yet that could be reset.
pub(super) fn without_null(mut patch: Value) -> Value {
    if let Value::Object(fields) = &mut patch {
        fields.retain(|_, value| !value.is_null());
        for value in fields.values_mut() {
            *value = without_null(value.take());
        }
    }
    patch
}

fn text_or_null((name, value): (&str, &Option<String>)) -> Option<(String, Value)> {
    let value = value.as_deref()?;
    let value = (!value.is_empty()).then_some(value);
    Some((name.to_owned(), json!(value)))
}

fn switch(text: &str) -> Value {
    match text {
        "on" => json!(true),
        "off" => json!(false),
        _ => Value::Null,
    }
}

/// `Name: value`; without a value, the header is removed.
fn header(text: &str) -> Result<(String, Value)> {
    let example = "for example --header 'Accept-Language: de'";
    let missing = || Failure::usage("--header needs a name and a value").hint(example);
    let (name, value) = text.split_once(':').ok_or_else(missing)?;
    let value = Some(value.trim()).filter(|value| !value.is_empty());
    Ok((name.trim().to_owned(), json!(value)))
}

fn credentials(text: &str) -> Result<[(String, Value); 2]> {
    let pair = |user: Option<&str>, password: Option<&str>| {
        let user = ("user".to_owned(), json!(user));
        [user, ("password".to_owned(), json!(password))]
    };
    if text.is_empty() {
        return Ok(pair(None, None));
    }
    let example = "for example --basic reader:env:SOURCE_PASSWORD";
    let missing = || Failure::usage("--basic needs a user name and a reference").hint(example);
    let (user, password) = text.split_once(':').ok_or_else(missing)?;
    Ok(pair(Some(user), Some(password)))
}
