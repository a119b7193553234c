//! Parsing untrusted HTML at a bounded cost.
//!
//! The parser is that of a browser, and so are its weaknesses: it looks through all open elements
//! at every tag, compares every attribute with all others of its tag, and opens formatting anew in
//! every paragraph, so that a few kilobytes can ask for hours or for gigabytes. It is therefore fed
//! in small pieces, and the tree is measured after each piece. What grows out of proportion is
//! refused.

use html5ever::{driver, tendril::TendrilSink};
use scraper::{Html, HtmlTreeSink, Node};

/// Deepest nesting that is read; browsers give up at the same depth.
pub(crate) const DEPTH_MAX: usize = 512;
/// Largest tree, in nodes: some 80 MB.
const NODES_MAX: usize = 400_000;
/// Most separators that one tag or comment may have; each may end an attribute.
const SEPARATORS_MAX: usize = 4000;
/// How much is parsed between two looks.
const PIECE_BYTES: usize = 4096;
/// How many of the newest nodes are looked at: a hostile page may put its last one elsewhere.
const NODES_LOOKED_AT: usize = 16;
/// With no more tags, and separators, than this, no tree can become large enough to matter.
const HARMLESS_TAGS: usize = 512;
const HARMLESS_SEPARATORS: usize = 4 * SEPARATORS_MAX;

/// What is out of proportion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    #[error("is nested more than {DEPTH_MAX} deep")]
    Depth,
    #[error("has more than {NODES_MAX} elements and texts")]
    Nodes,
    #[error("has a tag or a comment that is far too large")]
    Tag,
}

pub(crate) fn parse(text: &str) -> Result<Html, Excess> {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = driver::parse_document(sink, driver::ParseOpts::default());
    let mut watch = Watch::default();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.floor_char_boundary(PIECE_BYTES);
        let (piece, more) = rest.split_at(end);
        rest = more;
        parser.process(piece.into());
        let tree = parser.tokenizer.sink.sink.0.borrow();
        watch.look(&tree, piece)?;
    }
    Ok(parser.finish())
}

/// Whether parsing this without watching could cost more than it is worth.
pub(crate) fn is_harmless(text: &str) -> bool {
    let tags = text.bytes().filter(|byte| *byte == b'<').count();
    let fits = tags <= HARMLESS_TAGS && separators(text) <= HARMLESS_SEPARATORS;
    fits || parse(text).is_ok()
}

/// What could end an attribute.
fn separators(text: &str) -> usize {
    let separates = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'".contains(byte);
    text.bytes().filter(separates).count()
}

#[derive(Default)]
struct Watch {
    /// Nodes, and bytes of the newest text, at the last look.
    seen: (usize, usize),
    /// Separators since something last came of them.
    separators: usize,
}

impl Watch {
    fn look(&mut self, html: &Html, piece: &str) -> Result<(), Excess> {
        let nodes = html.tree.values().len();
        if nodes > NODES_MAX {
            return Err(Excess::Nodes);
        }
        let newest = html.tree.nodes().rev().take(NODES_LOOKED_AT);
        if newest
            .clone()
            .any(|node| node.ancestors().take(DEPTH_MAX + 1).count() > DEPTH_MAX)
        {
            return Err(Excess::Depth);
        }
        let mut newest = newest.map(|node| node.value());
        let text = newest.find_map(Node::as_text).map_or(0, |text| text.len());
        if self.seen == (nodes, text) {
            self.separators += separators(piece);
        } else {
            self.separators = 0;
        }
        self.seen = (nodes, text);
        if self.separators > SEPARATORS_MAX {
            return Err(Excess::Tag);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn check(text: &str, expected: Option<Excess>, why: &str) {
        assert_eq!(parse(text).err(), expected, "{why}");
    }

    /// The numbers up to `count`, each between two words.
    fn numbered(count: usize, before: &str, after: &str) -> String {
        let mut text = String::new();
        for at in 0..count {
            let _ = write!(text, "{before}{at}{after}");
        }
        text
    }

    #[test]
    fn ss_12_pages_out_of_proportion_are_refused() {
        let formatting = numbered(400, "<b id=", ">");
        let attributes = numbered(500_000, "a", " ");
        for (text, expected, why) in [
            ("<div>".repeat(200_000), Excess::Depth, "deep"),
            (
                "<div><!-- </div> -->".repeat(200_000),
                Excess::Depth,
                "deep in disguise",
            ),
            (
                "<table><td>".repeat(100_000),
                Excess::Depth,
                "tables in tables",
            ),
            (
                format!("<p>{formatting}</p>{}", "<p>x</p>".repeat(100_000)),
                Excess::Nodes,
                "formatting opened anew",
            ),
            ("<i>x</i>".repeat(500_000), Excess::Nodes, "many elements"),
            (format!("<p {attributes}>"), Excess::Tag, "attributes"),
            (
                format!("<svg><title><p {attributes}></title>"),
                Excess::Tag,
                "attributes in disguise",
            ),
        ] {
            check(&text, Some(expected), why);
            assert!(!is_harmless(&text), "{why}");
        }
    }

    #[test]
    fn ordinary_pages_pass() {
        for (text, why) in [
            (String::new(), "nothing"),
            ("<div>".repeat(DEPTH_MAX - 10), "as deep as allowed"),
            (
                "<p><li>é<br><td>".repeat(20_000),
                "elements that authors leave open",
            ),
            (
                format!("<script>{}</script>", "if (a<b) c(); ".repeat(100_000)),
                "a program",
            ),
            (
                format!("<p>{}", "many words ".repeat(100_000)),
                "a long text",
            ),
            (
                format!("<img src='data:{}'>", "A".repeat(2_000_000)),
                "a picture inside",
            ),
            (
                "<a href=x title='y z'>link</a>\n".repeat(50_000),
                "many links",
            ),
        ] {
            check(&text, None, why);
            assert!(is_harmless(&text), "{why}");
        }
    }
}
