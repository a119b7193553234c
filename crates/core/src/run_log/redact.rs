//! Secrets cut from a stream.
//!
//! A secret may come in two parts, so what could be the beginning of one is held back until it is
//! clear that it is not. Too much is cut rather than too little: a value that is listed for commands
//! is cut wherever it appears.

use std::sync::Arc;

use crate::secret::{COVER, Secret};

/// Shorter values are not cut: they are no secrets worth the name, and cutting every `true` would
/// make a log unreadable.
const SECRET_BYTES_MIN: usize = 6;
/// At a stream's end, as much as this of a secret's beginning is cut like the whole.
const PART_BYTES_MIN: usize = 4;

/// The secrets that a node knows and that no log may hold.
#[derive(Clone, Default)]
pub struct KnownSecrets {
    /// The longest first: one may be the beginning of another.
    values: Arc<[Box<[u8]>]>,
}

/// Not even how many there are.
impl std::fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(COVER)
    }
}

impl KnownSecrets {
    /// Of a secret with several lines, each line is one: programs print them with other line ends.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let mut values: Vec<Box<[u8]>> = Vec::new();
        for secret in secrets {
            let lines = secret.expose().lines().map(str::trim);
            let lines = lines.filter(|line| line.len() >= SECRET_BYTES_MIN);
            values.extend(lines.map(|line| line.as_bytes().into()));
        }
        values.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        values.dedup();
        Self {
            values: values.into(),
        }
    }

    /// For one stream.
    pub fn redactor(&self) -> Redactor {
        Redactor {
            secrets: self.clone(),
            held: Vec::new(),
        }
    }

    /// A whole text without secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut redactor = self.redactor();
        let mut clean = redactor.pass(text.as_bytes());
        clean.extend(redactor.end());
        // Only whole secrets are replaced, and those are text.
        String::from_utf8_lossy(&clean).into_owned()
    }

    /// The length of the secret that a text begins with.
    fn at_start_of(&self, text: &[u8]) -> Option<usize> {
        let found = self.values.iter().find(|secret| text.starts_with(secret));
        found.map(|secret| secret.len())
    }

    /// Whether more text could make this the beginning of a secret.
    fn may_begin_with(&self, text: &[u8]) -> bool {
        let longer = self.values.iter().filter(|it| it.len() > text.len());
        longer.into_iter().any(|secret| secret.starts_with(text))
    }
}

/// Cuts secrets from one stream.
#[derive(Debug)]
pub struct Redactor {
    secrets: KnownSecrets,
    /// What could be the beginning of a secret.
    held: Vec<u8>,
}

impl Redactor {
    /// Takes some more; returns what is clean by now.
    pub fn pass(&mut self, more: &[u8]) -> Vec<u8> {
        if self.secrets.values.is_empty() {
            return more.to_vec();
        }
        self.held.extend_from_slice(more);
        let (clean, from) = self.scan();
        self.held.drain(..from);
        clean
    }

    /// Nothing follows. Most of a secret is a secret, too.
    pub fn end(&mut self) -> Vec<u8> {
        let mut clean = Vec::new();
        while !self.held.is_empty() {
            let whole = self.secrets.at_start_of(&self.held);
            let part = self.secrets.may_begin_with(&self.held) && self.held.len() >= PART_BYTES_MIN;
            let length = whole.or_else(|| part.then_some(self.held.len()));
            match length {
                Some(length) => {
                    clean.extend_from_slice(COVER.as_bytes());
                    self.held.drain(..length);
                }
                None => clean.push(self.held.remove(0)),
            }
        }
        clean
    }

    /// What is clean of what is held, and from where on it is not yet known.
    fn scan(&self) -> (Vec<u8>, usize) {
        let mut clean = Vec::with_capacity(self.held.len());
        let mut at = 0;
        while at < self.held.len() {
            let rest = &self.held[at..];
            let begins = |secret: &[u8]| secret.first() == rest.first();
            if !self.secrets.values.iter().any(|it| begins(it)) {
                clean.push(rest[0]);
                at += 1;
            } else if self.secrets.may_begin_with(rest) {
                break;
            } else if let Some(length) = self.secrets.at_start_of(rest) {
                clean.extend_from_slice(COVER.as_bytes());
                at += length;
            } else {
                clean.push(rest[0]);
                at += 1;
            }
        }
        (clean, at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(secrets: &[&str]) -> KnownSecrets {
        KnownSecrets::new(secrets.iter().map(|it| Secret::new(it)))
    }

    fn passed(secrets: &[&str], chunks: &[&str]) -> String {
        let mut redactor = known(secrets).redactor();
        let mut clean = Vec::new();
        for chunk in chunks {
            clean.extend(redactor.pass(chunk.as_bytes()));
        }
        clean.extend(redactor.end());
        String::from_utf8(clean).unwrap()
    }

    #[test]
    fn dp_20_secrets_are_cut_also_when_they_come_in_parts() {
        let secrets = ["hunter2", "hunter2-and-more", "p\u{e4}sswort", "aaaaaab"];
        let rows: [(&[&str], &str); 10] = [
            (&["the password is hunter2\n"], "the password is ***\n"),
            (&["the hun", "ter", "2\n"], "the ***\n"),
            (&["hunter2-and-mo", "re!"], "***!"),
            (&["hunter2-and-", "less"], "***-and-less"),
            (&["hunter1 hunt hunter"], "hunter1 hunt ***"),
            (&["hun"], "hun"),
            (&["p\u{e4}ssw", "ort"], "***"),
            (&["aaaaaaaaab"], "aaa***"),
            (&["hunter2hunter2"], "******"),
            (&["", "plain", ""], "plain"),
        ];
        for (chunks, expected) in rows {
            assert_eq!(passed(&secrets, chunks), expected, "{chunks:?}");
        }
    }

    #[test]
    fn dp_20_short_values_are_no_secrets_and_lines_of_a_key_are() {
        assert_eq!(passed(&["true", ""], &["true"]), "true");
        let key = "-----BEGIN KEY-----\r\nMIIEvQ+IBADAN\n-----END KEY-----\n";
        assert_eq!(passed(&[key], &["a\nMIIEvQ+IBADAN\n"]), "a\n***\n");
    }

    #[test]
    fn secrets_are_never_shown() {
        let redactor = known(&["hunter2"]).redactor();
        assert!(!format!("{redactor:?}").contains("104"), "{redactor:?}");
    }

    proptest! {
        /// Wherever a stream is cut into chunks, the same comes out, and no secret does.
        #[test]
        fn dp_20_chunks_do_not_matter(
            parts in prop::collection::vec("(hunter2|hun|ter2|secret-9|s|-|[a-c\n])", 0..20),
            cuts in prop::collection::vec(0usize..40, 0..6),
        ) {
            let text = parts.concat();
            let secrets = ["hunter2", "secret-9", "ter2hun"];
            let whole = passed(&secrets, &[&text]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(text.len())).collect();
            cuts.sort_unstable();
            let ends = cuts.iter().copied().chain([text.len()]);
            let mut from = 0;
            let chunks: Vec<&str> = ends
                .map(|to| {
                    let chunk = &text[from..to];
                    from = to;
                    chunk
                })
                .collect();
            prop_assert_eq!(&passed(&secrets, &chunks), &whole);
            prop_assert!(!secrets.iter().any(|secret| whole.contains(secret)), "{}", whole);
        }
    }
}
