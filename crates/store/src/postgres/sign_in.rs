//! Users and their sessions on PostgreSQL.

use almanack_core::{
    sign_in::{Session, User},
    store::{Error, Result, SignInStore},
};
use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::PostgresStore;
use crate::{
    row::{self, holder_columns, micros},
    sign_in,
};

#[async_trait]
impl SignInStore for PostgresStore {
    async fn save_user(&self, user: &User) -> Result<()> {
        let parameters: [&(dyn ToSql + Sync); 5] = [
            &user.name,
            &user.password.0,
            &user.scope.as_str(),
            &micros(user.created_at),
            &micros(user.changed_at),
        ];
        match self
            .execute("save user", sign_in::SAVE_USER, &parameters)
            .await?
        {
            1 => Ok(()),
            _ => Err(Error::Taken {
                what: "user",
                name: user.name.clone(),
            }),
        }
    }

    async fn change_user(&self, user: &User) -> Result<bool> {
        let parameters: [&(dyn ToSql + Sync); 4] = [
            &user.password.0,
            &user.scope.as_str(),
            &micros(user.changed_at),
            &user.name,
        ];
        let changed = self
            .execute("change user", sign_in::CHANGE_USER, &parameters)
            .await?;
        Ok(changed == 1)
    }

    async fn load_user(&self, name: &str) -> Result<Option<User>> {
        let rows = self.rows("load user", sign_in::LOAD_USER, &[&name]).await?;
        rows.first().map(row::user).transpose()
    }

    async fn load_users(&self) -> Result<Vec<User>> {
        let rows = self.rows("load users", sign_in::LOAD_USERS, &[]).await?;
        Ok(rows.iter().filter_map(row::shown_user).collect())
    }

    async fn remove_user(&self, name: &str) -> Result<bool> {
        let [guard, sessions, user] = sign_in::REMOVE_USER;
        self.execute("guard access", guard, &[&name]).await?;
        self.execute("end sessions", sessions, &[&name]).await?;
        Ok(self.execute("remove user", user, &[&name]).await? == 1)
    }

    async fn save_session(&self, session: &Session) -> Result<()> {
        let began_at = micros(session.created_at);
        let (kind, holder) = holder_columns(&session.holder);
        let parameters: [&(dyn ToSql + Sync); 5] = [
            &session.hash,
            &kind,
            &holder,
            &began_at,
            &micros(session.expires_at),
        ];
        self.execute("prune sessions", sign_in::PRUNE_SESSIONS, &[&began_at])
            .await?;
        self.execute("save session", sign_in::SAVE_SESSION, &parameters)
            .await
            .map(|_| ())
    }

    async fn load_session(&self, hash: &str) -> Result<Option<Session>> {
        let rows = self
            .rows("load session", sign_in::LOAD_SESSION, &[&hash])
            .await?;
        rows.first().map(row::session).transpose()
    }

    async fn remove_session(&self, hash: &str) -> Result<()> {
        self.execute("remove session", sign_in::REMOVE_SESSION, &[&hash])
            .await
            .map(|_| ())
    }
}
