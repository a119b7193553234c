//! How Telegram misbehaves on demand.
//!
//! Most faults come in two: before the request took effect and after it. The client cannot
//! distinguish them, which is their purpose.

use serde::{Deserialize, Serialize};

use crate::rule;
pub use crate::rule::When;

/// The requests a rule matches; an omitted field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matching {
    /// Only this method; case does not matter.
    pub method: Option<String>,
    /// Only where `chat_id` is this, as sent.
    pub chat: Option<String>,
    /// Only where the text contains this, as sent.
    pub contains: Option<String>,
}

/// The effect on a matching request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Answered with this status and without effect: 500, 502, 503.
    FailBefore(u16),
    /// Takes effect, but is answered with this status.
    FailAfter(u16),
    /// Never answered, without effect.
    HangBefore,
    /// Takes effect, and is never answered.
    HangAfter,
    /// The connection is cut, without effect.
    CutBefore,
    /// Takes effect; then the connection is cut.
    CutAfter,
    /// 429, without effect.
    Limited {
        /// Value of `retry_after`.
        retry_after_s: u32,
    },
    /// Takes effect at once, and is answered correctly after a delay.
    Slow {
        /// The wait, in real time.
        wait_ms: u64,
    },
}

/// A rule: which requests, how often, and the effect.
pub type Rule = rule::Rule<Matching, Effect>;

impl Rule {
    /// A rule for messages to be sent.
    pub fn on_send(when: When, effect: Effect) -> Self {
        let matching = Matching {
            method: Some("sendMessage".to_owned()),
            ..Matching::default()
        };
        Self::new(matching, when, effect)
    }
}

impl Matching {
    /// Whether a rule matches a request, by its method, chat and text as they were sent.
    pub(super) fn covers(&self, method: &str, chat: &str, text: &str) -> bool {
        let [how, to, contains] = [&self.method, &self.chat, &self.contains].map(Option::as_deref);
        how.is_none_or(|it| it.eq_ignore_ascii_case(method))
            && to.is_none_or(|it| it == chat)
            && contains.is_none_or(|it| text.contains(it))
    }
}
