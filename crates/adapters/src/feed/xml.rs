//! A first walk through an XML document, to validate it.
//!
//! The feed parser takes a document that breaks off for a whole one, reads no `skipHours`, and
//! gives up on text that every browser reads. So the text is mended, then walked once: the walk
//! finds the root, checks that its end is there and how deep it goes, and when the publisher wants
//! to be asked again, and what feed-rs leaves out of entries. Entities that a document declares are
//! never expanded.

use almanack_core::source::check::{Failure, FailureClass};
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::text;

mod extra;
mod place;
mod vocabulary;
mod walk;

pub(crate) use extra::Extra;
pub(crate) use walk::outline;

/// Longest name of an entity.
const ENTITY_BYTES_MAX: usize = 32;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) name: String,
    pub(crate) full_name: String,
    /// Name and value, the value as written.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) end: usize,
}

impl Tag {
    pub(crate) fn of(start: &BytesStart<'_>, end: u64) -> Self {
        let mut attributes = start.attributes();
        let attributes = attributes.with_checks(false).flatten().map(|attribute| {
            let name = attribute.key.as_ref().to_owned();
            (name, attribute.value.into_owned())
        });
        Self {
            name: start.local_name().as_ref().to_owned(),
            full_name: start.name().as_ref().to_owned(),
            attributes: attributes.collect(),
            end: usize::try_from(end).unwrap_or(usize::MAX),
        }
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes.find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }
}

/// The root's tag, if this is XML at all.
pub(crate) fn root(text: &str) -> Option<Tag> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) | Event::Empty(start) => {
                return Some(Tag::of(&start, reader.buffer_position()));
            }
            Event::Text(text) if !text.trim().is_empty() => return None,
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// A document that contradicts itself, with what a parser says about it.
pub(crate) fn malformed(error: &dyn std::fmt::Display, line: Option<usize>) -> Failure {
    let error = text::short_line(&error.to_string(), 200);
    let error = error.trim_start_matches("ill-formed document: ");
    let detail = match line {
        Some(line) => format!("the document is not well-formed XML at line {line}: {error}"),
        None => format!("the document is not well-formed XML: {error}"),
    };
    Failure::new(FailureClass::Malformed, detail)
}

fn line_at(text: &str, position: u64) -> Option<usize> {
    let position = usize::try_from(position).ok()?;
    let before = text.get(..position)?;
    Some(1 + before.matches('\n').count())
}

/// Text that a strict parser can read: no declaration (the text is decoded), no control characters,
/// no references to characters that do not exist, and no bare `&`.
pub(crate) fn mend(text: &str) -> String {
    let text = text::printable(text);
    let mut rest = without_declaration(&text);
    let mut mended = String::with_capacity(text.len());
    // Lines keep their numbers, because errors name them.
    let dropped = &text[..text.len() - rest.len()];
    mended.extend(dropped.matches('\n'));
    while let Some(at) = rest.find(['&', '<']) {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let (written, read) = if rest.starts_with('&') {
            reference(rest)
        } else {
            (None, raw_section(rest))
        };
        mended.push_str(written.unwrap_or(&rest[..read]));
        rest = &rest[read..];
    }
    mended.push_str(rest);
    mended
}

/// The declaration may follow blanks.
fn without_declaration(text: &str) -> &str {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\t', '\n']);
    match (start.starts_with("<?xml "), start.find("?>")) {
        (true, Some(end)) => &start[end + 2..],
        _ => start,
    }
}

/// How much at `<` is copied unchanged: all of a CDATA section or comment, else the bracket.
fn raw_section(rest: &str) -> usize {
    let end = |open: &str, close: &str| {
        rest.starts_with(open)
            .then(|| rest.find(close).map_or(rest.len(), |at| at + close.len()))
    };
    end("<![CDATA[", "]]>")
        .or_else(|| end("<!--", "-->"))
        .unwrap_or(1)
}

/// The replacement for the text at `&`, if any, and how much of it is read.
fn reference(rest: &str) -> (Option<&'static str>, usize) {
    let body = &rest[1..];
    let window = &body[..body.floor_char_boundary(ENTITY_BYTES_MAX)];
    let Some(end) = window.find(';') else {
        return (Some("&amp;"), 1);
    };
    let name = &window[..end];
    let read = end + 2;
    match name.strip_prefix('#') {
        Some(number) => match character(number) {
            Some(char) if !char.is_control() || matches!(char, '\t' | '\n') => (None, read),
            Some(_) => (Some(""), read),
            None => (Some("\u{fffd}"), read),
        },
        None if is_name(name) => (None, read),
        None => (Some("&amp;"), 1),
    }
}

fn character(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests;
