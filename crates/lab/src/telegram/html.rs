//! HTML as Telegram reads it: a few tags become entities, everything else must be escaped.
//!
//! The text that counts, for length and for readers, is what remains once tags are gone and character
//! references are resolved. Offsets and lengths are in UTF-16 code units, as all clients count.
//!
//! What is refused is refused with Telegram's words and the byte offset of the tag. Custom emoji are
//! not modelled; their tag is refused like an unknown one.

mod scan;
mod tag;

use serde::{Deserialize, Serialize};

use self::{
    scan::Scan,
    tag::{Tag, attributes},
};

/// What becomes of a `&` that begins no character reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ampersands {
    /// Kept, as Telegram does in fact.
    Kept,
    /// Refused, as Telegram's documentation says it must not be sent: what forgot to escape shows.
    Refused,
}

/// A formatted part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    /// Telegram's name for it: `bold`, `text_link`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it begins, in UTF-16 code units.
    pub offset: usize,
    /// How long it is, in UTF-16 code units.
    pub length: usize,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
    /// The programming language of a block of code.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub language: Option<String>,
}

/// A text without markup, and its entities in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Formatted {
    /// What readers see.
    pub text: String,
    /// How.
    pub entities: Vec<Entity>,
}

impl Formatted {
    /// A text that is only text.
    pub fn plain(text: &str) -> Self {
        let text = text.to_owned();
        let entities = Vec::new();
        Self { text, entities }.trimmed()
    }

    /// Its length as Telegram counts.
    pub fn units(&self) -> usize {
        units(&self.text)
    }

    /// Without white space at both ends; entities shrink with it, and vanish where nothing is left.
    fn trimmed(mut self) -> Self {
        let cut = units(&self.text) - units(self.text.trim_start());
        let text = self.text.trim();
        let end = units(text);
        for entity in &mut self.entities {
            let (from, to) = (entity.offset, entity.offset + entity.length);
            entity.offset = from.saturating_sub(cut).min(end);
            entity.length = to.saturating_sub(cut).min(end) - entity.offset;
        }
        self.entities.retain(|entity| entity.length > 0);
        self.entities
            .sort_by_key(|it| (it.offset, std::cmp::Reverse(it.length)));
        self.text = text.to_owned();
        self
    }
}

/// Why HTML is refused. Offsets are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A tag Telegram does not know; a bare `<` begins one.
    #[error("Unsupported start tag \"{name}\" at byte offset {at}")]
    Unsupported {
        /// As written, in lower case.
        name: String,
        /// Of its `<`.
        at: usize,
    },
    /// The text ends inside a start tag.
    #[error("Unclosed start tag at byte offset {at}")]
    UnclosedStart {
        /// Of its `<`.
        at: usize,
    },
    /// The text ends inside an end tag, or the tag has more than a name.
    #[error("Unclosed end tag at byte offset {at}")]
    UnclosedEnd {
        /// Of its `<`.
        at: usize,
    },
    /// Something other than an attribute's name.
    #[error("Empty attribute name in the tag \"{name}\" at byte offset {at}")]
    NoAttribute {
        /// The tag.
        name: String,
        /// Of its `<`.
        at: usize,
    },
    /// A value without quotes that is more than a word.
    #[error("Unexpected end of name token at byte offset {at}")]
    BadValue {
        /// Of the value.
        at: usize,
    },
    /// A `span` that hides nothing.
    #[error("Tag \"span\" must have class \"tg-spoiler\" at byte offset {at}")]
    PlainSpan {
        /// Of its `<`.
        at: usize,
    },
    /// An end tag where nothing is open.
    #[error("Unexpected end tag at byte offset {at}")]
    UnexpectedEnd {
        /// Of its `<`.
        at: usize,
    },
    /// An end tag for something else than what is open.
    #[error("Unmatched end tag at byte offset {at}, expected \"</{open}>\", found \"</{found}>\"")]
    Unmatched {
        /// Of its `<`.
        at: usize,
        /// What is open.
        open: String,
        /// What was to be closed.
        found: String,
    },
    /// The text ends, and a tag is still open.
    #[error("Can't find end tag corresponding to start tag \"{name}\"")]
    NeverClosed {
        /// The innermost.
        name: String,
    },
    /// A `&` that begins no character reference; see [`Ampersands::Refused`].
    #[error("Unescaped \"&\" at byte offset {at}")]
    BareAmpersand {
        /// Where it stands.
        at: usize,
    },
}

/// Reads HTML.
pub fn parse_html(html: &str, ampersands: Ampersands) -> Result<Formatted, Error> {
    let mut reader = Reader {
        scan: Scan::new(html),
        ampersands,
        text: String::new(),
        open: Vec::new(),
        entities: Vec::new(),
    };
    while let Some(c) = reader.scan.peek() {
        match c {
            '<' => reader.read_tag()?,
            '&' => reader.read_reference()?,
            _ => {
                reader.text.push(c);
                reader.scan.step();
            }
        }
    }
    if let Some(open) = reader.open.pop() {
        return Err(Error::NeverClosed { name: open.name });
    }
    let (text, entities) = (reader.text, reader.entities);
    Ok(Formatted { text, entities }.trimmed())
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A tag that waits for its end.
struct Open {
    name: String,
    tag: Tag,
    /// Length of the text in front of it, in bytes.
    from: usize,
}

struct Reader<'a> {
    scan: Scan<'a>,
    ampersands: Ampersands,
    text: String,
    open: Vec<Open>,
    entities: Vec<Entity>,
}

impl Reader<'_> {
    fn read_reference(&mut self) -> Result<(), Error> {
        let at = self.scan.at();
        let c = match self.scan.take_reference() {
            Some(c) => c,
            None if self.ampersands == Ampersands::Refused => {
                return Err(Error::BareAmpersand { at });
            }
            None => {
                self.scan.step();
                '&'
            }
        };
        self.text.push(c);
        Ok(())
    }

    fn read_tag(&mut self) -> Result<(), Error> {
        let at = self.scan.at();
        self.scan.step();
        if self.scan.peek() == Some('/') {
            self.scan.step();
            self.read_end(at)
        } else {
            self.read_start(at)
        }
    }

    fn read_start(&mut self, at: usize) -> Result<(), Error> {
        let name = self.scan.take_while(|c| !c.is_whitespace() && c != '>');
        let name = name.to_ascii_lowercase();
        if self.scan.peek().is_none() {
            return Err(Error::UnclosedStart { at });
        }
        if !tag::NAMES.contains(&name.as_str()) {
            return Err(Error::Unsupported { name, at });
        }
        let attributes = attributes(&mut self.scan, &name, at)?;
        let tag = Tag::of(&name, &attributes).ok_or(Error::PlainSpan { at })?;
        let from = self.text.len();
        self.open.push(Open { name, tag, from });
        Ok(())
    }

    fn read_end(&mut self, at: usize) -> Result<(), Error> {
        let Some(open) = self.open.pop() else {
            return Err(Error::UnexpectedEnd { at });
        };
        let found = self.scan.take_while(|c| !c.is_whitespace() && c != '>');
        let found = found.to_ascii_lowercase();
        self.scan.take_while(char::is_whitespace);
        if self.scan.peek() != Some('>') {
            return Err(Error::UnclosedEnd { at });
        }
        self.scan.step();
        // `</>` closes whatever is open.
        if !found.is_empty() && found != open.name {
            let open = open.name;
            return Err(Error::Unmatched { at, open, found });
        }
        self.close(open);
        Ok(())
    }

    fn close(&mut self, open: Open) {
        let (before, inner) = self.text.split_at_checked(open.from).unwrap_or_default();
        let (offset, length) = (units(before), units(inner));
        let same = |it: &Entity| (it.offset, it.length) == (offset, length);
        if let Some(mut entity) = open.tag.entity(inner, offset, length) {
            // A block of code is written as code within a block; the language stands inside.
            let code = self.entities.pop_if(|it| {
                entity.kind == "pre" && it.kind == "code" && same(it) && it.language.is_some()
            });
            if let Some(code) = code {
                entity.language = code.language;
            }
            if length > 0 {
                self.entities.push(entity);
            }
        }
        let inside_block = self.open.last().is_some_and(|open| open.tag == Tag::Block);
        if !inside_block {
            self.forget_languages();
        }
    }

    /// Code outside a block has no language.
    fn forget_languages(&mut self) {
        let codes = self.entities.iter_mut().filter(|it| it.kind == "code");
        codes.for_each(|code| code.language = None);
    }
}

#[cfg(test)]
mod tests;
