//! An example for every operation, recorded by the tests.
//!
//! The record is the golden file of the API, which a test compares with real answers. So an example
//! cannot show what the API does not do, and examples are not written by hand. Each operation shows
//! its first successful exchange, or its first exchange if none succeeded.

use almanack_core::text;
use serde_json::Value;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{Content, OpenApi, RefOr};

use super::operations_mut;

const RECORD: &str = include_str!("../../tests/faces/api.http");
/// Most items shown of a list.
const ITEMS_MAX: usize = 2;
/// Most characters shown of a text.
const TEXT_CHARS_MAX: usize = 400;

/// Adds an example to each operation.
pub(super) fn attach(document: &mut OpenApi) {
    let exchanges: Vec<Exchange<'_>> = RECORD.split("### ").filter_map(Exchange::read).collect();
    let literal: Vec<String> = document.paths.paths.keys().cloned().collect();
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations_mut(item) {
            let of_it = |it: &&Exchange<'_>| {
                it.method == method
                    && (it.path == path
                        || (it.is_at(path) && !literal.iter().any(|p| p == it.path)))
            };
            let succeeded = exchanges.iter().filter(of_it).find(|it| it.succeeded());
            if let Some(shown) = succeeded.or_else(|| exchanges.iter().find(of_it)) {
                shown.show_in(path, operation);
            }
        }
    }
}

/// One request and its answer.
struct Exchange<'a> {
    method: &'a str,
    path: &'a str,
    sent: Body<'a>,
    status: &'a str,
    answered: Body<'a>,
}

struct Body<'a> {
    media_type: &'a str,
    text: &'a str,
}

impl<'a> Exchange<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (request, answer) = text.split_once("\n>>> ")?;
        let (target, sent) = split_message(request);
        let (method, path) = target.split_once(' ')?;
        let (status, answered) = split_message(answer);
        Some(Self {
            method,
            path: path.split('?').next()?,
            sent,
            status,
            answered,
        })
    }

    fn succeeded(&self) -> bool {
        self.status.starts_with('2')
    }

    /// Whether its path is one of `/a/{b}/c`.
    fn is_at(&self, path: &str) -> bool {
        self.path.split('/').count() == path.split('/').count()
            && (self.path.split('/').zip(path.split('/')))
                .all(|(given, wanted)| given == wanted || wanted.starts_with('{'))
    }

    fn show_in(&self, path: &str, operation: &mut Operation) {
        for (given, wanted) in self.path.split('/').zip(path.split('/')) {
            let name = wanted.trim_matches(['{', '}']);
            if name != wanted {
                show_parameter(operation, name, given);
            }
        }
        if let Some(RefOr::T(body)) = &mut operation.request_body
            && let Some(content) = body.content.get_mut(self.sent.media_type)
        {
            self.sent.show_in(content);
        }
        let range = format!("{}XX", &self.status[..1]);
        let responses = &mut operation.responses.responses;
        let key = [self.status, &range];
        let key = key.into_iter().find(|key| responses.contains_key(*key));
        if let Some(RefOr::T(response)) = key.and_then(|key| responses.get_mut(key))
            && let Some(content) = response.content.get_mut(self.answered.media_type)
        {
            self.answered.show_in(content);
        }
    }
}

impl Body<'_> {
    fn show_in(&self, content: &mut RefOr<Content>) {
        if let RefOr::T(content) = content
            && !self.text.is_empty()
        {
            content.example = Some(self.value());
        }
    }

    fn value(&self) -> Value {
        let text = |_| text::shorten(self.text, TEXT_CHARS_MAX).into();
        serde_json::from_str(self.text).map_or_else(text, shorten)
    }
}

/// The first line, and the body that follows the headers.
fn split_message(text: &str) -> (&str, Body<'_>) {
    let (head, text) = text
        .trim_end()
        .split_once("\n\n")
        .unwrap_or((text.trim_end(), ""));
    let (first, headers) = head.split_once('\n').unwrap_or((head, ""));
    let given = headers
        .lines()
        .find_map(|line| line.strip_prefix("content-type: "));
    let media_type = given.and_then(|given| given.split(';').next());
    let media_type = media_type.unwrap_or("application/json");
    (first, Body { media_type, text })
}

fn show_parameter(operation: &mut Operation, name: &str, given: &str) {
    let parameters = operation.parameters.iter_mut().flatten();
    for parameter in parameters {
        if let RefOr::T(known) = parameter
            && known.name == name
            && known.parameter_in == ParameterIn::Path
        {
            let known = std::mem::replace(known, Parameter::new(name));
            let shown = ParameterBuilder::from(known).example(Some(given.into()));
            *parameter = RefOr::T(shown.build());
        }
    }
}

/// Lists are cut: one or two items are enough.
fn shorten(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().take(ITEMS_MAX).map(shorten).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields.map(|(name, value)| (name, shorten(value))).collect()
        }
        other => other,
    }
}
