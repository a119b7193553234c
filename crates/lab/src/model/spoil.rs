//! From a task to its answer: the correct one, and the effect of a fault.

use serde_json::{Value, json};

use super::{
    fault::{Effect, Rule},
    mind,
    task::{Shape, Task, Title},
};
use crate::feeds::language::Language;

/// How much of a text is returned unchanged instead of a summary.
const UNCHANGED_CHARS: usize = 200;

/// The model's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    /// `None` for no content.
    pub(super) content: Option<String>,
    /// Whether it stopped before the end.
    pub(super) cut: bool,
}

/// Answers a task in a language, spoiled where a rule says so.
pub(super) fn answer(
    task: &Task,
    (language, sensitive_words): (Language, &[String]),
    rule: Option<&Rule>,
) -> Completion {
    let effect = rule.map(|rule| rule.effect);
    let part = rule.and_then(|rule| rule.matching.contains.as_deref());
    let content = match (task, effect) {
        (Task::Summary { text, .. }, Some(Effect::Unchanged)) => {
            text.chars().take(UNCHANGED_CHARS).collect()
        }
        (Task::Summary { text, chars_max }, _) => mind::summarise(text, language, *chars_max),
        _ => {
            let mut elements = elements(task, language, sensitive_words);
            if let Some(effect) = effect {
                spoil_elements(&mut elements, effect, task, part);
            }
            Value::Array(elements).to_string()
        }
    };
    spoil_content(content, effect, task.titles().len())
}

fn elements(task: &Task, language: Language, sensitive_words: &[String]) -> Vec<Value> {
    let element = |title: &Title| match task {
        Task::Titles { shape, .. } => shown(title, *shape, mind::translate(&title.text, language)),
        _ if mind::is_sensitive(&title.text, sensitive_words) => {
            json!({ "index": title.index, "classification": "SENSITIVE" })
        }
        _ => json!({ "index": title.index, "classification": "SAFE" }),
    };
    task.titles().iter().map(element).collect()
}

fn shown(title: &Title, shape: Shape, text: String) -> Value {
    match shape {
        Shape::Strings => Value::String(text),
        Shape::Objects => json!({ "index": title.index, "title": text }),
    }
}

fn spoil_elements(elements: &mut Vec<Value>, effect: Effect, task: &Task, part: Option<&str>) {
    let contains = |title: &Title| part.is_some_and(|part| title.text.contains(part));
    let place = task.titles().iter().position(contains);
    match effect {
        Effect::OneLess => {
            elements.pop();
        }
        Effect::OneMore => {
            let last = elements.last().cloned();
            elements.push(last.unwrap_or(Value::Null));
        }
        // Swaps the halves: no element keeps its position.
        Effect::Shuffled => {
            let half = elements.len() / 2;
            elements.rotate_left(half);
        }
        Effect::Reversed => elements.reverse(),
        Effect::RepeatedIndex => repeat_index(elements),
        Effect::ElementEmpty => set(elements, place.unwrap_or(0), &json!("")),
        Effect::ElementNull => set(elements, place.unwrap_or(0), &Value::Null),
        Effect::Unchanged => restore(elements, task, place),
        _ => {}
    }
}

fn repeat_index(elements: &mut [Value]) {
    if let [first, second, ..] = elements
        && let Some(object) = second.as_object_mut()
    {
        object.insert("index".to_owned(), first["index"].clone());
    }
}

/// Replaces an element, or the field of it that matters.
fn set(elements: &mut [Value], place: usize, value: &Value) {
    let Some(element) = elements.get_mut(place) else {
        return;
    };
    match element.as_object_mut() {
        None => *element = value.clone(),
        Some(object) => {
            let mut fields = object.iter_mut().filter(|(name, _)| *name != "index");
            if let Some((_, field)) = fields.next() {
                *field = value.clone();
            }
        }
    }
}

/// Returns originals: one if a position is known, else all.
fn restore(elements: &mut [Value], task: &Task, place: Option<usize>) {
    let Task::Titles { titles, shape } = task else {
        return;
    };
    let pairs = elements.iter_mut().zip(titles).enumerate();
    for (_, (element, title)) in pairs.filter(|(at, _)| place.is_none_or(|place| place == *at)) {
        *element = shown(title, *shape, title.text.clone());
    }
}

fn spoil_content(content: String, effect: Option<Effect>, titles: usize) -> Completion {
    let whole = |content: String| Completion {
        content: Some(content),
        cut: false,
    };
    match effect {
        Some(Effect::Prose) => whole(format!(
            "好的，以下是结果：\n\n{content}\n\n如果需要调整，请随时告诉我。"
        )),
        Some(Effect::ProseWithBrackets) => whole(format!(
            "好的 [共 {titles} 条]，以下是结果：\n{content}\n注：专有名词 [如 Rust] 保留原文。"
        )),
        Some(Effect::Fence) => whole(format!("```json\n{content}\n```")),
        Some(Effect::TrailingComma) => match content.strip_suffix(']') {
            Some(open) => whole(format!("{open},]")),
            None => whole(content),
        },
        Some(Effect::Excuse) => whole("抱歉，我暂时无法完成这个请求。".to_owned()),
        Some(Effect::EmptyContent) => whole(String::new()),
        Some(Effect::NullContent) => Completion {
            content: None,
            cut: false,
        },
        Some(Effect::CutOff) => {
            let half = content.chars().count() / 2;
            Completion {
                content: Some(content.chars().take(half).collect()),
                cut: true,
            }
        }
        _ => whole(content),
    }
}

#[cfg(test)]
mod tests;
