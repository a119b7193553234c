//! The model's HTTP face: one endpoint under its usual bases, and the control API.
//!
//! A request is judged and noted under one lock when it arrives ([`verdict`]); after that it only
//! waits and is answered, cut or left hanging.

mod body;
mod control;
mod verdict;

use std::sync::Arc;

use axum::{
    Json, Router,
    body::Bytes,
    extract::{ConnectInfo, DefaultBodyLimit, State},
    http::{HeaderMap, Method, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use self::verdict::{Came, judge};
use super::{
    handle::Handle,
    refusal::Refusal,
    service::{Flight, Service},
};
use crate::line::Cut;

/// Largest request body; far more than any context.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Where such services have the endpoint: with or without a version, and behind a router.
const BASES: [&str; 4] = ["", "/v1", "/api/v1", "/api/paas/v4"];

/// Everything the server answers.
pub(super) fn routes(handle: Handle) -> Router {
    let service = Arc::clone(&handle.0);
    let api = BASES.iter().fold(Router::new(), |api, base| {
        api.route(&format!("{base}/chat/completions"), post(complete))
            .route(&format!("{base}/models"), get(models))
    });
    let api = api
        .fallback(nowhere)
        .method_not_allowed_fallback(nowhere)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(service);
    control::routes(handle).merge(api)
}

async fn complete(
    State(app): State<Arc<Service>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let _flight = Flight::begin(&app);
    let came = Came {
        path: uri.path(),
        key: bearer(&headers),
        body: &body,
    };
    let verdict = judge(&app, &came);
    app.changed();
    verdict.carry_out(&app.stop, &cut).await
}

/// Which models there are, for who may know: any name is taken.
async fn models(State(app): State<Arc<Service>>, headers: HeaderMap) -> Response {
    match verdict::admit(&app.config, bearer(&headers)) {
        Ok(()) => Json(json!({ "object": "list", "data": [] })).into_response(),
        Err(refusal) => verdict::refuse(&refusal).into_response(),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
}

async fn nowhere(method: Method, uri: Uri) -> Response {
    let refusal = Refusal::NoSuchPath {
        method: method.to_string(),
        path: uri.path().to_owned(),
    };
    verdict::refuse(&refusal).into_response()
}
