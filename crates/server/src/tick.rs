//! `POST /tick`: an external trigger starts a pass.
//!
//! A cron trigger needs no token that could do more than tick: it signs its call (Standard
//! Webhooks) with a secret that is good for nothing else. A signed call has an id; while it runs
//! and after it succeeded, this process refuses the same id ([`ticks`]). That saves passes but is
//! no guarantee: another or a restarted node does not know the id, and runs a second pass while the
//! timestamp is fresh. A second pass is harmless, because the store lets every slot fire once. A
//! call without a signature needs a token with scope `operate`, as for any change.

mod ticks;

use almanack_core::{
    both,
    lang::{Say, Sentence},
};
use std::{collections::BTreeMap, time::Duration};

use almanack_core::{signature::Seal, token::Scope};
use almanack_engine::tick::Ticked;
use axum::body::{Body, to_bytes};
use axum::{Extension, extract::Request, middleware::Next};

use crate::access::{Authentication, Requester, let_through};
use crate::prelude::*;

pub(crate) use self::ticks::Ticks;

/// Default budget of a tick.
const BUDGET_DEFAULT_MS: u64 = 20_000;
/// Largest budget of a tick.
const BUDGET_MAX_MS: u64 = 300_000;
/// The budget bounds a tick; this bounds what happens before and after it.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(330);
/// Largest signed body. It is read before the sender is authenticated.
const SIGNED_BODY_BYTES_MAX: usize = 16 * 1024;

/// The id of a signed call.
#[derive(Debug, Clone)]
pub(crate) struct SignedId(String);

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TickBody {
    /// Time budget in milliseconds, 1 to 300,000. Default: 20,000.
    #[schema(minimum = 1, maximum = 300_000)]
    budget_ms: Option<u64>,
}

/// Result of a tick.
#[derive(Serialize, ToSchema)]
pub(crate) struct TickedView {
    /// When it started.
    ticked_at: Timestamp,
    /// Slots that fired.
    fired: u64,
    /// Slots that were skipped, each with its reason in the ledger.
    skipped: u64,
    /// Attempts that ended on this node meanwhile, by outcome.
    attempts: BTreeMap<&'static str, u64>,
    /// Whether everything due was done; otherwise the budget was spent and the rest is still due.
    complete: bool,
    /// When something is due next; null if nothing is waiting.
    next_due_at: Option<Timestamp>,
}

impl From<Ticked> for TickedView {
    fn from(ticked: Ticked) -> Self {
        Self {
            ticked_at: ticked.ticked_at,
            fired: ticked.fired,
            skipped: ticked.skipped,
            attempts: ticked.attempts,
            complete: ticked.complete,
            next_due_at: ticked.next_due_at,
        }
    }
}

/// Run one pass of everything that is due.
///
/// For an external cron trigger. Needs a token, or a signature (`webhook-id`, `webhook-timestamp`,
/// `webhook-signature`) with the secret under `[tick]`.
#[utoipa::path(
    post, path = "/tick", tag = "tick",
    params(
        ("webhook-id" = Option<String>, Header, description = "Id of a signed call; it runs once"),
        ("webhook-timestamp" = Option<String>, Header, description = "Seconds since 1970; within five minutes of now"),
        ("webhook-signature" = Option<String>, Header, description = "`v1,` and base64; separate several with spaces"),
    ),
    request_body = TickBody,
    responses((status = 200, description = "The result", body = TickedView)),
    security(("token" = ["operate"]), ("signature" = [])),
)]
pub(crate) async fn post_tick(
    State(state): App,
    Extension(ticks): Extension<Arc<Ticks>>,
    signed: Option<Extension<SignedId>>,
    call: Call,
) -> Result<Json<TickedView>> {
    let ticker = state.tick.ticker.as_ref().ok_or_else(|| {
        let detail = both!(
            "this process only serves the API; tick a worker node",
            "此进程只提供 API；请向工作节点发送 tick"
        );
        Problem::new(Code::NoSuchPath, detail)
    })?;
    let budget = budget(&call)?;
    let id = signed.map(|Extension(SignedId(id))| id);
    let leave = ticks.begin(id, state.clock.now())?;
    let done = ticker.tick(budget).await?;
    leave.keep();
    Ok(Json(done.into()))
}

fn budget(call: &Call) -> Result<SignedDuration> {
    let body: TickBody = call.json_or_default()?;
    let budget_ms = body.budget_ms.unwrap_or(BUDGET_DEFAULT_MS);
    let fits = (1..=BUDGET_MAX_MS).contains(&budget_ms);
    let detail = || {
        both!(
            "budget_ms must be 1 to {BUDGET_MAX_MS}, not {budget_ms}",
            "budget_ms 必须为 1 到 {BUDGET_MAX_MS}，不能是 {budget_ms}"
        )
    };
    Problem::unless(fits, "budget_ms", detail)?;
    let budget = Duration::from_millis(budget_ms);
    Ok(SignedDuration::try_from(budget).unwrap_or(SignedDuration::ZERO))
}

/// Authenticates a tick: by its signature if it has one, otherwise by its token. A signature that
/// is sent is checked even where none is needed, as tokens are.
pub(crate) async fn guard(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Answer {
    let signed = request.headers().contains_key("webhook-signature");
    if !signed {
        return let_through(&authentication, Scope::Operate, request, next).await;
    }
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, SIGNED_BODY_BYTES_MAX).await.map_err(|_| {
        let detail = both!(
            "a signed body must have at most {SIGNED_BODY_BYTES_MAX} bytes",
            "签名的请求体最多 {SIGNED_BODY_BYTES_MAX} 字节"
        );
        Problem::new(Code::BodyTooLarge, detail)
    })?;
    let id = check(authentication.state(), &parts.headers, &body)?;
    parts.extensions.insert(SignedId(id));
    parts.extensions.insert(Requester::known_as("tick"));
    Ok(next.run(Request::from_parts(parts, Body::from(body))).await)
}

/// The id of a genuine and recent call.
fn check(state: &AppState, headers: &HeaderMap, body: &[u8]) -> Result<String> {
    let refuse = |detail: Sentence| Problem::new(Code::BadSignature, detail);
    let verifier = state.tick.verifier.get();
    let verifier = verifier.as_deref().ok_or_else(|| {
        refuse(both!(
            "no secret is configured under [tick], so signatures cannot be checked",
            "[tick] 下没有配置密钥，因此无法验证签名"
        ))
    })?;
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let value = |name: &str| value(name).unwrap_or_default();
    let seal = Seal::read(
        value("webhook-id"),
        value("webhook-timestamp"),
        value("webhook-signature"),
    );
    let seal = seal.map_err(|refused| refuse(refused.both()))?;
    seal.check(verifier, body, state.clock.now())
        .map_err(|refused| refuse(refused.both()))?;
    Ok(seal.id().to_owned())
}
