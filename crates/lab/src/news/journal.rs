//! What was asked of the server: the numbers that a client's own budget is compared with.
//!
//! A request is noted when it arrives and before any wait, so that it counts also for a caller who
//! gives up meanwhile.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Requests kept one by one; the oldest go first. Counts are kept for all.
const REQUESTS_KEPT: usize = 20_000;

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// `/v0/beststories.json`
    BestStories,
    /// `/v0/topstories.json`
    TopStories,
    /// `/v0/item/{id}.json`
    Item,
    /// `/api/v1/search`
    Search,
    /// `/api/v1/search_by_date`
    SearchByDate,
    /// `/pages/{id}`, and each redirect on the way there.
    Page,
    /// `/item?id={id}`: the page of a story on the site itself.
    Discussion,
    /// `/crawler`
    Crawler,
    /// `/reader/{address}`
    Reader,
    /// Anything else: 404.
    Other,
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// In order of arrival, from 1.
    pub sequence: u64,
    /// When it arrived.
    pub at: Timestamp,
    /// What it asked.
    pub endpoint: Endpoint,
    /// The address that was dialled.
    pub host: String,
    /// Path and query, as called.
    pub path: String,
    /// Status of the answer; 0 where there is none.
    pub status: u16,
}

/// How many requests were alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// What they asked.
    pub endpoint: Endpoint,
    /// Status of the answer; 0 where there was none.
    pub status: u16,
    /// How many.
    pub requests: u64,
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Journal {
    total: u64,
    newest: VecDeque<Seen>,
    counts: BTreeMap<(Endpoint, u16), u64>,
    under_way: u64,
    under_way_max: u64,
}

impl Journal {
    /// Notes one request, which is under way from now on; its `sequence` is set here.
    pub fn arrive(&mut self, mut seen: Seen) {
        self.total += 1;
        self.under_way += 1;
        self.under_way_max = self.under_way_max.max(self.under_way);
        seen.sequence = self.total;
        *self.counts.entry((seen.endpoint, seen.status)).or_default() += 1;
        if self.newest.len() == REQUESTS_KEPT {
            self.newest.pop_front();
        }
        self.newest.push_back(seen);
    }

    /// A request was answered to its end, or its caller went away.
    pub fn leave(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// The most requests that were under way at once.
    pub fn under_way_max(&self) -> u64 {
        self.under_way_max
    }

    /// The newest requests, oldest first.
    pub fn newest(&self) -> Vec<Seen> {
        self.newest.iter().cloned().collect()
    }

    /// How many of which kind.
    pub fn counts(&self) -> Vec<Count> {
        let count = |(&(endpoint, status), &requests): (&(Endpoint, u16), &u64)| Count {
            endpoint,
            status,
            requests,
        };
        self.counts.iter().map(count).collect()
    }

    /// Everything that came.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets all requests but those under way.
    pub fn forget(&mut self) {
        *self = Self {
            under_way: self.under_way,
            under_way_max: self.under_way,
            ..Self::default()
        };
    }
}
