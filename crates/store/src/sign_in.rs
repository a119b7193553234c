//! Statements about users and their sessions.

use almanack_core::{
    sign_in::{Session, User},
    store::{Result, SignInStore},
};
use async_trait::async_trait;

use crate::{
    database::{Access::Transaction, Database, SqlStore},
    register::taken_unless,
    row::{self, holder_columns, values},
};

/// What [`crate::row::user`] reads.
macro_rules! user_columns {
    () => {
        "name, password, scope, created_at_us, changed_at_us"
    };
}
/// What [`crate::row::session`] reads.
macro_rules! session_columns {
    () => {
        "hash, holder_kind, holder, created_at_us, expires_at_us"
    };
}

pub(crate) const SAVE_USER: &str = concat!(
    "insert into user_account (",
    user_columns!(),
    ") values ($1, $2, $3, $4, $5) on conflict (name) do nothing"
);
pub(crate) const CHANGE_USER: &str =
    "update user_account set password = $1, scope = $2, changed_at_us = $3 where name = $4";
pub(crate) const LOAD_USER: &str = concat!(
    "select ",
    user_columns!(),
    " from user_account where name = $1"
);
pub(crate) const LOAD_USERS: &str = concat!(
    "select ",
    user_columns!(),
    " from user_account order by name"
);
/// First, that there was a user: access stays guarded. Then sessions: a user without sessions can
/// sign in again, sessions without a user are of no use.
pub(crate) const REMOVE_USER: [&str; 3] = [
    "insert into access_guard (id, since_us) \
     select 1, created_at_us from user_account where name = $1 on conflict (id) do nothing",
    "delete from session where holder_kind = 'user' and holder = $1",
    "delete from user_account where name = $1",
];

/// Tokens are never deleted, so any of them will do, and any user.
pub(crate) const LOAD_GUARDED_SINCE: &str = "select min(since_us) from ( \
     select since_us from access_guard union all select created_at_us from token \
     union all select created_at_us from user_account) guards";

pub(crate) const SAVE_SESSION: &str = concat!(
    "insert into session (",
    session_columns!(),
    ") values ($1, $2, $3, $4, $5)"
);
pub(crate) const PRUNE_SESSIONS: &str = "delete from session where expires_at_us <= $1";
pub(crate) const LOAD_SESSION: &str = concat!(
    "select ",
    session_columns!(),
    " from session where hash = $1"
);
pub(crate) const REMOVE_SESSION: &str = "delete from session where hash = $1";

#[async_trait]
impl<D: Database> SignInStore for SqlStore<D> {
    async fn save_user(&self, user: &User) -> Result<()> {
        let values = values![
            &user.name,
            &user.password.0,
            user.scope.as_str(),
            user.created_at,
            user.changed_at,
        ];
        let saved = self.execute("save user", SAVE_USER, values).await?;
        taken_unless(saved == 1, "user", &user.name)
    }

    async fn change_user(&self, user: &User) -> Result<bool> {
        let values = values![
            &user.password.0,
            user.scope.as_str(),
            user.changed_at,
            &user.name,
        ];
        Ok(self.execute("change user", CHANGE_USER, values).await? == 1)
    }

    async fn load_user(&self, name: &str) -> Result<Option<User>> {
        self.one("load user", LOAD_USER, values![name], row::user)
            .await
    }

    async fn load_users(&self) -> Result<Vec<User>> {
        self.listed("load users", LOAD_USERS, values![], row::USERS)
            .await
    }

    async fn remove_user(&self, name: &str) -> Result<bool> {
        let removed = self.ask(
            Transaction,
            "remove user",
            name.to_owned(),
            |session, name| {
                Box::pin(async move {
                    let mut removed = 0;
                    for text in REMOVE_USER {
                        removed = session.execute(text, &[name.into()]).await?;
                    }
                    Ok(removed)
                })
            },
        );
        Ok(removed.await? == 1)
    }

    async fn save_session(&self, session: &Session) -> Result<()> {
        let began_at = values![session.created_at];
        self.execute("prune sessions", PRUNE_SESSIONS, began_at)
            .await?;
        let (kind, holder) = holder_columns(&session.holder);
        let values = values![
            &session.hash,
            kind,
            holder,
            session.created_at,
            session.expires_at,
        ];
        self.execute("save session", SAVE_SESSION, values)
            .await
            .map(drop)
    }

    async fn load_session(&self, hash: &str) -> Result<Option<Session>> {
        self.one("load session", LOAD_SESSION, values![hash], row::session)
            .await
    }

    async fn remove_session(&self, hash: &str) -> Result<()> {
        self.execute("remove session", REMOVE_SESSION, values![hash])
            .await
            .map(drop)
    }
}
