//! The store's side of users and their sessions.

use async_trait::async_trait;

use super::Result;
use crate::sign_in::{Session, User};

/// Users and sessions.
#[async_trait]
pub trait SignInStore: Send + Sync {
    /// Writes a new user; the name must be free.
    async fn save_user(&self, user: &User) -> Result<()>;

    /// Replaces password, scope and `changed_at` of a user; returns whether there is one of this
    /// name.
    async fn change_user(&self, user: &User) -> Result<bool>;

    /// The user of this name.
    async fn load_user(&self, name: &str) -> Result<Option<User>>;

    /// All users, by name.
    async fn load_users(&self) -> Result<Vec<User>>;

    /// Removes a user and their sessions; returns whether there was one.
    async fn remove_user(&self, name: &str) -> Result<bool>;

    /// Writes a new session, and deletes those that ended before it began.
    async fn save_session(&self, session: &Session) -> Result<()>;

    /// The session with this hash, ended or not.
    async fn load_session(&self, hash: &str) -> Result<Option<Session>>;

    /// Ends a session; harmless where there is none.
    async fn remove_session(&self, hash: &str) -> Result<()>;
}
