//! Rows of users and their sessions.

use almanack_core::{
    sign_in::{Holder, PasswordHash, Session, User},
    store::Result,
};

use super::{Row, unreadable};

/// Reads the columns of a user listed in `sign_in.rs`.
pub(crate) fn user(row: &Row<'_>) -> Result<User> {
    Ok(User {
        name: row.get(0)?,
        password: PasswordHash(row.get(1)?),
        scope: row.get(2)?,
        created_at: row.get(3)?,
        changed_at: row.get(4)?,
    })
}

/// Reads the columns of a session listed in `sign_in.rs`.
pub(crate) fn session(row: &Row<'_>) -> Result<Session> {
    let (kind, holder) = (row.text(1)?, row.get(2)?);
    let holder = match kind.as_str() {
        "token" => Holder::Token(holder),
        "user" => Holder::User(holder),
        _ => return Err(unreadable(format!("holder `{kind}`"))),
    };
    Ok(Session {
        hash: row.get(0)?,
        holder,
        created_at: row.get(3)?,
        expires_at: row.get(4)?,
    })
}

/// The columns a holder is kept in: of which kind, and who.
pub(crate) fn holder_columns(holder: &Holder) -> (&'static str, &str) {
    match holder {
        Holder::Token(hash) => ("token", hash),
        Holder::User(name) => ("user", name),
    }
}
