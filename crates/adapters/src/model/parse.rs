//! Reads a model's reply, index by index.
//!
//! A model is asked for an array of objects that carry the index of what they answer to. It may put
//! prose or a fence around it, leave commas behind, wrap it, shuffle it, stop in the middle, or
//! answer with something else. Reading is generous; placing is not, because a title at the wrong
//! story is worse than none (ED-09):
//!
//! ```text
//! reply ─► every JSON value in it, mended where safe ─► lists ─► each placed ─► the fullest wins
//! ```
//!
//! - An element that names its index goes there and nowhere else. Two that claim one index and
//!   differ are both void; an index outside the list is ignored.
//! - If no element claims index 0, it is not certain that counting began there. Exactly `1..=count`
//!   is taken for counting from one, anything else is void as a whole.
//! - Elements without indices count by their positions, and only if there are exactly as many as
//!   asked for.
//!
//! Pure; never panics, and always returns as many elements as were asked for.

mod json;

use serde_json::{Map, Value};

/// Longest title that is one; what is longer is prose.
const TITLE_CHARS_MAX: usize = 500;
/// Names under which models give an index.
const INDEX_KEYS: [&str; 2] = ["index", "id"];
/// Names under which they give a title.
const TITLE_KEYS: [&str; 4] = ["title", "translation", "translated_title", "text"];
/// Names under which they give a verdict.
const VERDICT_KEYS: [&str; 3] = ["classification", "class", "verdict"];

/// The titles of a reply, each at its index; `None` where the reply has none.
pub fn titles(reply: &str, count: usize) -> Vec<Option<String>> {
    placed(reply, count, |value| title(text_of(value, &TITLE_KEYS)?))
}

/// Whether each of the titles may be published; `None` unless the reply judges every one of them.
pub fn verdicts(reply: &str, count: usize) -> Option<Vec<bool>> {
    let placed = placed(reply, count, |value| {
        match text_of(value, &VERDICT_KEYS)?
            .trim()
            .to_ascii_uppercase()
            .as_str()
        {
            "SAFE" => Some(true),
            "SENSITIVE" => Some(false),
            _ => None,
        }
    });
    placed.into_iter().collect()
}

/// A title is one line, and neither empty nor a page. Control characters go: not every database
/// takes them.
fn title(text: &str) -> Option<String> {
    let is_text = |c: &char| c.is_whitespace() || !c.is_control();
    let text: String = text.chars().filter(is_text).collect();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let fits = !line.is_empty() && line.chars().count() <= TITLE_CHARS_MAX;
    fits.then_some(line)
}

/// The text of an element: itself, or one of its fields.
fn text_of<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a str> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(fields) => keys.iter().find_map(|key| fields.get(*key)?.as_str()),
        _ => None,
    }
}

/// The elements of a reply at their indices, of the list that fills most of them; among equals the
/// last, because a model that reasons first ends with the answer.
fn placed<T: Clone + PartialEq>(
    reply: &str,
    count: usize,
    read: impl Fn(&Value) -> Option<T>,
) -> Vec<Option<T>> {
    let none = vec![None; count];
    let filled = |places: &Vec<Option<T>>| places.iter().flatten().count();
    let lists = lists(reply).into_iter();
    lists
        .map(|list| list.place(count, &read))
        .filter(|places| filled(places) > 0)
        .max_by_key(filled)
        .unwrap_or(none)
}

/// A list that a reply may mean.
struct List {
    elements: Vec<(Option<usize>, Value)>,
    /// Whether where one text ends and the next begins had to be guessed.
    guessed: bool,
}

impl List {
    fn new(elements: Vec<Value>, guessed: bool) -> Self {
        let elements = elements.into_iter().map(|value| (index_of(&value), value));
        Self {
            elements: elements.collect(),
            guessed,
        }
    }

    fn place<T: Clone + PartialEq>(
        &self,
        count: usize,
        read: &impl Fn(&Value) -> Option<T>,
    ) -> Vec<Option<T>> {
        let by_index = self.elements.iter().any(|(index, _)| index.is_some());
        match (by_index, self.base(count)) {
            (true, Some(base)) => self.place_by_index(count, base, read),
            (false, _) if self.elements.len() == count && !self.guessed => {
                let values = self.elements.iter().map(|(_, value)| value);
                values.map(read).collect()
            }
            _ => vec![None; count],
        }
    }

    /// From what it counts: 0 if an element claims that index, 1 if the claims are exactly
    /// `1..=count`.
    fn base(&self, count: usize) -> Option<usize> {
        let mut claimed: Vec<usize> = self
            .elements
            .iter()
            .filter_map(|(index, _)| *index)
            .collect();
        claimed.sort_unstable();
        let from_one = || claimed.iter().copied().eq(1..=count);
        match claimed.first() {
            Some(0) => Some(0),
            Some(1) if from_one() => Some(1),
            _ => None,
        }
    }

    fn place_by_index<T: Clone + PartialEq>(
        &self,
        count: usize,
        base: usize,
        read: &impl Fn(&Value) -> Option<T>,
    ) -> Vec<Option<T>> {
        let mut claims: Vec<Vec<Option<T>>> = vec![Vec::new(); count];
        for (index, value) in &self.elements {
            let place = index.and_then(|index| index.checked_sub(base));
            if let Some(claims) = place.and_then(|place| claims.get_mut(place)) {
                claims.push(read(value));
            }
        }
        claims.into_iter().map(agreed).collect()
    }
}

/// The value on which all claims of one index agree.
fn agreed<T: PartialEq>(claims: Vec<Option<T>>) -> Option<T> {
    let mut claims = claims.into_iter();
    let first = claims.next()?;
    claims
        .all(|claim| claim == first)
        .then_some(first)
        .flatten()
}

/// The lists in a reply: its arrays, what wrappers hold, and its loose objects together.
fn lists(reply: &str) -> Vec<List> {
    let mut lists = Vec::new();
    let mut loose = Vec::new();
    for found in json::values(reply) {
        match found.value {
            Value::Array(elements) => lists.push(List::new(elements, found.guessed)),
            Value::Object(fields) => match unwrapped(&fields) {
                Some(elements) => lists.push(List {
                    elements,
                    guessed: found.guessed,
                }),
                None => loose.push(Value::Object(fields)),
            },
            _ => {}
        }
    }
    // Loose objects may be what is left of an array: only their indices say where they belong.
    lists.push(List::new(loose, true));
    lists
}

/// What a wrapper holds: `{"titles": […]}`, or `{"0": "…", "1": "…"}`.
fn unwrapped(fields: &Map<String, Value>) -> Option<Vec<(Option<usize>, Value)>> {
    let array = fields.values().find_map(Value::as_array);
    if let Some(elements) = array {
        let indexed = elements
            .iter()
            .map(|value| (index_of(value), value.clone()));
        return Some(indexed.collect());
    }
    let numbered = fields
        .iter()
        .map(|(key, value)| Some((Some(key.parse().ok()?), value.clone())));
    numbered
        .collect::<Option<Vec<_>>>()
        .filter(|it| !it.is_empty())
}

/// The index an element names, as a number or as its digits.
fn index_of(value: &Value) -> Option<usize> {
    let fields = value.as_object()?;
    INDEX_KEYS.iter().find_map(|key| match fields.get(*key)? {
        Value::Number(number) => usize::try_from(number.as_u64()?).ok(),
        Value::String(digits) => digits.trim().parse().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
