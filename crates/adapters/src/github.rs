//! GitHub, as far as Almanack needs it: refs, files, workflow runs, dispatches.
//!
//! A small client of the REST API (and of one GraphQL mutation), because the request budget is
//! tight and every request must be one we decided to make: no look-ups on the side, no retries
//! inside, lists asked for with the `ETag` of the last answer (an unchanged one costs nothing,
//! DP-13).
//!
//! What must stay true:
//!
//! - The token never leaves this client but in the `Authorization` header, and only to the base
//!   URL's own host. Redirects are not followed.
//! - Error texts never name a repository or a workflow, not even where GitHub's own message does
//!   (DP-15). `answer.rs` takes them out.
//! - Callers learn from an [`Error`] what to do (wait, try again, give up) and whether the call may
//!   have taken effect all the same.

mod access;
mod actions;
mod answer;
mod chain;
mod contents;
mod error;
mod launcher;
mod memory;
mod refs;
mod run_address;
mod tries;
mod watch;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use almanack_core::{secret::Secret, time::Clock};
use jiff::{SignedDuration, Timestamp};
use reqwest::{
    Method,
    header::{self, HeaderName},
};
use serde::{Serialize, de::DeserializeOwned};
use url::Url;

use crate::{
    bearer::Bearer,
    http::{Answer, Client, Limits, Request},
    locked,
};
use answer::Facts;
use memory::{Memory, Page};

pub use access::Access;
pub use actions::{Run, RunFilter};
pub use answer::Limit;
pub use chain::{OwnWorkflow, TargetWorkflows};
pub use contents::{Change, File, FileAt, Written, blob_id};
pub use error::{Error, Sent};
pub use launcher::WorkflowLauncher;
pub use refs::Ref;
pub use run_address::ReportsRuns;

/// Address of the public API.
pub const API_URL: &str = "https://api.github.com";
/// The version of the API that this client speaks.
const API_VERSION: &str = "2022-11-28";
const API_VERSION_HEADER: HeaderName = HeaderName::from_static("x-github-api-version");
/// Most of an answer that is read; a page of 100 refs has some 35 KiB.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The assumed difference between GitHub's clock and ours before its first answer.
const CLOCKS_APART: SignedDuration = SignedDuration::from_secs(5);
/// How much the date of an answer may be off: whole seconds, and the way to us.
const DATED_WITHIN: SignedDuration = SignedDuration::from_secs(2);
/// Pages of one list that are followed.
const PAGES_MAX: usize = 50;

/// A token that logs and debug output do not show.
#[derive(Debug, Clone)]
pub struct Token(Secret);

impl Token {
    /// Takes a token and trims it.
    pub fn new(token: &str) -> Self {
        Self(Secret::new(token.trim()))
    }

    /// Marked sensitive: not logged, not sent to another origin.
    fn bearer(&self) -> Option<Bearer> {
        Bearer::new(self.0.expose())
    }
}

/// `owner/name` of a repository; logs and errors do not show it (DP-15).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    owner: String,
    name: String,
}

impl Repository {
    /// Reads `owner/name`.
    pub fn parse(text: &str) -> Option<Self> {
        let (owner, name) = text.split_once('/')?;
        let shaped = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let named = |text: &str| {
            !text.is_empty() && text.chars().all(shaped) && text != "." && text != ".."
        };
        (named(owner) && named(name)).then(|| Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Names that errors must not contain.
    fn names(&self) -> [&str; 2] {
        [&self.owner, &self.name]
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Repository(***)")
    }
}

/// How GitHub is reached.
#[derive(Debug, Clone)]
pub struct GithubSettings {
    /// Address of the API: [`API_URL`], or `https://HOST/api/v3` of a GitHub Enterprise server.
    pub base_url: String,
    pub token: Token,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// The base URL is not a URL.
    #[error("the GitHub API's address is not an http or https URL")]
    BaseUrl,
    /// The token is no text that a header can hold.
    #[error("the GitHub token has characters that no token has")]
    Token,
}

/// A client of the API, on behalf of one token.
pub struct Github {
    client: Client,
    clock: Arc<dyn Clock>,
    base: Url,
    timeout: Duration,
    bearer: Bearer,
    memory: Memory,
    limit: Mutex<Option<Limit>>,
    /// By how much GitHub's clock is ahead of ours, as of its last answer.
    ahead: Mutex<Option<SignedDuration>>,
    /// Whether this server cannot say which run a dispatch started.
    names_no_runs: AtomicBool,
    /// Which GraphQL wants instead of names.
    node_ids: Mutex<BTreeMap<Repository, String>>,
}

impl Github {
    /// A client without any request so far.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        settings: &GithubSettings,
    ) -> Result<Self, Unusable> {
        let base = Url::parse(&settings.base_url).map_err(|_| Unusable::BaseUrl)?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(Unusable::BaseUrl);
        }
        Ok(Self {
            client,
            clock,
            base,
            timeout: settings.timeout,
            bearer: settings.token.bearer().ok_or(Unusable::Token)?,
            memory: Memory::default(),
            limit: Mutex::default(),
            ahead: Mutex::default(),
            names_no_runs: AtomicBool::new(false),
            node_ids: Mutex::default(),
        })
    }

    /// What GitHub last said about how much may still be asked.
    pub fn limit(&self) -> Option<Limit> {
        *locked(&self.limit)
    }

    /// An instant of our clock as GitHub's shows it, at the earliest. Answers are dated in whole
    /// seconds; where none has come yet, clocks may be [`CLOCKS_APART`].
    fn at_github(&self, at: Timestamp) -> Timestamp {
        let ahead = *locked(&self.ahead);
        let shift = ahead.map_or(-CLOCKS_APART, |ahead| ahead - DATED_WITHIN);
        at.saturating_add(shift).unwrap_or(at)
    }

    /// `base/repos/OWNER/NAME/…`; every part of the path is escaped.
    fn repository_url(&self, repository: &Repository, path: &[&str]) -> Url {
        let start = ["repos", &repository.owner, &repository.name];
        self.url(start.iter().chain(path).copied())
    }

    fn url<'a>(&self, path: impl Iterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        // Only a URL that cannot be a base has no path, and `new` has refused those.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    fn request(&self, method: Method, url: Url) -> Request {
        let request = Request::new(method, url)
            .limits(Limits::within(self.timeout, ANSWER_BYTES_MAX))
            .header(header::ACCEPT, "application/vnd.github+json")
            .header(API_VERSION_HEADER, API_VERSION);
        Bearer::sign(Some(&self.bearer), request)
    }

    /// A POST of what can always be written as JSON: our own texts and maps.
    fn posting(&self, url: Url, body: &impl Serialize) -> Request {
        Self::with_json(self.request(Method::POST, url), body)
    }

    fn with_json(request: Request, body: &impl Serialize) -> Request {
        let mut request = request.header(header::CONTENT_TYPE, "application/json");
        request.body = serde_json::to_vec(body).ok();
        request
    }

    /// Sends, and turns everything that is neither success nor "not modified" into an error whose
    /// text does not contain `names`.
    async fn send(&self, request: Request, names: &[&str]) -> Result<Answer, Error> {
        let answer = self.client.open(request).await;
        let mut answer = answer.map_err(|error| Error::no_answer(&error))?;
        let facts = Facts::of(&answer.head, self.clock.now());
        if let Some(limit) = facts.limit() {
            *locked(&self.limit) = Some(limit);
        }
        if let Some(ahead) = facts.ahead() {
            *locked(&self.ahead) = Some(ahead);
        }
        if matches!(answer.head.status, 200..=299 | 304) {
            return Ok(answer);
        }
        let body = answer.read().await.unwrap_or_default();
        Err(facts.error(&body, names))
    }

    /// Sends and reads the answer; `what` it is about is for errors.
    async fn fetch<T: DeserializeOwned>(
        &self,
        request: Request,
        names: &[&str],
        what: &'static str,
    ) -> Result<T, Error> {
        let mut answer = self.send(request, names).await?;
        let body = answer.read().await;
        read(&body.map_err(|_| Error::Unreadable { what })?, what)
    }

    /// One page of a list, from memory if GitHub says that nothing has changed.
    async fn page(
        &self,
        url: &Url,
        names: &[&str],
        what: &'static str,
    ) -> Result<Arc<Page>, Error> {
        let known = self.memory.recall(url);
        let mut request = self.request(Method::GET, url.clone());
        if let Some(etag) = known.as_ref().and_then(|page| page.etag.as_deref()) {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        let answer = self.send(request, names).await?;
        if answer.head.status == 304 {
            return known.ok_or(Error::Unreadable { what });
        }
        let page = Page::read(answer).await.ok_or(Error::Unreadable { what })?;
        Ok(self.memory.keep(url, page))
    }

    /// All pages of a list, each of them read as a `T`.
    async fn pages<T: DeserializeOwned>(
        &self,
        first: Url,
        names: &[&str],
        what: &'static str,
    ) -> Result<Vec<T>, Error> {
        let mut pages = Vec::new();
        let mut next = Some(first);
        while let Some(url) = next.take().filter(|_| pages.len() < PAGES_MAX) {
            let page = self.page(&url, names, what).await?;
            pages.push(read(&page.body, what)?);
            next = match &page.next {
                Some(next) => Some(self.own(next).ok_or(Error::Unreadable { what })?),
                None => None,
            };
        }
        Ok(pages)
    }

    /// A link that stays where the token belongs.
    fn own(&self, link: &str) -> Option<Url> {
        let link = Url::parse(link).ok()?;
        (link.origin() == self.base.origin()).then_some(link)
    }
}

fn read<T: DeserializeOwned>(body: &[u8], what: &'static str) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|_| Error::Unreadable { what })
}

impl fmt::Debug for Github {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Github").finish_non_exhaustive()
    }
}
