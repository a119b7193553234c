//! Statements about users and their sessions.

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
/// First, that there was a user: access stays guarded. Then sessions: a user without sessions can sign in again, sessions
/// without a user are of no use.
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
