//! What comes with an entry: files, and the categories that its publisher gave it.
//!
//! Both are lists that a document may make as long as it likes, of texts that it may make up. Here
//! they are cut to size; whether a file's address may be passed on is asked with the links.

use almanack_core::source::entry::{Enclosure, LINK_BYTES_MAX};
use url::Url;

use super::text;

/// Most files of an entry.
pub(crate) const ENCLOSURES_MAX: usize = 10;
/// Most categories of an entry.
pub(crate) const CATEGORIES_MAX: usize = 20;
/// Longest category and longest media type, in bytes.
const CATEGORY_BYTES_MAX: usize = 100;
const MEDIA_TYPE_BYTES_MAX: usize = 100;

/// Files at addresses of the web, each once.
pub(crate) fn enclosures(drafts: &[Enclosure], base: &Url) -> Vec<Enclosure> {
    let mut enclosures: Vec<Enclosure> = Vec::new();
    for draft in drafts {
        if enclosures.len() == ENCLOSURES_MAX {
            break;
        }
        let url = web_address(&draft.url, base);
        let is_new = |url: &String| enclosures.iter().all(|known| known.url != *url);
        if let Some(url) = url.filter(is_new) {
            enclosures.push(enclosure(url, draft));
        }
    }
    enclosures
}

fn enclosure(url: String, draft: &Enclosure) -> Enclosure {
    let media_type = draft.media_type.as_deref();
    let media_type = media_type.map(|kind| text::short_line(kind, MEDIA_TYPE_BYTES_MAX));
    Enclosure {
        url,
        media_type: media_type.filter(|kind| !kind.is_empty()),
        // Publishers who do not know it write 0.
        length: draft.length.filter(|bytes| *bytes > 0),
    }
}

/// An address, absolute and otherwise as written: a file may be served by its whole query.
pub(crate) fn web_address(address: &str, base: &Url) -> Option<String> {
    let address = address.trim();
    // An empty one would lead to the document.
    let url = base.join(address).ok().filter(|_| !address.is_empty())?;
    let is_web = matches!(url.scheme(), "http" | "https");
    (is_web && url.as_str().len() <= LINK_BYTES_MAX).then(|| url.into())
}

/// Categories as plain text, each once.
pub(crate) fn categories(drafts: &[String]) -> Vec<String> {
    let mut categories: Vec<String> = Vec::new();
    for draft in drafts {
        if categories.len() == CATEGORIES_MAX {
            break;
        }
        let category = text::undecorated(draft, CATEGORY_BYTES_MAX);
        if !category.is_empty() && !categories.contains(&category) {
            categories.push(category);
        }
    }
    categories
}

#[cfg(test)]
mod tests {
    use almanack_core::source::check::Document;
    use jiff::Timestamp;

    use super::*;
    use crate::feed::draft::{self, Against, Draft};

    fn read(draft: Draft) -> Document {
        let base = Url::parse("https://site.example/blog/").unwrap();
        let against = Against::nothing(Timestamp::UNIX_EPOCH);
        draft::document(None, vec![draft], &base, &against)
    }

    fn file(url: &str) -> Enclosure {
        Enclosure {
            url: url.to_owned(),
            ..Enclosure::default()
        }
    }

    #[test]
    fn ss_20_files_and_categories_keep_to_their_limits() {
        let long = "é".repeat(100_000);
        let numbers = 0..100;
        let urls = numbers.clone().map(|at| format!("/{}.mp3", at / 2));
        let foul = ["", " ", "javascript:x", "ftp://a.example/b", &long].map(file);
        let mut enclosures: Vec<Enclosure> = foul.into();
        enclosures.extend(urls.map(|url| Enclosure {
            media_type: Some(long.clone()),
            length: Some(0),
            ..file(&url)
        }));
        let mut categories = vec![" ".to_owned(), long, "<b>1</b> &amp; \n one".to_owned()];
        categories.extend(numbers.map(|at| (at / 2).to_string()));
        let document = read(Draft {
            enclosures,
            categories,
            id: Some("1".to_owned()),
            ..Draft::default()
        });
        let found = &document.entries[0];
        assert_eq!(found.enclosures.len(), ENCLOSURES_MAX);
        for (at, file) in found.enclosures.iter().enumerate() {
            assert_eq!(file.url, format!("https://site.example/{at}.mp3"));
            assert_eq!(file.media_type.as_deref().unwrap().len(), 100);
            assert_eq!(file.length, None, "unknown");
        }
        assert_eq!(found.categories.len(), CATEGORIES_MAX);
        assert_eq!(found.categories[0].len(), CATEGORY_BYTES_MAX);
        assert_eq!(found.categories[1], "1 & one");
        assert_eq!(found.categories[2], "0");
    }

    #[test]
    fn ss_20_an_entry_without_a_link_keeps_its_first_files() {
        let files = ["", "ftp://a.example/b", "a.mp3?utm_source=x&id=1", "b.mp3"].map(file);
        for (id, link, expected, why) in [
            (
                "x",
                None,
                "https://site.example/blog/a.mp3?id=1",
                "the file's",
            ),
            ("x", Some("/page"), "https://site.example/page", "its own"),
            (
                "https://site.example/p",
                None,
                "https://site.example/p",
                "the id",
            ),
        ] {
            let document = read(Draft {
                id: Some(id.to_owned()),
                link: link.map(str::to_owned),
                enclosures: files.to_vec(),
                ..Draft::default()
            });
            let found = &document.entries[0];
            assert_eq!(found.link.as_deref(), Some(expected), "{why}");
            let urls: Vec<&str> = found.enclosures.iter().map(|file| &*file.url).collect();
            let kept = [
                "https://site.example/blog/a.mp3?utm_source=x&id=1",
                "https://site.example/blog/b.mp3",
            ];
            assert_eq!(urls, kept, "as written");
        }
    }
}
