//! What was asked of Telegram, and what took effect.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fault::Effect;

/// Requests kept one by one; the oldest go first.
const REQUESTS_KEPT: usize = 20_000;

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// In order of arrival, from 1.
    pub sequence: u64,
    /// When it arrived.
    pub at: Timestamp,
    /// Fingerprint of the token; empty where the path had none.
    pub bot: String,
    /// The method, as called.
    pub method: String,
    /// The chat, as sent.
    pub chat: Option<String>,
    /// Which message was sent, edited or deleted.
    pub message_id: Option<i64>,
    /// Length of the text as readers see it, in UTF-16 code units.
    pub text_units: Option<usize>,
    /// The fault that hit it.
    pub effect: Option<Effect>,
    /// Whether readers can see its effect.
    pub applied: bool,
    /// Status of the answer that was prepared.
    pub status: u16,
    /// What a refusal said.
    pub description: Option<String>,
    /// Whether the answer was to be sent; not, where the request was left hanging or cut.
    pub replied: bool,
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Journal {
    total: u64,
    newest: VecDeque<Seen>,
}

impl Journal {
    /// Notes one request; its `sequence` is set here.
    pub fn note(&mut self, mut seen: Seen) {
        self.total += 1;
        seen.sequence = self.total;
        if self.newest.len() == REQUESTS_KEPT {
            self.newest.pop_front();
        }
        self.newest.push_back(seen);
    }

    /// The newest requests, oldest first.
    pub fn newest(&self) -> Vec<Seen> {
        self.newest.iter().cloned().collect()
    }

    /// How many there were, those no longer kept included.
    pub fn total(&self) -> u64 {
        self.total
    }
}
