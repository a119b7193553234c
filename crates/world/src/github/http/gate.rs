//! The gate every API request passes, in and out.
//!
//! In: user agent, API version, token, rate limit, fault, in this order. Out: error body, `ETag` and
//! 304, the journal, and the headers GitHub puts on every answer. A request is charged on its way
//! in and gets its charge back on its way out if the answer is 304.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{Caller, docs};
use crate::{
    clock,
    github::{
        fault::{Effect, Sight},
        journal::Seen,
        limit::{Resource, Standing},
        line::Cut,
        refusal::Refusal,
        service::{Inside, Service},
    },
};

/// The versions of the REST API there are; the first is what those get who name none.
const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];

/// A request as the gate sees it.
struct Asked {
    method: Method,
    path: String,
    /// Path template of the endpoint.
    route: String,
    version: String,
    secret: Option<String>,
    has_agent: bool,
    if_none_match: Option<String>,
}

/// What the gate decided on the way in.
struct Admission {
    request_id: String,
    caller: Caller,
    standing: Standing,
    charged: bool,
    decision: Result<Option<Effect>, Refusal>,
}

/// Lets a request through, or answers it here.
pub(super) async fn pass(
    State(app): State<Arc<Service>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    mut request: Request,
    next: Next,
) -> Response {
    let asked = Asked::of(&request);
    let mut admission = admit(&mut app.lock(), &asked, app.now());
    let effect = *admission.decision.as_ref().unwrap_or(&None);
    let response = match &admission.decision {
        Err(refusal) => refusal.clone().into_response(),
        Ok(effect) => {
            if let Some(Effect::Slow { wait_ms }) = effect {
                clock::pause(Duration::from_millis(*wait_ms)).await;
            }
            request.extensions_mut().insert(admission.caller.clone());
            next.run(request).await
        }
    };
    let response = explain(response, &asked, &admission);
    let mut response = condition(response, &asked).await;
    let lost = effect == Some(Effect::DropReply);
    settle(&app, &asked, &mut admission, (response.status(), !lost));
    if lost {
        cut.now();
    }
    add_headers(response.headers_mut(), &asked, &admission);
    app.changed();
    response
}

impl Asked {
    fn of(request: &Request) -> Self {
        let headers = request.headers();
        let text = |name: HeaderName| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.map(str::to_owned)
        };
        let route = request.extensions().get::<MatchedPath>();
        let version = text(HeaderName::from_static("x-github-api-version"));
        Self {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            route: route.map_or_else(String::new, |route| route.as_str().replace("{*", "{")),
            version: version.unwrap_or_else(|| VERSIONS[0].to_owned()),
            secret: text(header::AUTHORIZATION).map(|value| secret(&value)),
            has_agent: text(header::USER_AGENT).is_some_and(|agent| !agent.is_empty()),
            if_none_match: text(header::IF_NONE_MATCH),
        }
    }

    fn resource(&self) -> Resource {
        match self.path.as_str() {
            "/graphql" => Resource::Graphql,
            _ => Resource::Core,
        }
    }

    /// Why it is turned away before anybody looks at its token.
    fn fault_of_form(&self) -> Option<Refusal> {
        if !self.has_agent {
            return Some(Refusal::NoUserAgent);
        }
        let known = VERSIONS.contains(&self.version.as_str());
        (!known).then(|| Refusal::UnknownVersion(self.version.clone()))
    }
}

/// `Bearer …` and `token …` are the same to GitHub; the scheme's case does not matter.
fn secret(authorization: &str) -> String {
    let (scheme, secret) = authorization.split_once(' ').unwrap_or_default();
    let known = ["bearer", "token"].contains(&scheme.to_ascii_lowercase().as_str());
    if known {
        secret.trim().to_owned()
    } else {
        // Nobody's secret: answered as bad credentials.
        String::new()
    }
}

fn admit(inside: &mut Inside, asked: &Asked, now: Timestamp) -> Admission {
    inside.arrived += 1;
    let request_id = format!("A1A1:{:06X}:{:08X}", inside.arrived, now.as_second());
    let found = asked.secret.as_deref();
    let found = found.map(|secret| inside.github.token(secret).cloned());
    let unknown = matches!(found, Some(None));
    let caller = Caller(found.flatten());
    let account = caller.account(asked.resource());
    let refused = asked.fault_of_form();
    let refused = refused.or(unknown.then_some(Refusal::BadCredentials));
    let (standing, charged, decision) = match refused {
        Some(refusal) => (inside.limits.look(account, now), false, Err(refusal)),
        None if asked.path == "/rate_limit" => (inside.limits.look(account, now), false, Ok(None)),
        None => match inside.limits.charge(account, now) {
            Err(standing) => (standing, false, Err(Refusal::RateLimited)),
            Ok(standing) => (standing, true, plan(inside, asked, account.name)),
        },
    };
    Admission {
        request_id,
        caller,
        standing,
        charged,
        decision,
    }
}

/// Asks the faults; those that answer by themselves are refusals.
fn plan(inside: &mut Inside, asked: &Asked, token: &str) -> Result<Option<Effect>, Refusal> {
    let sight = Sight {
        token,
        method: asked.method.as_str(),
        path: &asked.path,
    };
    match inside.faults.plan(sight) {
        Some(Effect::Status(status)) => Err(Refusal::Broken(status)),
        Some(Effect::SecondaryLimit { retry_after_s }) => {
            Err(Refusal::SecondaryLimit { retry_after_s })
        }
        effect => Ok(effect),
    }
}

/// Writes GitHub's error body where a refusal was answered.
fn explain(response: Response, asked: &Asked, admission: &Admission) -> Response {
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
async fn condition(response: Response, asked: &Asked) -> Response {
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

/// Gives the charge of a 304 back, and notes the request.
fn settle(
    app: &Service,
    asked: &Asked,
    admission: &mut Admission,
    (status, replied): (StatusCode, bool),
) {
    let now = app.now();
    let mut inside = app.lock();
    let account = admission.caller.account(asked.resource());
    // As at GitHub, only for those who showed a token.
    let free = status == StatusCode::NOT_MODIFIED && admission.caller.token().is_some();
    if admission.charged && free {
        admission.standing = inside.limits.refund(account, admission.standing, now);
        admission.charged = false;
    }
    inside.journal.note(Seen {
        sequence: 0,
        at: now,
        token: account.name.to_owned(),
        route: format!("{} {}", asked.method, asked.route),
        path: asked.path.clone(),
        status: status.as_u16(),
        charged: admission.charged,
        replied,
    });
}

fn add_headers(headers: &mut HeaderMap, asked: &Asked, admission: &Admission) {
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
    set("x-github-request-id", admission.request_id.clone());
    set("x-github-api-version-selected", asked.version.clone());
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
