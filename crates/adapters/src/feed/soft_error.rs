//! Soft errors: refusals inside of an answer with status 200 (SS-05).
//!
//! Some sites answer everything with 200 and say in words that you come too often or must sign in.
//! No word alone gives that away, because there are articles about each of them. So the texts of
//! [`texts`] count only
//!
//! - where the document is not what was expected: it is no feed, the rules find nothing, or it is
//!   JSON with a message and no items; and then only in a short page, a message or a title;
//! - where nothing but such a text is the title of each of a document's only one or two entries.
//!
//! What people name for one source (`error_texts`) always counts, wherever it stands.

use almanack_core::source::{
    check::{Document, Failure, FailureClass},
    reading::Reading,
};
use scraper::{Html, Node};
use serde_json::{Map, Value};

use super::{advertised, page};

mod texts;

use texts::{Known, find, nothing_but};

/// Longest page that can be a refusal, in characters that can be seen.
const PAGE_CHARS_MAX: usize = 1000;
/// Longest message that can be one, in characters.
const MESSAGE_CHARS_MAX: usize = 300;
/// How much of a page is looked at.
const PAGE_BYTES_MAX: usize = 512 * 1024;
/// Where JSON says what is wrong, in words and in numbers; in lower case without `_`.
const MESSAGES: [&str; 12] = [
    "message",
    "msg",
    "error",
    "errors",
    "errmsg",
    "errormsg",
    "errormessage",
    "errordescription",
    "detail",
    "reason",
    "statusmsg",
    "tips",
];
const CODES: [&str; 5] = ["code", "status", "statuscode", "errcode", "errorcode"];

/// What a site does in place of showing its document.
struct Refusal {
    class: FailureClass,
    /// Behind "the site".
    does: String,
}

impl Refusal {
    fn saying((class, text): Known) -> Self {
        let does = format!("says “{text}”");
        Self { class, does }
    }

    fn failure(self, other: Option<&Failure>) -> Failure {
        let does = self.does;
        let detail = match other {
            Some(other) => format!("the site {does} with status 200; {}", other.detail),
            None => format!("the site {does} with status 200 in place of its entries"),
        };
        Failure::new(self.class, detail)
    }
}

/// Makes a failure of what was read if it says one, and gives one its class.
pub(crate) fn check<'a>(
    reading: &Reading,
    read: Result<Document, Failure>,
    text: impl FnOnce() -> &'a str,
) -> Result<Document, Failure> {
    match read {
        Ok(document) => {
            let is_json = matches!(reading, Reading::Json(_));
            let found = match document.entries.len() {
                0 if is_json => in_json(text()),
                1 | 2 => in_titles(&document),
                _ => None,
            };
            found.map_or(Ok(document), |refusal| Err(refusal.failure(None)))
        }
        Err(other) => {
            let is_unexpected = match other.class {
                FailureClass::NotAFeed | FailureClass::Rules => true,
                // A page in place of JSON. Everything else that is malformed is what was expected.
                FailureClass::Malformed => matches!(reading, Reading::Json(_)),
                _ => false,
            };
            let found = if is_unexpected {
                in_answer(text())
            } else {
                None
            };
            Err(match found {
                Some(refusal) => refusal.failure(Some(&other)),
                None => other,
            })
        }
    }
}

/// Fails if the answer has one of the texts that people named for its source.
pub(crate) fn check_named(texts: &[String], answer: &str) -> Result<(), Failure> {
    let answer = answer.to_lowercase();
    let says = |named: &&String| {
        let named = named.trim().to_lowercase();
        !named.is_empty() && answer.contains(&named)
    };
    let Some(named) = texts.iter().find(says) else {
        return Ok(());
    };
    let class = find(named).map_or(FailureClass::Server, |(class, _)| class);
    let named = super::text::short_line(named, MESSAGE_CHARS_MAX);
    let detail = format!("the answer has “{named}”, which is one of this source's error texts");
    Err(Failure::new(class, detail))
}

/// In an answer that is not what was expected.
fn in_answer(text: &str) -> Option<Refusal> {
    let text = text.trim_start_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
    match text.as_bytes().first()? {
        b'{' | b'[' => in_json(text),
        b'<' => in_page(text),
        _ => in_message(text, MESSAGE_CHARS_MAX),
    }
}

fn in_titles(document: &Document) -> Option<Refusal> {
    let entries = document.entries.iter();
    let known: Option<Vec<Known>> = entries.map(|entry| nothing_but(&entry.title)).collect();
    known?.into_iter().next().map(Refusal::saying)
}

/// In the fields that say what is wrong, and in those of what they hold: `error` may be an object,
/// `errors` a list of them.
fn in_json(text: &str) -> Option<Refusal> {
    let document: Value = serde_json::from_str(text).ok()?;
    let outer = document.as_object()?;
    let inner = named(outer, &MESSAGES);
    let inner = inner.filter_map(|value| value.get(0).unwrap_or(value).as_object());
    [outer].into_iter().chain(inner).find_map(in_fields)
}

fn in_fields(fields: &Map<String, Value>) -> Option<Refusal> {
    let messages = named(fields, &MESSAGES);
    let mut messages = messages.filter_map(|value| value.get(0).unwrap_or(value).as_str());
    let message = messages.find_map(|message| in_message(message, MESSAGE_CHARS_MAX));
    message.or_else(|| named(fields, &CODES).find_map(by_code))
}

fn named<'a>(
    fields: &'a Map<String, Value>,
    names: &'static [&str],
) -> impl Iterator<Item = &'a Value> {
    let wanted = fields.iter().filter(|(name, _)| {
        let name = name.to_ascii_lowercase().replace('_', "");
        names.contains(&name.as_str())
    });
    wanted.map(|(_, value)| value)
}

/// Numbers that mean in JSON what they mean in HTTP.
fn by_code(code: &Value) -> Option<Refusal> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    let class = match number {
        401 => FailureClass::Unauthorised,
        403 => FailureClass::Forbidden,
        429 => FailureClass::RateLimited,
        _ => return None,
    };
    let does = format!("answers code {number}");
    Some(Refusal { class, does })
}

fn in_page(text: &str) -> Option<Refusal> {
    let page = page::parse(&text[..text.floor_char_boundary(PAGE_BYTES_MAX)]).ok()?;
    let title = advertised::title_of(&page);
    let in_title = title.and_then(|title| nothing_but(&title));
    let visible = visible_text(&page);
    let refusal = in_title.map(Refusal::saying);
    let refusal = refusal.or_else(|| in_message(&visible, PAGE_CHARS_MAX));
    let is_form = is_short(&visible, PAGE_CHARS_MAX) && advertised::asks_for_password(&page);
    refusal.or_else(|| {
        is_form.then(|| Refusal {
            class: FailureClass::Unauthorised,
            does: "shows a sign-in form".to_owned(),
        })
    })
}

/// What a reader sees of a page, as far as that matters.
fn visible_text(page: &Html) -> String {
    let mut text = String::new();
    for node in page.tree.root().descendants() {
        let Node::Text(words) = node.value() else {
            continue;
        };
        let parent = node.parent().and_then(|parent| parent.value().as_element());
        let is_hidden = parent.is_some_and(|parent| matches!(parent.name(), "script" | "style"));
        if !is_hidden && !words.trim().is_empty() {
            text.push_str(words.trim());
            text.push(' ');
        }
        if text.len() > 4 * PAGE_CHARS_MAX {
            break;
        }
    }
    text
}

fn in_message(text: &str, chars_max: usize) -> Option<Refusal> {
    let known = is_short(text, chars_max).then(|| find(text)).flatten();
    known.map(Refusal::saying)
}

fn is_short(text: &str, chars_max: usize) -> bool {
    text.trim().chars().nth(chars_max).is_none()
}

#[cfg(test)]
mod tests;
