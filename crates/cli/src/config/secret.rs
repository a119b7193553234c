//! Secrets: named in the configuration, kept elsewhere, never shown.
//!
//! A file that is versioned, copied into tickets and read aloud is no place for a secret, so the
//! file says where it is (`env:NAME`, `file:/path`) and a literal one is refused. The environment
//! is such a place itself, so a variable may hold the secret as it is. On the command line every
//! user of the machine can read it, so there it must be a reference again.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use almanack_core::secret::{COVER, Secret};
use url::{Origin, Url};

/// Where a secret is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// In this environment variable.
    Environment(String),
    /// In this file; a line break at its end does not belong to the secret.
    File(PathBuf),
}

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The variable does not exist.
    #[error("environment variable `{0}` is not set")]
    NotSet(String),
    /// The file cannot be read.
    #[error("cannot read `{path}`: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing in it.
    #[error("{0} is empty")]
    Empty(String),
}

impl Reference {
    /// Reads `env:NAME` or `file:PATH`; anything else is no reference.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        match scheme {
            _ if rest.is_empty() || rest.chars().any(char::is_control) => None,
            "env" => Some(Self::Environment(rest.to_owned())),
            "file" => Some(Self::File(rest.into())),
            _ => None,
        }
    }

    /// Fetches the secret; a relative path starts at `base`.
    pub(crate) fn resolve(
        &self,
        environment: &BTreeMap<String, String>,
        base: &Path,
    ) -> Result<Secret, Error> {
        let (text, place) = match self {
            Self::Environment(name) => {
                let text = environment
                    .get(name)
                    .ok_or_else(|| Error::NotSet(name.clone()))?;
                (text.clone(), format!("environment variable `{name}`"))
            }
            Self::File(path) => {
                let path = base.join(path);
                let shown = path.display().to_string();
                let text = std::fs::read_to_string(&path).map_err(|source| Error::Unreadable {
                    path: shown.clone(),
                    source,
                })?;
                (text, format!("file `{shown}`"))
            }
        };
        match text.trim_end_matches(['\r', '\n']) {
            "" => Err(Error::Empty(place)),
            secret => Ok(Secret::new(secret)),
        }
    }
}

/// Whether a text only says where a secret is, and may therefore be shown.
pub(crate) fn is_reference(text: &str) -> bool {
    Reference::parse(text).is_some()
}

/// Whether a text looks like an address with a password in it.
pub(crate) fn has_password(text: &str) -> bool {
    without_password(text) != text
}

/// An address without its passwords: that before the `@`, and those among the parameters. Works on
/// text that is no valid address, too: an error about a mistyped one must not show them either.
pub(crate) fn without_password(text: &str) -> String {
    let Some(start) = text.find("://").map(|at| at + 3) else {
        return text.to_owned();
    };
    let (address, parameters) = match text[start..].find('?') {
        Some(at) => text.split_at(start + at),
        None => (text, ""),
    };
    format!(
        "{}{}",
        without_userinfo(address, start),
        without_parameters(parameters)
    )
}

/// An address up to its host: the rest may be a secret. An address without a rest is shown whole;
/// one that is invalid is covered.
pub(crate) fn only_host(text: &str) -> String {
    let Ok(url) = Url::parse(text) else {
        return COVER.to_owned();
    };
    let ends_there = matches!(url.path(), "" | "/") && url.query().is_none();
    let has_user = !url.username().is_empty() || url.password().is_some();
    match url.origin() {
        Origin::Tuple(..) if ends_there && !has_user => text.to_owned(),
        origin @ Origin::Tuple(..) => format!("{}/{COVER}", origin.ascii_serialization()),
        Origin::Opaque(_) => COVER.to_owned(),
    }
}

/// A password may contain an unescaped slash or `@`; the last `@` ends it.
fn without_userinfo(address: &str, start: usize) -> String {
    let at = address[start..].rfind('@').map(|at| start + at);
    let colon = at.and_then(|at| address[start..at].find(':').map(|colon| start + colon));
    match (colon, at) {
        (Some(colon), Some(at)) if colon + 1 < at => {
            format!("{}{COVER}{}", &address[..=colon], &address[at..])
        }
        _ => address.to_owned(),
    }
}

/// PostgreSQL's own names for them are `password` and `sslpassword`.
fn without_parameters(parameters: &str) -> String {
    let cover = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if name.to_lowercase().contains("password") && !value.is_empty() => {
            format!("{name}={COVER}")
        }
        _ => pair.to_owned(),
    };
    parameters
        .split('&')
        .map(cover)
        .collect::<Vec<_>>()
        .join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_references_are_references() {
        for (text, expected) in [
            ("env:TOKEN", true),
            ("file:/run/secret", true),
            ("env:", false),
            ("evn:TOKEN", false),
            ("whsec_abc", false),
            ("hunter:2", false),
        ] {
            assert_eq!(is_reference(text), expected, "{text}");
        }
    }

    #[test]
    fn a_file_gives_its_secret_without_the_line_break() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "hunter2\n").unwrap();
        let reference = Reference::parse("file:key").unwrap();
        let secret = reference.resolve(&BTreeMap::new(), folder.path()).unwrap();
        assert_eq!(secret.expose(), "hunter2");
        std::fs::write(folder.path().join("key"), "\n").unwrap();
        assert!(matches!(
            reference.resolve(&BTreeMap::new(), folder.path()),
            Err(Error::Empty(_))
        ));
    }

    #[test]
    fn a_password_in_an_address_is_found_and_covered() {
        for (text, expected) in [
            ("postgres://bob:pw@db/x", "postgres://bob:***@db/x"),
            ("postgres://bob:p@w@db/x", "postgres://bob:***@db/x"),
            ("postgres://bob:p/w@db/x", "postgres://bob:***@db/x"),
            ("postgres://bob@db:5432/x", "postgres://bob@db:5432/x"),
            ("postgres://bob:p@w/x@db/y", "postgres://bob:***@db/y"),
            (
                "postgres://bob@db/x?a=1&password=hunter2",
                "postgres://bob@db/x?a=1&password=***",
            ),
            (
                "postgres://bob:pw@db/x?sslpassword=s@crt&b=2",
                "postgres://bob:***@db/x?sslpassword=***&b=2",
            ),
            ("sqlite:a:b@c", "sqlite:a:b@c"),
        ] {
            assert_eq!(without_password(text), expected);
        }
    }
}
