//! Why the model's service says no, in the words and shapes of such services.

use jiff::Timestamp;
use serde_json::{Value, json};

/// A key that would keep fewer characters to itself is not shown at all.
const HIDDEN_CHARS_MIN: usize = 5;

/// Why a request is not answered as wished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No key was shown.
    #[error(
        "You didn't provide an API key. You need to provide your API key in an Authorization header \
         using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
    )]
    NoKey,
    /// The key is not known. Services show how it begins and ends, which must end up in no log.
    #[error("Incorrect API key provided: {masked}.")]
    WrongKey {
        /// Mostly stars.
        masked: String,
    },
    /// The body is not JSON.
    #[error("We could not parse the JSON body of your request.")]
    BadJson,
    /// A field is missing or of another type.
    #[error("Invalid value for '{field}': expected {wanted}.")]
    Invalid {
        /// Which.
        field: &'static str,
        /// What it must be.
        wanted: &'static str,
    },
    /// No such model.
    #[error("The model `{model}` does not exist or you do not have access to it.")]
    NoModel {
        /// Its name.
        model: String,
    },
    /// No such endpoint.
    #[error("Invalid URL ({method} {path})")]
    NoSuchPath {
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
    /// Part of the API that this server does not know.
    #[error("The simulated model does not stream.")]
    NotModelled,
    /// Too many at once, or a fault says so.
    #[error("Rate limit reached for requests. Please try again later.")]
    Limited {
        /// What `Retry-After` says.
        retry_after: Option<RetryAfter>,
    },
    /// A fault says so.
    #[error("The server had an error while processing your request. Sorry about that!")]
    Broken(u16),
}

/// When to come again, as the header says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// In seconds from now.
    Seconds(u32),
    /// As a date.
    At(Timestamp),
}

impl RetryAfter {
    /// The value of the header.
    pub fn header(self) -> String {
        match self {
            Self::Seconds(seconds) => seconds.to_string(),
            Self::At(at) => at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
        }
    }
}

impl Refusal {
    /// The refusal of an unknown key: three characters of it, stars, and its last four.
    pub fn wrong_key(key: &str) -> Self {
        let chars: Vec<char> = key.chars().collect();
        let hidden = chars.len().saturating_sub(7);
        let masked = if hidden < HIDDEN_CHARS_MIN {
            "*".repeat(chars.len())
        } else {
            let (head, rest) = chars.split_at(3);
            let tail = rest.get(hidden..).unwrap_or_default();
            let (head, tail) = (String::from_iter(head), String::from_iter(tail));
            format!("{head}{}{tail}", "*".repeat(hidden))
        };
        Self::WrongKey { masked }
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::NoKey | Self::WrongKey { .. } => 401,
            Self::BadJson | Self::Invalid { .. } => 400,
            Self::NoModel { .. } | Self::NoSuchPath { .. } => 404,
            Self::NotModelled => 501,
            Self::Limited { .. } => 429,
            Self::Broken(status) => *status,
        }
    }

    /// The body of the answer.
    pub fn body(&self) -> Value {
        let (kind, code, param) = match self {
            Self::WrongKey { .. } => ("invalid_request_error", Some("invalid_api_key"), None),
            Self::NoModel { .. } => ("invalid_request_error", Some("model_not_found"), None),
            Self::Invalid { field, .. } => ("invalid_request_error", None, Some(*field)),
            Self::Limited { .. } => ("requests", Some("rate_limit_exceeded"), None),
            Self::Broken(_) => ("server_error", None, None),
            _ => ("invalid_request_error", None, None),
        };
        let message = self.to_string();
        json!({ "error": { "message": message, "type": kind, "param": param, "code": code } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_masked() {
        for (key, shown) in [
            ("sk-abcdefghijklmnop", "sk-************mnop"),
            ("shortkey", "********"),
            ("", ""),
        ] {
            let masked = shown.to_owned();
            assert_eq!(Refusal::wrong_key(key), Refusal::WrongKey { masked });
        }
    }

    #[test]
    fn a_time_to_come_again_is_seconds_or_a_date() {
        let at = "2026-01-05T08:00:30Z".parse().unwrap();
        assert_eq!(RetryAfter::Seconds(30).header(), "30");
        assert_eq!(RetryAfter::At(at).header(), "Mon, 05 Jan 2026 08:00:30 GMT");
    }
}
