//! Secrets that sources, schedules and tasks may name (`sources.secrets`, `schedules.secrets`,
//! `callback.secrets`).
//!
//! Whoever may change them chooses both the secret and where it is sent. So they can name nothing
//! that was not released for them, one by one or by a prefix, and a release can say which host
//! alone receives it.

use std::path::Component;

use super::{
    super::{reader::Show, report::Problem, secret::Reference, value::Read},
    prelude::value,
};

/// What ends a prefix.
const ANY: char = '*';

/// A reference that may be used, or all that begin like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Released {
    /// `env:NAME`, `file:/path`, or either with a star at its end.
    pattern: String,
    /// The only host that receives it.
    host: Option<String>,
}

impl Released {
    /// Whether it may be sent to `host`.
    pub(crate) fn fits(&self, reference: &str, host: &str) -> bool {
        let is_host = self
            .host
            .as_deref()
            .is_none_or(|it| it.eq_ignore_ascii_case(host));
        is_host && self.covers(reference)
    }

    /// Whether it may be sent anywhere.
    pub(crate) fn covers(&self, reference: &str) -> bool {
        is_plain(reference)
            && match self.pattern.strip_suffix(ANY) {
                Some(prefix) => reference.len() > prefix.len() && reference.starts_with(prefix),
                None => reference == self.pattern,
            }
    }
}

/// A path that leads where it seems to: absolute, and never up.
fn is_plain(reference: &str) -> bool {
    match Reference::parse(reference) {
        Some(Reference::Environment(_)) => true,
        Some(Reference::File(path)) => {
            let is_plain =
                |it: Component<'_>| matches!(it, Component::Normal(_) | Component::RootDir);
            path.is_absolute() && path.components().all(is_plain)
        }
        None => false,
    }
}

impl Show for Released {
    fn show(&self) -> String {
        match &self.host {
            Some(host) => format!("\"{}@{host}\"", self.pattern),
            None => format!("\"{}\"", self.pattern),
        }
    }
}

/// Reads `env:NAME`, `file:/path`, either with `*` at its end, and with `@host` behind it.
pub(super) fn released(text: &str) -> Read<Released> {
    let (pattern, host) = match text.rsplit_once('@') {
        Some((pattern, host)) if !host.contains('/') => (pattern, Some(value::host(host)?)),
        _ => (text, None),
    };
    let begins = pattern.strip_suffix(ANY).unwrap_or(pattern);
    let is_narrow = !begins.contains(ANY) && !matches!(begins, "env:" | "file:" | "file:/");
    if !is_narrow || !is_plain(begins) {
        let hint = "name secrets one by one, or by a prefix, and the host that receives them: \
                    \"env:NEWS_TOKEN@news.example\", \"env:SOURCE_*\", \"file:/run/secrets/feeds/*\"";
        let what = format!("`{text}` does not release a secret");
        return Err(Problem::new(what, hint));
    }
    Ok(Released {
        pattern: pattern.to_owned(),
        host,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ss_26_a_source_can_name_only_what_was_released() {
        for (release, reference, host, expected, why) in [
            ("env:A", "env:A", "any.test", true, "named"),
            ("env:A", "env:AB", "any.test", false, "another one"),
            ("env:S_*", "env:S_X", "any.test", true, "by prefix"),
            ("env:S_*", "env:S_", "any.test", false, "the prefix alone"),
            (
                "env:S_*",
                "env:DATABASE_PASSWORD",
                "any.test",
                false,
                "not released",
            ),
            ("env:A@news.test", "env:A", "news.test", true, "to its host"),
            (
                "env:A@news.test",
                "env:A",
                "News.Test",
                true,
                "however it is written",
            ),
            (
                "env:A@news.test",
                "env:A",
                "evil.test",
                false,
                "to another host",
            ),
            (
                "env:A@news.test",
                "env:A",
                "news.test.evil.test",
                false,
                "to another host",
            ),
            (
                "file:/run/s/*",
                "file:/run/s/key",
                "any.test",
                true,
                "in the folder",
            ),
            (
                "file:/run/s/*",
                "file:/run/s/../../etc/shadow",
                "any.test",
                false,
                "led out of it",
            ),
            (
                "file:/run/s/*",
                "file:run/s/key",
                "any.test",
                false,
                "not absolute",
            ),
            (
                "file:/run/s/*",
                "/run/s/key",
                "any.test",
                false,
                "no reference",
            ),
            (
                "file:/run/a@b/*",
                "file:/run/a@b/key",
                "any.test",
                true,
                "a path with an at sign",
            ),
        ] {
            let release = released(release).unwrap();
            assert_eq!(
                release.fits(reference, host),
                expected,
                "{why}: {reference}"
            );
        }
    }

    #[test]
    fn ss_26_a_release_names_something() {
        for text in [
            "env:*",
            "file:*",
            "file:/*",
            "*",
            "TOKEN",
            "env:",
            "env:A*B",
            "file:keys/*",
            "file:/run/../etc/*",
            "env:A@",
            "env:A@a b",
        ] {
            assert!(released(text).is_err(), "{text}");
        }
        for text in ["env:A", "env:A_*", "file:/run/secrets/*@news.test"] {
            assert_eq!(released(text).unwrap().show(), format!("\"{text}\""));
        }
    }
}
