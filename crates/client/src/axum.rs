//! Verification of callbacks as middleware for axum.
//!
//! ```
//! use almanack_client::{Call, WebhookKey, axum::verify};
//! use axum::{Json, Router, middleware::from_fn_with_state, routing::post};
//!
//! async fn publish(Json(call): Json<Call>) -> &'static str {
//!     // Called at least once: make the change conditional on your own state.
//!     println!("publish {}", call.identity.subject);
//!     "published"
//! }
//!
//! # fn app(key: WebhookKey) -> Router {
//! Router::new()
//!     .route("/callbacks/publish", post(publish))
//!     .layer(from_fn_with_state(key, verify))
//! # }
//! ```

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::StatusCode,
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::signature::WebhookKey;

/// Largest body that is read: a payload is at most 1 MiB.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Passes on what is signed with the key and recent; answers 401 to anything else.
pub async fn verify(State(key): State<WebhookKey>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BODY_BYTES_MAX).await else {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
    };
    let header = |name| head.headers.get(name)?.to_str().ok();
    match key.verify(header, &body) {
        Ok(()) => next.run(Request::from_parts(head, Body::from(body))).await,
        Err(forged) => refuse(StatusCode::UNAUTHORIZED, &forged.to_string()),
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    let body = json!({ "code": "bad_signature", "message": why });
    (status, Json(body)).into_response()
}
