//! Why a call failed, and whether the same call can succeed later.
//!
//! No message contains a token, a payload or the query of an address.

use serde::Deserialize;
use std::fmt;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is not one of a node.
    #[error("`{0}` is not the address of a node; write scheme, host and port")]
    Address(String),
    /// The token contains what no header can.
    #[error("the token has characters that cannot be sent; use it as it was shown")]
    Token,
    /// TLS could not be prepared.
    #[error("prepare TLS")]
    Tls(#[from] rustls::Error),
    /// A payload could not be written as JSON.
    #[error("write the payload as JSON")]
    Payload(#[source] serde_json::Error),
    /// The node refused.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// No answer, or a broken one.
    #[error("no answer from the node")]
    Unreachable(#[source] reqwest::Error),
    /// Something answered that is no node of Almanack, or a newer one.
    #[error("HTTP {status} with an answer that is not Almanack's; is this the node's address?")]
    Unexpected {
        status: u16,
        #[source]
        source: Option<serde_json::Error>,
    },
}

impl Error {
    /// Whether the same call can succeed later without anyone changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Refused(problem) => {
                matches!(problem.status, 429 | 502..=504) || problem.code == "contended"
            }
            // A proxy says so while the node behind it restarts.
            Self::Unexpected { status, .. } => matches!(status, 429 | 502..=504),
            _ => false,
        }
    }

    /// The problem, where the node named one.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(problem) => Some(problem),
            _ => None,
        }
    }

    /// Whether the node refused with this code.
    pub fn is_code(&self, code: &str) -> bool {
        self.problem().is_some_and(|problem| problem.code == code)
    }
}

/// A refusal: a stable code for programs, a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Problem {
    pub status: u16,
    /// Never changes its meaning: `unknown_kind`, `no_such_task`.
    pub code: String,
    pub title: String,
    pub detail: String,
    /// The field of the body that is wrong.
    #[serde(default)]
    pub path: Option<String>,
    /// What to do about it, where the node says so.
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    expression: Option<Misread>,
    #[serde(default)]
    known_kinds: Option<Vec<String>>,
    #[serde(default)]
    scope: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Misread {
    #[serde(default)]
    hint: Option<String>,
}

impl Problem {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let misread = self.expression.as_ref().and_then(|it| it.hint.clone());
        let kinds = self.known_kinds.as_ref().filter(|kinds| !kinds.is_empty());
        let scope = self.scope.as_ref();
        self.hint
            .clone()
            .or(misread)
            .or_else(|| kinds.map(|kinds| format!("known kinds: {}", kinds.join(", "))))
            .or_else(|| scope.map(|scope| format!("use a token with scope `{scope}`")))
            .or_else(|| {
                let unknown = self.code == "unauthenticated";
                unknown.then(|| "give the client a token: `almanack token create NAME`".to_owned())
            })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.detail, self.code)?;
        match self.hint() {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(more: &str) -> Problem {
        let text = format!(
            r#"{{"type":"/problems/x","title":"X","status":422,"code":"x","detail":"It is so"{more}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_problem_says_what_it_is_and_what_to_do() {
        for (more, expected) in [
            ("", "It is so (x)"),
            (r#","hint":"do this""#, "It is so (x); do this"),
            (
                r#","known_kinds":["A","B"]"#,
                "It is so (x); known kinds: A, B",
            ),
            (
                r#","scope":"operate""#,
                "It is so (x); use a token with scope `operate`",
            ),
            (
                r#","expression":{"message":"m","hint":"write `MON`"}"#,
                "It is so (x); write `MON`",
            ),
        ] {
            assert_eq!(problem(more).to_string(), expected);
        }
    }

    #[test]
    fn what_may_pass_and_what_will_not() {
        for (status, code, transient) in [
            (422, "invalid_value", false),
            (409, "contended", true),
            (409, "still_running", false),
            (429, "too_many_ticks", true),
            (500, "internal", false),
            (503, "busy", true),
            (504, "timed_out", true),
        ] {
            let problem = Problem {
                status,
                code: code.to_owned(),
                ..problem("")
            };
            let error = Error::Refused(Box::new(problem));
            assert_eq!(error.is_transient(), transient, "{status} {code}");
        }
    }
}
