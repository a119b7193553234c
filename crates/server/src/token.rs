//! Creates tokens: the same rules for the command line and the dashboard.
//!
//! A token is its prefix and 256 random bits, shown once; the store keeps its SHA-256 and the
//! history its name.

use almanack_core::lang::{Lang, Say};
use almanack_core::say;
use almanack_core::time::Entropy;
use almanack_core::token::{Scope, TOKEN_PREFIX, Token};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// Longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 100;

/// A name that would not survive a log line, a path and a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidName;

impl Say for InvalidName {
    fn say(&self, lang: Lang) -> String {
        say!(lang;
            "name must have 1 to {NAME_BYTES_MAX} letters, digits, `-`, `_` or `.`",
            "名称须为 1 到 {NAME_BYTES_MAX} 个字母、数字、`-`、`_` 或 `.`")
    }
}

/// Checks a name.
pub fn check_name(name: &str) -> Result<(), InvalidName> {
    let fits = (1..=NAME_BYTES_MAX).contains(&name.len());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if fits && name.chars().all(plain) {
        Ok(())
    } else {
        Err(InvalidName)
    }
}

/// Generates a token. The caller shows it once and stores it nowhere.
pub fn draw(entropy: &dyn Entropy) -> String {
    format!("{TOKEN_PREFIX}{}", draw_bits(entropy))
}

/// 256 random bits in base64.
pub(crate) fn draw_bits(entropy: &dyn Entropy) -> String {
    let bytes = std::array::from_fn::<_, 4, _>(|_| entropy.next_u64().to_le_bytes());
    BASE64_URL_SAFE_NO_PAD.encode(bytes.as_flattened())
}

/// The hash by which a token is recognised.
pub fn hash(token: &str) -> String {
    format!("{:x}", Sha256::digest(token.as_bytes()))
}

/// A token as it will be stored.
pub fn about(
    name: &str,
    token: &str,
    scope: Scope,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
) -> Token {
    Token {
        name: name.to_owned(),
        hash: hash(token),
        scope,
        created_at,
        expires_at,
        revoked_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Same(u64);

    impl Entropy for Same {
        fn next_u64(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn a_token_is_its_prefix_and_256_bits() {
        let token = draw(&Same(u64::MAX));
        let body = token.strip_prefix("alm_").unwrap();
        assert_eq!(BASE64_URL_SAFE_NO_PAD.decode(body).unwrap(), [0xff; 32]);
    }

    #[test]
    fn the_hash_is_sha_256_of_the_whole_token() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash("abc"), expected);
    }

    #[test]
    fn names_are_plain() {
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        for bad in ["", "two words", "a/b", "ü", "<b>", &long] {
            assert_eq!(check_name(bad), Err(InvalidName), "{bad}");
        }
        for good in ["article-service", "ci_2", "a.b", &long[1..]] {
            assert_eq!(check_name(good), Ok(()), "{good}");
        }
    }
}
