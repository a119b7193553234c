//! The one HTTP client: everything that leaves Almanack leaves here.
//!
//! Callbacks, webhooks, GitHub, feeds and whatever comes next go through one [`Client`], so that
//! there is one place where an address is checked, a redirect is followed, a body is bounded and a
//! request is counted (SS-14, docs/adr/0014).
//!
//! ```text
//! Request ─► every hop: core::address::check ┬► literal: Guard::check_address ──────────┐
//!                ▲                           └► name: resolve, Guard::check_addresses ──┤
//!                └── redirect, up to so many ◄── answer ◄── connect ◄───────────────────┘
//!                                                └─► body: decompressed, counted, timed
//! ```
//!
//! What must stay true:
//!
//! - A connection is made only to an address that was checked, and to exactly that address: the
//!   resolver inside the connection pool hands out nothing else, so a name that changes in between
//!   (rebinding) gains nothing. A pool asks no resolver about literals; these are checked at every
//!   hop.
//! - The configuration's own origins skip the ranges, and nothing else. They have a separate pool,
//!   so a connection made by trust never serves a request without it.
//! - Nothing comes from the environment: no proxy, no cookies, no credentials. A proxy that a
//!   request names is an address like any other: checked, and checked again after resolution.
//! - No error contains more of an address than an IP or a port.

mod body;
mod counting;
mod error;
mod host_admission;
mod host_limit;
pub mod host_paces;
mod pool;
mod proxy;
mod redirect;
mod request;
mod resolve;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use almanack_core::{
    address::{self, Guard, Origin},
    budget::Budget,
};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use url::{Host, Url};

use body::Deadline;
use proxy::Proxies;
use redirect::{Step, Trail};

pub use counting::Counting;
pub use error::{Error, NoClient, Phase};
pub use host_admission::{Denied, HostAdmission};
pub use host_limit::HostLimiter;
pub(crate) use host_limit::Permit;
pub use proxy::Proxy;
pub use request::{Answer, Head, Limits, Redirects, Request, Response};
pub use resolve::{NoName, Resolve, SystemResolver};

/// Idle connections kept per host, unless the settings say otherwise.
const IDLE_MAX: usize = 4;

/// How a client is made.
#[derive(Clone)]
pub struct Settings {
    /// Where it may connect to.
    pub guard: Guard,
    /// Contact for questions about our requests: a web or mail address.
    pub contact: Option<String>,
    /// How long a connection may take, name and handshake included.
    pub connect_timeout: Duration,
    /// Idle connections kept per host; with none, a connection ends with its answer. There is no
    /// bound over all hosts, so a client of many hosts keeps none: a node with a hundred thousand
    /// sources would sooner run out of file descriptors than use a connection twice.
    pub idle_max: usize,
    /// Resolves names.
    pub resolver: Arc<dyn Resolve>,
}

impl Settings {
    /// As the system resolves names, without a contact.
    pub fn new(guard: Guard) -> Self {
        Self {
            guard,
            contact: None,
            connect_timeout: Duration::from_secs(10),
            idle_max: IDLE_MAX,
            resolver: Arc::new(SystemResolver),
        }
    }
}

/// Makes requests. Clones share connections and trust.
#[derive(Clone)]
pub struct Client {
    guarded: reqwest::Client,
    trusting: reqwest::Client,
    guard: Arc<Guard>,
    resolver: Arc<dyn Resolve>,
    connect_timeout: Duration,
    trusted: Arc<RwLock<BTreeSet<Origin>>>,
    proxies: Arc<Proxies>,
}

impl Client {
    /// A client that trusts no origin yet.
    pub fn new(settings: &Settings) -> Result<Self, NoClient> {
        let guard = Arc::new(settings.guard.clone());
        Ok(Self {
            guarded: pool::build(settings, Some(Arc::clone(&guard)))?,
            trusting: pool::build(settings, None)?,
            proxies: Arc::new(Proxies::new(settings, &guard)),
            guard,
            resolver: Arc::clone(&settings.resolver),
            connect_timeout: settings.connect_timeout,
            trusted: Arc::default(),
        })
    }

    /// From now on exactly these origins skip the ranges: those of the operator's own
    /// configuration.
    pub fn trust(&self, origins: impl IntoIterator<Item = Origin>) {
        let mut trusted = self.trusted.write().unwrap_or_else(PoisonError::into_inner);
        *trusted = origins.into_iter().collect();
    }

    /// Why an address would be refused before its name is resolved.
    pub fn refusal(&self, address: &str) -> Option<address::Refusal> {
        let url = match address::parse(address) {
            Ok(url) => url,
            Err(refusal) => return Some(refusal),
        };
        let literal = address::literal(&url).filter(|_| !self.trusts(&url));
        literal.and_then(|ip| self.guard.check_address(ip).err())
    }

    /// Why an untrusted address is not passed on as a link, judging by its text alone.
    pub fn refusal_of_link(&self, address: &str) -> Option<address::Refusal> {
        let trusted = address::parse(address).is_ok_and(|url| self.trusts(&url));
        let checked = self.guard.check_link(address);
        checked.err().filter(|_| !trusted)
    }

    /// Why no other service is asked to fetch an address: it, or an address behind its name, is one
    /// we would not call ourselves. A name that we cannot resolve passes: the fetching service has
    /// its own resolver.
    pub async fn refusal_to_send_to(&self, address: &str) -> Option<address::Refusal> {
        let refused = self
            .refusal(address)
            .or_else(|| self.refusal_of_link(address));
        if refused.is_some() {
            return refused;
        }
        let url = address::parse(address).ok()?;
        let Some(Host::Domain(name)) = url.host().filter(|_| !self.trusts(&url)) else {
            return None;
        };
        let mut deadline = Deadline::start(self.connect_timeout);
        let resolved = deadline.bound(Phase::Answer, self.resolver.resolve(name));
        let ips = resolved.await.ok()?.ok()?;
        ips.into_iter()
            .find_map(|ip| self.guard.check_address(ip).err())
    }

    /// Sends and reads the whole answer, whatever its status.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        let mut answer = self.open(request).await?;
        let body = answer.read().await?;
        Ok(Response {
            head: answer.head,
            body,
        })
    }

    /// Sends and waits for the head of the answer. The body can be read, or not.
    pub async fn open(&self, request: Request) -> Result<Answer, Error> {
        let mut deadline = Deadline::start(request.limits.total);
        let arrived = deadline.bound(Phase::Answer, self.follow(&request)).await?;
        let (response, trail) = arrived?;
        let (address, moved_to) = trail.end();
        let head = Head {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            address,
            moved_to,
        };
        Ok(Answer::new(head, response, request, deadline))
    }

    /// Hop after hop, until an answer is not a redirect that may be followed.
    async fn follow(&self, request: &Request) -> Result<(reqwest::Response, Trail), Error> {
        let start = address::parse(&request.address).map_err(Error::refused)?;
        let mut trail = Trail::new(start, request.redirects_to_follow());
        let mut headers = request.headers.clone();
        let coding = HeaderValue::from_static(body::CODINGS);
        headers.entry(ACCEPT_ENCODING).or_insert(coding);
        loop {
            let sent = self.hop(trail.here(), request, headers.clone()).await;
            let response = sent.map_err(|error| error.after(trail.hops()))?;
            match trail.step(response.status().as_u16(), response.headers())? {
                Step::Stay => return Ok((response, trail)),
                Step::SameOrigin => {}
                Step::OtherOrigin => forget_secrets(&mut headers),
            }
        }
    }

    /// One request to an address that was parsed, but not checked yet.
    async fn hop(
        &self,
        url: &Url,
        request: &Request,
        headers: HeaderMap,
    ) -> Result<reqwest::Response, Error> {
        address::check(url).map_err(Error::refused)?;
        let trusted = self.trusts(url);
        if let (false, Some(ip)) = (trusted, address::literal(url)) {
            self.guard.check_address(ip).map_err(Error::refused)?;
        }
        let pool = match &request.proxy {
            Some(proxy) => self.through(proxy, url).await?,
            None if trusted => self.trusting.clone(),
            None => self.guarded.clone(),
        };
        if let Some(host_admission) = &request.host_admission {
            host_admission.pass(url).await?;
        }
        let mut sending = pool
            .request(request.method.clone(), url.clone())
            .headers(headers);
        if let Some(body) = &request.body {
            sending = sending.body(body.clone());
        }
        let ticket = request.budget.as_deref().map(Budget::take).transpose()?;
        let sent = sending.send().await;
        let sent = sent.map_err(|error| error::from_reqwest(error, self.connect_timeout));
        if let Some(counting) = &request.counting {
            counting.hop(url, &sent);
        }
        let stayed = sent.as_ref().is_err_and(|error| !error.may_have_arrived());
        if let Some(ticket) = ticket.filter(|_| stayed) {
            ticket.give_back();
        }
        sent
    }

    /// The pool that goes through `proxy`. Who resolves the address is the proxy, so whether we
    /// would go there ourselves is checked by its name, as far as we can resolve it.
    async fn through(&self, proxy: &Proxy, url: &Url) -> Result<reqwest::Client, Error> {
        if let Some(refusal) = self.refusal_to_send_to(url.as_str()).await {
            return Err(Error::refused(refusal));
        }
        self.proxies.pool(proxy)
    }

    fn trusts(&self, url: &Url) -> bool {
        let trusted = self.trusted.read().unwrap_or_else(PoisonError::into_inner);
        Origin::of(url).is_some_and(|origin| trusted.contains(&origin))
    }
}

/// Secrets for one origin are not sent to another.
fn forget_secrets(headers: &mut HeaderMap) {
    use reqwest::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
    let secret = |(name, value): (&reqwest::header::HeaderName, &HeaderValue)| {
        let known = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name);
        (known || value.is_sensitive()).then(|| name.clone())
    };
    let secrets: Vec<_> = headers.iter().filter_map(secret).collect();
    for name in secrets {
        headers.remove(name);
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
