//! The gate every API request passes, in and out.
//!
//! In: user agent, API version, token, rate limit, fault, in this order. Out: error body, `ETag` and
//! 304, the journal, and the headers GitHub puts on every answer. A request is charged on its way
//! in and gets its charge back on its way out if the answer is 304.

mod outward;

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderName, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use jiff::Timestamp;

use super::{Caller, Version};
use crate::{
    clock,
    github::{
        fault::{Effect, Sight},
        journal::Seen,
        limit::{Resource, Standing},
        refusal::Refusal,
        service::{Inside, Service},
    },
    line::Cut,
};

/// A request as the gate sees it.
struct Asked {
    method: Method,
    path: String,
    /// Path template of the endpoint.
    route: String,
    /// What the caller wrote, where it is no version.
    version: Result<Version, String>,
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
    app.changed();
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
    let response = match effect {
        Some(Effect::StatusAfter(status)) => Refusal::Broken(status).into_response(),
        _ => response,
    };
    let response = outward::explain(response, &asked, &admission);
    let mut response = outward::condition(response, &asked).await;
    let lost = effect == Some(Effect::DropReply);
    settle(&app, &asked, &mut admission, (response.status(), !lost));
    if lost {
        cut.now();
    }
    outward::add_headers(response.headers_mut(), &admission, app.now());
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
            version: version.map_or(Ok(Version::default()), |text| {
                Version::parse(&text).ok_or(text)
            }),
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
        let unknown = self.version.as_ref().err();
        unknown.map(|version| Refusal::UnknownVersion(version.clone()))
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
    let caller = Caller {
        token: found.flatten(),
        version: asked.version.clone().unwrap_or_default(),
    };
    let account = caller.account(asked.resource());
    let refused = asked.fault_of_form();
    let refused = refused.or(unknown.then_some(Refusal::BadCredentials));
    let (standing, charged, decision) = match refused {
        Some(refusal) => (inside.limits.look(account, now), false, Err(refusal)),
        None if asked.path == "/rate_limit" => (inside.limits.look(account, now), false, Ok(None)),
        None => match inside.limits.charge(account, now) {
            Err(standing) => (standing, false, Err(Refusal::RateLimited)),
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
        token: admission.caller.name().to_owned(),
        route: format!("{} {}", asked.method, asked.route),
        path: asked.path.clone(),
        status: status.as_u16(),
        charged: admission.charged,
        replied,
    });
}
