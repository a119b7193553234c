//! Authentication and authorisation: who may call what.
//!
//! Reading needs scope `read`, changing needs `operate`; the method decides which, except for long
//! queries sent as a POST. Workers need `work`, which allows nothing else. Only the liveness checks and the API description are public. A tick may
//! carry a signature instead of a token (`tick`).
//!
//! Tokens are looked up by their SHA-256 and cached for [`REMEMBERED_FOR`], so a node that has just
//! seen a token accepts it for at most that long after its revocation. The same holds for browser
//! sessions. Pages accept a token or a session; so does the API, but a session only from our own pages
//! (`on_own_page`).
//!
//! Until the first token or user exists, a node on loopback is open ([`Access::Open`]): every local
//! client may operate it. The store records permanently that there was one (`guard`), so nothing
//! that expires, is revoked or removed opens a node again (SF-03). While a node is open, the
//! browser is the danger: any web page can send requests to `localhost`. The `Host` must then be
//! this machine's, which stops DNS rebinding, and a change must not come from a page of another
//! origin. A proxy makes the whole world local, so proxied requests are never open. A token that is
//! sent is always checked, even on an open node: the client finds out early that it is wrong.

pub(crate) mod client;
mod guard;
mod memory;
pub(crate) mod origin;
pub(crate) mod session;

use almanack_core::{both, lang::Sentence};
use std::sync::Mutex;

use almanack_core::sign_in::tries::Tries;
use almanack_core::token::{Scope, TOKEN_PREFIX, Token};
use axum::extract::{FromRequestParts, Request};
use axum::{http::Method, http::request::Parts, middleware::Next};
use sha2::{Digest, Sha256};

use self::origin::{Words, check_direct, check_host, check_origin};
use self::{guard::Guard, memory::Memory, session::Held};
use crate::prelude::*;
use crate::token;

/// How long a token or session from the store is trusted without another lookup.
pub const REMEMBERED_FOR: SignedDuration = SignedDuration::from_secs(5);

const ONLY_LOOPBACK: Words = (
    "this node has no token and no user yet, and so answers on this machine only, as localhost; `almanack token create` or `almanack user create` makes one",
    "本节点还没有令牌和用户，因此只在本机以 localhost 应答；请用 `almanack token create` 或 `almanack user create` 创建",
);
const ONLY_ALLOWED: Words = (
    "pages answer only to localhost and to the hosts in server.allowed_hosts",
    "页面只对 localhost 和 server.allowed_hosts 中的主机应答",
);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Every client on this machine, until the first token or user exists. Loopback only.
    Open,
    /// Clients with a valid token; for pages, also signed-in users.
    Tokens,
    /// The operator of this process, inside it: with access to the database they may do everything.
    /// The history shows them by this origin. Never used behind a socket.
    Local(String),
}

/// The requester, as far as the history should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requester {
    name: String,
    scope: Scope,
    /// Prefix of the name in the history.
    way: &'static str,
}

/// Prefix of the names of HTTP clients in the history.
const OVER_HTTP: &str = "api:";

impl Requester {
    /// A client without a token that is known otherwise.
    pub(crate) fn known_as(name: &str) -> Self {
        Self::recognised(name.to_owned(), Scope::Operate)
    }

    /// A client with a token or a session.
    fn recognised(name: String, scope: Scope) -> Self {
        let way = OVER_HTTP;
        Self { name, scope, way }
    }

    /// The operator of this process; their name is the whole origin.
    fn local(origin: &str) -> Self {
        let way = "";
        Self {
            way,
            ..Self::recognised(origin.to_owned(), Scope::Admin)
        }
    }

    /// The name of the token or the user, or `anonymous`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// Refuses a requester with less than this scope; without a token the scope is `operate`.
    pub(crate) fn must(&self, needed: Scope, what: &str) -> Result<()> {
        self.check(needed, || {
            both!(
                "{what} needs a token of scope `{needed}`",
                "此操作需要权限为 `{needed}` 的令牌"
            )
        })
    }

    /// Refuses if the scope of the credential is too small.
    fn allowed(&self, needed: Scope, shown: &str) -> Result<()> {
        let Self { name, scope, .. } = self;
        self.check(needed, || {
            both!(
                "{shown} `{name}` has scope `{scope}`; this needs `{needed}`",
                "`{name}` 的权限为 `{scope}`；此操作需要 `{needed}`"
            )
        })
    }

    fn check(&self, needed: Scope, detail: impl FnOnce() -> Sentence) -> Result<()> {
        if self.scope.allows(needed) {
            return Ok(());
        }
        Err(Problem::new(Code::ScopeTooSmall, detail()).needs(needed))
    }

    pub(crate) fn origin(&self) -> String {
        format!("{}{}", self.way, self.name)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Requester {
    type Rejection = Problem;

    /// Refuses if authentication was skipped: a route registered outside it must not change things.
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let requester = parts.extensions.get::<Self>().cloned();
        requester.ok_or_else(|| {
            Problem::new(
                Code::Internal,
                both!("this path is not guarded", "此路径没有身份验证"),
            )
        })
    }
}

/// An authenticated browser.
pub(crate) struct Visit {
    pub(crate) requester: Requester,
    /// The key that its forms must send back.
    pub(crate) form_key: String,
    /// Whether there is a session to end.
    pub(crate) signed_in: bool,
}

/// The state of the authentication layer.
pub(crate) struct Authentication {
    state: Arc<AppState>,
    /// A key of this process, for forms of clients without a session.
    secret: [u64; 4],
    guard: Guard,
    tokens: Memory<Token>,
    sessions: Memory<Held>,
    /// Sign-in attempts on this node.
    pub(crate) tries: Mutex<Tries>,
}

impl Authentication {
    pub(crate) fn new(state: Arc<AppState>) -> Arc<Self> {
        let secret = std::array::from_fn(|_| state.entropy.next_u64());
        Arc::new(Self {
            state,
            secret,
            guard: Guard::default(),
            tokens: Memory::default(),
            sessions: Memory::default(),
            tries: Mutex::default(),
        })
    }

    pub(crate) fn state(&self) -> &AppState {
        &self.state
    }

    pub(crate) fn shared(&self) -> Arc<AppState> {
        Arc::clone(&self.state)
    }

    pub(crate) async fn admit(&self, request: &Parts, needed: Scope) -> Result<Requester> {
        if let Access::Local(origin) = &self.state.access {
            return Ok(Requester::local(origin));
        }
        if self.is_open().await? {
            check_host(request, &[], ONLY_LOOPBACK)?;
            check_direct(request)?;
            check_origin(request)?;
            if !request.headers.contains_key(header::AUTHORIZATION) {
                return Ok(Requester::known_as("anonymous"));
            }
        }
        if let Some(requester) = self.on_own_page(request).await? {
            requester.allowed(needed, "session of")?;
            return Ok(requester);
        }
        let Token { name, scope, .. } = self.token(&request.headers).await?;
        let requester = Requester::recognised(name, scope);
        requester.allowed(needed, "token")?;
        Ok(requester)
    }

    /// The user of a session, if the browser itself says that one of our own pages sends the
    /// request: the API reference tries calls. A page cannot write that header, and what does not
    /// send it, such as an old browser, needs a token as ever.
    async fn on_own_page(&self, request: &Parts) -> Result<Option<Requester>> {
        let site = request.headers.get("sec-fetch-site");
        if site.is_none_or(|site| site != "same-origin")
            || request.headers.contains_key(header::AUTHORIZATION)
        {
            return Ok(None);
        }
        self.check_page_host(request).await?;
        check_origin(request)?;
        let held = self.signed_in(&request.headers).await?;
        Ok(held.map(|(requester, _)| requester))
    }

    /// Authenticates a browser. A browser attaches its cookie whichever page sends the request, so
    /// a change must come from our own pages, even where a token is required.
    pub(crate) async fn admit_browser(&self, request: &Parts, needed: Scope) -> Result<Visit> {
        self.check_page_host(request).await?;
        check_origin(request)?;
        if !request.headers.contains_key(header::AUTHORIZATION)
            && let Some((requester, form_key)) = self.signed_in(&request.headers).await?
        {
            requester.allowed(needed, "session of")?;
            return Ok(Visit {
                requester,
                form_key,
                signed_in: true,
            });
        }
        let requester = self.admit(request, needed).await?;
        Ok(Visit {
            form_key: self.form_key(&requester),
            requester,
            signed_in: false,
        })
    }

    /// A page shows more than an API answer and is opened by a cookie, so requests for a foreign
    /// host name are refused, even where a token is required.
    async fn check_page_host(&self, request: &Parts) -> Result<()> {
        if self.is_open().await? {
            return check_host(request, &[], ONLY_LOOPBACK);
        }
        match &*self.state.page_hosts {
            [] => Ok(()),
            hosts => check_host(request, hosts, ONLY_ALLOWED),
        }
    }

    /// Whether no authentication is required.
    async fn is_open(&self) -> Result<bool> {
        match self.state.access {
            Access::Tokens | Access::Local(_) => Ok(false),
            Access::Open => Ok(!self.guard.is_on(&self.state).await?),
        }
    }

    /// The form key for clients without a session, derived from this process and their identity.
    fn form_key(&self, requester: &Requester) -> String {
        let mut digest = Sha256::new();
        for part in self.secret {
            digest.update(part.to_le_bytes());
        }
        digest.update(requester.name());
        format!("{:x}", digest.finalize())
    }

    async fn token(&self, headers: &HeaderMap) -> Result<Token> {
        let hash = shown_token(headers).map(token::hash);
        let hash = hash.ok_or_else(|| {
            let detail = both!("send a token: `Authorization: Bearer alm_…`; create one with `almanack token create`", "请发送令牌：`Authorization: Bearer alm_…`；可用 `almanack token create` 创建");
            Problem::new(Code::Unauthenticated, detail)
        })?;
        let now = self.state.clock.now();
        let load = async { Ok(self.state.changes.load_token(&hash).await?) };
        let token = self.tokens.recall_or(&hash, now, load).await?;
        token.filter(|token| token.is_valid(now)).ok_or_else(|| {
            Problem::new(
                Code::Unauthenticated,
                both!(
                    "the token is unknown, revoked or expired",
                    "令牌未知、已撤销或已过期"
                ),
            )
        })
    }
}

/// Whether an answer of the store from `then` still counts. A clock that was set back must not
/// extend that.
fn is_fresh(then: Timestamp, now: Timestamp) -> bool {
    (SignedDuration::ZERO..REMEMBERED_FOR).contains(&now.duration_since(then))
}

/// Lets a request through with its [`Requester`], or refuses it.
pub(crate) async fn guard(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Answer {
    let needed = needed_scope(request.method());
    let_through(&authentication, needed, request, next).await
}

/// [`guard`] for routes where even a POST only reads.
pub(crate) async fn guard_looking(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Answer {
    let_through(&authentication, Scope::Read, request, next).await
}

/// [`guard`] for what workers do.
pub(crate) async fn guard_working(
    State(authentication): State<Arc<Authentication>>,
    request: Request,
    next: Next,
) -> Answer {
    let_through(&authentication, Scope::Work, request, next).await
}

pub(crate) async fn let_through(
    authentication: &Authentication,
    needed: Scope,
    request: Request,
    next: Next,
) -> Answer {
    let (mut parts, body) = request.into_parts();
    let requester = authentication.admit(&parts, needed).await?;
    parts.extensions.insert(requester);
    Ok(next.run(Request::from_parts(parts, body)).await)
}

pub(crate) fn needed_scope(method: &Method) -> Scope {
    if method.is_safe() {
        Scope::Read
    } else {
        Scope::Operate
    }
}

fn shown_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && token.starts_with(TOKEN_PREFIX)).then_some(token)
}
