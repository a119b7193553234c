//! Sessions: how a browser is recognised after sign-in.
//!
//! The cookie contains 256 random bits, the store their SHA-256. The cookie itself grants nothing:
//! its holder's scope is looked up again at most [`REMEMBERED_FOR`](super::REMEMBERED_FOR) later.
//!
//! The cookie opens pages and nothing else. A browser also sends it with requests that another page
//! triggers; only our forms contain the form key. The API has no form key; programs use a token.

use almanack_core::sign_in::{Holder, Session, User};
use almanack_core::token::Token;
use cookie::{Cookie, CookieBuilder, SameSite, time::Duration};
use sha2::{Digest, Sha256};

use super::{Authentication, Requester};
use crate::prelude::*;
use crate::token::{draw_bits, hash};
use crate::ui::cookie;

/// The cookie. Its prefix restricts it to HTTPS (or localhost) and to this exact host.
pub(crate) const SESSION_COOKIE: &str = "__Host-almanack";
/// Used until sign-in, so that the sign-in form has a key, too. Not `Secure`: where the browser
/// drops the session cookie it must keep this one, or the page could not explain why.
pub(crate) const ARRIVAL_COOKIE: &str = "almanack-arrival";
/// 256 bits in base64.
const COOKIE_CHARS: usize = 43;

/// A session and its holder, as stored.
#[derive(Clone)]
pub(super) struct Held {
    session: Session,
    by: By,
}

#[derive(Clone)]
enum By {
    Token(Token),
    User(User),
}

impl Held {
    /// The holder, if the session is still valid.
    fn requester(&self, now: Timestamp) -> Option<Requester> {
        let (name, scope) = match &self.by {
            By::Token(token) => (&token.name, self.session.under_token(token, now)?),
            By::User(user) => (&user.name, self.session.under_user(user, now)?),
        };
        let name = name.clone();
        Some(Requester::recognised(name, scope))
    }
}

impl Authentication {
    /// The signed-in user of this browser, and the key of their forms.
    pub(super) async fn signed_in(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<(Requester, String)>> {
        let Some(shown) = shown(headers, SESSION_COOKIE) else {
            return Ok(None);
        };
        let (hash, now) = (hash(&shown), self.state.clock.now());
        let load = self.find_session(&hash);
        let held = self.sessions.recall_or(&hash, now, load).await?;
        let requester = held.and_then(|held| held.requester(now));
        Ok(requester.map(|requester| (requester, form_key(&shown))))
    }

    async fn find_session(&self, hash: &str) -> Result<Option<Held>> {
        let store = &self.state.changes;
        let Some(session) = store.load_session(hash).await? else {
            return Ok(None);
        };
        let by = match &session.holder {
            Holder::Token(hash) => store.load_token(hash).await?.map(By::Token),
            Holder::User(name) => store.load_user(name).await?.map(By::User),
        };
        Ok(by.map(|by| Held { session, by }))
    }

    /// Opens a session as of `now` and returns its cookie.
    pub(crate) async fn begin_session(
        &self,
        holder: Holder,
        now: Timestamp,
    ) -> Result<Option<HeaderValue>> {
        let value = draw_bits(self.state.entropy.as_ref());
        let session = Session::begin(hash(&value), holder, now);
        self.state.changes.save_session(&session).await?;
        let lasts = session.expires_at.duration_since(session.created_at);
        let line = ours(SESSION_COOKIE, value).secure(true).path("/");
        let line = line.max_age(Duration::seconds(lasts.as_secs()));
        Ok(header(&line))
    }

    /// Ends this browser's session: here at once, on other nodes at their next lookup.
    pub(crate) async fn end_session(&self, headers: &HeaderMap) -> Result<()> {
        if let Some(shown) = shown(headers, SESSION_COOKIE) {
            let hash = hash(&shown);
            self.state.changes.remove_session(&hash).await?;
            self.sessions.keep(&hash, None, self.state.clock.now());
        }
        Ok(())
    }

    /// The form key of a client that is not signed in, and its cookie unless the browser has one. A
    /// client that had a session keeps its key, so that a form opened meanwhile stays valid.
    pub(crate) fn arrival(&self, headers: &HeaderMap) -> (String, Option<HeaderValue>) {
        let known = shown(headers, SESSION_COOKIE).or_else(|| shown(headers, ARRIVAL_COOKIE));
        if let Some(known) = known {
            return (form_key(&known), None);
        }
        let value = draw_bits(self.state.entropy.as_ref());
        let key = form_key(&value);
        (key, header(&ours(ARRIVAL_COOKIE, value).path("/ui")))
    }
}

/// Deletes the cookie in the browser.
pub(crate) fn no_session() -> Option<HeaderValue> {
    let line = ours(SESSION_COOKIE, String::new()).secure(true).path("/");
    header(&line.max_age(Duration::ZERO))
}

/// `Lax`, so that a link from another site leads to the page and not to the sign-in form.
fn ours(name: &'static str, value: String) -> CookieBuilder<'static> {
    let cookie = Cookie::build((name, value));
    cookie.http_only(true).same_site(SameSite::Lax)
}

fn header(cookie: &CookieBuilder<'static>) -> Option<HeaderValue> {
    HeaderValue::try_from(cookie.to_string()).ok()
}

/// The cookie value, if it can be one of ours.
fn shown(headers: &HeaderMap, name: &str) -> Option<String> {
    cookie(headers, name).filter(|value| value.len() == COOKIE_CHARS)
}

/// Derived from the cookie alone, so that one node accepts the form of another. Not the hash in the
/// store: read access to the store must not be enough to forge forms.
fn form_key(shown: &str) -> String {
    let digest = Sha256::new_with_prefix("almanack form of ");
    format!("{:x}", digest.chain_update(shown).finalize())
}
