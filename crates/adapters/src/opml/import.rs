//! Reading OPML.

use std::{borrow::Cow, collections::BTreeSet};

use almanack_core::{
    address,
    source::{
        NAME_BYTES_MAX, category,
        entry::{LINK_BYTES_MAX, canonical_address},
        options::Options,
    },
};
use quick_xml::{
    Reader,
    escape::unescape,
    events::{BytesStart, Event},
};

use super::{
    BYTES_MAX, DEPTH_MAX, Error, FEEDS_MAX, Imported, PROBLEMS_MAX, Problem, Subscription,
};
use crate::feed::{charset, text, xml};

/// Imports as much of a file as can be read.
pub fn import(bytes: &[u8]) -> Result<Imported, Error> {
    if bytes.len() > BYTES_MAX {
        return Err(Error::TooLarge);
    }
    let decoded = charset::decode(bytes, None);
    let mended = xml::mend(&decoded);
    match xml::root(&mended) {
        Some(root) if root.name.eq_ignore_ascii_case("opml") => {}
        Some(root) => {
            let name = text::short_line(&root.name, 50);
            let what = format!("its root is <{name}>, not <opml>");
            return Err(Error::NotOpml { what });
        }
        None => {
            let what = if decoded.trim().is_empty() {
                "it is empty"
            } else {
                "it is not XML"
            };
            return Err(Error::NotOpml {
                what: what.to_owned(),
            });
        }
    }
    let mut reading = Import::new(&mended);
    reading.walk();
    Ok(reading.imported)
}

/// An outline that is open.
struct Open {
    /// Its name, if it is a folder.
    folder: Option<String>,
    line: usize,
    /// Whether anything was inside.
    is_used: bool,
}

struct Import<'a> {
    text: &'a str,
    imported: Imported,
    open: Vec<Open>,
    seen: BTreeSet<String>,
    /// How far lines have been counted, and how many there were.
    counted: (usize, usize),
}

impl<'a> Import<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            imported: Imported::default(),
            open: Vec::new(),
            seen: BTreeSet::new(),
            counted: (0, 1),
        }
    }

    fn walk(&mut self) {
        let mut reader = Reader::from_str(self.text);
        let mut depth = 0_usize;
        loop {
            let line = self.line_at(reader.buffer_position());
            match reader.read_event() {
                Ok(Event::Start(start)) => {
                    depth += 1;
                    if is_outline(&start) {
                        self.enter(&start, line);
                    }
                }
                Ok(Event::Empty(start)) if is_outline(&start) => {
                    self.enter(&start, line);
                    self.leave();
                }
                Ok(Event::End(end)) => {
                    depth -= 1;
                    if end.local_name().as_ref().eq_ignore_ascii_case("outline") {
                        self.leave();
                    }
                }
                Ok(Event::Eof) if depth > 0 => {
                    return self.problem(line, "the file breaks off here".to_owned());
                }
                Ok(Event::Eof) => return,
                Ok(_) => {}
                Err(error) => {
                    let error = text::short_line(&error.to_string(), 100);
                    let reason = format!("from here on the file is not well-formed: {error}");
                    return self.problem(line, reason);
                }
            }
            if depth > DEPTH_MAX {
                let reason = format!("from here on folders are nested more than {DEPTH_MAX} deep");
                return self.problem(line, reason);
            }
        }
    }

    fn enter(&mut self, outline: &BytesStart<'_>, line: usize) {
        if let Some(parent) = self.open.last_mut() {
            parent.is_used = true;
        }
        let title = attribute(outline, "title").or_else(|| attribute(outline, "text"));
        let title = text::cut(title.unwrap_or_default(), NAME_BYTES_MAX);
        let Some(address) = attribute(outline, "xmlUrl").filter(|address| !address.is_empty())
        else {
            let folder = Some(title);
            self.open.push(Open {
                folder,
                line,
                is_used: false,
            });
            return;
        };
        let feed = Subscription {
            address,
            title,
            category: self.category(attribute(outline, "category")),
            site: attribute(outline, "htmlUrl").and_then(|site| web_page(&site)),
        };
        self.subscribe(feed, line);
        self.open.push(Open {
            folder: None,
            line,
            is_used: true,
        });
    }

    fn subscribe(&mut self, mut feed: Subscription, line: usize) {
        let title = called(&feed.title);
        feed.address = match address::parse(&canonical_address(&feed.address)) {
            Ok(url) if url.as_str().len() <= LINK_BYTES_MAX => String::from(url),
            Ok(_) => return self.problem(line, format!("{title}: its address is too long")),
            Err(refusal) => return self.problem(line, format!("{title}: {refusal}")),
        };
        if self.imported.subscriptions.len() >= FEEDS_MAX {
            self.imported.left_out += 1;
        } else if self.seen.insert(feed.address.clone()) {
            self.imported.subscriptions.push(feed);
        } else {
            self.imported.repeated += 1;
        }
    }

    /// The folders around it; at the top, the first category that it names itself.
    fn category(&self, own: Option<String>) -> String {
        let folders = self.open.iter().filter_map(|open| open.folder.as_deref());
        let folders: Vec<&str> = folders.filter(|folder| !folder.is_empty()).collect();
        let category = if folders.is_empty() {
            let own = own.unwrap_or_default();
            let first = own.split(',').next().unwrap_or_default();
            let parts: Vec<String> = first.split('/').map(text::one_line).collect();
            let parts = parts.iter().map(String::as_str);
            category::join(parts.filter(|part| !part.is_empty()))
        } else {
            category::join(folders)
        };
        text::cut(category, NAME_BYTES_MAX)
    }

    fn leave(&mut self) {
        if let Some(open) = self.open.pop()
            && let (Some(folder), false) = (&open.folder, open.is_used)
        {
            self.problem(open.line, format!("{}: it has no `xmlUrl`", called(folder)));
        }
    }

    fn problem(&mut self, line: usize, reason: String) {
        if self.imported.problems.len() < PROBLEMS_MAX {
            self.imported.problems.push(Problem { line, reason });
        } else {
            self.imported.left_out += 1;
        }
    }

    /// The line of a position; positions only grow, so each byte is counted once.
    fn line_at(&mut self, position: u64) -> usize {
        let position = usize::try_from(position)
            .unwrap_or(usize::MAX)
            .min(self.text.len());
        let (from, line) = self.counted;
        let passed = self.text.get(from..position.max(from)).unwrap_or_default();
        let line = line + passed.matches('\n').count();
        self.counted = (position.max(from), line);
        line
    }
}

fn called(title: &str) -> String {
    if title.is_empty() {
        "an outline without a name".to_owned()
    } else {
        format!("“{}”", text::short_line(title, 100))
    }
}

/// The page of a feed, if it is an address that can be stored.
fn web_page(site: &str) -> Option<String> {
    let options = Options {
        site: Some(site.to_owned()),
        ..Options::default()
    };
    options.check().is_ok().then(|| site.to_owned())
}

fn is_outline(start: &BytesStart<'_>) -> bool {
    start.local_name().as_ref().eq_ignore_ascii_case("outline")
}

/// An attribute as text. Names are written in any case, values with references that may not exist.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = start.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let found = attributes.find(|known| known.key.as_ref().eq_ignore_ascii_case(name))?;
    Some(text::one_line(&unescaped(&found.value)))
}

/// A value with one unknown reference keeps that one only.
fn unescaped(value: &str) -> String {
    let known = unescape(value).map(Cow::into_owned);
    known.unwrap_or_else(|_| {
        let mut value = value.to_owned();
        // The ampersand comes last, or `&amp;lt;` would become a bracket.
        for (reference, char) in [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&apos;", "'"),
            ("&amp;", "&"),
        ] {
            value = value.replace(reference, char);
        }
        value
    })
}
