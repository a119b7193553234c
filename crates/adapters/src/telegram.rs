//! A Telegram bot, as far as Almanack needs it: it sends messages to a chat.
//!
//! What must stay true:
//!
//! - The address of every call contains the bot's token. No text that leaves this file does, not
//!   even where Telegram's own error repeats it.
//! - Telegram has no idempotency key, and a bot cannot read the chat. A request without an answer
//!   is unknown, and stays so (ED-12). An answer that says no is a no, also with a status of 500
//!   and above: an outage refuses messages, it does not put each of them in doubt (ED-41).

use std::{fmt, sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    callback::wait_asked_for,
    edition::port::{Failure, FailureClass, Sent},
    secret::Secret,
    time::Clock,
};
use jiff::SignedDuration;
use reqwest::header;
use serde::Deserialize;
use serde_json::json;

use crate::{
    http::{Client, Limits, Request, Response},
    publish::{unanswered, unsent},
    redact::redact,
};

/// Address of the public API.
pub const API_URL: &str = "https://api.telegram.org";
/// Most UTF-16 units that people see of one message.
pub const MESSAGE_UNITS_MAX: usize = 4096;
/// Most of an answer that is read: it repeats the message, with everything about the chat.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// Ends what was cut.
const ELLIPSIS: char = '…';
/// Replaces the hidden token.
const REDACTED: &str = "***";

/// Why a token was refused. Never shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a Telegram bot's token is a number, a colon, and letters, digits, `_` and `-`")]
pub struct BadToken;

/// A bot's token that logs and debug output do not show.
#[derive(Debug, Clone)]
pub struct BotToken(Secret);

impl BotToken {
    /// Reads `123456:ABC-def`, trimmed.
    pub fn parse(text: &str) -> Result<Self, BadToken> {
        let text = text.trim();
        let (number, secret) = text.split_once(':').ok_or(BadToken)?;
        let shaped = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let numbered = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        if numbered && !secret.is_empty() && secret.chars().all(shaped) {
            Ok(Self(Secret::new(text)))
        } else {
            Err(BadToken)
        }
    }

    /// A text without the token, and without its secret half alone.
    fn hide(&self, words: &str) -> String {
        let token = self.0.expose();
        let secret = token.split_once(':').map_or("", |(_, secret)| secret);
        let hidden = words.replace(token, REDACTED).replace(secret, REDACTED);
        redact(&hidden, &[])
    }
}

/// How a bot is reached.
#[derive(Debug, Clone)]
pub struct BotSettings {
    /// Address of the API: [`API_URL`], or a self-hosted server.
    pub api_url: String,
    pub token: BotToken,
    /// The chat: `@channel`, or the number of a chat.
    pub chat: String,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
}

/// A bot that writes to one chat.
#[derive(Clone)]
pub struct Bot {
    client: Client,
    clock: Arc<dyn Clock>,
    settings: BotSettings,
    silent: bool,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Plain text.
    Plain,
    /// With Telegram's few tags, and everything else escaped.
    Html,
}

impl Bot {
    /// A bot without any request so far.
    pub fn new(client: Client, clock: Arc<dyn Clock>, settings: BotSettings) -> Self {
        Self {
            client,
            clock,
            settings,
            silent: false,
        }
    }

    /// Its messages make no sound, if `silent`.
    #[must_use]
    pub fn silent(self, silent: bool) -> Self {
        Self { silent, ..self }
    }

    /// Sends a message; the receipt is its number in the chat.
    pub async fn say(&self, text: &str, form: Form, budget: Option<&Arc<Budget>>) -> Sent {
        let mut request = self.request(text, form);
        request.budget = budget.map(Arc::clone);
        match self.client.send(request).await {
            Ok(response) => self.result_of(&response),
            Err(error) => unsent(&error),
        }
    }

    /// Asks for the bot's name, which changes nothing. Shows whether a token works before the first
    /// edition.
    pub async fn reach(&self, budget: Option<&Arc<Budget>>) -> Result<String, Failure> {
        let mut request = Request::get(self.address("getMe")).limits(self.limits());
        request.budget = budget.map(Arc::clone);
        let response = self.client.send(request).await;
        let response = response.map_err(|error| unanswered(&error))?;
        let answer = serde_json::from_slice::<BotAnswer>(&response.body).unwrap_or_default();
        match (response.head.status, answer.ok) {
            (200..=299, Some(true)) => Ok(answer.result.username.unwrap_or_default()),
            _ => Err(self.failure(&answer, &response)),
        }
    }

    fn address(&self, method: &str) -> String {
        let base = self.settings.api_url.trim_end_matches('/');
        format!("{base}/bot{}/{method}", self.settings.token.0.expose())
    }

    fn limits(&self) -> Limits {
        Limits::within(self.settings.timeout, ANSWER_BYTES_MAX)
    }

    fn request(&self, text: &str, form: Form) -> Request {
        let mut message = json!({
            "chat_id": self.settings.chat,
            "text": text,
            "link_preview_options": {"is_disabled": false},
        });
        if form == Form::Html {
            message["parse_mode"] = "HTML".into();
        }
        if self.silent {
            message["disable_notification"] = true.into();
        }
        let body = message.to_string().into_bytes();
        Request::post_json(self.address("sendMessage"), body).limits(self.limits())
    }

    fn result_of(&self, response: &Response) -> Sent {
        let answer = serde_json::from_slice::<BotAnswer>(&response.body);
        let in_doubt = match (response.head.status, &answer) {
            (200..=299, Ok(answer)) if answer.ok == Some(true) => {
                return confirmed(answer.result.message_id);
            }
            // A gateway passed it on, and how far it came is unknown.
            (200..=299 | 504, _) => true,
            // Telegram's own answer, or a gateway that did not reach it.
            (502 | 503, _) => false,
            (status, answer) => {
                let says_no = answer.as_ref().is_ok_and(|answer| answer.ok == Some(false));
                status >= 500 && !says_no
            }
        };
        let failure = self.failure(&answer.unwrap_or_default(), response);
        if in_doubt {
            Sent::Unknown(failure)
        } else {
            Sent::Failed(failure)
        }
    }

    /// What an answer that is no success means.
    fn failure(&self, answer: &BotAnswer, response: &Response) -> Failure {
        let status = response.head.status;
        let words = self.settings.token.hide(&answer.description);
        let (class, hint) = match status {
            200..=299 => (FailureClass::Unusable, "; that is not Telegram's answer"),
            429 => (FailureClass::RateLimited, ""),
            500..=599 => (FailureClass::Transient, ""),
            401 => (FailureClass::Credentials, "; check the bot's token"),
            404 => (FailureClass::Credentials, "; no such bot: check its token"),
            403 => (
                FailureClass::Refused,
                "; check that the bot may write there",
            ),
            _ => (FailureClass::Refused, ""),
        };
        Failure {
            class,
            detail: format!("HTTP {status}: {words}{}{hint}", answer.moved()),
            retry_after: self.wait(answer, response),
        }
    }

    fn wait(&self, answer: &BotAnswer, response: &Response) -> Option<SignedDuration> {
        let asked = answer.parameters.retry_after.map(SignedDuration::from_secs);
        let header = || {
            let text = response.head.header(&header::RETRY_AFTER)?;
            wait_asked_for(text, self.clock.now())
        };
        asked.filter(SignedDuration::is_positive).or_else(header)
    }
}

impl fmt::Debug for Bot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bot").finish_non_exhaustive()
    }
}

fn confirmed(number: Option<i64>) -> Sent {
    Sent::Confirmed {
        receipt: number.map(|number| number.to_string()),
    }
}

/// What Telegram answers, as far as it matters. Anything but its JSON counts as empty.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BotAnswer {
    ok: Option<bool>,
    description: String,
    result: SentMessage,
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentMessage {
    message_id: Option<i64>,
    username: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameters {
    retry_after: Option<i64>,
    migrate_to_chat_id: Option<i64>,
}

impl BotAnswer {
    /// A group that became a larger one has another number.
    fn moved(&self) -> String {
        let to = self.parameters.migrate_to_chat_id;
        to.map_or_else(String::new, |chat| {
            format!("; the chat's number is now {chat}")
        })
    }
}

/// How long Telegram thinks a text is.
pub(crate) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Text of at most so many UTF-16 units: unchanged, or its beginning and an ellipsis.
pub(crate) fn cut(text: &str, units_max: usize) -> String {
    if units(text) <= units_max {
        return text.to_owned();
    }
    let mut left = units_max.saturating_sub(ELLIPSIS.len_utf16());
    let kept = text.chars().take_while(|c| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        fits
    });
    let mut kept: String = kept.collect();
    kept.truncate(kept.trim_end().len());
    if units_max > 0 {
        kept.push(ELLIPSIS);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_its_shape_and_is_never_shown() {
        let token = BotToken::parse(" 123:AA-b_9\n").unwrap();
        assert_eq!(format!("{token:?}"), "BotToken(***)");
        for bad in [
            "", "123", "123:", ":AA", "x1:AA", "1:A/../x", "1:A A", "1:é",
        ] {
            let refused = BotToken::parse(bad).unwrap_err().to_string();
            assert!(bad.len() < 4 || !refused.contains(bad), "{refused}");
        }
    }

    #[test]
    fn no_text_shows_a_token() {
        let token = BotToken::parse("123:AA-b_9").unwrap();
        for words in [
            "at /bot123:AA-b_9/sendMessage",
            "AA-b_9",
            "xAA-b_9x 123:AA-b_9",
        ] {
            let hidden = token.hide(words);
            assert!(!hidden.contains("AA-b_9"), "{hidden}");
        }
        assert_eq!(token.hide("chat not found"), "chat not found");
    }

    #[test]
    fn a_cut_keeps_whole_characters_and_says_that_it_cut() {
        for (text, max, kept) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("a😀b", 4, "a😀b"),
            ("a😀b", 3, "a…"),
            ("ab cd", 4, "ab…"),
            ("ab", 1, "…"),
            ("ab", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, max), kept, "{text} at {max}");
        }
    }
}
