//! `/websub/{id}/{token}`: where hubs confirm subscriptions and push (WebSub, SS-23).
//!
//! These paths are a protocol between this node and hubs, not a part of the API, so no token guards
//! them and the OpenAPI document does not list them. The last part of the path is what a hub knows
//! and nobody else; a push must be signed besides. A push that is not signed, or not by this hub,
//! is answered like any other and has no effect: the sender learns nothing.

use almanack_core::both;
use almanack_core::source::{Source, SourceId, hub::Pushed};
use almanack_engine::sources::push::Push;
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Path, Query},
    routing::get,
};

use crate::prelude::*;

/// Longest challenge that is echoed, in bytes.
const CHALLENGE_BYTES_MAX: usize = 1024;
/// Headers that a signature may be in, the strongest first.
const SIGNATURES: [&str; 4] = [
    "x-hub-signature-512",
    "x-hub-signature-384",
    "x-hub-signature-256",
    "x-hub-signature",
];

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new().route("/websub/{id}/{token}", get(verify).post(receive))
}

/// What a hub asks or reports. Fields that a hub adds are ignored.
#[derive(Deserialize)]
struct Intent {
    #[serde(rename = "hub.mode")]
    mode: String,
    #[serde(rename = "hub.topic", default)]
    topic: String,
    #[serde(rename = "hub.challenge", default)]
    challenge: String,
    #[serde(rename = "hub.lease_seconds")]
    lease_seconds: Option<String>,
    #[serde(rename = "hub.reason", default)]
    reason: String,
}

impl Intent {
    /// A lease that cannot be read is the one that was requested.
    fn lease(&self) -> Option<SignedDuration> {
        let seconds = self.lease_seconds.as_deref()?.trim().parse().ok();
        seconds.map(SignedDuration::from_secs)
    }
}

/// The node's side of pushes, and the source whose callback this is.
async fn admit(state: &AppState, (id, token): &(i64, String)) -> Result<(Arc<Push>, Source)> {
    // 410 has a hub forget the subscription: of a source that was removed, for one.
    let gone = || {
        Problem::new(
            Code::NotSubscribed,
            both!("no subscription has this address", "没有订阅使用此地址"),
        )
    };
    let push = state.publishers.push.clone().ok_or_else(gone)?;
    let source = push.admit(SourceId(*id), token).await?.ok_or_else(gone)?;
    Ok((push, source))
}

/// Confirms a subscription that this node has requested, or takes note that the hub refuses it.
async fn verify(
    State(state): App,
    Path(callback): Path<(i64, String)>,
    Query(intent): Query<Intent>,
) -> Answer {
    let unwanted = || {
        Problem::new(
            Code::NoSuchPath,
            both!("this subscription was not requested", "没有请求过此订阅"),
        )
    };
    let (push, source) = admit(&state, &callback).await?;
    match intent.mode.as_str() {
        "subscribe" if (1..=CHALLENGE_BYTES_MAX).contains(&intent.challenge.len()) => {
            let wanted = push.confirm(&source, &intent.topic, intent.lease());
            if wanted.await? {
                return Ok(intent.challenge.into_response());
            }
        }
        "denied" if push.deny(&source, &intent.topic, &intent.reason).await? => {
            return Ok(StatusCode::OK.into_response());
        }
        // This node never asks a hub to stop: it lets the lease run out.
        _ => {}
    }
    Err(unwanted())
}

/// Keeps what a hub pushes.
async fn receive(
    State(state): App,
    Path(callback): Path<(i64, String)>,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let (push, source) = admit(&state, &callback).await?;
    let bytes_max = push.body_bytes;
    let body = to_bytes(body, bytes_max).await.map_err(|_| {
        let detail = both!(
            "a push must have at most {bytes_max} bytes",
            "推送最多 {bytes_max} 字节"
        );
        Problem::new(Code::BodyTooLarge, detail)
    })?;
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signature = SIGNATURES.into_iter().find_map(value).unwrap_or_default();
    let pushed = Pushed {
        body: body.into(),
        content_type: value(header::CONTENT_TYPE.as_str()).map(str::to_owned),
    };
    push.receive(source, signature, pushed).await?;
    Ok(StatusCode::ACCEPTED.into_response())
}
