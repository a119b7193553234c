//! Sessions: how a browser is recognised after somebody signed in with it.
//!
//! The cookie holds 256 random bits, the store their SHA-256. It says nothing by itself: what it allows is what its holder is
//! allowed, looked up anew at most [`REMEMBERED_FOR`](super::REMEMBERED_FOR) later.
//!
//! The cookie opens pages and nothing else. A browser sends it with whatever another page makes it send, and only our forms
//! carry the key that tells theirs from ours; the API has no such key, and whoever writes a program has a token.

use almanack_core::sign_in::{Holder, Session, User};
use almanack_core::{time::Entropy, token::Token};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use cookie::{Cookie, CookieBuilder, SameSite, time::Duration};
use sha2::{Digest, Sha256};

use super::{Authentication, Requester};
use crate::prelude::*;
use crate::ui::cookie;

/// The cookie. By its prefix a browser takes it over HTTPS only (or from the machine itself) and keeps it for this very host.
pub(crate) const SESSION_COOKIE: &str = "__Host-almanack";
/// Stands in for it until somebody signs in, so that the form to sign in has a key too. Not `Secure`: where the
/// other one is not kept, this one has to be, or nobody could be told why.
pub(crate) const ARRIVAL_COOKIE: &str = "almanack-arrival";
/// 256 bits in base64.
const COOKIE_CHARS: usize = 43;

/// A session and who holds it, as the store has them.
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
    /// Who it is, if it still opens anything.
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
    /// Who signed in with this browser, and the key of their forms.
    pub(super) async fn signed_in(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<(Requester, String)>> {
        let Some(shown) = shown(headers, SESSION_COOKIE) else {
            return Ok(None);
        };
        let (hash, now) = (hash(&shown), self.state.clock.now());
        let held = match self.sessions.recall(&hash, now) {
            Some(held) => Some(held),
            None => self.find_session(&hash, now).await?,
        };
        let requester = held.and_then(|held| held.requester(now));
        Ok(requester.map(|requester| (requester, form_key(&shown))))
    }

    async fn find_session(&self, hash: &str, now: Timestamp) -> Result<Option<Held>> {
        let store = &self.state.changes;
        let held = match store.load_session(hash).await? {
            Some(session) => {
                let by = match &session.holder {
                    Holder::Token(hash) => store.load_token(hash).await?.map(By::Token),
                    Holder::User(name) => store.load_user(name).await?.map(By::User),
                };
                by.map(|by| Held { session, by })
            }
            None => None,
        };
        self.sessions.keep(hash, held.as_ref(), now);
        Ok(held)
    }

    /// Opens a session as of `now`, and answers the cookie for it.
    pub(crate) async fn begin_session(
        &self,
        holder: Holder,
        now: Timestamp,
    ) -> Result<Option<HeaderValue>> {
        let value = draw(self.state.entropy.as_ref());
        let session = Session::begin(hash(&value), holder, now);
        self.state.changes.save_session(&session).await?;
        let lasts = session.expires_at.duration_since(session.created_at);
        let line = ours(SESSION_COOKIE, value).secure(true).path("/");
        let line = line.max_age(Duration::seconds(lasts.as_secs()));
        Ok(header(&line))
    }

    /// Ends the session of this browser, here at once and elsewhere once they look again.
    pub(crate) async fn end_session(&self, headers: &HeaderMap) -> Result<()> {
        if let Some(shown) = shown(headers, SESSION_COOKIE) {
            let hash = hash(&shown);
            self.state.changes.remove_session(&hash).await?;
            self.sessions.keep(&hash, None, self.state.clock.now());
        }
        Ok(())
    }

    /// The key for forms of somebody who is not signed in, and the cookie that it goes with unless the browser has one. Who had a
    /// session keeps its key, so that a form they opened meanwhile is still theirs.
    pub(crate) fn arrival(&self, headers: &HeaderMap) -> (String, Option<HeaderValue>) {
        let known = shown(headers, SESSION_COOKIE).or_else(|| shown(headers, ARRIVAL_COOKIE));
        if let Some(known) = known {
            return (form_key(&known), None);
        }
        let value = draw(self.state.entropy.as_ref());
        let key = form_key(&value);
        (key, header(&ours(ARRIVAL_COOKIE, value).path("/ui")))
    }
}

/// Takes the cookie away from a browser.
pub(crate) fn no_session() -> Option<HeaderValue> {
    let line = ours(SESSION_COOKIE, String::new()).secure(true).path("/");
    header(&line.max_age(Duration::ZERO))
}

/// `Lax`, so that a link from elsewhere leads to the page and not to the form to sign in.
fn ours(name: &'static str, value: String) -> CookieBuilder<'static> {
    let cookie = Cookie::build((name, value));
    cookie.http_only(true).same_site(SameSite::Lax)
}

fn header(cookie: &CookieBuilder<'static>) -> Option<HeaderValue> {
    HeaderValue::try_from(cookie.to_string()).ok()
}

/// What a browser shows, if it can be one of ours.
fn shown(headers: &HeaderMap, name: &str) -> Option<String> {
    cookie(headers, name).filter(|value| value.len() == COOKIE_CHARS)
}

fn draw(entropy: &dyn Entropy) -> String {
    let bytes = std::array::from_fn::<_, 4, _>(|_| entropy.next_u64().to_le_bytes());
    URL_SAFE_NO_PAD.encode(bytes.as_flattened())
}

fn hash(shown: &str) -> String {
    format!("{:x}", Sha256::digest(shown))
}

/// Made of the cookie alone, so that a form that one node showed can be sent to another. Not the hash that the store keeps: who
/// reads the store must not be able to make forms.
fn form_key(shown: &str) -> String {
    let digest = Sha256::new_with_prefix("almanack form of ");
    format!("{:x}", digest.chain_update(shown).finalize())
}
