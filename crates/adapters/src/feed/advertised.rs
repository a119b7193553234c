//! What a page says about itself: its title, its base, and where its feeds are.

use almanack_core::source::{check::Candidate, entry::LINK_BYTES_MAX};
use scraper::{ElementRef, Html, Selector};
use url::Url;

use super::text;

/// Longest title of a page in a sentence, in bytes.
const TITLE_BYTES_MAX: usize = 100;
/// Most feeds that one page is believed to have.
const FEEDS_MAX: usize = 20;

/// The format that a feed is said to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
    Rss,
    Atom,
    Json,
}

impl Format {
    fn of_media_type(kind: &str) -> Option<Self> {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        match kind.to_ascii_lowercase().as_str() {
            "application/rss+xml" | "application/rdf+xml" | "text/rss" => Some(Self::Rss),
            "application/atom+xml" => Some(Self::Atom),
            "application/feed+json" => Some(Self::Json),
            _ => None,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Atom => "atom",
            Self::Json => "json",
        }
    }
}

pub(crate) fn title_of(page: &Html) -> Option<String> {
    let title = select(page, "title").into_iter().next()?;
    let title: String = title.text().collect();
    let title = text::short_line(&title, TITLE_BYTES_MAX);
    (!title.is_empty()).then_some(title)
}

/// What the page's addresses are relative to.
pub(crate) fn base_of(page: &Html, address: &Url) -> Url {
    let base = select(page, "base[href]").into_iter().next();
    base.and_then(|base| base.value().attr("href"))
        .and_then(|base| address.join(base).ok())
        .unwrap_or_else(|| address.clone())
}

/// Whether the page asks for a password.
pub(crate) fn asks_for_password(page: &Html) -> bool {
    !select(page, "input[type=password]").is_empty()
}

/// The feeds that the page names in its head.
pub(crate) fn feeds_of(page: &Html, address: &Url) -> Vec<Candidate> {
    let base = base_of(page, address);
    let mut feeds: Vec<Candidate> = Vec::new();
    for link in select(page, "link[href][type]") {
        if let Some(feed) = feed_of(link, &base)
            && feeds.iter().all(|known| known.address != feed.address)
        {
            feeds.push(feed);
        }
    }
    feeds.truncate(FEEDS_MAX);
    feeds
}

fn feed_of(link: ElementRef<'_>, base: &Url) -> Option<Candidate> {
    let attribute = |name| link.value().attr(name);
    let mut rel = attribute("rel")?.split_ascii_whitespace();
    if !rel.any(|rel| rel.eq_ignore_ascii_case("alternate")) {
        return None;
    }
    let format = Format::of_media_type(attribute("type")?)?;
    let address = base.join(attribute("href")?.trim()).ok()?;
    let is_usable = address.as_str().len() <= LINK_BYTES_MAX;
    if !is_usable || !matches!(address.scheme(), "http" | "https") {
        return None;
    }
    let title = attribute("title").map(|title| text::short_line(title, TITLE_BYTES_MAX));
    Some(Candidate {
        address: address.into(),
        title: title.filter(|title| !title.is_empty()),
        format: Some(format.as_str().to_owned()),
    })
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector);
    selector.map_or_else(|_| Vec::new(), |selector| page.select(&selector).collect())
}
