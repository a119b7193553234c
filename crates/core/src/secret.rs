//! A text that is never shown: a password, a token, a key.
//!
//! One type for all of them, so that no struct that holds one has to remember not to print it. Code
//! that needs the text calls for it by name, which is easy to search for.

use std::fmt;

use async_trait::async_trait;

/// What is shown instead of a secret.
pub const COVER: &str = "***";

/// A text that is never shown. Prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Takes a secret into care.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(COVER)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(COVER)
    }
}

/// Why a secret cannot be used: a sentence that never holds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unavailable {
    pub why: String,
}

/// Reads secrets that are named (`env:NAME`, `file:PATH`) by those who may not know them.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// The secret behind `reference`, to be sent to `host` and to no one else. Read at every call:
    /// a renewed one takes effect at once. What the operator has not released is unavailable.
    async fn read(&self, reference: &str, host: &str) -> Result<Secret, Unavailable>;
}

/// Releases no secret at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

#[async_trait]
impl Secrets for NoSecrets {
    async fn read(&self, _reference: &str, _host: &str) -> Result<Secret, Unavailable> {
        let why = "secrets are not available here".to_owned();
        Err(Unavailable { why })
    }
}

/// Whether a text names a secret instead of being one.
pub fn is_reference(text: &str) -> bool {
    let named = text.strip_prefix("env:").or(text.strip_prefix("file:"));
    named.is_some_and(|name| !name.is_empty() && !name.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints() {
        let secret = Secret::new("hunter2");
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            "*** *** Some(***)"
        );
        assert_eq!(secret.expose(), "hunter2");
    }
}
