//! What was asked of the server, and what it cost: the numbers that request budgets are held to.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Requests kept one by one; the oldest go first. Counts are kept for all.
const REQUESTS_KEPT: usize = 20_000;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// In order of the answers, from 1.
    pub sequence: u64,
    /// When it was answered.
    pub at: Timestamp,
    /// Who called, by the token's name; empty for a stranger.
    pub token: String,
    /// Method and path template: `GET /repos/{owner}/{repo}/git/ref/{ref}`.
    pub route: String,
    /// The path, as called.
    pub path: String,
    /// Status of the answer.
    pub status: u16,
    /// Whether it counts against the caller's rate limit.
    pub charged: bool,
    /// Whether the answer was sent; not, where the connection was cut instead.
    pub replied: bool,
}

/// How many requests were alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Who called.
    pub token: String,
    /// Method and path template.
    pub route: String,
    /// Status of the answer.
    pub status: u16,
    /// Whether they count against the limit.
    pub charged: bool,
    /// How many.
    pub requests: u64,
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Journal {
    total: u64,
    newest: VecDeque<Seen>,
    counts: BTreeMap<(String, String, u16, bool), u64>,
}

impl Journal {
    /// Notes one request; its `sequence` is set here.
    pub fn note(&mut self, mut seen: Seen) {
        self.total += 1;
        seen.sequence = self.total;
        let key = (
            seen.token.clone(),
            seen.route.clone(),
            seen.status,
            seen.charged,
        );
        *self.counts.entry(key).or_default() += 1;
        if self.newest.len() == REQUESTS_KEPT {
            self.newest.pop_front();
        }
        self.newest.push_back(seen);
    }

    /// The newest requests, oldest first.
    pub fn newest(&self) -> Vec<Seen> {
        self.newest.iter().cloned().collect()
    }

    /// How many of which kind.
    pub fn counts(&self) -> Vec<Count> {
        let count = |(key, requests): (&(String, String, u16, bool), &u64)| Count {
            token: key.0.clone(),
            route: key.1.clone(),
            status: key.2,
            charged: key.3,
            requests: *requests,
        };
        self.counts.iter().map(count).collect()
    }
}
