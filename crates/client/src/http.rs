//! One call: its address, its token, its answer, and whether it may be repeated.
//!
//! INVARIANT: a call is repeated only if it says that this is harmless ([`Repeat::Harmless`]): a
//! read, a change whose revision or idempotency key the node recognises, an ending that is fenced
//! by its term. Anything else is tried once, and the caller decides.

use std::{fmt, sync::Arc, time::Duration};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Method, RequestBuilder, Response, Url, header};
use rustls_platform_verifier::BuilderVerifierExt as _;
use serde::{Serialize, de::DeserializeOwned};

use crate::error::{Error, Problem};

const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// A node gives up after 30 s by itself.
const ANSWER_WITHIN: Duration = Duration::from_secs(35);
/// Tries of a call that may be repeated.
const TRIES_MAX: u32 = 4;
/// The wait after the first try; it doubles, and a random part of it is waited.
const WAIT_FIRST: Duration = Duration::from_millis(200);
/// A node that asks for more has to be asked again by the caller.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// What a subject may contain and a path may not.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':');

/// A client of one node, or of several behind one address. Cheap to clone.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    http: reqwest::Client,
    /// Without the `/` at its end.
    base: String,
    token: Option<String>,
    timeout: Duration,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.0.base;
        f.debug_struct("Client")
            .field("address", address)
            .finish_non_exhaustive()
    }
}

/// Whether the same call again is harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Harmless,
    Never,
}

impl Repeat {
    pub(crate) fn if_harmless(harmless: bool) -> Self {
        if harmless {
            Self::Harmless
        } else {
            Self::Never
        }
    }
}

/// A request to the node.
pub(crate) struct Request {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    headers: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    repeat: Repeat,
    timeout: Option<Duration>,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path, Repeat::Harmless)
    }

    pub(crate) fn new(method: Method, path: impl Into<String>, repeat: Repeat) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            repeat,
            timeout: None,
        }
    }

    pub(crate) fn query(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query
            .extend(value.map(|value| (name, value.to_string())));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: Option<String>) -> Self {
        self.headers.extend(value.map(|value| (name, value)));
        self
    }

    pub(crate) fn json(mut self, body: &impl Serialize) -> Result<Self, Error> {
        let written = serde_json::to_vec(body).map_err(Error::Payload)?;
        self.body = Some(written);
        Ok(self.header("content-type", Some("application/json".to_owned())))
    }

    pub(crate) fn body(mut self, media_type: &str, body: Vec<u8>) -> Self {
        self.body = Some(body);
        self.header("content-type", Some(media_type.to_owned()))
    }

    /// How long the answer may take, where that is not the client's own limit.
    pub(crate) fn within(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

impl Client {
    /// A client of the node at this address, such as `https://almanack.example.org`.
    pub fn new(address: &str) -> Result<Self, Error> {
        let url = Url::parse(address).ok().filter(|url| {
            let plain = url.username().is_empty() && url.password().is_none();
            matches!(url.scheme(), "http" | "https") && url.has_host() && plain
        });
        // What is refused may contain a password, so only the part before it is shown.
        let shown = || address.split(['@', '?']).next().unwrap_or_default();
        let url = url.ok_or_else(|| Error::Address(shown().to_owned()))?;
        let base = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self(Arc::new(Inner {
            http: transport()?,
            base,
            token: None,
            timeout: ANSWER_WITHIN,
        })))
    }

    /// With a token, as `almanack token create` showed it.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Self {
        let token = Some(token.into());
        self.with(|inner| inner.token = token)
    }

    /// How long one try of a call may take. Default: 35 s.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(|inner| inner.timeout = timeout)
    }

    fn with(self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Arc::unwrap_or_clone(self.0);
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// Sends it, again if that is harmless and may help, and reads the answer.
    pub(crate) async fn send<T: DeserializeOwned>(&self, request: Request) -> Result<T, Error> {
        let mut tries = 1;
        loop {
            let (error, asked) = match self.try_once(&request).await {
                Ok(response) => match read(response).await {
                    Ok(answer) => return Ok(answer),
                    Err(failed) => failed,
                },
                Err(error) => (error, None),
            };
            let repeats = request.repeat == Repeat::Harmless && tries < TRIES_MAX;
            let wait = asked.unwrap_or_else(|| backoff(tries));
            if !repeats || !error.is_transient() || wait > WAIT_MAX {
                return Err(error);
            }
            pause(wait).await;
            tries += 1;
        }
    }

    async fn try_once(&self, request: &Request) -> Result<Response, Error> {
        let sent = self.build(request)?.send().await;
        sent.map_err(|error| Error::Unreachable(error.without_url()))
    }

    fn build(&self, request: &Request) -> Result<RequestBuilder, Error> {
        let Inner {
            http, base, token, ..
        } = &*self.0;
        let address = format!("{base}{}", request.path);
        let mut call = http
            .request(request.method.clone(), address)
            .timeout(request.timeout.unwrap_or(self.0.timeout))
            .query(&request.query);
        for (name, value) in &request.headers {
            call = call.header(*name, value);
        }
        if let Some(token) = token {
            let value = header::HeaderValue::try_from(format!("Bearer {}", token.trim()));
            let mut value = value.map_err(|_| Error::Token)?;
            value.set_sensitive(true);
            call = call.header(header::AUTHORIZATION, value);
        }
        match &request.body {
            Some(body) => Ok(call.body(body.clone())),
            None => Ok(call),
        }
    }
}

/// Reads an answer, or why there is none and the wait that the node asked for.
async fn read<T: DeserializeOwned>(response: Response) -> Result<T, (Error, Option<Duration>)> {
    let status = response.status();
    let asked = response.headers().get(header::RETRY_AFTER);
    let asked = asked.and_then(|value| value.to_str().ok()?.parse().ok());
    let asked = asked.map(Duration::from_secs);
    let body = response.bytes().await;
    let body = body.map_err(|error| (Error::Unreachable(error.without_url()), asked))?;
    let unexpected = |source| Error::Unexpected {
        status: status.as_u16(),
        source,
    };
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(|error| (unexpected(Some(error)), asked));
    }
    let problem = serde_json::from_slice::<Problem>(&body);
    let error = problem.map_or_else(
        |_| unexpected(None),
        |problem| Error::Refused(Box::new(problem)),
    );
    Err((error, asked))
}

/// The address of a task.
pub(crate) fn task_path(kind: &str, subject: &str, rest: &str) -> String {
    format!("/api/v1/tasks/{}/{}{rest}", segment(kind), segment(subject))
}

/// A name as a part of a path.
pub(crate) fn segment(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// The certificates that the machine trusts; no crypto provider of the process is needed or set.
fn transport() -> Result<reqwest::Client, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the other side of the wire: it calls the one address it was given"
    )]
    let builder = reqwest::Client::builder();
    builder
        .tls_backend_preconfigured(tls)
        .connect_timeout(CONNECT_WITHIN)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(Error::Unreachable)
}

/// How long to wait after so many tries: between half and all of what doubles each time.
pub(crate) fn backoff(tries: u32) -> Duration {
    let most = WAIT_FIRST.saturating_mul(1 << tries.saturating_sub(1).min(10));
    let most = most.min(WAIT_MAX);
    let part = random().map_or(0, |random| random % 512);
    most / 2 + most / 1024 * u32::try_from(part).unwrap_or_default()
}

/// A key that no other call has; none, if the system has no randomness. Then nothing is repeated.
pub(crate) fn fresh_key() -> Option<String> {
    Some(format!("client-{:016x}{:016x}", random()?, random()?))
}

#[expect(
    clippy::disallowed_methods,
    reason = "runs in programs that have no `Entropy` port; nothing is decided by it"
)]
fn random() -> Option<u64> {
    getrandom::u64().ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "runs in programs that have no `Sleeper` port"
)]
pub(crate) fn pause(wait: Duration) -> tokio::time::Sleep {
    tokio::time::sleep(wait)
}
