//! The task for the model, recognised from the content of the messages.
//!
//! - an array of titles in the last message of the user: translate them;
//! - titles, and the words SAFE and SENSITIVE around them: classify them;
//! - anything else: summarise it.
//!
//! So is the language of the answer: English where the instructions ask for it, else Chinese.
//!
//! An article may contain a JSON array too. An array therefore counts as titles only if the message
//! is hardly more than that array, ends with it, or mentions JSON before it.

use serde::{Deserialize, Serialize};
use serde_json::{Deserializer, Value};

use crate::feeds::language::Language;

/// Default length of a summary, in characters.
const SUMMARY_CHARS: usize = 300;
/// Numbers outside this range are not a summary's length: years, ranks, ports.
const SUMMARY_CHARS_ASKED: std::ops::RangeInclusive<usize> = 10..=4_000;
/// How far into a message instructions are looked for; what follows is the text itself.
const INSTRUCTION_CHARS: usize = 400;
/// How instructions ask for English.
const ASKS_ENGLISH: [&str; 2] = ["into English", "in English"];
/// What may follow the number that is a length.
const LENGTH_UNITS: [&str; 8] = [
    "个字",
    "个汉字",
    "个中文",
    "字",
    "汉字",
    "char",
    "word",
    "symbol",
];

/// The kinds of work it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Titles,
    Filter,
    Summary,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: String,
    /// Its text; parts are joined.
    #[serde(deserialize_with = "content")]
    pub content: String,
}

/// A text, or parts of one.
fn content<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Content {
        Text(String),
        Parts(Vec<Part>),
    }
    #[derive(Deserialize)]
    struct Part {
        text: String,
    }
    Ok(match Content::deserialize(from)? {
        Content::Text(text) => text,
        Content::Parts(parts) => parts.into_iter().map(|part| part.text).collect(),
    })
}

/// A title, and its index in the request; without one, its position from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// Its index in the request.
    pub index: i64,
    pub text: String,
}

/// The form of the titles in the request, which the answer repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `["…", "…"]`
    Strings,
    /// `[{"index": 0, "title": "…"}]`
    Objects,
}

/// A task for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    Titles {
        titles: Vec<Title>,
        shape: Shape,
    },
    Filter {
        titles: Vec<Title>,
    },
    Summary {
        text: String,
        /// Most characters.
        chars_max: usize,
    },
}

impl Task {
    /// Recognises the task from the messages.
    pub fn recognise(messages: &[Message]) -> Self {
        let user = last_of_user(messages);
        let system: Vec<&str> = messages
            .iter()
            .filter(|message| is_instruction(message))
            .map(|message| message.content.as_str())
            .collect();
        let system = system.join("\n");
        let found = find_titles(user).filter(|found| found.is_input(&system, user));
        let around = match &found {
            Some(found) => format!("{system}\n{}\n{}", found.before, found.after),
            None => format!("{system}\n{user}"),
        };
        let classify = around.contains("SENSITIVE") && around.contains("SAFE");
        match found {
            Some(found) if classify => Self::Filter {
                titles: found.titles,
            },
            Some(found) => Self::Titles {
                titles: found.titles,
                shape: found.shape,
            },
            None => Self::Summary {
                text: user.to_owned(),
                chars_max: asked_length(&system, user),
            },
        }
    }

    /// The kind of work.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Titles { .. } => Kind::Titles,
            Self::Filter { .. } => Kind::Filter,
            Self::Summary { .. } => Kind::Summary,
        }
    }

    /// The titles in question; none for a summary.
    pub fn titles(&self) -> &[Title] {
        match self {
            Self::Titles { titles, .. } | Self::Filter { titles } => titles,
            Self::Summary { .. } => &[],
        }
    }
}

/// The language that the instructions ask for; Chinese unless they ask for English.
pub(super) fn language_asked(messages: &[Message]) -> Language {
    let mut systems = messages.iter().filter(|it| is_instruction(it)).peekable();
    let asks = |text: &str| ASKS_ENGLISH.iter().any(|words| text.contains(words));
    let english = if systems.peek().is_some() {
        systems.any(|message| asks(&message.content))
    } else {
        let start = last_of_user(messages).chars().take(INSTRUCTION_CHARS);
        asks(&start.collect::<String>())
    };
    if english {
        Language::English
    } else {
        Language::Chinese
    }
}

fn is_instruction(message: &Message) -> bool {
    message.role == "system" || message.role == "developer"
}

/// The last message of the user.
pub(super) fn last_of_user(messages: &[Message]) -> &str {
    let last = messages.iter().rfind(|message| message.role == "user");
    last.map_or("", |message| message.content.as_str())
}

/// An array of titles, and the text around it.
struct Found<'a> {
    titles: Vec<Title>,
    shape: Shape,
    before: &'a str,
    after: &'a str,
}

impl Found<'_> {
    /// Whether it is what the message is about, and not part of a text.
    fn is_input(&self, system: &str, message: &str) -> bool {
        let around = self.before.len() + self.after.len();
        let closing = |c: char| c.is_whitespace() || "`}\"'.。".contains(c);
        let beforehand: String = match system {
            "" => self.before.chars().take(INSTRUCTION_CHARS).collect(),
            _ => system.to_owned(),
        };
        around * 2 <= message.len()
            || self.after.chars().all(closing)
            || beforehand.to_ascii_lowercase().contains("json")
    }
}

/// The last array of titles in a text: examples come before what they explain.
fn find_titles(text: &str) -> Option<Found<'_>> {
    let mut found = None;
    let mut from = 0;
    while let Some(offset) = text.get(from..).and_then(|rest| rest.find('[')) {
        let start = from + offset;
        let rest = text.get(start..).unwrap_or_default();
        let mut values = Deserializer::from_str(rest).into_iter::<Vec<Value>>();
        let Some(Ok(values_read)) = values.next() else {
            from = start + 1;
            continue;
        };
        let end = start + values.byte_offset();
        if let Some((titles, shape)) = as_titles(&values_read, text.trim().len() == end - start) {
            found = Some(Found {
                titles,
                shape,
                before: text.get(..start).unwrap_or_default(),
                after: text.get(end..).unwrap_or_default(),
            });
        }
        from = end;
    }
    found
}

/// Titles where all elements are; an empty array only where it is all there is.
fn as_titles(values: &[Value], alone: bool) -> Option<(Vec<Title>, Shape)> {
    if values.is_empty() {
        return alone.then(|| (Vec::new(), Shape::Strings));
    }
    let shape = match values.first() {
        Some(Value::String(_)) => Shape::Strings,
        _ => Shape::Objects,
    };
    let titles = values.iter().zip(0_i64..).map(|(value, place)| {
        let (index, text) = match shape {
            Shape::Strings => (None, value.as_str()),
            Shape::Objects => (value["index"].as_i64(), value["title"].as_str()),
        };
        text.map(|text| Title {
            index: index.unwrap_or(place),
            text: text.to_owned(),
        })
    });
    let titles: Option<Vec<Title>> = titles.collect();
    titles.map(|titles| (titles, shape))
}

/// The requested length, in the system message or at the start of the user's.
fn asked_length(system: &str, user: &str) -> usize {
    let start: String = user.chars().take(INSTRUCTION_CHARS).collect();
    let asked = length_in(system).or_else(|| length_in(&start));
    asked.unwrap_or(SUMMARY_CHARS)
}

fn length_in(text: &str) -> Option<usize> {
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = rest.get(start..).unwrap_or_default();
        let end = from.find(|c: char| !c.is_ascii_digit());
        let (digits, after) = from.split_at(end.unwrap_or(from.len()));
        let unit = after.trim_start_matches([' ', '-']);
        let unit = unit.trim_start_matches("Chinese ").to_ascii_lowercase();
        let number: Option<usize> = digits.parse().ok();
        let number = number.filter(|number| SUMMARY_CHARS_ASKED.contains(number));
        if number.is_some() && LENGTH_UNITS.iter().any(|it| unit.starts_with(it)) {
            return number;
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests;
