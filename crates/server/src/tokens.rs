//! Tokens in the API: created, listed and revoked with scope `admin`.
//!
//! A new token is returned once; the store keeps its hash. Names help an attacker to guess, so even
//! listing needs scope `admin`.

use almanack_core::both;
use almanack_core::lang::{Say as _, Words};
use almanack_core::store;
use almanack_core::token::{Scope, Token};
use axum::extract::Path;

use crate::prelude::*;
use crate::{access::Requester, tasks::body::parse_instant, token};

/// A stored token, without its hash.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenView {
    #[schema(example = "article-service")]
    name: String,
    /// `read`, `operate` or `admin`.
    #[schema(example = "operate")]
    scope: &'static str,
    /// Whether it is valid now.
    valid: bool,
    created_at: Timestamp,
    /// Null if it does not expire.
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
}

impl TokenView {
    fn of(token: Token, now: Timestamp) -> Self {
        Self {
            valid: token.is_valid(now),
            name: token.name,
            scope: token.scope.as_str(),
            created_at: token.created_at,
            expires_at: token.expires_at,
            revoked_at: token.revoked_at,
        }
    }
}

/// All tokens, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokensView {
    tokens: Vec<TokenView>,
}

/// A new token. It is shown only once.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewTokenView {
    /// The token itself.
    #[schema(example = "alm_…")]
    token: String,
    about: TokenView,
    /// Whether this is the first token or user: open nodes require authentication from now on.
    first: bool,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenBody {
    /// Its name, shown in the history.
    #[schema(example = "article-service")]
    name: String,
    /// Scope: `work` (for workers, nothing else), `read`, `operate` or `admin`; `operate` and `admin`
    /// include all before them.
    #[schema(example = "operate")]
    scope: String,
    /// Expiry. Default: none.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// List all tokens.
#[utoipa::path(
    get, path = "/api/v1/tokens", tag = "access",
    responses((status = 200, description = "The tokens, by name", body = TokensView)),
)]
pub(crate) async fn list_tokens(
    State(state): App,
    requester: Requester,
) -> Result<Json<TokensView>> {
    requester.must(Scope::Admin, "listing tokens")?;
    let now = state.clock.now();
    let tokens = state.store.load_tokens().await?.into_iter();
    Ok(Json(TokensView {
        tokens: tokens.map(|token| TokenView::of(token, now)).collect(),
    }))
}

/// Create a token. Its name is never reused, so the history stays unambiguous.
#[utoipa::path(
    post, path = "/api/v1/tokens", tag = "access",
    request_body = TokenBody,
    responses((status = 201, description = "The token, shown only once", body = NewTokenView)),
)]
pub(crate) async fn create_token(State(state): App, call: Call) -> Answer {
    call.requester.must(Scope::Admin, "creating a token")?;
    call.refuse_key_because(both!(
        "a name creates at most one token, so this call does not accept an Idempotency-Key",
        "一个名称最多创建一个令牌，因此此调用不接受 Idempotency-Key"
    ))?;
    let body: TokenBody = call.json()?;
    check_name(TOKEN, &body.name)?;
    let (scope, now) = (parse_scope(&body.scope)?, state.clock.now());
    let expires_at = body.expires_at.as_deref();
    let expires_at = expires_at
        .map(|at| parse_instant(at, "expires_at"))
        .transpose()?;
    let fits = expires_at.is_none_or(|at| at > now);
    Problem::unless(fits, "expires_at", || {
        both!(
            "expires_at must be in the future",
            "expires_at 必须是将来的时间"
        )
    })?;
    if state.changes.load_user(&body.name).await?.is_some() {
        let detail = both!(
            "a user is already called `{}`",
            "已有名为 `{}` 的用户",
            body.name
        );
        return Err(Problem::new(Code::NameTaken, detail).at("name"));
    }
    let first = state.changes.load_guarded_since().await?.is_none();
    let secret = token::draw(state.entropy.as_ref());
    let token = token::about(&body.name, &secret, scope, now, expires_at);
    match state.changes.save_token(&token).await {
        Err(store::Error::Taken { .. }) => return Err(taken(&state, &body.name).await?),
        saved => saved?,
    }
    let view = NewTokenView {
        token: secret,
        about: TokenView::of(token, now),
        first,
    };
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// A name in the history identifies one token for ever.
async fn taken(state: &AppState, name: &str) -> Result<Problem> {
    let tokens = state.changes.load_tokens().await?;
    let holder = tokens.iter().find(|token| token.name == name);
    let revoked = holder.is_some_and(|holder| holder.revoked_at.is_some());
    let detail = if revoked {
        both!(
            "token `{name}` was revoked, but names are never reused, so the history stays unambiguous",
            "令牌 `{name}` 已被撤销，但名称不会重复使用，以免历史记录产生歧义"
        )
    } else {
        both!("token `{name}` already exists", "令牌 `{name}` 已经存在")
    };
    Ok(Problem::new(Code::NameTaken, detail).at("name"))
}

/// Revoke a token. Nodes that cached it may accept it for a few more seconds.
#[utoipa::path(
    delete, path = "/api/v1/tokens/{name}", tag = "access",
    params(("name" = String, Path, description = "Name of the token")),
    responses((status = 200, description = "The token after the change", body = TokenView)),
)]
pub(crate) async fn revoke_token(
    State(state): App,
    Path(name): Path<String>,
    call: Call,
) -> Result<Json<TokenView>> {
    call.requester.must(Scope::Admin, "revoking a token")?;
    let now = state.clock.now();
    let none = || {
        let detail = both!(
            "no valid token is called `{name}`",
            "没有名为 `{name}` 的有效令牌"
        );
        Problem::new(Code::NoSuchToken, detail)
    };
    if !state.changes.revoke_token(&name, now).await? {
        return Err(none());
    }
    let tokens = state.changes.load_tokens().await?;
    let token = tokens.into_iter().find(|token| token.name == name);
    Ok(Json(TokenView::of(token.ok_or_else(none)?, now)))
}

pub(crate) const TOKEN: Words = ("token", "令牌");

/// Names of tokens and users follow the same rule, because the history shows both.
pub(crate) fn check_name(what: Words, name: &str) -> Result<()> {
    token::check_name(name).map_err(|invalid| {
        let (whose, whose_zh) = what;
        let whose = both!("a {whose}'s ", "{whose_zh}的");
        Problem::invalid("name", whose.joined(&invalid.both()))
    })
}

pub(crate) fn parse_scope(text: &str) -> Result<Scope> {
    Scope::parse(text).ok_or_else(|| {
        Problem::invalid(
            "scope",
            both!(
                "scope must be work, read, operate or admin",
                "scope 必须是 work、read、operate 或 admin"
            ),
        )
    })
}
