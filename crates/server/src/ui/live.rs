//! Keeps open pages live: renders a page again while it is open, and sends it when it changed.
//!
//! The page is requested through its own route and authentication, with the browser's own headers:
//! a session that ends, ends its stream. A change of the clock alone is no change. INVARIANT: a
//! stream without a reader renders nothing, because rendering happens when the connection requests
//! the next event; and at most [`STREAMS_MAX`] are open.

use std::convert::Infallible;

use axum::body::{Body, to_bytes};
use axum::response::sse::{Event, Sse};
use axum::{extract::Query, http::Request};
use futures_util::{Stream, stream};
use sha2::{Digest, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt as _;

use super::{preferences::is_ours, viewer::LIVE_HEADER};
use crate::access::origin::is_said_by_proxy;
use crate::ui::prelude::*;

/// Live pages on one node.
const STREAMS_MAX: usize = 64;
/// How often a page is rendered again, by the wall clock.
const EVERY: SignedDuration = SignedDuration::from_secs(1);
/// After so many unchanged renderings the browser gets a sign of life with the time.
const QUIET_MAX: u32 = 10;
/// Largest page that is kept live.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

#[derive(Clone)]
pub(crate) struct Live {
    state: Arc<AppState>,
    pages: Router,
    room: Arc<Semaphore>,
}

#[derive(Deserialize)]
pub(crate) struct Which {
    page: String,
}

struct Watched {
    live: Live,
    page: String,
    shown: HeaderMap,
    digest: Option<[u8; 32]>,
    quiet: u32,
    next_at: Timestamp,
    over: bool,
    _room: OwnedSemaphorePermit,
}

/// The result of a rendering.
enum Rendered {
    Page {
        text: String,
        digest: [u8; 32],
    },
    /// The page is gone, or this browser may no longer see it.
    Gone,
    /// It cannot be rendered now; the browser keeps the last one.
    NotNow,
}

impl Live {
    pub(crate) fn new(state: Arc<AppState>, pages: Router) -> Self {
        Self {
            state,
            pages,
            room: Arc::new(Semaphore::new(STREAMS_MAX)),
        }
    }

    /// A stream of events: `page` with a changed page, `same` with the time, `gone` at the end.
    pub(crate) fn stream(self, Query(which): Query<Which>, headers: &HeaderMap) -> Answer {
        if !is_ours(&which.page) || which.page.starts_with("/ui/live") {
            let detail = both!(
                "only dashboard pages can be kept live",
                "只有控制台页面可以实时更新"
            );
            return Err(Problem::new(Code::InvalidValue, detail));
        }
        let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
            return Ok(StatusCode::SERVICE_UNAVAILABLE.into_response());
        };
        let watched = Watched {
            next_at: self.state.clock.now(),
            shown: shown(headers),
            page: which.page,
            live: self,
            digest: None,
            quiet: 0,
            over: false,
            _room: room,
        };
        Ok(Sse::new(events(watched)).into_response())
    }

    async fn render(&self, page: &str, shown: &HeaderMap) -> Rendered {
        let mut request = Request::new(Body::empty());
        let Ok(uri) = page.parse() else {
            return Rendered::Gone;
        };
        *request.uri_mut() = uri;
        *request.headers_mut() = shown.clone();
        let Ok(response) = self.pages.clone().oneshot(request).await;
        match response.status() {
            // An invalid filter is also shown on a page.
            StatusCode::OK | StatusCode::UNPROCESSABLE_ENTITY => {}
            status if status.is_server_error() => return Rendered::NotNow,
            _ => return Rendered::Gone,
        }
        let Ok(bytes) = to_bytes(response.into_body(), PAGE_BYTES_MAX).await else {
            return Rendered::NotNow;
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let digest = Sha256::digest(without_clock(&text)).into();
        Rendered::Page { text, digest }
    }
}

fn events(watched: Watched) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(watched, |mut watched| async move {
        let event = watched.next().await?;
        Some((Ok(event), watched))
    })
}

impl Watched {
    async fn next(&mut self) -> Option<Event> {
        while !self.over {
            let state = &self.live.state;
            tokio::select! {
                () = state.leaving.cancelled() => return None,
                () = state.sleeper.until(self.next_at) => {}
            }
            let now = state.clock.now();
            self.next_at = now.saturating_add(self.pace()).unwrap_or(now);
            match self.live.render(&self.page, &self.shown).await {
                Rendered::Page { text, digest } if self.digest != Some(digest) => {
                    (self.digest, self.quiet) = (Some(digest), 0);
                    return Some(Event::default().event("page").data(text));
                }
                Rendered::Page { .. } | Rendered::NotNow => self.quiet += 1,
                Rendered::Gone => {
                    self.over = true;
                    return Some(Event::default().event("gone").data(""));
                }
            }
            if self.quiet >= QUIET_MAX {
                self.quiet = 0;
                let now = now.as_millisecond().to_string();
                return Some(Event::default().event("same").data(now));
            }
        }
        None
    }

    /// People wait by the wall clock, whatever the node's clock does.
    fn pace(&self) -> SignedDuration {
        SignedDuration::try_from_secs_f64(EVERY.as_secs_f64() * self.live.state.speed)
            .unwrap_or(EVERY)
    }
}

/// The request headers that a page depends on.
fn shown(headers: &HeaderMap) -> HeaderMap {
    let names = [
        header::COOKIE,
        header::AUTHORIZATION,
        header::ACCEPT_LANGUAGE,
        header::HOST,
    ];
    // A proxied request stays one, or a page that is open to this machine alone would be open to
    // all.
    let by_proxy = headers
        .keys()
        .filter(|name| is_said_by_proxy(name))
        .cloned();
    let mut shown = HeaderMap::new();
    for name in names.into_iter().chain(by_proxy) {
        for value in headers.get_all(&name) {
            shown.append(name.clone(), value.clone());
        }
    }
    shown.insert(LIVE_HEADER, HeaderValue::from_static("1"));
    shown
}

/// A page without the instant of its rendering.
fn without_clock(page: &str) -> String {
    let Some((before, rest)) = page.split_once("data-now=\"") else {
        return page.to_owned();
    };
    let after = rest.split_once('"').map_or(rest, |(_, after)| after);
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_alone_is_no_change() {
        let page = |now, body| format!("<html data-now=\"{now}\" data-speed=\"1\">{body}</html>");
        assert_eq!(without_clock(&page(1, "a")), without_clock(&page(2, "a")));
        assert_ne!(without_clock(&page(1, "a")), without_clock(&page(1, "b")));
        assert_eq!(without_clock("no clock"), "no clock");
    }
}
