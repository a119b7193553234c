//! The checker: one polite check of one source.
//!
//! ```text
//! Ask ─ pace of the host ─┬─ busy ─► Wait
//!            ▲ └─ free ─► conditional GET ─┬─ 304 ────────► Unchanged └─── redirect to another
//!            host ◄──────────┼─ 3xx ├─ 2xx ─ read ─► Document │ Failed └─ else ───────► Failed,
//!            and its host is held
//! ```
//!
//! A check never waits: a busy host costs no connection and no thread, whether the source names it
//! or a redirect does. Validators are sent back byte for byte. A host that asks to be left alone is
//! left alone by all of its sources.

mod article;

use std::{sync::Arc, time::Duration};

use almanack_core::{
    secret::{NoSecrets, Secrets},
    source::{
        check::{
            Article, Ask, Candidate, Checker, Document, Failure, FailureClass, Look, Unchanged,
            Validators,
        },
        courtesy::Courtesy,
        entry::ENTRIES_PER_DOCUMENT,
        hub::Pushed,
        options::Options,
        reading::Reading,
    },
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use url::Url;

use super::{
    answer,
    blocking_pool::{self, BlockingPool},
    discover,
    draft::Against,
    fetch::{self, Asking},
    freshness, hub,
};
use crate::{
    http::{
        Client, Counting, Error, Head, HostAdmission, Limits, Request, Response,
        host_paces::HostPaces,
    },
    robots::{PageVisit, Robots, RobotsVisit},
};

/// How many redirects are followed.
pub(crate) const REDIRECTS_MAX: usize = 5;
/// How long a host is left alone that answers 429 without saying for how long.
const HOLD_LIMITED: SignedDuration = SignedDuration::from_hours(1);
/// The same for 503: most are over soon.
const HOLD_UNAVAILABLE: SignedDuration = SignedDuration::from_mins(5);
/// Longest validator that is kept, in bytes. A longer one would cost more than it saves.
const VALIDATOR_BYTES_MAX: usize = 1000;

/// Largest answer of a hub, in bytes: a sentence.
const HUB_BODY_BYTES_MAX: usize = 64 * 1024;

/// Looks at sources over HTTP.
#[derive(Clone)]
pub struct FeedChecker {
    client: Client,
    host_paces: HostPaces,
    limits: Limits,
    entries_max: usize,
    blocking_pool: BlockingPool,
    robots: Robots,
    secrets: Arc<dyn Secrets>,
    courtesy: Arc<Courtesy>,
}

impl FeedChecker {
    /// A checker with the usual limits of time and size.
    pub fn new(client: Client, host_paces: HostPaces) -> Self {
        Self::with_limits(client, host_paces, Limits::default())
    }

    /// A checker with these limits.
    pub fn with_limits(client: Client, host_paces: HostPaces, limits: Limits) -> Self {
        let blocking_pool = BlockingPool::new(blocking_pool::TIME_MAX);
        Self {
            robots: Robots::new(client.clone(), limits),
            client,
            host_paces,
            limits,
            entries_max: ENTRIES_PER_DOCUMENT,
            blocking_pool,
            secrets: Arc::new(NoSecrets),
            courtesy: Arc::default(),
        }
    }

    /// The same, but so many entries are read of a document.
    #[must_use]
    pub fn reading_entries(self, entries_max: usize) -> Self {
        Self {
            entries_max,
            ..self
        }
    }

    /// The same with secrets that sources may name.
    #[must_use]
    pub fn with_secrets(self, secrets: Arc<dyn Secrets>) -> Self {
        Self { secrets, ..self }
    }

    /// The same, counting what it asks of hosts there.
    #[must_use]
    pub fn counted_in(self, courtesy: &Arc<Courtesy>) -> Self {
        let courtesy = Arc::clone(courtesy);
        Self { courtesy, ..self }
    }

    /// What sites say to crawlers, as this checker knows it.
    pub fn robots(&self) -> &Robots {
        &self.robots
    }

    /// The same, but a document may take so long to be read, for builds and machines that are slow.
    #[must_use]
    pub fn reading_within(self, time_max: Duration) -> Self {
        let blocking_pool = BlockingPool::new(time_max);
        Self {
            blocking_pool,
            ..self
        }
    }

    async fn ask(&self, ask: &Ask, now: Timestamp) -> Result<Look, Failure> {
        let (address, fetch) = (ask.address.as_str(), &ask.options.fetch);
        let request = fetch::apply(request(ask), fetch, address, self.secrets.as_ref()).await?;
        let counting = Counting::new(Arc::clone(&self.courtesy), now);
        let visit = self.visit(ask, (&request, &counting), now);
        let request = request.limits(self.limits).counted(counting);
        let request = request.through(Arc::clone(&visit));
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(Error::Busy { until }) => return Ok(Look::Wait(until)),
            Err(error) => return Err(answer::no_answer(&error)),
        };
        if let Some(failure) = answer::refusal(&response.head, now) {
            self.hold(&response.head, &failure, now);
            return Err(failure);
        }
        if response.head.status == 304 {
            return unchanged(&response.head, ask, now);
        }
        let document = self.read(ask, response, now).await?;
        // Only now are the host paces free for others.
        drop(visit);
        Ok(Look::Document(Box::new(document)))
    }

    /// One visit: the host's pace, and for pages what the site says to crawlers.
    fn visit(
        &self,
        ask: &Ask,
        (request, counting): (&Request, &Counting),
        now: Timestamp,
    ) -> Arc<dyn HostAdmission> {
        let admission: Arc<dyn HostAdmission> = Arc::new(self.host_paces.visit(now));
        if !asks_robots(ask) {
            return admission;
        }
        Arc::new(PageVisit {
            robots: self.robots.clone(),
            visit: RobotsVisit {
                admission,
                counting: Some(counting.clone()),
                proxy: request.proxy.clone(),
                now,
            },
        })
    }

    async fn read(
        &self,
        ask: &Ask,
        response: Response,
        now: Timestamp,
    ) -> Result<Document, Failure> {
        let Response { head, body } = response;
        let content_type = head.header(&CONTENT_TYPE).map(str::to_owned);
        let (reading, base) = (ask.reading.clone(), head.address.clone());
        let error_texts = ask.options.error_texts.clone();
        let against = self.against(ask, now);
        let read = self.blocking_pool.run(move || {
            let content_type = content_type.as_deref();
            super::check_error_texts(&error_texts, &body, content_type, &base)?;
            super::read_against(&reading, &body, content_type, &base, &against)
        });
        let mut document = read.await?;
        document.validators = validators(&head);
        document.hints.fresh_for = freshness::hints(&head.headers, now).fresh_for;
        document.moved_to = moved_to(&head, ask);
        if asks_robots(ask) {
            let delay = self.robots.delay_s(&head.address);
            document.hints.every = document.hints.every.max(delay);
        }
        document.hub = hub::of_headers(&head.headers, &head.address, document.hub.take());
        self.drop_foul_links(&mut document);
        Ok(document)
    }

    /// Reads what a hub pushed as if the source's own address had answered it.
    pub(super) async fn read_pushed(
        &self,
        ask: &Ask,
        pushed: Pushed,
        now: Timestamp,
    ) -> Result<Document, Failure> {
        let malformed = |_| Failure::new(FailureClass::Malformed, "the source has no address");
        let base = Url::parse(&ask.address).map_err(malformed)?;
        let (reading, against) = (ask.reading.clone(), self.against(ask, now));
        let read = self.blocking_pool.run(move || {
            let content_type = pushed.content_type.as_deref();
            super::read_against(&reading, &pushed.body, content_type, &base, &against)
        });
        let mut document = read.await?;
        self.drop_foul_links(&mut document);
        Ok(document)
    }

    /// Sends a request to a hub, within the pace of its host.
    pub(super) async fn post(&self, request: Request, now: Timestamp) -> Result<Response, Error> {
        let visit: Arc<dyn HostAdmission> = Arc::new(self.host_paces.visit(now));
        let limits = Limits {
            body_bytes: HUB_BODY_BYTES_MAX,
            ..self.limits
        };
        let response = self
            .client
            .send(request.limits(limits).through(visit))
            .await?;
        if let Some(failure) = answer::refusal(&response.head, now) {
            self.hold(&response.head, &failure, now);
        }
        Ok(response)
    }

    fn against(&self, ask: &Ask, now: Timestamp) -> Against {
        Against {
            now,
            known: Arc::clone(&ask.known),
            entries_max: self.entries_max,
        }
    }

    /// Links of entries and of their files reach everyone downstream: readers of editions,
    /// subscribers, crawlers. A link into a network that sources may not reach is dropped; its entry
    /// is kept.
    fn drop_foul_links(&self, document: &mut Document) {
        for found in &mut document.entries {
            let link = found.link.take();
            found.link = link.filter(|link| self.client.refusal_of_link(link).is_none());
            let files = &mut found.enclosures;
            files.retain(|file| self.client.refusal_of_link(&file.url).is_none());
        }
    }

    /// Leaves the host that answered alone, if it asks for that. A redirecting host is not held: it
    /// serves many sites, and the pace of each is checked before it is called.
    fn hold(&self, head: &Head, failure: &Failure, now: Timestamp) {
        let wait = match (head.status, failure.retry_after) {
            (429 | 503, Some(wait)) => wait,
            (429, None) => HOLD_LIMITED,
            (503, None) => HOLD_UNAVAILABLE,
            _ => return,
        };
        let until = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
        if let Some(host) = head.address.host_str() {
            self.host_paces.hold(host, until, now);
        }
    }
}

#[async_trait]
impl Checker for FeedChecker {
    async fn look(&self, ask: &Ask, now: Timestamp) -> Look {
        self.ask(ask, now).await.unwrap_or_else(Look::Failed)
    }

    async fn discover(
        &self,
        address: &str,
        options: &Options,
        now: Timestamp,
    ) -> Result<Vec<Candidate>, Failure> {
        let asking = Asking {
            client: &self.client,
            limits: self.limits,
            secrets: self.secrets.as_ref(),
            counting: Counting::new(Arc::clone(&self.courtesy), now),
            fetch: &options.fetch,
        };
        discover::discover(&asking, &self.blocking_pool, address, now).await
    }

    async fn article(&self, link: &str, now: Timestamp) -> Article {
        let read = self.read_article(link, now).await;
        read.unwrap_or_else(Article::Failed)
    }

    fn problem(&self, address: &str, reading: &Reading) -> Option<String> {
        let refused = self.client.refusal(address).map(|why| why.to_string());
        let unusable = || super::validate(reading).err().map(|why| why.to_string());
        refused.or_else(unusable)
    }
}

/// Whether a source respects `robots.txt`: pages do, what is published for programs does not,
/// unless its options say otherwise.
fn asks_robots(ask: &Ask) -> bool {
    let is_page = matches!(ask.reading, Reading::Html(_));
    ask.options.fetch.robots.unwrap_or(is_page)
}

fn request(ask: &Ask) -> Request {
    let accept = match &ask.reading {
        Reading::Feed => {
            "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, */*;q=0.5"
        }
        Reading::Html(_) => "text/html, application/xhtml+xml, */*;q=0.5",
        Reading::Json(_) => "application/json, */*;q=0.5",
        Reading::Sitemap(_) => "application/xml, text/xml, */*;q=0.5",
    };
    let mut request = Request::get(ask.address.clone())
        .header(ACCEPT, accept)
        .following(REDIRECTS_MAX);
    if let Some(etag) = &ask.validators.etag {
        request = request.header(IF_NONE_MATCH, etag);
    }
    if let Some(last_modified) = &ask.validators.last_modified {
        request = request.header(IF_MODIFIED_SINCE, last_modified);
    }
    request
}

/// HTTP 304 is an answer only to a conditional request.
fn unchanged(head: &Head, ask: &Ask, now: Timestamp) -> Result<Look, Failure> {
    if ask.validators == Validators::default() {
        let detail = "the site answered 304 Not Modified to an unconditional request";
        return Err(Failure::new(FailureClass::Malformed, detail));
    }
    Ok(Look::Unchanged(Unchanged {
        hints: freshness::hints(&head.headers, now),
        moved_to: moved_to(head, ask),
    }))
}

fn validators(head: &Head) -> Validators {
    let kept = |name: &HeaderName| {
        let value = head.header(name).filter(|value| !value.is_empty())?;
        (value.len() <= VALIDATOR_BYTES_MAX).then(|| value.to_owned())
    };
    Validators {
        etag: kept(&ETAG),
        last_modified: kept(&LAST_MODIFIED),
    }
}

/// Where a source has moved for good. One with headers or credentials does not follow to another
/// origin by itself: it would take them along.
fn moved_to(head: &Head, ask: &Ask) -> Option<String> {
    let moved_to = String::from(head.moved_to.clone()?);
    let may_follow =
        !fetch::is_private(&ask.options.fetch) || fetch::is_same_origin(&moved_to, &ask.address);
    may_follow.then_some(moved_to)
}
