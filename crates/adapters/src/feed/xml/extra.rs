//! What an entry shows that feed-rs leaves out: files, categories, the description of a recording,
//! dates of Atom 0.3.
//!
//! feed-rs keeps an `enclosure` only where there is no `media:content`, neither in RSS 1.0, knows
//! no file and no subject outside of RSS's own names, and drops a description that comes without a
//! file. Everything is taken from the walk, so that there is one way to all of it.

use almanack_core::source::entry::{Enclosure, SUMMARY_BYTES_MAX};
use jiff::Timestamp;
use quick_xml::{escape, events::BytesStart};
use url::Url;

use super::place::{DateKind, Place};
use crate::feed::{
    attached::{CATEGORIES_MAX, ENCLOSURES_MAX},
    date,
};

/// Longest description that is looked at, in bytes: markup that goes takes space, too.
pub(super) const ABOUT_BYTES_MAX: usize = 4 * SUMMARY_BYTES_MAX;
/// Longest category that is looked at, in bytes.
pub(super) const CATEGORY_BYTES_MAX: usize = 400;

/// What one entry shows besides.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Files that are said to belong to the entry.
    files: Vec<Enclosure>,
    /// Media that may as well illustrate it.
    media: Vec<Enclosure>,
    pub(crate) categories: Vec<String>,
    /// A description, where the entry itself may have none.
    pub(crate) about: Option<String>,
    date: Option<(DateKind, Timestamp)>,
}

impl Extra {
    /// The files, first those that the entry is about.
    pub(crate) fn take_enclosures(&mut self) -> Vec<Enclosure> {
        let mut all = std::mem::take(&mut self.files);
        all.append(&mut self.media);
        all
    }

    /// When it was published, by dates that feed-rs does not know.
    pub(crate) fn published_at(&self) -> Option<Timestamp> {
        self.date.map(|(_, at)| at)
    }

    /// Takes what the attributes of an element say.
    pub(super) fn enter(&mut self, place: Place, start: &BytesStart<'_>, base: &Url) {
        match place {
            Place::File => push_file(&mut self.files, start, base),
            Place::Media => push_file(&mut self.media, start, base),
            Place::Category => {
                // Atom's label is written for people, its term for programs.
                let name = attribute(start, &["label"]).or_else(|| attribute(start, &["term"]));
                self.add_category(name.as_deref().unwrap_or_default());
            }
            _ => {}
        }
    }

    /// Takes what the text of an element says.
    pub(super) fn hear(&mut self, place: Place, words: &str) {
        match place {
            Place::Category => self.add_category(words),
            Place::About if self.about.is_none() && !words.is_empty() => {
                self.about = Some(words.to_owned());
            }
            Place::Date(kind) if self.date.is_none_or(|(known, _)| kind < known) => {
                self.date = date::parse(words).map(|at| (kind, at)).or(self.date);
            }
            _ => {}
        }
    }

    fn add_category(&mut self, name: &str) {
        if !name.trim().is_empty() && self.categories.len() < CATEGORIES_MAX {
            self.categories.push(name.to_owned());
        }
    }
}

/// Whether an Atom link leads to a file.
pub(super) fn is_enclosure(link: &BytesStart<'_>) -> bool {
    attribute(link, &["rel"]).is_some_and(|rel| rel.eq_ignore_ascii_case("enclosure"))
}

fn push_file(files: &mut Vec<Enclosure>, start: &BytesStart<'_>, base: &Url) {
    // RSS writes `url`, Atom `href`, RDF `rdf:resource` and `enc:url`.
    let Some(url) = attribute(start, &["url", "href", "resource"]) else {
        return;
    };
    if files.len() == ENCLOSURES_MAX || url.trim().is_empty() {
        return;
    }
    let absolute = base.join(url.trim()).map(String::from);
    files.push(Enclosure {
        url: absolute.unwrap_or(url),
        media_type: attribute(start, &["type"]),
        length: attribute(start, &["length", "fileSize"]).and_then(|bytes| bytes.parse().ok()),
    });
}

/// The first attribute with one of these names, whatever its prefix.
fn attribute(start: &BytesStart<'_>, names: &[&str]) -> Option<String> {
    let mut attributes = start.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    attributes.find_map(|attribute| {
        let is_it = names.contains(&attribute.key.local_name().as_ref());
        is_it.then(|| unescaped(&attribute.value))
    })
}

/// Text without its references; as written where one is unknown.
pub(super) fn unescaped(text: &str) -> String {
    escape::unescape(text).map_or_else(|_| text.to_owned(), Into::into)
}
