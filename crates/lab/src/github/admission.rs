//! The middleware of every API request, in and out.
//!
//! In: user agent, token, rate limit, fault, in this order. Out: error body, `ETag` and 304, the
//! journal, and the headers GitHub puts on every response. A request is charged on its way in and
//! gets its charge back on its way out if the answer is 304.

use std::time::Duration;

use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{ConnectInfo, MatchedPath, Request as HttpRequest, State},
    http::{HeaderName, Method, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use jiff::Timestamp;
use serde_json::json;

use super::{
    Handle, RequestFacts, RequestKind,
    fault::{Effect, Matching},
    limit::{Account, Resource, Standing},
    refusal::Refusal,
    setup::Token,
    state::GitHub,
};
use crate::{clock, line::Met, reply::http_date, stand::Inside};

/// Requests per hour without a token.
const ANONYMOUS_REQUESTS_PER_HOUR: u32 = 60;

/// The authenticated caller.
#[derive(Debug, Clone)]
pub(super) struct Caller(pub(super) Option<Token>);

impl Caller {
    /// The token's name; none without a known token.
    fn name(&self) -> &str {
        self.0.as_ref().map_or("", |token| &token.name)
    }

    pub(super) fn account(&self, resource: Resource) -> Account<'_> {
        match &self.0 {
            Some(token) => Account {
                name: token.window(),
                limit: token.requests_per_hour,
                resource,
            },
            None => Account {
                name: "",
                limit: ANONYMOUS_REQUESTS_PER_HOUR,
                resource,
            },
        }
    }
}

/// A request as the middleware sees it.
struct ApiRequest {
    method: Method,
    path: String,
    /// Path template of the endpoint.
    route: String,
    secret: Option<String>,
    has_agent: bool,
    if_none_match: Option<String>,
}

/// The decision on the way in.
struct Admission {
    request_id: String,
    caller: Caller,
    standing: Standing,
    charged: bool,
    decision: Result<Option<Effect>, Refusal>,
}

/// Lets a request through, or answers it here.
pub(super) async fn pass(
    State(stand): State<Handle>,
    ConnectInfo(met): ConnectInfo<Met>,
    mut request: HttpRequest,
    next: Next,
) -> Response {
    let asked = ApiRequest::of(&request);
    let mut admission = admit(&mut stand.lock(), &asked, stand.now());
    stand.changed();
    let effect = *admission.decision.as_ref().unwrap_or(&None);
    let response = match &admission.decision {
        Err(refusal)
            if asked.resource() == Resource::Graphql && *refusal == Refusal::RATE_LIMITED =>
        {
            let error = json!({ "type": "RATE_LIMITED", "message": refusal.message });
            Json(json!({ "errors": [error] })).into_response()
        }
        Err(refusal) => refusal.clone().into_response(),
        Ok(effect) => {
            if let Some(Effect::Slow { wait_ms }) = effect {
                clock::pause(Duration::from_millis(*wait_ms)).await;
            }
            request.extensions_mut().insert(admission.caller.clone());
            next.run(request).await
        }
    };
    let response = match effect {
        Some(Effect::StatusAfter(status)) => Refusal::broken(status).into_response(),
        _ => response,
    };
    let response = condition(response, &asked).await;
    let lost = effect == Some(Effect::DropReply);
    settle(&stand, &asked, &mut admission, (response.status(), !lost));
    if lost {
        met.cut.now();
    }
    stand.changed();
    (headers(&admission, stand.now()), response).into_response()
}

impl ApiRequest {
    fn of(request: &HttpRequest) -> Self {
        let headers = request.headers();
        let text = |name: HeaderName| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.map(str::to_owned)
        };
        let route = request.extensions().get::<MatchedPath>();
        Self {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            route: route.map_or_else(String::new, |route| route.as_str().replace("{*", "{")),
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
}

/// `Bearer …` and `token …` are the same to GitHub; the scheme's case does not matter.
fn secret(authorization: &str) -> String {
    let (scheme, secret) = authorization.split_once(' ').unwrap_or_default();
    let known = ["bearer", "token"].contains(&scheme.to_ascii_lowercase().as_str());
    // Another scheme matches no token: answered as bad credentials.
    if known { secret.trim() } else { "" }.to_owned()
}

fn admit(inside: &mut Inside<GitHub>, asked: &ApiRequest, now: Timestamp) -> Admission {
    let github = &mut inside.state;
    github.arrived += 1;
    let request_id = format!("A1A1:{:06X}:{:08X}", github.arrived, now.as_second());
    let found = asked.secret.as_deref();
    let found = found.map(|secret| github.token(secret).cloned());
    let unknown = matches!(found, Some(None));
    let caller = Caller(found.flatten());
    let account = caller.account(asked.resource());
    let refused = (!asked.has_agent).then_some(Refusal::NO_USER_AGENT);
    let refused = refused.or(unknown.then_some(Refusal::BAD_CREDENTIALS));
    let (standing, charged, decision) = match refused {
        Some(refusal) => (github.limits.look(account, now), false, Err(refusal)),
        None if asked.path == "/rate_limit" => (github.limits.look(account, now), false, Ok(None)),
        None => match github.limits.charge(account, now) {
            Err(standing) => (standing, false, Err(Refusal::RATE_LIMITED)),
            Ok(standing) => (standing, true, plan(inside, asked, caller.name())),
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

/// Applies the faults; those that answer by themselves are refusals.
fn plan(
    inside: &mut Inside<GitHub>,
    asked: &ApiRequest,
    token: &str,
) -> Result<Option<Effect>, Refusal> {
    let method = asked.method.as_str();
    let covers = |rule: &Matching| rule.covers(token, method, &asked.path);
    match inside.faults.plan(covers) {
        Some(Effect::Status(status)) => Err(Refusal::broken(status)),
        Some(Effect::SecondaryLimit { retry_after_s }) => {
            Err(Refusal::secondary_limit(retry_after_s))
        }
        effect => Ok(effect),
    }
}

/// Returns the charge of a 304, and records the request.
fn settle(
    stand: &Handle,
    asked: &ApiRequest,
    admission: &mut Admission,
    (status, replied): (StatusCode, bool),
) {
    let now = stand.now();
    let mut inside = stand.lock();
    let account = admission.caller.account(asked.resource());
    // As at GitHub, only with a token.
    let free = status == StatusCode::NOT_MODIFIED && admission.caller.0.is_some();
    if admission.charged && free {
        let limits = &mut inside.state.limits;
        admission.standing = limits.refund(account, admission.standing, now);
        admission.charged = false;
    }
    let kind = RequestKind {
        token: admission.caller.name().to_owned(),
        route: format!("{} {}", asked.method, asked.route),
        status: status.as_u16(),
        charged: admission.charged,
    };
    let path = asked.path.clone();
    inside
        .journal
        .note(now, kind, RequestFacts { path, replied });
}

/// As GitHub's error body.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if self == Self::NO_USER_AGENT {
            return (status, Html(self.message)).into_response();
        }
        let body = json!({
            "message": self.message,
            "documentation_url": "https://docs.github.com/rest",
            "status": status.as_u16().to_string(),
        });
        (status, self.header.map(|header| [header]), Json(body)).into_response()
    }
}

/// Adds an `ETag` to what was read, and answers 304 to clients that have it already.
async fn condition(response: Response, asked: &ApiRequest) -> Response {
    let readable = asked.method == Method::GET && asked.path != "/rate_limit";
    if !readable || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Our own bodies are complete in memory already.
    let mut bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let tag = crate::fingerprint::bits(&String::from_utf8_lossy(&bytes));
    let etag = format!("W/\"{tag:016x}\"");
    let known = asked.if_none_match.as_deref().unwrap_or_default();
    let same = |tag: &str| tag == "*" || tag.trim_start_matches("W/") == &etag[2..];
    if known.split(',').any(|tag| same(tag.trim())) {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        parts.headers.remove(header::CONTENT_LENGTH);
        bytes.clear();
    }
    let response = Response::from_parts(parts, Body::from(bytes));
    ([(header::ETAG, etag)], response).into_response()
}

/// What GitHub puts on every response.
fn headers(admission: &Admission, now: Timestamp) -> [(&'static str, String); 7] {
    let Admission { standing, .. } = admission;
    let reset_at = standing.reset_at.as_second();
    [
        // The lab's time, which need not be the system's.
        ("date", http_date(now)),
        ("x-github-request-id", admission.request_id.clone()),
        ("x-ratelimit-limit", standing.limit.to_string()),
        ("x-ratelimit-used", standing.used.to_string()),
        ("x-ratelimit-remaining", standing.remaining().to_string()),
        ("x-ratelimit-reset", reset_at.to_string()),
        (
            "x-ratelimit-resource",
            standing.resource.as_str().to_owned(),
        ),
    ]
}
