//! Untrusted markup, made harmless.
//!
//! What is kept of an entry is an HTML fragment of allowed elements: no scripts, no styles, no
//! handlers, only web addresses, and those absolute. INVARIANT: it is well-formed however it was
//! cut, because whatever is cut is parsed and written again.

use almanack_core::source::identity::Words;
use ammonia::{Builder, UrlRelative};
use url::Url;

use super::{html, text};

/// What a publisher wrote, and as what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Markup {
    Html(String),
    /// Text in which `<` means nothing.
    Text(String),
}

impl Markup {
    /// What of it is an entry's words.
    pub(crate) fn words(&self) -> Words<'_> {
        match self {
            Self::Html(html) => Words::Html(html),
            Self::Text(text) => Words::Plain(text),
        }
    }
}

/// Longest markup that is looked at, as a multiple of what may be left of it: tags and attributes
/// that go take space, too.
const READ_FACTOR: usize = 8;
/// How often a cut is repeated. Each leaves half of what was too long, so the last leaves next to
/// nothing.
const CUTS_MAX: u32 = 16;

/// Cleans the entries of one document.
pub(crate) struct Sanitiser(Builder<'static>);

impl Sanitiser {
    pub(crate) fn new() -> Self {
        Self(Builder::default())
    }

    /// At most `bytes_max` of it; `None` when nothing is left. Relative addresses are seen from
    /// `base`.
    pub(crate) fn clean(
        &mut self,
        markup: &Markup,
        base: &Url,
        bytes_max: usize,
    ) -> Option<String> {
        self.0
            .url_relative(UrlRelative::RewriteWithBase(base.clone()));
        let markup = match markup {
            Markup::Html(html) => html.as_str(),
            Markup::Text(words) => &ammonia::clean_text(words),
        };
        let read = markup.floor_char_boundary(bytes_max.saturating_mul(READ_FACTOR));
        let markup = text::printable(&markup[..read]);
        let cleaned = if html::is_harmless(&markup) {
            self.0.clean(&markup).to_string()
        } else {
            ammonia::clean_text(&markup)
        };
        let cleaned = self.shorten(cleaned, bytes_max);
        let cleaned = cleaned.trim();
        (!cleaned.is_empty()).then(|| cleaned.to_owned())
    }

    /// Cuts outside of tags and entities, then closes what was left open, which takes space again.
    fn shorten(&self, mut cleaned: String, bytes_max: usize) -> String {
        let mut room = bytes_max;
        for _ in 0..CUTS_MAX {
            if cleaned.len() <= bytes_max {
                return cleaned;
            }
            let head = whole_pieces(&cleaned, room);
            cleaned = self.0.clean(head).to_string();
            room /= 2;
        }
        String::new()
    }
}

/// The start of well-formed markup, without a tag or entity that would be cut in two.
fn whole_pieces(markup: &str, bytes_max: usize) -> &str {
    let head = &markup[..markup.floor_char_boundary(bytes_max)];
    // The writer escapes `<` everywhere else, so an open bracket is an open tag.
    let head = match head.rfind('<') {
        Some(open) if !head[open..].contains('>') => &head[..open],
        _ => head,
    };
    match head.rfind('&') {
        Some(open) if !head[open..].contains(';') => &head[..open],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(html: &str, bytes_max: usize) -> Option<String> {
        let base = Url::parse("https://site.example/posts/1").unwrap();
        Sanitiser::new().clean(&Markup::Html(html.to_owned()), &base, bytes_max)
    }

    #[test]
    fn ss_12_content_is_sanitised() {
        for (html, expected, why) in [
            ("<p>fine</p>", Some("<p>fine</p>"), "nothing to do"),
            (
                "<script>alert(1)</script>",
                None,
                "scripts go, and nothing is left",
            ),
            ("<p onclick=x()>a</p>", Some("<p>a</p>"), "handlers go"),
            (
                "<style>p{}</style><p style='x'>a",
                Some("<p>a</p>"),
                "styles go",
            ),
            (
                "<iframe src=//evil.example></iframe>a",
                Some("a"),
                "frames go",
            ),
            (
                "<a href='javascript:alert(1)'>a</a>",
                Some(r#"<a rel="noopener noreferrer">a</a>"#),
                "only addresses of the web",
            ),
            (
                "<img src=../a.png onerror=x()>",
                Some(r#"<img src="https://site.example/a.png">"#),
                "relative addresses become absolute",
            ),
            (
                "<a href='?page=2'>a</a>",
                Some(
                    r#"<a href="https://site.example/posts/1?page=2" rel="noopener noreferrer">a</a>"#,
                ),
                "relative addresses become absolute",
            ),
            ("a\0b\u{b}c", Some("abc"), "no control characters"),
            (" \n ", None, "nothing to see"),
        ] {
            assert_eq!(clean(html, 1000).as_deref(), expected, "{why}");
        }
        let base = Url::parse("https://site.example/").unwrap();
        let text = Markup::Text("1 < 2 & <b>".to_owned());
        let escaped = Sanitiser::new().clean(&text, &base, 1000).unwrap();
        assert!(!escaped.contains('<'), "text stays text: {escaped}");
    }

    #[test]
    fn cut_markup_is_closed() {
        assert_eq!(
            clean("<p><b>one two</b></p><p>three</p>", 20).as_deref(),
            Some("<p><b>one </b></p>")
        );
        assert_eq!(clean("one &amp; two", 6).as_deref(), Some("one"));
        let deep = "<div>".repeat(100_000);
        assert!(clean(&deep, 50_000).unwrap().starts_with("&lt;div"));
    }

    proptest! {
        #[test]
        fn whatever_is_left_is_short_and_stays_unchanged(html in "(<[a-z]{1,6}( [a-z]+=\"[a-z:/.]{0,9}\")?>|</[a-z]{1,6}>|[a-z&;<> é]{1,9}){0,40}", bytes_max in 1_usize..200) {
            if let Some(cleaned) = clean(&html, bytes_max) {
                prop_assert!(cleaned.len() <= bytes_max);
                prop_assert_eq!(clean(&cleaned, 10_000), Some(cleaned.clone()));
            }
        }
    }
}
