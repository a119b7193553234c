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

use std::{sync::Arc, time::Duration};

use almanack_core::source::{
    check::{
        Ask, Candidate, Checker, Document, Failure, FailureClass, Look, Unchanged, Validators,
    },
    hub::Pushed,
    reading::Reading,
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
    discover, freshness, hub,
};
use crate::http::{
    Client, Error, Head, HostAdmission, Limits, Request, Response, host_paces::HostPaces,
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
#[derive(Debug, Clone)]
pub struct FeedChecker {
    client: Client,
    host_paces: HostPaces,
    limits: Limits,
    blocking_pool: BlockingPool,
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
            client,
            host_paces,
            limits,
            blocking_pool,
        }
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
        let visit: Arc<dyn HostAdmission> = Arc::new(self.host_paces.visit(now));
        let request = request(ask).limits(self.limits).through(Arc::clone(&visit));
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
            return unchanged(&response.head, &ask.validators, now);
        }
        let document = self.read(&ask.reading, response, now).await?;
        // Only now are the host paces free for others.
        drop(visit);
        Ok(Look::Document(Box::new(document)))
    }

    async fn read(
        &self,
        reading: &Reading,
        response: Response,
        now: Timestamp,
    ) -> Result<Document, Failure> {
        let Response { head, body } = response;
        let content_type = head.header(&CONTENT_TYPE).map(str::to_owned);
        let (reading, base) = (reading.clone(), head.address.clone());
        let read = self
            .blocking_pool
            .run(move || super::read(&reading, &body, content_type.as_deref(), &base, now));
        let mut document = read.await?;
        document.validators = validators(&head);
        document.hints.fresh_for = freshness::hints(&head.headers, now).fresh_for;
        document.moved_to = moved_to(&head);
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
        let reading = ask.reading.clone();
        let read = self.blocking_pool.run(move || {
            let content_type = pushed.content_type.as_deref();
            super::read(&reading, &pushed.body, content_type, &base, now)
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

    /// Links of entries reach everyone downstream: readers of editions, subscribers, crawlers. A
    /// link into a network that sources may not reach is dropped; its entry is kept.
    fn drop_foul_links(&self, document: &mut Document) {
        for found in &mut document.entries {
            let link = found.link.take();
            found.link = link.filter(|link| self.client.refusal_of_link(link).is_none());
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

    async fn discover(&self, address: &str, now: Timestamp) -> Result<Vec<Candidate>, Failure> {
        discover::discover(&self.client, self.limits, &self.blocking_pool, address, now).await
    }

    fn problem(&self, address: &str, reading: &Reading) -> Option<String> {
        let refused = self.client.refusal(address).map(|why| why.to_string());
        let unusable = || super::validate(reading).err().map(|why| why.to_string());
        refused.or_else(unusable)
    }
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
fn unchanged(head: &Head, sent: &Validators, now: Timestamp) -> Result<Look, Failure> {
    if *sent == Validators::default() {
        let detail = "the site answered 304 Not Modified to an unconditional request";
        return Err(Failure::new(FailureClass::Malformed, detail));
    }
    Ok(Look::Unchanged(Unchanged {
        hints: freshness::hints(&head.headers, now),
        moved_to: moved_to(head),
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

fn moved_to(head: &Head) -> Option<String> {
    head.moved_to.clone().map(String::from)
}
