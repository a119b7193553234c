//! Passwords: what is taken for one, and the port that recognises them.
//!
//! Recognising is slow by design, because a thief of the table could otherwise try billions a
//! second. The arithmetic is therefore a port, and an asynchronous one: it must not hold up a
//! thread that answers others.

use crate::{
    lang::{Lang, Say},
    say,
};
use async_trait::async_trait;

use super::{PASSWORD_BYTES_MAX, PASSWORD_CHARS_MIN, PasswordHash};

/// Random bytes that make equal passwords look different.
pub type Salt = [u8; 16];

/// Makes and checks what passwords are recognised by.
#[async_trait]
pub trait Passwords: Send + Sync {
    /// What this password will be recognised by.
    async fn hash(&self, password: &str, salt: Salt) -> Result<PasswordHash, Error>;

    /// Whether this is the password. Without a hash, because there is no such user, the answer is
    /// no, after the same work: the time that an answer takes must not reveal which names exist.
    /// Bounded: where too many wait already, it is refused at once ([`Error::Busy`]).
    async fn verify(&self, password: &str, hash: Option<&PasswordHash>) -> Result<bool, Error>;
}

/// Why a password could not be hashed or checked. Never says anything about the password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The stored hash is not one that this version can read.
    #[error("the stored hash of a password cannot be read")]
    Unreadable,
    /// As many are being worked on or waiting as there may be.
    #[error("too many passwords are being checked")]
    Busy,
    /// The machine could not do the work, for want of memory above all.
    #[error("hash a password: {why}")]
    Failed { why: String },
}

/// Why a text is not taken as a new password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unfit {
    /// Too easy to guess.
    Short,
    /// Hashing it would cost too much.
    Long,
    /// A form leaves out what is blank.
    Blank,
}

impl Say for Unfit {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Short => say!(lang;
                "a password has at least {PASSWORD_CHARS_MIN} characters",
                "密码至少 {PASSWORD_CHARS_MIN} 个字符"),
            Self::Long => say!(lang;
                "a password has at most {PASSWORD_BYTES_MAX} bytes",
                "密码最多 {PASSWORD_BYTES_MAX} 字节"),
            Self::Blank => say!(lang; "a password is more than spaces", "密码不能只有空格"),
        }
    }
}

/// Whether a text may become a password. No rules about kinds of characters: they make passwords
/// harder to remember, not to guess.
pub fn check_new(password: &str) -> Result<(), Unfit> {
    if password.trim().is_empty() && !password.is_empty() {
        return Err(Unfit::Blank);
    }
    if password.chars().count() < PASSWORD_CHARS_MIN {
        return Err(Unfit::Short);
    }
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(Unfit::Long);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_judged_by_its_length() {
        let long = "x".repeat(PASSWORD_BYTES_MAX);
        for (password, expected) in [
            ("correct horse", Ok(())),
            ("1234567890", Ok(())),
            ("一二三四五六七八九十", Ok(())),
            ("123456789", Err(Unfit::Short)),
            ("", Err(Unfit::Short)),
            ("             ", Err(Unfit::Blank)),
            (&long, Ok(())),
            (&format!("{long}x"), Err(Unfit::Long)),
        ] {
            assert_eq!(check_new(password), expected, "{password:?}");
        }
    }
}
