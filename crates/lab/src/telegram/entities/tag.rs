//! The tags Telegram knows, their attributes, and the entities they become.

use std::collections::BTreeMap;

use super::{Entity, Error, Scan};

/// All names.
pub(super) const NAMES: [&str; 15] = [
    "a",
    "b",
    "strong",
    "i",
    "em",
    "u",
    "ins",
    "s",
    "strike",
    "del",
    "code",
    "pre",
    "blockquote",
    "tg-spoiler",
    "span",
];
/// How a class names the language of code.
const LANGUAGE_CLASS: &str = "language-";
/// Addresses that can be linked to; a link elsewhere is shown as text.
const LINK_SCHEMES: [&str; 5] = ["http://", "https://", "tg://", "mailto:", "tel:"];

/// What a tag means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// Only its kind.
    Plain(&'static str),
    /// Leads somewhere: to its address, or to its text.
    Link(Option<String>),
    /// Code in a line, and its language.
    Code(Option<String>),
    /// A block of code.
    Block,
}

impl Tag {
    /// Of a known name; `None` for a `span` that is no spoiler.
    pub(super) fn of(name: &str, attributes: &BTreeMap<String, String>) -> Option<Self> {
        let attribute = |name: &str| attributes.get(name).cloned();
        let class = attribute("class").unwrap_or_default();
        let tag = match name {
            "a" => Self::Link(attribute("href")),
            "b" | "strong" => Self::Plain("bold"),
            "i" | "em" => Self::Plain("italic"),
            "u" | "ins" => Self::Plain("underline"),
            "code" => Self::Code(class.strip_prefix(LANGUAGE_CLASS).map(str::to_owned)),
            "pre" => Self::Block,
            "blockquote" if attributes.contains_key("expandable") => {
                Self::Plain("expandable_blockquote")
            }
            "blockquote" => Self::Plain("blockquote"),
            "span" if class != "tg-spoiler" => return None,
            "tg-spoiler" | "span" => Self::Plain("spoiler"),
            _ => Self::Plain("strikethrough"),
        };
        Some(tag)
    }

    /// What it makes of the text inside it.
    pub(super) fn entity(self, inner: &str, offset: usize, length: usize) -> Option<Entity> {
        let (kind, url, language) = match self {
            Self::Plain(kind) => (kind, None, None),
            Self::Code(language) => ("code", None, language),
            Self::Block => ("pre", None, None),
            Self::Link(href) => {
                let href = href.filter(|href| !href.is_empty());
                let url = linkable(href.as_deref().unwrap_or(inner))?;
                ("text_link", Some(url), None)
            }
        };
        Some(Entity {
            kind: kind.to_owned(),
            offset,
            length,
            url,
            language,
        })
    }
}

/// An address with a scheme; one without gets `http://` where it looks like a host.
fn linkable(url: &str) -> Option<String> {
    let url = url.trim();
    let lower = url.to_ascii_lowercase();
    if LINK_SCHEMES.iter().any(|scheme| lower.starts_with(scheme)) {
        return Some(url.to_owned());
    }
    let host = url.split(['/', '?', '#']).next().unwrap_or_default();
    let looks = host.contains('.') && !host.contains([':', ' ', '"', '<', '>']);
    looks.then(|| format!("http://{url}"))
}

/// Reads the attributes of a start tag and its `>`.
pub(super) fn attributes(
    scan: &mut Scan<'_>,
    tag: &str,
    at: usize,
) -> Result<BTreeMap<String, String>, Error> {
    let mut attributes = BTreeMap::new();
    loop {
        scan.take_while(char::is_whitespace);
        match scan.peek() {
            None => return Err(Error::UnclosedStart { at }),
            Some('>') => {
                scan.step();
                return Ok(attributes);
            }
            Some(_) => {}
        }
        let name = scan.take_while(|c| !c.is_whitespace() && !"=>/\"'".contains(c));
        if name.is_empty() {
            let name = tag.to_owned();
            return Err(Error::NoAttribute { name, at });
        }
        scan.take_while(char::is_whitespace);
        let mut value = String::new();
        if scan.peek() == Some('=') {
            scan.step();
            scan.take_while(char::is_whitespace);
            value = read_value(scan, at)?;
        }
        attributes.insert(name.to_ascii_lowercase(), value);
    }
}

fn read_value(scan: &mut Scan<'_>, at: usize) -> Result<String, Error> {
    match scan.peek() {
        None => Err(Error::UnclosedStart { at }),
        Some(quote @ ('"' | '\'')) => {
            scan.step();
            read_quoted(scan, quote).ok_or(Error::UnclosedStart { at })
        }
        Some(_) => {
            let begin = scan.at();
            let word = scan.take_while(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
            let ends = scan.peek().is_none_or(|c| c.is_whitespace() || c == '>');
            let word = ends.then(|| word.to_ascii_lowercase());
            word.ok_or(Error::BadValue { at: begin })
        }
    }
}

/// Up to the quote; a `&` that begins nothing is kept here, as addresses are full of them.
fn read_quoted(scan: &mut Scan<'_>, quote: char) -> Option<String> {
    let mut value = String::new();
    loop {
        let c = scan.peek()?;
        if c == quote {
            scan.step();
            return Some(value);
        }
        let reference = scan.take_reference();
        if reference.is_none() {
            scan.step();
        }
        value.push(reference.unwrap_or(c));
    }
}
