//! The callbacks that Almanack calls at the scheduled time.
//!
//! A call is checked on its raw bytes first, then parsed, then applied to the article's state
//! machine. The `Idempotency-Key` header needs no bookkeeping of ours: the article's state *is* the
//! record of what has happened, and a repeated call finds it.

use axum::{
    Json,
    http::{HeaderMap, StatusCode},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Service,
    activity::Activity,
    http::{Failure, read, settle},
    refusal::Refusal,
    state::{Article, ChangeRequest, State as ArticleState},
};
use crate::{clock, flaky::Fault, webhook};

/// The fields of a call that we need; others are ignored.
#[derive(Debug, Deserialize)]
struct Call {
    task_id: i64,
    subject: String,
    term: i64,
    revision: i64,
}

/// The requested action.
#[derive(Clone, Copy)]
pub(super) enum What {
    Audit,
    Publish,
}

/// `POST /callbacks/…`: applies the call, unless a fault is injected.
pub(super) async fn call(
    app: &Service,
    what: What,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Json<Value>, Failure> {
    let call = receive(app, headers, body)?;
    let task_id = call.task_id;
    let fault = app.faults.plan(task_id, call.term);
    if fault != Fault::None {
        app.report(Activity::Faulted { task_id, fault });
    }
    match fault {
        Fault::Refuse => return Err(Failure::Faulted(StatusCode::SERVICE_UNAVAILABLE)),
        Fault::Delay(wait) => clock::pause(wait).await,
        Fault::None | Fault::LoseReply => {}
    }
    let article_id = article_id(&call.subject);
    let answered = match article_id {
        Some(id) => obey(app, what, id, call.revision).await,
        None => Err(Failure::Refused(Refusal::Unknown)),
    };
    if let (Err(Failure::Refused(refusal)), Some(article_id)) = (&answered, article_id) {
        let code = refusal.code();
        app.report(Activity::WithoutEffect { article_id, code });
    }
    if fault == Fault::LoseReply {
        // The response of a proxy when the service behind it did its work and the response got
        // lost.
        return Err(Failure::Faulted(StatusCode::GATEWAY_TIMEOUT));
    }
    let (result, state) = answered?;
    Ok(Json(json!({ "result": result, "state": state })))
}

fn receive(app: &Service, headers: &HeaderMap, body: &[u8]) -> Result<Call, Failure> {
    if let Some(secret) = &app.secret {
        secret.verify(signed(headers)?, body, (app.clock)())?;
    }
    read(body)
}

fn signed(headers: &HeaderMap) -> Result<webhook::Signed<'_>, webhook::Error> {
    let header = |name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.ok_or(webhook::Error::Header(name))
    };
    let timestamp = header("webhook-timestamp")?;
    let unreadable = webhook::Error::Header("webhook-timestamp");
    Ok(webhook::Signed {
        id: header("webhook-id")?,
        timestamp: timestamp.parse().map_err(|_| unreadable)?,
        signatures: header("webhook-signature")?,
    })
}

/// The result of the call, and the article's state after it.
async fn obey(
    app: &Service,
    what: What,
    article_id: i64,
    revision: i64,
) -> Result<(&'static str, ArticleState), Failure> {
    let (store, now) = (&app.store, (app.clock)());
    let without = |code| (code, Activity::WithoutEffect { article_id, code });
    let (state, (result, activity)) = match what {
        What::Audit => {
            let audited = store.carry_out(article_id, ChangeRequest::Audit, now);
            let (Article { state, .. }, change) = settle(audited.await)?;
            let done = Activity::Audited { article_id, state };
            let done = match (change, state) {
                (None, _) => without("already_audited"),
                (Some(_), ArticleState::AutoAuditFailed) => ("auto_audit_failed", done),
                (Some(_), _) => ("audit_success", done),
            };
            (state, done)
        }
        What::Publish => {
            let done = if settle(store.publish(article_id, revision, now).await)? {
                ("published", Activity::Published { article_id })
            } else {
                without("already_published")
            };
            (ArticleState::Published, done)
        }
    };
    app.report(activity);
    Ok((result, state))
}

fn article_id(subject: &str) -> Option<i64> {
    subject.strip_prefix("article:")?.parse().ok()
}
