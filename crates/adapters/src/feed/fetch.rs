//! How one source is requested: its headers, credentials, User-Agent and proxy.
//!
//! What a source says was written by whoever may change sources, who need not know the secrets that
//! it names. What must stay true:
//!
//! - A secret is read at the moment of the request, for the host of the source's own address, and
//!   is in nothing but that request: no error, no log line, no row.
//! - Everything here but the User-Agent is marked as sensitive, so the client drops it at the first
//!   redirect to another origin.
//! - What cannot be sent as it was meant is a failure that names the option, never its value. It is
//!   not left out: a request without its credentials is another request.

use almanack_core::{
    address::Origin,
    secret::{Secrets, is_reference},
    source::{
        check::{Failure, FailureClass},
        options::Fetch,
    },
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use reqwest::header::{
    AUTHORIZATION, COOKIE, HeaderName, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT,
};
use url::Url;

use super::answer;
use crate::http::{Client, Counting, Limits, Proxy, Request, Response};

/// Headers that belong to the client: another value would break the request, or what is made of
/// the answer.
const OWN: [&str; 15] = [
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Longest reference that an error shows.
const SHOWN_BYTES_MAX: usize = 200;

/// The request as the source at `address` wants it.
pub(crate) async fn apply(
    mut request: Request,
    fetch: &Fetch,
    address: &str,
    secrets: &dyn Secrets,
) -> Result<Request, Failure> {
    let host = Url::parse(address).ok();
    let host = host.as_ref().and_then(Url::host_str).unwrap_or_default();
    let reading = Reading { secrets, host };
    let mut to_proxy = None;
    for (name, value) in &fetch.headers {
        let name = header_name(name)?;
        let value = reading.header(&name, value).await?;
        if name == PROXY_AUTHORIZATION {
            to_proxy = Some(value);
        } else {
            request.headers.insert(name, value);
        }
    }
    if let Some(value) = reading.authorization(fetch).await? {
        request.headers.insert(AUTHORIZATION, value);
    }
    if let Some(agent) = &fetch.user_agent {
        let value = HeaderValue::from_str(agent).map_err(|_| unusable("user_agent"))?;
        request.headers.insert(USER_AGENT, value);
    }
    request.proxy = proxy(fetch, to_proxy)?;
    Ok(request)
}

/// Whether a source sends anything that only its own origin may receive.
pub(crate) fn is_private(fetch: &Fetch) -> bool {
    !fetch.headers.is_empty() || fetch.bearer.is_some() || fetch.user.is_some()
}

/// Requests on behalf of one source that is not stored yet, to its site and to others.
pub(crate) struct Asking<'a> {
    pub(crate) client: &'a Client,
    pub(crate) limits: Limits,
    pub(crate) secrets: &'a dyn Secrets,
    pub(crate) counting: Counting,
    pub(crate) fetch: &'a Fetch,
}

impl Asking<'_> {
    /// Sends a request. What is private goes only to the origin of `site`, the address that a
    /// person gave.
    pub(crate) async fn send(&self, request: Request, site: &str) -> Result<Response, Failure> {
        let request = request.limits(self.limits).counted(self.counting.clone());
        let fetch = if is_same_origin(&request.address, site) {
            self.fetch.clone()
        } else {
            public_part(self.fetch)
        };
        let request = apply(request, &fetch, site, self.secrets).await?;
        let sent = self.client.send(request).await;
        sent.map_err(|error| answer::no_answer(&error))
    }
}

/// Whether two addresses have the same scheme, host and port.
pub(crate) fn is_same_origin(address: &str, other: &str) -> bool {
    let origin = |address| Origin::of(&Url::parse(address).ok()?);
    origin(address).is_some_and(|it| Some(it) == origin(other))
}

/// What every origin may receive; the proxy's credentials reach the proxy alone.
fn public_part(fetch: &Fetch) -> Fetch {
    let mut public = fetch.clone();
    let is_of_proxy = |name: &str| PROXY_AUTHORIZATION.as_str().eq_ignore_ascii_case(name);
    public.headers.retain(|name, _| is_of_proxy(name));
    (public.bearer, public.user, public.password) = (None, None, None);
    public
}

struct Reading<'a> {
    secrets: &'a dyn Secrets,
    /// Where the secrets are sent.
    host: &'a str,
}

impl Reading<'_> {
    async fn header(&self, name: &HeaderName, value: &str) -> Result<HeaderValue, Failure> {
        let is_credential = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name);
        if is_credential || is_reference(value) {
            let value = self.secret(name.as_str(), value).await?;
            return sensitive(&value, name.as_str());
        }
        sensitive(value, name.as_str())
    }

    async fn authorization(&self, fetch: &Fetch) -> Result<Option<HeaderValue>, Failure> {
        if let Some(bearer) = &fetch.bearer {
            let token = self.secret("bearer", bearer).await?;
            return sensitive(&format!("Bearer {token}"), "bearer").map(Some);
        }
        let Some(user) = &fetch.user else {
            return Ok(None);
        };
        let password = match &fetch.password {
            Some(password) => self.secret("password", password).await?,
            None => String::new(),
        };
        let pair = STANDARD.encode(format!("{user}:{password}"));
        sensitive(&format!("Basic {pair}"), "password").map(Some)
    }

    async fn secret(&self, option: &str, reference: &str) -> Result<String, Failure> {
        if !is_reference(reference) {
            let detail = format!(
                "`{option}` of this source must name a secret, like env:NAME or file:/path, \
                 instead of being one"
            );
            return Err(unauthorised(detail));
        }
        let read = self.secrets.read(reference, self.host).await;
        let secret = read.map_err(|unavailable| {
            let shown = &reference[..reference.floor_char_boundary(SHOWN_BYTES_MAX)];
            unauthorised(format!(
                "the secret `{shown}` of this source cannot be used: {unavailable}"
            ))
        })?;
        Ok(secret.expose().to_owned())
    }
}

fn header_name(name: &str) -> Result<HeaderName, Failure> {
    let name = HeaderName::from_bytes(name.as_bytes());
    let name = name.map_err(|_| rules("a header of this source has an invalid name".to_owned()))?;
    if OWN.contains(&name.as_str()) {
        let detail = format!("the header `{name}` cannot be set for a source; remove it");
        return Err(rules(detail));
    }
    Ok(name)
}

/// A value that no log shows and no other origin receives.
fn sensitive(value: &str, option: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(value).map_err(|_| unusable(option))?;
    value.set_sensitive(true);
    Ok(value)
}

fn proxy(fetch: &Fetch, to_proxy: Option<HeaderValue>) -> Result<Option<Proxy>, Failure> {
    let Some(address) = &fetch.proxy else {
        return Ok(None);
    };
    let proxy = Proxy::new(address, to_proxy).map_err(|refusal| {
        let detail = format!("the proxy of this source cannot be used: {refusal}");
        Failure::new(FailureClass::Refused, detail)
    })?;
    Ok(Some(proxy))
}

fn unusable(option: &str) -> Failure {
    rules(format!(
        "`{option}` of this source has characters that no header can hold"
    ))
}

fn rules(detail: String) -> Failure {
    Failure::new(FailureClass::Rules, detail)
}

fn unauthorised(detail: String) -> Failure {
    Failure::new(FailureClass::Unauthorised, detail)
}

#[cfg(test)]
mod tests;
