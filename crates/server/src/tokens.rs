//! Tokens over the API: made, listed and taken back by whoever may do everything.
//!
//! A new token is in the answer to its making, once; the store keeps its hash. Names are half of
//! what it takes to guess, so even looking needs scope `admin`.

use almanack_core::store;
use almanack_core::token::{Scope, Token};
use axum::extract::Path;

use crate::prelude::*;
use crate::{access::Requester, tasks::body::parse_instant, token};

/// A token as the store knows it; its hash stays there.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenView {
    #[schema(example = "article-service")]
    name: String,
    /// `read`, `operate` or `admin`.
    #[schema(example = "operate")]
    scope: &'static str,
    /// Whether it works now.
    valid: bool,
    created_at: Timestamp,
    /// Null if it works until it is revoked.
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

/// A new token. This is the only time that it is shown.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewTokenView {
    /// The token itself.
    #[schema(example = "alm_…")]
    token: String,
    about: TokenView,
    /// Whether there was no token and no user before: nodes that were open ask everybody for one
    /// from now on.
    first: bool,
}

/// What to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenBody {
    /// What to call it; the history shows this name.
    #[schema(example = "article-service")]
    name: String,
    /// What it allows: `read`, `operate` or `admin`; a larger scope includes the smaller ones.
    #[schema(example = "operate")]
    scope: String,
    /// Until when it works; until it is revoked when nobody says otherwise.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
}

/// All tokens.
#[utoipa::path(
    get, path = "/api/v1/tokens", tag = "access",
    responses((status = 200, description = "The tokens, by name", body = TokensView)),
)]
pub(crate) async fn list_tokens(
    State(state): App,
    requester: Requester,
) -> Result<Json<TokensView>> {
    requester.must(Scope::Admin, "looking at tokens")?;
    let now = state.clock.now();
    let tokens = state.store.load_tokens().await?.into_iter();
    Ok(Json(TokensView {
        tokens: tokens.map(|token| TokenView::of(token, now)).collect(),
    }))
}

/// Make a token. Its name stands for it in the history for ever, so each is given once.
#[utoipa::path(
    post, path = "/api/v1/tokens", tag = "access",
    request_body = TokenBody,
    responses((status = 201, description = "The token, shown this once", body = NewTokenView)),
)]
pub(crate) async fn create_token(State(state): App, call: Call) -> Answer {
    call.requester.must(Scope::Admin, "making a token")?;
    call.refuse_key_because("a token is made at most once per name; it takes no Idempotency-Key")?;
    let body: TokenBody = call.json()?;
    check_name("token", &body.name)?;
    let (scope, now) = (parse_scope(&body.scope)?, state.clock.now());
    let expires_at = body.expires_at.as_deref();
    let expires_at = expires_at
        .map(|at| parse_instant(at, "expires_at"))
        .transpose()?;
    if expires_at.is_some_and(|at| at <= now) {
        let detail = "expires_at must be in the future";
        return Err(Problem::new(Code::InvalidValue, detail).at("expires_at"));
    }
    if state.changes.load_user(&body.name).await?.is_some() {
        let detail = format!("a user is called `{}`", body.name);
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

/// A name stands in the history for whoever had it, and so for one token for ever.
async fn taken(state: &AppState, name: &str) -> Result<Problem> {
    let tokens = state.changes.load_tokens().await?;
    let holder = tokens.iter().find(|token| token.name == name);
    let revoked = holder.is_some_and(|holder| holder.revoked_at.is_some());
    let detail = if revoked {
        format!(
            "token `{name}` was revoked, but names are not reused, so that the history stays clear"
        )
    } else {
        format!("token `{name}` already exists")
    };
    Ok(Problem::new(Code::NameTaken, detail).at("name"))
}

/// Take a token back. A node that has just seen it may take it for a few seconds more.
#[utoipa::path(
    delete, path = "/api/v1/tokens/{name}", tag = "access",
    params(("name" = String, Path, description = "What the token is called")),
    responses((status = 200, description = "The token afterwards", body = TokenView)),
)]
pub(crate) async fn revoke_token(
    State(state): App,
    Path(name): Path<String>,
    call: Call,
) -> Result<Json<TokenView>> {
    call.requester.must(Scope::Admin, "taking a token back")?;
    let now = state.clock.now();
    let none = || {
        let detail = format!("no working token is called `{name}`");
        Problem::new(Code::NoSuchToken, detail)
    };
    if !state.changes.revoke_token(&name, now).await? {
        return Err(none());
    }
    let tokens = state.changes.load_tokens().await?;
    let token = tokens.into_iter().find(|token| token.name == name);
    Ok(Json(TokenView::of(token.ok_or_else(none)?, now)))
}

/// Names of tokens and users look alike, because the history shows both in one place.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    token::check_name(name).map_err(|invalid| {
        let detail = format!("a {what}'s {invalid}");
        Problem::new(Code::InvalidValue, detail).at("name")
    })
}

pub(crate) fn parse_scope(text: &str) -> Result<Scope> {
    Scope::parse(text).ok_or_else(|| {
        let detail = "scope must be read, operate or admin";
        Problem::new(Code::InvalidValue, detail).at("scope")
    })
}
