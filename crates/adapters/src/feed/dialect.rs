//! Feeds from before 2005, rewritten into what feed-rs reads.
//!
//! Atom 0.3 names media types and a mode where Atom 1.0 has three short names: feed-rs refuses the
//! whole feed for one of them. Of RSS 1.0 it drops items without a link, which have their address
//! in `rdf:about`. Everything else is copied as it is, so that nothing can be lost here.

use std::borrow::Cow;

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::xml::Tag;

/// The link of an item that has none: no address of the web, so it is none for us, either.
const NO_LINK: &str = "about:blank";
/// Most enclosures that feed-rs is shown. It takes 2 KB for each, and we read them ourselves.
const ENCLOSURES_SHOWN: usize = 10_000;

/// The document as feed-rs reads it, if it does not read it as it is. The root keeps its place.
pub(crate) fn rewrite(mended: &str, root: &Tag) -> Option<String> {
    let is_old_atom = root.name == "feed"
        && (root.attribute("version") == Some("0.3")
            || root
                .attributes
                .iter()
                .any(|(_, value)| value.contains("purl.org/atom/ns")));
    match root.name.as_str() {
        "feed" if is_old_atom => Some(walk(mended, &mut OldAtom)),
        "RDF" => Some(walk(mended, &mut Rdf::default())),
        _ => None,
    }
}

/// The document without the enclosures of a long feed.
pub(crate) fn without_enclosures(mended: &str) -> Cow<'_, str> {
    if mended.matches("<enclosure").count() <= ENCLOSURES_SHOWN {
        return mended.into();
    }
    let opened = mended.replace("<enclosure", "<hidden");
    opened.replace("</enclosure", "</hidden").into()
}

/// What is done to the tags of a document.
trait Rewriter {
    /// What stands in place of a tag, if not itself.
    fn start(&mut self, start: &BytesStart<'_>, is_empty: bool) -> Option<String>;
    /// What is inserted before an end tag.
    fn before_end(&mut self, name: &str) -> Option<String>;
}

/// Copies a document, which is known to be whole.
fn walk(mended: &str, rewriter: &mut impl Rewriter) -> String {
    let mut reader = Reader::from_str(mended);
    let mut written = String::with_capacity(mended.len());
    let mut from = 0;
    loop {
        let event = reader.read_event();
        let to = usize::try_from(reader.buffer_position()).unwrap_or(mended.len());
        let raw = mended.get(from..to).unwrap_or_default();
        match event {
            Ok(Event::Start(start)) => {
                written.push_str(
                    &rewriter
                        .start(&start, false)
                        .unwrap_or_else(|| raw.to_owned()),
                );
            }
            Ok(Event::Empty(start)) => {
                written.push_str(
                    &rewriter
                        .start(&start, true)
                        .unwrap_or_else(|| raw.to_owned()),
                );
            }
            Ok(Event::End(end)) => {
                let inserted = rewriter.before_end(end.name().as_ref());
                written.push_str(&inserted.unwrap_or_default());
                written.push_str(raw);
            }
            Ok(Event::Eof) | Err(_) => {
                written.push_str(mended.get(from..).unwrap_or_default());
                return written;
            }
            Ok(_) => written.push_str(raw),
        }
        from = to;
    }
}

/// Types of Atom 0.3 under the names of Atom 1.0.
struct OldAtom;

impl Rewriter for OldAtom {
    fn start(&mut self, start: &BytesStart<'_>, is_empty: bool) -> Option<String> {
        let tag = Tag::of(start, 0);
        if !matches!(tag.name.as_str(), "title" | "summary" | "content") {
            return None;
        }
        let kind = match tag.attribute("type")?.trim().to_ascii_lowercase().as_str() {
            "text/plain" => "text",
            // Escaped or not: feed-rs takes the text, or the elements where there is none.
            "text/html" => "html",
            "application/xhtml+xml" if tag.attribute("mode") == Some("escaped") => "html",
            "application/xhtml+xml" | "application/xml" | "text/xml" => "xhtml",
            _ => return None,
        };
        let other = tag.attributes.iter();
        let other = other.filter(|(name, _)| !matches!(name.as_str(), "type" | "mode"));
        let other =
            other.map(|(name, value)| format!(" {name}=\"{}\"", value.replace('"', "&quot;")));
        let end = if is_empty { "/>" } else { ">" };
        Some(format!(
            "<{} type=\"{kind}\"{}{end}",
            tag.full_name,
            other.collect::<String>()
        ))
    }

    fn before_end(&mut self, _name: &str) -> Option<String> {
        None
    }
}

/// Links for items of RSS 1.0.
#[derive(Default)]
struct Rdf {
    /// The item that the walk is in: its own name, and its address as written.
    item: Option<(String, String)>,
    is_linked: bool,
}

impl Rewriter for Rdf {
    fn start(&mut self, start: &BytesStart<'_>, is_empty: bool) -> Option<String> {
        match start.local_name().as_ref() {
            "item" if !is_empty => {
                let tag = Tag::of(start, 0);
                let about = tag
                    .attributes
                    .iter()
                    .find(|(name, _)| name.ends_with("about"));
                let about = about.map_or(NO_LINK, |(_, about)| about.trim());
                let about = if about.is_empty() { NO_LINK } else { about };
                self.item = Some((tag.full_name, about.replace('<', "&lt;")));
                self.is_linked = false;
            }
            "link" if !is_empty => self.is_linked = true,
            _ => {}
        }
        None
    }

    fn before_end(&mut self, name: &str) -> Option<String> {
        let (item, about) = self.item.take_if(|(item, _)| item == name)?;
        let link = item.replace("item", "link");
        (!self.is_linked).then(|| format!("<{link}>{about}</{link}>"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::xml;

    fn check(document: &str, expected: Option<&str>, why: &str) {
        let root = xml::root(document).unwrap();
        assert_eq!(rewrite(document, &root).as_deref(), expected, "{why}");
    }

    #[test]
    fn ss_20_types_of_atom_0_3_get_the_names_of_atom_1() {
        let feed = |inside: &str| format!("<feed version='0.3' a='b'><!-- x -->{inside}</feed>");
        for (inside, expected, why) in [
            (
                "<title mode='escaped' type='text/html'>a &lt;b&gt;</title>",
                "<title type=\"html\">a &lt;b&gt;</title>",
                "escaped",
            ),
            (
                "<entry><title type='text/plain'/></entry>",
                "<entry><title type=\"text\"/></entry>",
                "empty",
            ),
            (
                "<content type='application/xhtml+xml' xml:base='x&quot;y'><p>a</p></content>",
                "<content type=\"xhtml\" xml:base=\"x&quot;y\"><p>a</p></content>",
                "inline",
            ),
            (
                "<content type='application/xhtml+xml' mode='escaped'>&lt;p&gt;</content>",
                "<content type=\"html\">&lt;p&gt;</content>",
                "escaped markup",
            ),
            (
                "<content type='image/png' mode='base64'>x</content><link type='text/html'/>",
                "<content type='image/png' mode='base64'>x</content><link type='text/html'/>",
                "nothing to do",
            ),
            (
                "<summary><![CDATA[<title type='text/plain'>]]></summary>",
                "<summary><![CDATA[<title type='text/plain'>]]></summary>",
                "no tag",
            ),
        ] {
            check(&feed(inside), Some(&feed(expected)), why);
        }
        check("<feed><title type='text/plain'/></feed>", None, "Atom 1.0");
    }

    #[test]
    fn ss_20_items_of_rss_1_get_a_link() {
        let rdf = |inside: &str| format!("<rdf:RDF>\n{inside}</rdf:RDF>");
        for (inside, expected) in [
            (
                "<item rdf:about='a?b&amp;c'><title>x</title></item>",
                "<item rdf:about='a?b&amp;c'><title>x</title><link>a?b&amp;c</link></item>",
            ),
            (
                "<r:item><r:title/></r:item>",
                "<r:item><r:title/><r:link>about:blank</r:link></r:item>",
            ),
            (
                "<item rdf:about='a'><link>b</link></item><link>c</link>",
                "<item rdf:about='a'><link>b</link></item><link>c</link>",
            ),
        ] {
            check(&rdf(inside), Some(&rdf(expected)), inside);
        }
        check(
            "<rss><channel><item/></channel></rss>",
            None,
            "another format",
        );
    }
}
