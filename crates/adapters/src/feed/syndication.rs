//! RSS and Atom, read by feed-rs.
//!
//! What feed-rs leaves out is done around it: [`super::xml`] mends and walks the text first and
//! collects what it drops (files, categories, descriptions), dates are read by [`super::date`], ids
//! that it would invent are left out (an invented id would be new at every check), and formats from
//! before 2005 are put under the names it knows ([`super::dialect`]).

use std::{fmt::Write as _, time::SystemTime};

use almanack_core::source::{
    check::{Document, Failure, FailureClass},
    entry::TITLE_BYTES_MAX,
};
use feed_rs::{
    model::{Content, Entry, Feed, FeedType, Link, Text},
    parser::{Builder, ParseFeedError},
};
use jiff::Timestamp;
use url::Url;

use super::{
    date, dialect,
    draft::{self, Against, Draft},
    hub,
    markup::Markup,
    text,
    xml::{self, Extra, Tag},
};

/// Old and private names of namespaces, and the ones feed-rs knows.
const NAMESPACES: [(&str, &str); 7] = [
    // Hidden from it: it refuses a whole feed for one empty description. The walk reads these.
    ("http://search.yahoo.com/mrss/", HIDDEN),
    ("http://my.netscape.com/rdf/simple/0.9/", RSS),
    ("http://channel.netscape.com/rdf/simple/0.9/", RSS),
    ("http://backend.userland.com/rss2", RSS),
    ("http://blogs.law.harvard.edu/tech/rss", RSS),
    ("http://purl.org/atom/ns#", ATOM),
    ("https://www.w3.org/2005/Atom", ATOM),
];
const RSS: &str = "http://purl.org/rss/1.0/";
const ATOM: &str = "http://www.w3.org/2005/Atom";
const HIDDEN: &str = "urn:hidden";
/// Longest feed that is read. feed-rs takes more than a kilobyte for an entry of thirty bytes.
const ENTRIES_READ_MAX: usize = 100_000;
/// What feed-rs takes for a version of RSS.
const VERSIONS: [&str; 4] = ["2.0", "", "0.91", "0.92"];

/// Whether a document with this root is a feed.
pub(crate) fn is_feed(root: &Tag) -> bool {
    matches!(root.name.as_str(), "rss" | "RDF" | "feed")
}

/// Reads a mended document.
pub(crate) fn read(
    mended: &str,
    root: &Tag,
    base: &Url,
    against: &Against,
) -> Result<Document, Failure> {
    let mut outline = xml::outline(mended, base)?;
    if outline.entries > ENTRIES_READ_MAX {
        let detail = format!("the feed has more than {ENTRIES_READ_MAX} entries");
        return Err(Failure::new(FailureClass::TooLarge, detail));
    }
    let rewritten = dialect::rewrite(mended, root);
    let mended = rewritten.as_deref().unwrap_or(mended);
    let renamed = rename_root(mended, root);
    let mended = renamed.as_deref().unwrap_or(mended);
    let feed = parse(&dialect::without_enclosures(mended), base)?;
    if feed.entries.is_empty() && outline.entries > 0 && feed.feed_type != FeedType::RSS1 {
        let detail = format!(
            "the feed shows entries ({}), but in a namespace that is not a feed's",
            outline.entries
        );
        return Err(Failure::new(FailureClass::Malformed, detail));
    }
    let title = feed.title.as_ref();
    let title = title.map(|title| plain(title, &feed.feed_type));
    // An entry in another namespace counts for the walk only; then nobody knows whose is what.
    if outline.entries != feed.entries.len() {
        outline.extras.clear();
    }
    let drafts = feed.entries.iter().enumerate().map(|(at, entry)| {
        let draft = draft(entry, &feed.feed_type, base);
        match outline.extras.remove(&at) {
            Some(extra) => complete(draft, extra),
            None => draft,
        }
    });
    let mut document = draft::document(title, drafts.collect(), base, against);
    document.hints = outline.hints;
    let links = feed.links.iter();
    let links = links.filter_map(|link| Some((link.rel.as_deref()?, link.href.as_str())));
    document.hub = hub::of_links(links, base);
    Ok(document)
}

fn parse(text: &str, base: &Url) -> Result<Feed, Failure> {
    let parser = Builder::new()
        .base_uri(Some(base.as_str()))
        .sanitize_content(false)
        .id_generator(|_, _, _| String::new())
        .timestamp_parser(|text| date::parse(text).map(|at| SystemTime::from(at).into()))
        .build();
    parser.parse(text.as_bytes()).map_err(|error| match error {
        ParseFeedError::XmlReader(error) => xml::malformed(&error, None),
        error => {
            let error = text::short_line(&error.to_string(), 200);
            Failure::new(
                FailureClass::Malformed,
                format!("the feed contradicts itself: {error}"),
            )
        }
    })
}

/// The document with a root that feed-rs knows, if it does not know this one.
fn rename_root(mended: &str, root: &Tag) -> Option<String> {
    let version = root.attribute("version").unwrap_or("none");
    let odd_version = root.name == "rss" && !VERSIONS.contains(&version);
    let odd_namespace = root
        .attributes
        .iter()
        .any(|(_, value)| known_namespace(value).is_some());
    if !odd_version && !odd_namespace {
        return None;
    }
    let mut tag = format!("<{}", root.full_name);
    for (name, value) in &root.attributes {
        if name != "version" {
            let value = known_namespace(value).unwrap_or(value);
            let _ = write!(tag, " {name}=\"{}\"", value.replace('"', "&quot;"));
        }
    }
    if root.name == "rss" {
        tag.push_str(" version=\"2.0\"");
    }
    let rest = mended.get(root.end..)?;
    let is_empty = mended.get(..root.end)?.ends_with("/>");
    Some(format!("{tag}{}{rest}", if is_empty { "/>" } else { ">" }))
}

fn known_namespace(name: &str) -> Option<&'static str> {
    let mut names = NAMESPACES.iter();
    names.find_map(|(old, known)| (*old == name).then_some(*known))
}

fn draft(entry: &Entry, format: &FeedType, base: &Url) -> Draft {
    let published_at = entry.published.or(entry.updated);
    Draft {
        id: Some(entry.id.clone()),
        link: address(&entry.links),
        title: entry
            .title
            .as_ref()
            .map(|title| plain(title, format))
            .unwrap_or_default(),
        published_at: published_at.and_then(|at| Timestamp::try_from(SystemTime::from(at)).ok()),
        author: entry.authors.first().and_then(|author| {
            let name = author.name.clone().filter(|name| !name.trim().is_empty());
            name.or_else(|| author.email.clone())
        }),
        summary: entry.summary.as_ref().map(|summary| {
            let is_text = *format == FeedType::Atom && summary.content_type.subty() == "plain";
            markup(&summary.content, is_text)
        }),
        content: entry.content.as_ref().and_then(content),
        base: entry
            .base
            .as_deref()
            .and_then(|entry| base.join(entry).ok()),
        ..Draft::default()
    }
}

/// Adds what feed-rs leaves out.
fn complete(draft: Draft, mut extra: Extra) -> Draft {
    let is_blank = |summary: &Markup| match summary {
        Markup::Html(words) | Markup::Text(words) => words.trim().is_empty(),
    };
    let summary = draft.summary.filter(|summary| !is_blank(summary));
    Draft {
        published_at: draft.published_at.or_else(|| extra.published_at()),
        summary: summary.or_else(|| extra.about.take().map(Markup::Html)),
        enclosures: extra.take_enclosures(),
        categories: extra.categories,
        ..draft
    }
}

/// Content that can be shown as text: what else Atom carries (pictures, other XML) is not.
fn content(content: &Content) -> Option<Markup> {
    let kind = &content.content_type;
    let is_text = kind.subty() == "plain";
    let is_shown = is_text || matches!(kind.subty().as_str(), "html" | "xhtml");
    let body = content.body.as_deref().filter(|_| is_shown)?;
    Some(markup(body, is_text))
}

fn markup(content: &str, is_text: bool) -> Markup {
    if is_text {
        Markup::Text(content.to_owned())
    } else {
        Markup::Html(content.to_owned())
    }
}

/// Where an entry can be read: not its own feed, its comments, a file it comes with, or where it is
/// edited.
fn address(links: &[Link]) -> Option<String> {
    let pages = links.iter().filter(|link| {
        let rel = link.rel.as_deref();
        link.target.is_none() && matches!(rel, None | Some("alternate"))
    });
    let is_page = |link: &&Link| {
        link.media_type
            .as_deref()
            .is_none_or(|kind| kind.contains("html"))
    };
    let mut by_kind = pages.clone().filter(is_page).chain(pages);
    by_kind.next().map(|link| link.href.clone())
}

/// A title as plain text. Atom says what it is; RSS does not, and most publishers escape markup in
/// it.
fn plain(title: &Text, format: &FeedType) -> String {
    if *format == FeedType::Atom && title.content_type.subty() == "plain" {
        text::short_line(&title.content, TITLE_BYTES_MAX)
    } else {
        text::undecorated(&title.content, TITLE_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests;
