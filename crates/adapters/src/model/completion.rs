//! One chat completion: what is sent, and what an answer means.
//!
//! | answer | means |
//! | --- | --- |
//! | 200 with a text | the reply |
//! | 200 with an error inside | what its code says, as services in front of models do |
//! | 200 with anything else | unusable |
//! | 401, 402, 403 | credentials: needs attention |
//! | 429 | asked too often; ask again |
//! | 408, 409, 425, 5xx, no answer | trouble that may pass; ask again |
//! | anything else, redirects included | refused |

use almanack_core::{
    callback::wait_asked_for,
    edition::port::{Failure, FailureClass},
};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::prompt::Prompt;
use crate::{http, redact::redact, upstream::Upstream};

/// What codes and types of errors contain, and the matching status.
const STATUS_WORDS: [(&str, u16); 6] = [
    ("rate_limit", 429),
    ("server_error", 500),
    ("overloaded", 503),
    ("timeout", 504),
    ("api_key", 401),
    ("authentication", 401),
];

/// An answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Completion {
    /// What it wrote; may be empty.
    pub(super) text: String,
    /// As the service counts; none where it does not say.
    pub(super) tokens_in: Option<u64>,
    pub(super) tokens_out: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) retry_after: Option<&'a str>,
    pub(super) body: &'a [u8],
}

pub(super) fn body(model: &str, prompt: &Prompt) -> Vec<u8> {
    let body = json!({
        "model": model,
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": prompt.user},
        ],
        "temperature": prompt.temperature,
        "max_tokens": prompt.tokens_max,
    });
    body.to_string().into_bytes()
}

/// What an answer means. `secret` is removed from every text.
pub(super) fn read(
    answer: Answer<'_>,
    secret: &str,
    now: Timestamp,
) -> Result<Completion, Failure> {
    let answered: Option<AnswerBody> = serde_json::from_slice(answer.body).ok();
    let error = answered
        .as_ref()
        .and_then(|answered| answered.error.as_ref());
    if answer.status != 200 || error.is_some() {
        let inside = error
            .filter(|_| answer.status == 200)
            .and_then(Refused::status);
        let message = error.map(|error| redact(&error.message(), &[secret]));
        let wait = answer
            .retry_after
            .and_then(|text| wait_asked_for(text, now));
        return Err(Failure {
            retry_after: wait,
            ..refusal(inside.unwrap_or(answer.status), message.as_deref())
        });
    }
    let unusable = |detail: &str| Failure::new(FailureClass::Unusable, detail);
    let answered =
        answered.ok_or_else(|| unusable("the model's answer is not a chat completion"))?;
    let usage = answered.usage.unwrap_or_default();
    let choice = answered.choices.into_iter().next();
    let text = choice.and_then(|choice| choice.message).map(Message::text);
    Ok(Completion {
        text: text.unwrap_or_default(),
        tokens_in: usage.prompt_tokens,
        tokens_out: usage.completion_tokens,
    })
}

/// What a status other than 200 means. A message about credentials is not repeated: services show
/// parts of a key there.
fn refusal(status: u16, message: Option<&str>) -> Failure {
    let (class, repeated) = match status {
        401..=403 => (FailureClass::Credentials, false),
        429 => (FailureClass::RateLimited, true),
        408 | 409 | 425 | 500..=599 => (FailureClass::Transient, true),
        // An error inside without a code says that there is no reply, and not why.
        200..=299 => (FailureClass::Unusable, true),
        _ => (FailureClass::Refused, true),
    };
    let what = match status {
        401 | 403 => "the model's key was not accepted",
        402 => "the model's service requires payment",
        200..=299 => "the model's service answered with an error",
        _ => "the model did not answer",
    };
    let message = message.filter(|message| repeated && !message.is_empty());
    let detail = match message {
        Some(message) => format!("{what} (HTTP {status}): {message}"),
        None => format!("{what} (HTTP {status})"),
    };
    Failure::new(class, detail)
}

/// What no answer at all means.
pub(super) fn unanswered(error: &http::Error) -> Failure {
    Upstream::keyed("the model did not answer").no_answer(error)
}

/// Whether a service may charge for a request that got no answer: not if it certainly never had it.
pub(super) fn may_cost(error: &http::Error) -> bool {
    use http::Error::{Connect, Dns, Proxy, Refused, Robots, Spent, Timeout, Tls};
    !matches!(
        error,
        Spent(_)
            | Refused { .. }
            | Proxy { .. }
            | Robots { .. }
            | Dns { .. }
            | Connect { .. }
            | Tls { .. }
            | Timeout {
                phase: http::Phase::Connect,
                ..
            }
            | http::Error::Busy { .. }
    )
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AnswerBody {
    choices: Vec<Choice>,
    usage: Option<Usage>,
    error: Option<Refused>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
}

#[derive(Deserialize, Default)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// An error as services write it: an object, or only its message.
#[derive(Deserialize)]
#[serde(transparent)]
struct Refused(Value);

impl Message {
    /// A text, or the texts of its parts.
    fn text(self) -> String {
        match self.content {
            Some(Value::String(text)) => text,
            Some(Value::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect()
            }
            _ => String::new(),
        }
    }
}

impl Refused {
    /// The status that it would have had: its code, if that is one, or what its words say.
    fn status(&self) -> Option<u16> {
        let code = self.0.get("code").unwrap_or(&Value::Null);
        let number = match code {
            Value::Number(number) => number.as_u64(),
            Value::String(digits) => digits.parse().ok(),
            _ => None,
        };
        let number = number.and_then(|number| u16::try_from(number).ok());
        let words = [Some(code), self.0.get("type")];
        let words: Vec<&str> = words
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let named = STATUS_WORDS
            .iter()
            .find(|(part, _)| words.iter().any(|word| word.contains(part)));
        let number = number.filter(|number| (400..600).contains(number));
        number.or(named.map(|(_, status)| *status))
    }

    fn message(&self) -> String {
        let message = self.0.as_str().or_else(|| self.0.get("message")?.as_str());
        message.unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests;
