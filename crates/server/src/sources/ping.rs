//! Pings: a publisher says that something is new.
//!
//! With a token, about one source. Without one, by the XML-RPC call that weblogs have sent since
//! 2001 (`weblogUpdates.ping`), about whichever sources have that address or that site; where
//! nobody asked for that (`sources.ping`), the path does not exist. Every call gets the same answer,
//! so that nobody can find out which sources there are.

mod rpc;

use almanack_core::both;
use std::sync::{Mutex, PoisonError};

use almanack_core::source::entry::canonical_address;
use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    routing::post,
};

use super::{Numbered, refuse_key};
use crate::prelude::*;

/// Largest call of `/ping`.
const BODY_BYTES_MAX: usize = 8 * 1024;
/// Calls of `/ping` that have an effect, in a minute and in all.
const PINGS_PER_MINUTE: u32 = 60;
/// Who requests a check by `/ping`.
const BY: &str = "ping";

/// When a pinged source is checked.
#[derive(Serialize, ToSchema)]
pub(crate) struct PingView {
    /// Id of the source.
    source_id: i64,
    /// When it is checked next; null while it is paused or has ended.
    next_due_at: Option<Timestamp>,
}

/// Check a source soon, because its publisher has something new.
///
/// At most one check a minute comes of pings. A paused source stays paused, and a source that waits
/// after failures, or for its host, keeps waiting.
#[utoipa::path(
    post, path = "/api/v1/sources/{id}/ping", tag = "sources",
    responses((status = 202, description = "When it is checked", body = PingView)),
)]
pub(crate) async fn ping_source(State(state): App, Numbered(id): Numbered, call: Call) -> Answer {
    refuse_key(&call)?;
    let next_due_at = state.sources.ping(id, &call.requester.origin()).await?;
    let view = PingView {
        source_id: id.0,
        next_due_at,
    };
    Ok((StatusCode::ACCEPTED, Json(view)).into_response())
}

/// `/ping`, which the OpenAPI document does not list: its body is not JSON.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    let pings = Extension(Arc::new(Pings::default()));
    Router::new().route("/ping", post(ping)).layer(pings)
}

/// Calls in the present minute.
#[derive(Default)]
struct Pings(Mutex<(i64, u32)>);

impl Pings {
    fn may_pass(&self, now: Timestamp) -> bool {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let minute = now.as_second().div_euclid(60);
        if counted.0 != minute {
            *counted = (minute, 0);
        }
        counted.1 = counted.1.saturating_add(1);
        counted.1 <= PINGS_PER_MINUTE
    }
}

async fn ping(State(state): App, Extension(pings): Extension<Arc<Pings>>, body: Body) -> Answer {
    if !state.publishers.ping {
        let detail = both!(
            "no such path; see /api/docs for all paths",
            "没有此路径；所有路径见 /api/docs"
        );
        return Err(Problem::new(Code::NoSuchPath, detail));
    }
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| {
        let detail = both!(
            "a ping must have at most {BODY_BYTES_MAX} bytes",
            "ping 最多 {BODY_BYTES_MAX} 字节"
        );
        Problem::new(Code::BodyTooLarge, detail)
    })?;
    let addresses = rpc::read(&String::from_utf8_lossy(&body));
    let answer = match addresses {
        None => rpc::fault("expected weblogUpdates.ping or weblogUpdates.extendedPing"),
        Some(_) if !pings.may_pass(state.clock.now()) => rpc::answer(true, "Too many pings."),
        Some(addresses) => {
            for address in addresses {
                ping_at(&state, &address).await?;
            }
            rpc::answer(false, "Thanks for the ping.")
        }
    };
    Ok(([(header::CONTENT_TYPE, "text/xml")], answer).into_response())
}

/// Pings the sources that have this address or this site.
async fn ping_at(state: &AppState, address: &str) -> Result<()> {
    let address = canonical_address(address);
    // Weblogs write their own address with or without the last slash.
    let other = match address.strip_suffix('/') {
        Some(bare) => bare.to_owned(),
        None => format!("{address}/"),
    };
    for address in [address, other] {
        for id in state.changes.find_sources(&address).await? {
            state.sources.ping(id, BY).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_pings_in_a_minute_have_an_effect() {
        let pings = Pings::default();
        let at = |second| Timestamp::from_second(second).unwrap();
        let passed = (0..100).filter(|second| pings.may_pass(at(second % 60)));
        assert_eq!(passed.count(), 60);
        assert!(!pings.may_pass(at(59)));
        assert!(pings.may_pass(at(60)));
    }
}
