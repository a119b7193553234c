//! Users and their sessions on SQLite.

use almanack_core::{
    sign_in::{Session, User},
    store::{Error, Result, SignInStore},
};
use async_trait::async_trait;
use rusqlite::params;

use crate::{
    row::{self, holder_columns, micros},
    sign_in,
    sqlite::SqliteStore,
};

#[async_trait]
impl SignInStore for SqliteStore {
    async fn save_user(&self, user: &User) -> Result<()> {
        let new = user.clone();
        let saved = self
            .write("save user", move |connection| {
                let mut statement = connection.prepare_cached(sign_in::SAVE_USER)?;
                Ok(statement.execute(params![
                    new.name,
                    new.password.0,
                    new.scope.as_str(),
                    micros(new.created_at),
                    micros(new.changed_at),
                ])?)
            })
            .await?;
        if saved == 1 {
            return Ok(());
        }
        Err(Error::Taken {
            what: "user",
            name: user.name.clone(),
        })
    }

    async fn change_user(&self, user: &User) -> Result<bool> {
        let user = user.clone();
        let changed = self
            .write("change user", move |connection| {
                let mut statement = connection.prepare_cached(sign_in::CHANGE_USER)?;
                Ok(statement.execute(params![
                    user.password.0,
                    user.scope.as_str(),
                    micros(user.changed_at),
                    user.name,
                ])?)
            })
            .await?;
        Ok(changed == 1)
    }

    async fn load_user(&self, name: &str) -> Result<Option<User>> {
        let name = name.to_owned();
        self.read("load user", move |connection| {
            let mut statement = connection.prepare_cached(sign_in::LOAD_USER)?;
            let mut rows = statement.query([&name])?;
            Ok(rows.next()?.map(row::user).transpose()?)
        })
        .await
    }

    async fn load_users(&self) -> Result<Vec<User>> {
        self.read("load users", |connection| {
            let mut statement = connection.prepare_cached(sign_in::LOAD_USERS)?;
            let mut rows = statement.query([])?;
            let mut users = Vec::new();
            while let Some(row) = rows.next()? {
                users.extend(row::shown_user(row));
            }
            Ok(users)
        })
        .await
    }

    async fn remove_user(&self, name: &str) -> Result<bool> {
        let name = name.to_owned();
        self.write("remove user", move |connection| {
            let [guard, sessions, user] = sign_in::REMOVE_USER;
            for before in [guard, sessions] {
                connection.prepare_cached(before)?.execute([&name])?;
            }
            Ok(connection.prepare_cached(user)?.execute([&name])? == 1)
        })
        .await
    }

    async fn save_session(&self, session: &Session) -> Result<()> {
        let new = session.clone();
        self.write("save session", move |connection| {
            let began_at = micros(new.created_at);
            let (kind, holder) = holder_columns(&new.holder);
            connection
                .prepare_cached(sign_in::PRUNE_SESSIONS)?
                .execute([began_at])?;
            connection
                .prepare_cached(sign_in::SAVE_SESSION)?
                .execute(params![
                    new.hash,
                    kind,
                    holder,
                    began_at,
                    micros(new.expires_at)
                ])?;
            Ok(())
        })
        .await
    }

    async fn load_session(&self, hash: &str) -> Result<Option<Session>> {
        let hash = hash.to_owned();
        self.read("load session", move |connection| {
            let mut statement = connection.prepare_cached(sign_in::LOAD_SESSION)?;
            let mut rows = statement.query([&hash])?;
            Ok(rows.next()?.map(row::session).transpose()?)
        })
        .await
    }

    async fn remove_session(&self, hash: &str) -> Result<()> {
        let hash = hash.to_owned();
        self.write("remove session", move |connection| {
            connection
                .prepare_cached(sign_in::REMOVE_SESSION)?
                .execute([&hash])?;
            Ok(())
        })
        .await
    }
}
