//! The way out: error bodies, `ETag` and 304, and the headers on every answer.

use axum::{
    Json,
    body::{Body, to_bytes},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Admission, Asked};
use crate::github::{
    http::docs,
    limit::{Resource, Standing},
    refusal::Refusal,
};

/// Writes GitHub's error body where a refusal was answered.
pub(super) fn explain(response: Response, asked: &Asked, admission: &Admission) -> Response {
    let Some(refusal) = response.extensions().get::<Refusal>() else {
        return response;
    };
    let status = response.status();
    let message = refusal.message(&admission.request_id);
    if *refusal == Refusal::RateLimited && asked.resource() == Resource::Graphql {
        let error = json!({ "type": "RATE_LIMITED", "message": message });
        return Json(json!({ "errors": [error] })).into_response();
    }
    if *refusal == Refusal::NoUserAgent {
        let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
        return (status, html, message).into_response();
    }
    let general = refusal.documentation_url();
    let body = json!({
        "message": message,
        "documentation_url": general.unwrap_or_else(|| docs::url(&asked.method, &asked.route)),
        "status": status.as_u16().to_string(),
    });
    let mut answer = (status, Json(body)).into_response();
    let (name, value) = match refusal {
        Refusal::SecondaryLimit { retry_after_s } => {
            (header::RETRY_AFTER, HeaderValue::from(*retry_after_s))
        }
        Refusal::NotAccessible(needed) => (
            HeaderName::from_static("x-accepted-github-permissions"),
            HeaderValue::from_static(needed),
        ),
        _ => return answer,
    };
    answer.headers_mut().insert(name, value);
    answer
}

/// Gives what was read an `ETag`, and answers 304 to those who have it already.
pub(super) async fn condition(response: Response, asked: &Asked) -> Response {
    let readable = asked.method == Method::GET && asked.path != "/rate_limit";
    if !readable || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Our own bodies are complete in memory already.
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let etag = etag(&bytes);
    let known = asked.if_none_match.as_deref().unwrap_or_default();
    if let Ok(value) = HeaderValue::from_str(&etag) {
        parts.headers.insert(header::ETAG, value);
    }
    let same = |tag: &str| tag == "*" || tag.trim_start_matches("W/") == &etag[2..];
    if known.split(',').any(|tag| same(tag.trim())) {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        parts.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

fn etag(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let hex = digest
        .iter()
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    format!("W/\"{hex}\"")
}

pub(super) fn add_headers(headers: &mut HeaderMap, admission: &Admission, now: Timestamp) {
    let Standing {
        limit,
        used,
        reset_at,
        resource,
    } = admission.standing;
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    // The world's own time, which need not be the machine's.
    set(
        "date",
        now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
    );
    set("x-github-request-id", admission.request_id.clone());
    set(
        "x-github-api-version-selected",
        admission.caller.version.as_str().to_owned(),
    );
    set("x-github-media-type", "github.v3; format=json".to_owned());
    set(
        "vary",
        "Accept, Authorization, Cookie, X-GitHub-OTP".to_owned(),
    );
    set("x-ratelimit-limit", limit.to_string());
    set("x-ratelimit-used", used.to_string());
    set(
        "x-ratelimit-remaining",
        admission.standing.remaining().to_string(),
    );
    set("x-ratelimit-reset", reset_at.as_second().to_string());
    set("x-ratelimit-resource", resource.as_str().to_owned());
    let json = HeaderValue::from_static("application/json");
    if headers.get(header::CONTENT_TYPE) == Some(&json) {
        let utf8 = HeaderValue::from_static("application/json; charset=utf-8");
        headers.insert(header::CONTENT_TYPE, utf8);
    }
}
