//! The running server's one shared thing: archive, faults and journal behind one lock that is
//! never held across a wait.

use std::{
    net::Ipv4Addr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Config,
    archive::Archive,
    fault::Faults,
    journal::Journal,
    markup,
    page::{Page, Sheet},
    reading::Found,
    site::PER_STORY,
    story::{Facts, Link, Story},
};
use crate::{clock::Clock, feeds::reply::Answer};

/// Hosts that pages are spread over, where the server listens on all of them: 127.0.0.2 and on.
const HOSTS: i64 = 250;

/// Everything that requests and tests change.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) archive: Archive,
    pub(super) faults: Faults,
    pub(super) journal: Journal,
}

/// Where the server answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) port: u16,
    /// Whether pages have hosts of their own.
    pub(super) wide: bool,
}

/// What all requests share.
pub(super) struct Service {
    inside: Mutex<Inside>,
    clock: Clock,
    pub(super) base_url: String,
    pub(super) latency: Duration,
    pub(super) crawler_token: String,
    spread: Spread,
    /// Raised with every arrival, every answer and every change by a test.
    pub(super) changes: watch::Sender<u64>,
    /// Ends waits that would otherwise outlive the server.
    pub(super) stopping: CancellationToken,
}

impl Service {
    pub(super) fn new(
        config: Config,
        (base_url, spread): (String, Spread),
        stopping: CancellationToken,
    ) -> Self {
        Self {
            inside: Mutex::new(Inside {
                archive: Archive::new(config.site),
                faults: Faults::default(),
                journal: Journal::default(),
            }),
            clock: config.clock,
            base_url,
            latency: config.latency,
            crawler_token: config.crawler_token,
            spread,
            changes: watch::Sender::new(0),
            stopping,
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A panic elsewhere leaves whole requests behind, never half of one, so its poison is no harm.
    pub(super) fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// The address of a story's page on this server.
    pub(super) fn page_url(&self, id: i64) -> String {
        if !self.spread.wide {
            return format!("{}/pages/{id}", self.base_url);
        }
        let last = u8::try_from(2 + id / PER_STORY % HOSTS).unwrap_or(2);
        let host = Ipv4Addr::new(127, 0, 0, last);
        format!("http://{host}:{}/pages/{id}", self.spread.port)
    }

    /// Where a story leads.
    pub(super) fn url(&self, story: &Story) -> Option<String> {
        match &story.link {
            Link::Page => Some(self.page_url(story.id)),
            Link::Elsewhere(url) => Some(url.clone()),
            Link::Text(_) => None,
        }
    }

    pub(super) fn facts(&self, id: i64) -> Option<Facts> {
        let mut inside = self.lock();
        let story = inside.archive.story(id, self.now())?;
        let page = inside.archive.page(id);
        Some(Facts {
            url: self.url(&story),
            article: match &story.link {
                Link::Page => inside.archive.site.article(id, page),
                Link::Text(html) => Some(paragraphs(html)),
                Link::Elsewhere(_) => None,
            },
            page,
            story,
        })
    }

    /// A story's page, as somebody gets it who has followed so many redirects.
    pub(super) fn page(&self, id: i64, hop: u32) -> Option<Answer> {
        let facts = self.facts(id)?;
        Some(sheet(&facts).answer(hop))
    }

    /// What a reader of pages finds at an address.
    pub(super) fn find(&self, address: &str) -> Option<Found> {
        let facts = self.facts(story_in(address)?)?;
        Some(Found {
            markdown: sheet(&facts).markdown(),
            page: facts.page,
            title: facts.story.title,
        })
    }
}

fn paragraphs(html: &str) -> Vec<String> {
    let text = markup::plain(html);
    text.split("\n\n").map(str::to_owned).collect()
}

fn sheet(facts: &Facts) -> Sheet<'_> {
    Sheet {
        id: facts.story.id,
        title: &facts.story.title,
        page: facts.page,
        article: facts.article.as_deref(),
    }
}

/// The story whose page an address names: where it leads, or its own on the site.
pub(super) fn story_in(address: &str) -> Option<i64> {
    let named = address.split_once("/pages/");
    let (_, rest) = named.or_else(|| address.split_once("/item?id="))?;
    let end = rest.find(|it: char| !it.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

impl Found {
    /// How long reading it takes: as long as the page itself.
    pub(super) fn wait(&self) -> Duration {
        match self.page {
            Page::Slow { wait_ms } => Duration::from_millis(wait_ms),
            _ => Duration::ZERO,
        }
    }
}
