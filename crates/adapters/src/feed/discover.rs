//! From a site's address to its feeds.
//!
//! The address may be a feed already; else the page names its feeds; else they may be at the usual
//! paths. A person waits for the answer and the site did not ask for our visit. So a discovery
//! takes a handful of requests and less time than an API request may take.

use std::{sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    source::{
        check::{Candidate, Failure, FailureClass},
        reading::Reading,
    },
};
use jiff::Timestamp;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use tokio::time::timeout;
use url::Url;

use super::{
    advertised::{self, Format},
    answer,
    blocking_pool::BlockingPool,
    charset,
    checker::REDIRECTS_MAX,
    fetch::Asking,
    page,
};
use crate::http::{Head, Request, Response};

/// Usual paths of feeds, relative to the page and to the site.
const USUAL_PLACES: [&str; 5] = ["feed", "rss.xml", "atom.xml", "index.xml", "feed.json"];
/// Most requests for one discovery, redirects included.
const REQUESTS_MAX: u32 = 12;
/// How long one discovery may take: an API request times out after 30 s, and its client should get
/// a reason before.
const TIME_MAX: Duration = Duration::from_secs(20);

/// What is at an address.
enum Shown {
    Feed(Candidate),
    Page(Vec<Candidate>),
}

/// The feeds of a site, best first; never empty.
pub(crate) async fn discover(
    asking: &Asking<'_>,
    blocking_pool: &BlockingPool,
    site: &str,
    now: Timestamp,
) -> Result<Vec<Candidate>, Failure> {
    let site = absolute(site);
    let visit = Visit {
        asking,
        budget: Budget::new(REQUESTS_MAX),
        blocking_pool,
        site: &site,
        now,
    };
    let found = timeout(TIME_MAX, search(&visit, &site)).await;
    found.unwrap_or_else(|_| {
        let seconds = TIME_MAX.as_secs();
        let detail = format!("no feed found within {seconds} s: the site is too slow");
        Err(Failure::new(FailureClass::Timeout, detail))
    })
}

async fn search(visit: &Visit<'_>, site: &str) -> Result<Vec<Candidate>, Failure> {
    let (here, shown) = visit.look(site).await?;
    match shown {
        Shown::Feed(feed) => return Ok(vec![feed]),
        Shown::Page(feeds) if !feeds.is_empty() => return Ok(feeds),
        Shown::Page(_) => {}
    }
    for path in usual_paths(&here) {
        if let Ok((_, Shown::Feed(feed))) = visit.look(path.as_str()).await {
            return Ok(vec![feed]);
        }
    }
    let detail = format!(
        "no feed found: the page names none, and none is at the usual paths ({})",
        USUAL_PLACES.join(", ")
    );
    Err(Failure::new(FailureClass::NotAFeed, detail))
}

/// People write `example.com`.
fn absolute(site: &str) -> String {
    let site = site.trim();
    if site.contains("://") {
        site.to_owned()
    } else {
        format!("https://{site}")
    }
}

/// Beside the page, then at the top of the site.
fn usual_paths(here: &Url) -> Vec<Url> {
    let mut paths: Vec<Url> = Vec::new();
    for name in USUAL_PLACES {
        for path in [name.to_owned(), format!("/{name}")] {
            if let Ok(path) = here.join(&path)
                && !paths.contains(&path)
                && path != *here
            {
                paths.push(path);
            }
        }
    }
    paths
}

struct Visit<'a> {
    asking: &'a Asking<'a>,
    budget: Arc<Budget>,
    blocking_pool: &'a BlockingPool,
    site: &'a str,
    now: Timestamp,
}

impl Visit<'_> {
    async fn look(&self, address: &str) -> Result<(Url, Shown), Failure> {
        let request = Request::get(address)
            .header(ACCEPT, "text/html, application/rss+xml, application/atom+xml, application/feed+json, */*;q=0.5")
            .following(REDIRECTS_MAX)
            .paid_by(Arc::clone(&self.budget));
        let response = self.asking.send(request, self.site).await?;
        if let Some(failure) = answer::refusal(&response.head, self.now) {
            return Err(failure);
        }
        let here = response.head.address.clone();
        let address = lasting_address(address, &response.head);
        let now = self.now;
        let shown = self
            .blocking_pool
            .run(move || Ok(shown(&response, address, now)))
            .await?;
        Ok((here, shown))
    }
}

/// The address to keep of a feed: where it is, if every redirect on the way was for good. A
/// temporary one (302, 307) may lead elsewhere tomorrow, so what was asked for stays.
fn lasting_address(asked: &str, head: &Head) -> String {
    let asked = Url::parse(asked).unwrap_or_else(|_| head.address.clone());
    head.moved_to.clone().unwrap_or(asked).into()
}

fn shown(response: &Response, address: String, now: Timestamp) -> Shown {
    let Response { head, body } = response;
    let content_type = head.header(&CONTENT_TYPE);
    let read = super::read(&Reading::Feed, body, content_type, &head.address, now);
    let text = charset::decode_from(head.address.host_str(), body, content_type);
    match read {
        Ok(document) => Shown::Feed(Candidate {
            address,
            title: document.title,
            format: Some(format_of(&text).as_str().to_owned()),
        }),
        Err(_) => Shown::Page(page::parse(&text).map_or_else(
            |_| Vec::new(),
            |page| advertised::feeds_of(&page, &head.address),
        )),
    }
}

/// The format of what was read as a feed.
fn format_of(text: &str) -> Format {
    let mended = super::xml::mend(text);
    match super::xml::root(&mended).map(|root| root.name).as_deref() {
        Some("feed") => Format::Atom,
        Some(_) => Format::Rss,
        None => Format::Json,
    }
}
