//! Users in the API, managed with scope `admin`: they sign in to the dashboard with name and
//! password.

use almanack_core::sign_in::password::{Error, Salt, check_new};
use almanack_core::sign_in::{PasswordHash, User};
use almanack_core::{both, lang::Say};
use almanack_core::{store, token::Scope};
use axum::extract::Path;

use crate::access::Requester;
use crate::prelude::*;
use crate::tokens::{check_name, parse_scope};

/// A stored user, without the password hash.
#[derive(Serialize, ToSchema)]
pub(crate) struct UserView {
    #[schema(example = "ada")]
    name: String,
    /// `read`, `operate` or `admin`.
    #[schema(example = "operate")]
    scope: &'static str,
    created_at: Timestamp,
    /// When the password was set.
    changed_at: Timestamp,
    /// Whether this is the first token or user: open nodes require authentication from now on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    first: bool,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            name: user.name,
            scope: user.scope.as_str(),
            created_at: user.created_at,
            changed_at: user.changed_at,
            first: false,
        }
    }
}

/// All users, by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct UsersView {
    users: Vec<UserView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserBody {
    /// Their name, shown in the history.
    #[schema(example = "ada")]
    name: String,
    /// Scope: `read`, `operate` or `admin`.
    #[schema(example = "operate")]
    scope: String,
    /// Password, at least ten characters.
    password: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordBody {
    /// Password, at least ten characters.
    password: String,
}

/// List all users.
#[utoipa::path(
    get, path = "/api/v1/users", tag = "access",
    responses((status = 200, description = "The users, by name", body = UsersView)),
)]
pub(crate) async fn list_users(State(state): App, requester: Requester) -> Result<Json<UsersView>> {
    requester.must(Scope::Admin, "listing users")?;
    let users = state.store.load_users().await?.into_iter();
    Ok(Json(UsersView {
        users: users.map(UserView::from).collect(),
    }))
}

/// Create a user who signs in to the dashboard with name and password.
#[utoipa::path(
    post, path = "/api/v1/users", tag = "access",
    request_body = UserBody,
    responses((status = 201, description = "The user", body = UserView)),
)]
pub(crate) async fn create_user(State(state): App, call: Call) -> Answer {
    call.requester.must(Scope::Admin, "creating a user")?;
    let body: UserBody = call.json()?;
    check_name(("user", "用户"), &body.name)?;
    let scope = parse_scope(&body.scope)?;
    Problem::unless(scope != Scope::Work, "scope", || {
        both!(
            "scope `work` is for the tokens of workers; a user has read, operate or admin",
            "`work` 权限用于工作者的令牌；用户的权限为 read、operate 或 admin"
        )
    })?;
    let tokens = state.changes.load_tokens().await?;
    // The history shows only a name, so it must identify one requester.
    if tokens.iter().any(|token| token.name == body.name) {
        let detail = both!(
            "a token is already called `{}`",
            "已有名为 `{}` 的令牌",
            body.name
        );
        return Err(Problem::new(Code::NameTaken, detail).at("name"));
    }
    let (first, now) = (
        state.changes.load_guarded_since().await?.is_none(),
        state.clock.now(),
    );
    let user = User {
        password: hash(&state, &body.password).await?,
        name: body.name,
        scope,
        created_at: now,
        changed_at: now,
    };
    match state.changes.save_user(&user).await {
        Err(store::Error::Taken { .. }) => {
            let detail = both!("user `{}` already exists", "用户 `{}` 已经存在", user.name);
            return Err(Problem::new(Code::NameTaken, detail).at("name"));
        }
        saved => saved?,
    }
    let view = UserView {
        first,
        ..user.into()
    };
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// Set a user's password, which signs them out everywhere.
#[utoipa::path(
    put, path = "/api/v1/users/{name}/password", tag = "access",
    params(("name" = String, Path, description = "Name of the user")),
    request_body = PasswordBody,
    responses((status = 200, description = "The user", body = UserView)),
)]
pub(crate) async fn set_password(
    State(state): App,
    Path(name): Path<String>,
    call: Call,
) -> Result<Json<UserView>> {
    call.requester.must(Scope::Admin, "setting a password")?;
    let body: PasswordBody = call.json()?;
    let user = state.changes.load_user(&name).await?;
    let mut user = user.ok_or_else(|| no_such_user(&name))?;
    user.password = hash(&state, &body.password).await?;
    user.changed_at = state.clock.now();
    if !state.changes.change_user(&user).await? {
        return Err(no_such_user(&name));
    }
    Ok(Json(user.into()))
}

/// Remove a user, and sign them out everywhere.
#[utoipa::path(
    delete, path = "/api/v1/users/{name}", tag = "access",
    params(("name" = String, Path, description = "Name of the user")),
    responses((status = 204, description = "Removed")),
)]
pub(crate) async fn remove_user(
    State(state): App,
    Path(name): Path<String>,
    call: Call,
) -> Result<StatusCode> {
    call.requester.must(Scope::Admin, "removing a user")?;
    if state.changes.remove_user(&name).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(no_such_user(&name))
    }
}

fn no_such_user(name: &str) -> Problem {
    Problem::new(
        Code::NoSuchUser,
        both!("no user is called `{name}`", "没有名为 `{name}` 的用户"),
    )
}

async fn hash(state: &AppState, password: &str) -> Result<PasswordHash> {
    check_new(password).map_err(|unfit| Problem::invalid("password", unfit.both()))?;
    let halves = std::array::from_fn::<_, 2, _>(|_| state.entropy.next_u64().to_le_bytes());
    let mut salt = Salt::default();
    salt.copy_from_slice(halves.as_flattened());
    let hashed = state.passwords.hash(password, salt).await;
    hashed.map_err(|error| match error {
        Error::Busy => Problem::new(
            Code::Busy,
            both!(
                "too many passwords are being checked; try again in a moment",
                "正在检查的密码过多；请稍后重试"
            ),
        ),
        Error::Unreadable | Error::Failed { .. } => {
            tracing::error!(error = %error, "could not hash a password");
            Problem::new(
                Code::Internal,
                both!(
                    "could not store the password; see the log of this node",
                    "无法保存密码；请查看本节点的日志"
                ),
            )
        }
    })
}
