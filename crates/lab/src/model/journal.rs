//! What was asked of the model: sizes and kinds, never keys or texts.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{fault::Effect, task::Kind};

/// Requests kept one by one; the oldest go first.
const REQUESTS_KEPT: usize = 20_000;

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// In order of arrival, from 1.
    pub sequence: u64,
    /// When it arrived.
    pub at: Timestamp,
    /// The path, as called.
    pub path: String,
    /// Fingerprint of the key that was shown; empty without one.
    pub key: String,
    /// What was asked; nothing, where the request was refused before anybody read it.
    pub asked: Option<Asked>,
    /// The fault that hit it.
    pub effect: Option<Effect>,
    /// Status of the answer that was prepared.
    pub status: u16,
    /// Whether it was to be sent; not, where the request was left hanging or cut.
    pub replied: bool,
    /// Requests under way when it arrived, itself included.
    pub in_flight: usize,
}

/// What a request asked, as far as the journal tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Which kind of work.
    pub kind: Kind,
    /// Of which model.
    pub model: String,
    /// Fingerprint of the last message of the user: the same text has the same.
    pub input: String,
    /// How many messages.
    pub messages: usize,
    /// Characters of all messages.
    pub prompt_chars: usize,
    /// Titles in question; 0 for a summary.
    pub titles: usize,
    /// As sent.
    pub temperature: Option<f64>,
    /// As sent.
    pub max_tokens: Option<u64>,
    /// Tokens of all messages.
    pub prompt_tokens: usize,
    /// Tokens of the answer; 0 where there is none.
    pub completion_tokens: usize,
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
