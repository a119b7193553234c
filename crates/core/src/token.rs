//! Access tokens: what one allows, and how it is recognised without being kept.
//!
//! A token is shown once, when it is made. The store keeps its SHA-256: the token has 256 random
//! bits, so a slow hash would protect nothing and cost every request.

use jiff::Timestamp;

names! {
    /// What a token allows. A larger scope includes the smaller ones, but `read` does not include
    /// `work`: taking a task is not looking at it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Scope {
        /// Take tasks of pulled kinds and report about them, and nothing else.
        Work = "work",
        /// Read anything.
        Read = "read",
        /// Change the times of tasks: put, cancel, retry, events.
        Operate = "operate",
        /// Everything, metrics and nodes included.
        Admin = "admin",
    }
}

impl Scope {
    /// Whether `self` is enough where `needed` is required.
    pub fn allows(self, needed: Self) -> bool {
        match needed {
            Self::Work => self != Self::Read,
            _ => self >= needed,
        }
    }
}

/// Every token starts with this, so that leak scanners can find one.
pub const TOKEN_PREFIX: &str = "alm_";

/// A token as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its name; unique, and shown by the history as the requester.
    pub name: String,
    /// SHA-256 of the token, as lower-case hexadecimal.
    pub hash: String,
    /// What it allows.
    pub scope: Scope,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working, if it does.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

impl Token {
    /// Whether it opens anything at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_scope_includes_the_smaller_ones() {
        for (held, needed, allowed) in [
            (Scope::Read, Scope::Read, true),
            (Scope::Read, Scope::Operate, false),
            (Scope::Operate, Scope::Read, true),
            (Scope::Operate, Scope::Admin, false),
            (Scope::Admin, Scope::Operate, true),
            (Scope::Work, Scope::Work, true),
            (Scope::Work, Scope::Read, false),
            (Scope::Work, Scope::Operate, false),
            (Scope::Read, Scope::Work, false),
            (Scope::Operate, Scope::Work, true),
            (Scope::Admin, Scope::Work, true),
        ] {
            assert_eq!(
                held.allows(needed),
                allowed,
                "{held} where {needed} is needed"
            );
        }
    }

    #[test]
    fn a_token_ends_when_it_expires_or_is_revoked() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let token = Token {
            name: "ci".into(),
            hash: "00".into(),
            scope: Scope::Read,
            created_at: at(0),
            expires_at: Some(at(100)),
            revoked_at: None,
        };
        assert!(token.is_valid(at(99)));
        assert!(
            !token.is_valid(at(100)),
            "the instant of expiry is already too late"
        );
        assert!(
            !Token {
                revoked_at: Some(at(5)),
                ..token
            }
            .is_valid(at(50))
        );
    }
}
