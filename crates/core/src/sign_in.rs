//! People who sign in: who they are, and how a browser is recognised afterwards.
//!
//! A user is a name with a password. The store keeps what the password is recognised by (a salted,
//! slow hash in the PHC text form, made and checked by the adapter that has the library), never the
//! password. Signing in, by password or by token, opens a *session*: 256 random bits in a cookie,
//! known here by their SHA-256 like a token.
//!
//! A session allows what its holder allows at the time of asking, not at the time of signing in: a
//! token that is revoked, a user who is removed and a password that is changed end their sessions.

pub mod password;
pub mod tries;

use jiff::{SignedDuration, Timestamp};

use crate::token::{Scope, Token};

/// How long a session lasts. A week: long enough not to be a nuisance, short enough that a
/// forgotten browser closes.
pub const SESSION_LASTS: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Shortest password. Length is what makes one hard to guess; rules about characters make people
/// write them down.
pub const PASSWORD_CHARS_MIN: usize = 10;
/// Longest password, in bytes: hashing costs what its text is long.
pub const PASSWORD_BYTES_MAX: usize = 1_000;

/// A user with a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name; the history shows it as the requester; unique.
    pub name: String,
    /// What the password is recognised by.
    pub password: PasswordHash,
    /// What they may do.
    pub scope: Scope,
    /// When they were made.
    pub created_at: Timestamp,
    /// When the password was last set; sessions from before it are over.
    pub changed_at: Timestamp,
}

/// A salted, slow hash of a password, in the PHC text form. Not printed, not even by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash(hidden)")
    }
}

/// By what a user signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// By the token with this hash.
    Token(String),
    /// By this user's password.
    User(String),
}

/// A browser in which a user signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// SHA-256 of the cookie, as lower-case hexadecimal.
    pub hash: String,
    pub holder: Holder,
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl Session {
    /// A session that begins now.
    pub fn begin(hash: String, holder: Holder, now: Timestamp) -> Self {
        Self {
            hash,
            holder,
            created_at: now,
            expires_at: now.saturating_add(SESSION_LASTS).unwrap_or(now),
        }
    }

    /// Whether it opens anything at `now`, its holder aside.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// What it allows by its token, if that still works.
    pub fn under_token(&self, token: &Token, now: Timestamp) -> Option<Scope> {
        (self.is_valid(now) && token.is_valid(now)).then_some(token.scope)
    }

    /// What it allows by its user; nothing once the password was changed.
    pub fn under_user(&self, user: &User, now: Timestamp) -> Option<Scope> {
        (self.is_valid(now) && user.changed_at <= self.created_at).then_some(user.scope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_session_ends_with_its_time_its_token_and_its_password() {
        let session = Session::begin("00".into(), Holder::User("ada".into()), at(100));
        let week = SESSION_LASTS.as_secs();
        let user = User {
            name: "ada".into(),
            password: PasswordHash("$argon2id$…".into()),
            scope: Scope::Operate,
            created_at: at(0),
            changed_at: at(50),
        };
        let token = Token {
            name: "ci".into(),
            hash: "11".into(),
            scope: Scope::Read,
            created_at: at(0),
            expires_at: None,
            revoked_at: None,
        };
        assert_eq!(session.under_user(&user, at(101)), Some(Scope::Operate));
        assert_eq!(session.under_token(&token, at(101)), Some(Scope::Read));
        assert_eq!(session.under_user(&user, at(100 + week)), None, "its time");
        let revoked = Token {
            revoked_at: Some(at(200)),
            ..token
        };
        assert_eq!(session.under_token(&revoked, at(201)), None, "its token");
        let changed = User {
            changed_at: at(101),
            ..user
        };
        assert_eq!(session.under_user(&changed, at(102)), None, "its password");
    }

    #[test]
    fn a_hash_is_not_printed() {
        let printed = format!("{:?}", PasswordHash("$argon2id$v=19$secret".into()));
        assert!(!printed.contains("argon2"), "{printed}");
    }
}
