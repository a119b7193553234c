//! `POST /tick`: something outside says when.
//!
//! A cron trigger somewhere holds no token that could do more than tick: it signs, as Standard Webhooks
//! says, with a secret that is good for nothing else. A signed call names itself, and while
//! it runs and after it succeeded this process refuses the same name ([`ticks`]). That spares passes; it
//! is no promise: another node or a restarted one does not know the name, and makes a second pass while
//! the timestamp is fresh. A second pass does no harm, because the store lets every slot fire once.
//! Whoever shows no signature needs a token with scope `operate`, as for any change.

mod ticks;

use std::{collections::BTreeMap, time::Duration};

use almanack_core::{signature::Seal, token::Scope};
use almanack_engine::tick::Ticked;
use axum::body::{Body, to_bytes};
use axum::{Extension, extract::Request, middleware::Next};

use crate::access::{Authentication, Requester, let_through};
use crate::prelude::*;

pub(crate) use self::ticks::Ticks;

/// How long a tick may take when nobody says otherwise.
const BUDGET_DEFAULT_MS: u64 = 20_000;
/// The longest a tick may be told to take.
const BUDGET_MAX_MS: u64 = 300_000;
/// The budget bounds a tick; this bounds what happens before and after it.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(330);
/// Largest signed body. It is read before anybody knows who sent it.
const SIGNED_BODY_BYTES_MAX: usize = 16 * 1024;

/// The name a signed call gave itself.
#[derive(Debug, Clone)]
pub(crate) struct SignedId(String);

/// How long the pass may take.
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TickBody {
    /// In milliseconds, 1 to 300,000; 20,000 when nobody says otherwise.
    #[schema(minimum = 1, maximum = 300_000)]
    budget_ms: Option<u64>,
}

/// What a tick did.
#[derive(Serialize, ToSchema)]
pub(crate) struct TickedView {
    /// When it began.
    ticked_at: Timestamp,
    /// Slots that fired.
    fired: u64,
    /// Slots that were skipped, each with its reason in the ledger.
    skipped: u64,
    /// Attempts that ended on this node meanwhile, by outcome.
    attempts: BTreeMap<&'static str, u64>,
    /// Whether everything due was done; otherwise the budget was spent, and the rest is still due.
    complete: bool,
    /// When something is due next; null when nothing waits.
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

/// Make one pass of everything that is due.
///
/// For a cron trigger that drives Almanack from outside. Takes a token, or a signature
/// (`webhook-id`, `webhook-timestamp`, `webhook-signature`) by the secret under `[tick]`.
#[utoipa::path(
    post, path = "/tick", tag = "tick",
    params(
        ("webhook-id" = Option<String>, Header, description = "Names a signed call; it is carried out once"),
        ("webhook-timestamp" = Option<String>, Header, description = "Seconds since 1970; at most five minutes away"),
        ("webhook-signature" = Option<String>, Header, description = "`v1,` and base64; several are separated by spaces"),
    ),
    request_body = TickBody,
    responses((status = 200, description = "What was done", body = TickedView)),
    security(("token" = ["operate"]), ("signature" = [])),
)]
pub(crate) async fn post_tick(
    State(state): App,
    Extension(ticks): Extension<Arc<Ticks>>,
    signed: Option<Extension<SignedId>>,
    call: Call,
) -> Result<Json<TickedView>> {
    let ticker = state.tick.ticker.as_ref().ok_or_else(|| {
        let detail = "this process only answers; tick a node that works";
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
    if !(1..=BUDGET_MAX_MS).contains(&budget_ms) {
        let detail = format!("budget_ms must be 1 to {BUDGET_MAX_MS}, not {budget_ms}");
        return Err(Problem::new(Code::InvalidValue, detail).at("budget_ms"));
    }
    let budget = Duration::from_millis(budget_ms);
    Ok(SignedDuration::try_from(budget).unwrap_or(SignedDuration::ZERO))
}

/// Lets a tick through: by its signature if it shows one, by its token otherwise. A signature that is
/// shown counts even where none is needed, as tokens do.
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
        let detail = format!("a signed body has at most {SIGNED_BODY_BYTES_MAX} bytes");
        Problem::new(Code::BodyTooLarge, detail)
    })?;
    let id = check(authentication.state(), &parts.headers, &body)?;
    parts.extensions.insert(SignedId(id));
    parts.extensions.insert(Requester::known_as("tick"));
    Ok(next.run(Request::from_parts(parts, Body::from(body))).await)
}

/// The id of a call that is genuine and recent.
fn check(state: &AppState, headers: &HeaderMap, body: &[u8]) -> Result<String> {
    let refuse = |detail: String| Problem::new(Code::BadSignature, detail);
    let verifier = state.tick.verifier.get();
    let verifier = verifier.as_deref().ok_or_else(|| {
        refuse("this node knows no secret under [tick], so it can check no signature".to_owned())
    })?;
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let value = |name: &str| value(name).unwrap_or_default();
    let seal = Seal::read(
        value("webhook-id"),
        value("webhook-timestamp"),
        value("webhook-signature"),
    );
    let seal = seal.map_err(|refused| refuse(refused.to_string()))?;
    seal.check(verifier, body, state.clock.now())
        .map_err(|refused| refuse(refused.to_string()))?;
    Ok(seal.id().to_owned())
}
