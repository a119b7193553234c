//! Signing in and out.
//!
//! With a token or with name and password; both open a session ([`crate::access::session`]). Every
//! failure gets the same sentence after the same work, so that it does not reveal which names
//! exist. A typed secret is never shown again and never logged; neither is an unknown name, because
//! people type passwords into the wrong field.
//!
//! After sign-in the browser is redirected here once: if it comes without the cookie, it did not
//! keep it, and the page says why instead of asking for the password again and again.

mod form;

use std::sync::PoisonError;

use almanack_core::sign_in::tries::By;
use almanack_core::sign_in::{Holder, PASSWORD_BYTES_MAX, password};
use almanack_core::token::TOKEN_PREFIX;
use axum::{extract::Query, extract::rejection::QueryRejection, response::IntoResponse as _};
use sha2::{Digest, Sha256};

use self::form::Refused;
use super::preferences::is_ours;
use crate::ui::prelude::*;
use crate::{access::Authentication, access::client::Client, access::session::no_session};

pub(crate) fn routes(authentication: &Arc<Authentication>) -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/sign-in", get(show).post(sign_in))
        .route("/ui/sign-out", post(sign_out))
        .layer(Extension(Arc::clone(authentication)))
}

/// Where to continue.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    next: Option<String>,
    did: Option<Did>,
}

/// Code of the last action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Did {
    SignedIn,
    SignedOut,
}

/// The form. Not `Debug`: it contains secrets.
#[derive(Deserialize)]
struct Credentials {
    name: Option<String>,
    password: Option<String>,
    token: Option<String>,
    next: Option<String>,
}

/// The credentials.
enum Shown<'a> {
    Password { name: &'a str, password: &'a str },
    Token(&'a str),
}

async fn show(viewer: Viewer, asked: Result<Query<Asked>, QueryRejection>) -> Response {
    let Query(asked) = asked.unwrap_or_default();
    let next = way_on(asked.next.as_deref());
    if viewer.signed_in && asked.did != Some(Did::SignedOut) {
        return see(next);
    }
    let said = match asked.did {
        Some(Did::SignedIn) => form::not_kept(viewer.lang),
        Some(Did::SignedOut) => form::left(viewer.lang),
        None => html! {},
    };
    form::page(&viewer, next, "", &said).into_response()
}

async fn sign_in(
    Extension(authentication): Extension<Arc<Authentication>>,
    Client(peer): Client,
    headers: HeaderMap,
    Filled(state, viewer, form): Filled<Credentials>,
) -> Answer {
    let next = way_on(form.next.as_deref());
    let again = |refused: Refused| {
        let name = form.name.as_deref().unwrap_or_default();
        let said = form::refused(&viewer, refused);
        answer(&viewer, refused, form::page(&viewer, next, name, &said))
    };
    let Some(shown) = form.shown() else {
        return Ok(again(Refused::Incomplete));
    };
    // Taken before any check: a password changed meanwhile must end a session that the old one
    // opens.
    let now = state.clock.now();
    let tries = || {
        let tries = authentication.tries.lock();
        tries.unwrap_or_else(PoisonError::into_inner)
    };
    let taken = tries().take(shown.by(), peer, now);
    if let Err(free_at) = taken {
        tracing::warn!("sign-in refused: too many attempts");
        return Ok(again(Refused::TooMany { free_at }));
    }
    let (holder, since) = match find_holder(&state, &shown, now).await? {
        Found::Holder(holder, since) => (holder, since),
        Found::Wrong => {
            tracing::warn!("sign-in refused");
            return Ok(again(Refused::Wrong));
        }
        Found::Busy => {
            tracing::warn!("sign-in refused: too many passwords are being checked");
            return Ok(again(Refused::TooMany { free_at: now }));
        }
    };
    tries().succeed(shown.by(), peer);
    authentication.end_session(&headers).await?;
    let cookie = authentication.begin_session(holder, since).await?;
    let here = format!("/ui/sign-in?did=signed_in&next={}", percent::encode(next));
    Ok(setting(see(&here), cookie))
}

/// Ends the session, here and in the store.
async fn sign_out(
    Extension(authentication): Extension<Arc<Authentication>>,
    headers: HeaderMap,
    _: Filled,
) -> Answer {
    authentication.end_session(&headers).await?;
    Ok(setting(see("/ui/sign-in?did=signed_out"), no_session()))
}

impl Credentials {
    fn shown(&self) -> Option<Shown<'_>> {
        match (&self.token, &self.name, &self.password) {
            (Some(token), _, _) => Some(Shown::Token(token.trim())),
            (None, Some(name), Some(password)) => Some(Shown::Password {
                name: name.trim(),
                password,
            }),
            _ => None,
        }
    }
}

impl Shown<'_> {
    fn by(&self) -> By<'_> {
        match self {
            Self::Password { name, .. } => By::Name(name),
            Self::Token(_) => By::Token,
        }
    }
}

/// The result of checking credentials.
enum Found {
    /// The user, and the start of their session.
    Holder(Holder, Timestamp),
    /// Wrong credentials.
    Wrong,
    /// Too many passwords are being checked.
    Busy,
}

async fn find_holder(state: &AppState, shown: &Shown<'_>, now: Timestamp) -> Result<Found> {
    match *shown {
        Shown::Token(token) => {
            let found = find_token(state, token, now).await?;
            Ok(found.map_or(Found::Wrong, |holder| Found::Holder(holder, now)))
        }
        Shown::Password { name, password } => find_user(state, name, password, now).await,
    }
}

async fn find_token(state: &AppState, token: &str, now: Timestamp) -> Result<Option<Holder>> {
    if !token.starts_with(TOKEN_PREFIX) {
        return Ok(None);
    }
    let found = state
        .changes
        .load_token(&format!("{:x}", Sha256::digest(token)))
        .await?
        .filter(|token| token.is_valid(now));
    Ok(found.map(|token| {
        tracing::info!(token.name, "signed in with a token");
        Holder::Token(token.hash)
    }))
}

async fn find_user(state: &AppState, name: &str, password: &str, now: Timestamp) -> Result<Found> {
    // No password is that long, and hashing cost grows with the length.
    if password.len() > PASSWORD_BYTES_MAX {
        return Ok(Found::Wrong);
    }
    let user = state.changes.load_user(name).await?;
    let hash = user.as_ref().map(|user| &user.password);
    let right = match state.passwords.verify(password, hash).await {
        Err(password::Error::Busy) => return Ok(Found::Busy),
        verified => verified.map_err(|error| unverified(&error))?,
    };
    let Some(user) = user.filter(|_| right) else {
        return Ok(Found::Wrong);
    };
    tracing::info!(user.name, "signed in");
    // The clock of the node that set the password may be ahead of ours.
    let since = now.max(user.changed_at);
    Ok(Found::Holder(Holder::User(user.name), since))
}

fn unverified(error: &password::Error) -> Problem {
    tracing::error!(%error, "could not check a password");
    let detail = both!(
        "could not check the password; see the log of this node",
        "无法验证密码；请查看本节点的日志"
    );
    Problem::new(Code::Internal, detail)
}

/// Only to our own pages; no one else chooses where a browser goes from here.
fn way_on(next: Option<&str>) -> &str {
    let plain = |path: &&str| is_ours(path) && path.bytes().all(|byte| byte.is_ascii_graphic());
    next.filter(plain).unwrap_or("/ui")
}

fn answer(viewer: &Viewer, refused: Refused, page: Markup) -> Response {
    let Refused::TooMany { free_at } = refused else {
        return again(page);
    };
    let mut response = with_status(StatusCode::TOO_MANY_REQUESTS, page);
    // Whole seconds, rounded up.
    let seconds = free_at.duration_since(viewer.now).as_secs().max(0) + 1;
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn setting(mut response: Response, cookie: Option<HeaderValue>) -> Response {
    if let Some(cookie) = cookie {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_on_leads_to_a_page_of_ours() {
        for (next, way) in [
            (Some("/ui/tasks?status=FAIL"), "/ui/tasks?status=FAIL"),
            (Some("https://evil.example/ui"), "/ui"),
            (Some("//evil.example"), "/ui"),
            (Some("/ui/a\r\nset-cookie: x=y"), "/ui"),
            (Some("/ui/日报"), "/ui"),
            (None, "/ui"),
        ] {
            assert_eq!(way_on(next), way, "{next:?}");
        }
    }
}
