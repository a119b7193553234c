//! What Almanack calls when the time has come.
//!
//! A call is checked on its raw bytes first, then read, then put to the article's state machine.
//! The `Idempotency-Key` header needs no bookkeeping of ours: the article's state *is* the record
//! of what has happened, and a repeated call finds it.

use std::sync::Arc;

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Service,
    happening::Happening,
    http::{App, Failure, read, settle},
    refusal::Refusal,
    state::{State as ArticleState, Wish},
    store::Publication,
};
use crate::{clock, flaky::Fault, webhook};

/// What a call says. Almanack may say more; we take what we need.
#[derive(Debug, Deserialize)]
struct Call {
    task_id: i64,
    subject: String,
    term: i64,
    revision: i64,
}

/// What a call came to, when it came to something.
struct Effect {
    result: &'static str,
    state: ArticleState,
}

/// `POST /callbacks/audit`.
pub(super) async fn audit(
    State(app): App,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Failure> {
    let call = receive(&app, &headers, &body)?;
    let app = &app;
    answer(app, &call, async |id| audit_article(app, id).await).await
}

/// `POST /callbacks/publish`.
pub(super) async fn publish(
    State(app): App,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Failure> {
    let call = receive(&app, &headers, &body)?;
    let (app, revision) = (&app, call.revision);
    answer(app, &call, async |id| {
        publish_article(app, id, revision).await
    })
    .await
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

/// Lets the call take effect, unless a fault was planned for it.
async fn answer(
    app: &Service,
    call: &Call,
    effect: impl AsyncFnOnce(i64) -> Result<Effect, Failure>,
) -> Result<Json<Value>, Failure> {
    let fault = app.faults.plan(call.task_id, call.term);
    if fault != Fault::None {
        app.tell(Happening::Faulted {
            task_id: call.task_id,
            fault,
        });
    }
    match fault {
        Fault::Refuse => return Err(faulted(StatusCode::SERVICE_UNAVAILABLE)),
        Fault::Delay(wait) => clock::pause(wait).await,
        Fault::None | Fault::LoseReply => {}
    }
    let article_id = article_id(&call.subject);
    let answered = match article_id {
        Some(id) => effect(id).await,
        None => Err(Failure::Refused(Refusal::Unknown)),
    };
    if let (Err(Failure::Refused(refusal)), Some(article_id)) = (&answered, article_id) {
        app.tell(Happening::WithoutEffect {
            article_id,
            code: refusal.code(),
        });
    }
    if fault == Fault::LoseReply {
        // What a proxy says when the service behind it did its work and the answer got lost.
        return Err(faulted(StatusCode::GATEWAY_TIMEOUT));
    }
    let Effect { result, state } = answered?;
    Ok(Json(json!({ "result": result, "state": state })))
}

async fn audit_article(app: &Arc<Service>, article_id: i64) -> Result<Effect, Failure> {
    let carried_out = app
        .store
        .carry_out(article_id, Wish::Audit, (app.clock)())
        .await;
    let (article, change) = settle(carried_out)?;
    let result = match (change, article.state) {
        (None, _) => "already_audited",
        (Some(_), ArticleState::AutoAuditFailed) => "auto_audit_failed",
        (Some(_), _) => "audit_success",
    };
    if result == "already_audited" {
        app.tell(Happening::WithoutEffect {
            article_id,
            code: result,
        });
    } else {
        app.tell(Happening::Audited {
            article_id,
            state: article.state,
        });
    }
    Ok(Effect {
        result,
        state: article.state,
    })
}

async fn publish_article(
    app: &Arc<Service>,
    article_id: i64,
    revision: i64,
) -> Result<Effect, Failure> {
    let published = app.store.publish(article_id, revision, (app.clock)()).await;
    let result = match settle(published)? {
        Publication::Now => {
            app.tell(Happening::Published { article_id });
            "published"
        }
        Publication::Before => {
            app.tell(Happening::WithoutEffect {
                article_id,
                code: "already_published",
            });
            "already_published"
        }
    };
    Ok(Effect {
        result,
        state: ArticleState::Published,
    })
}

fn article_id(subject: &str) -> Option<i64> {
    subject.strip_prefix("article:")?.parse().ok()
}

fn faulted(status: StatusCode) -> Failure {
    Failure::Faulted {
        status,
        code: "intended_fault",
        message: "the article service was told to misbehave",
    }
}
