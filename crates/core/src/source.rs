//! Smart sources: look when there is something to see.
//!
//! A source is an address that publishes entries. Each active source is one task (`source:17`,
//! [`SOURCE_CHECK`]) that comes again: at every check the address is looked at ([`check`]), what is new is
//! kept ([`entry`]), and the source learns when to come next ([`policy`]). "Check now", pause, resume and a
//! cadence by hand are reschedules of that task; there is no second clock.
//!
//! What must stay true: an active source always has a live task; whatever a look brings, the source's row
//! says so and says when it will be looked at again (nothing dies silently).

pub mod check;
pub mod entry;
pub mod hints;
pub mod policy;
pub mod reading;
pub mod recent;
pub mod replay;
pub mod settle;
pub mod why;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::task::{Identity, Invalid, Kind, Subject};
use check::{FailureClass, Validators};
use hints::Hints;
use policy::cadence::{Cadence, Frequency};
use reading::Reading;
use recent::Recent;

/// The kind of the tasks that check sources.
pub const SOURCE_CHECK: &str = "SOURCE_CHECK";
/// Longest name and category, in bytes.
pub const NAME_BYTES_MAX: usize = 500;
/// What the subjects of these tasks begin with.
const SUBJECT_PREFIX: &str = "source:";

/// Number of a source, given by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceId(pub i64);

impl SourceId {
    /// Who checks it.
    pub fn identity(self) -> Result<Identity, Invalid> {
        Ok(Identity {
            subject: Subject::parse(&format!("{SUBJECT_PREFIX}{self}"))?,
            kind: Kind::parse(SOURCE_CHECK)?,
        })
    }

    /// Whose task this is, if it is a source's.
    pub fn of(identity: &Identity) -> Option<Self> {
        let number = identity.subject.as_str().strip_prefix(SUBJECT_PREFIX)?;
        let is_check = identity.kind.as_str() == SOURCE_CHECK;
        is_check.then(|| number.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the founding documents tell apart: feeds, and sources read by rules of one's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceType {
    /// RSS, Atom, JSON Feed.
    Rss,
    /// A page, JSON or a sitemap.
    Custom,
}

impl SourceType {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Rss, Self::Custom];

    /// The name used in the store and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rss => "rss",
            Self::Custom => "custom",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|named| named.as_str() == text)
    }
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What people say about a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What people call it; at first what it calls itself.
    pub name: String,
    /// Where it is looked at. No two sources share an address.
    pub address: String,
    /// How it is read.
    pub reading: Reading,
    /// Where people put it: folders, joined by `/`; empty at the top.
    pub category: String,
    /// Its own policy, as text that [`policy`] reads; the node's when not given.
    pub policy: Option<String>,
    /// Its cadence, set by hand.
    pub cadence: Option<Cadence>,
}

/// Whether a source is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is.
    Active,
    /// A person wants it left alone.
    Paused {
        /// Since when.
        since: Timestamp,
        /// Why, in the person's words.
        note: Option<String>,
    },
    /// It told us that it is gone for good; a person may resume it.
    Ended {
        /// Since when.
        since: Timestamp,
        /// Why.
        reason: String,
    },
}

impl State {
    /// The name used in the store and the API.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused { .. } => "paused",
            Self::Ended { .. } => "ended",
        }
    }
}

/// What a person should look at. At most one at a time: the most urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attention {
    /// It is quiet for longer than ever is its habit.
    Silent,
    /// It has failed many times in a row; it is still tried, slowly.
    Failing,
    /// It moved to the address of another source.
    Duplicate,
    /// It wants credentials that are missing or expired.
    Credentials,
}

impl Attention {
    /// All of them, least urgent first.
    pub const ALL: [Self; 4] = [
        Self::Silent,
        Self::Failing,
        Self::Duplicate,
        Self::Credentials,
    ];

    /// The name used in the store, the API and the metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Failing => "failing",
            Self::Duplicate => "duplicate",
            Self::Credentials => "credentials",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|named| named.as_str() == text)
    }
}

impl fmt::Display for Attention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The statistics of a source, under the founding documents' names (SS-01).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// How often it publishes, in words.
    pub frequency_type: Option<Frequency>,
    /// How often it is looked at by the classic policy, and what sources are counted by.
    pub cadence: Option<Cadence>,
    /// The hour of the day, UTC, around which it publishes.
    pub avg_publish_hour: Option<f64>,
    /// How widely that hour spreads.
    pub std_publish_hour: Option<f64>,
    /// When it is looked at next; none while it is not.
    pub next_due_at: Option<Timestamp>,
    /// When it was last looked at.
    pub last_check_at: Option<Timestamp>,
    /// When its newest entry was published, or first seen where no time is given. Only moves forward.
    pub last_article_at: Option<Timestamp>,
    /// Failures in a row.
    pub fail_count: u32,
    /// Until when failures keep it waiting.
    pub backoff_until: Option<Timestamp>,
    /// What the last failure said; none after a success.
    pub last_error: Option<String>,
    /// What kind of failure that was.
    pub last_error_class: Option<FailureClass>,
    /// Looks made.
    pub check_count: u64,
    /// Looks that brought new entries.
    pub hit_count: u64,
}

/// What a source's row remembers of its documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// What the server gave to recognise its last answer by.
    pub validators: Validators,
    /// What the publisher last wished.
    pub hints: Hints,
    /// Where it says it has moved for good, and how often in a row it has said so.
    pub moving: Option<Moving>,
    /// Hashes of the keys its last document showed: most documents show nothing else next time, and what a
    /// document still shows is never pruned.
    pub shown: Vec<u64>,
    /// Entries published before this may have been pruned: if they show up again they are not new.
    pub pruned_before: Option<Timestamp>,
}

/// A permanent move that is not yet believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// Where to.
    pub address: String,
    /// How often in a row this was said.
    pub times: u32,
}

/// A source, as the store keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Number of the row.
    pub id: SourceId,
    /// What people say about it.
    pub definition: Definition,
    /// Whether it is looked at.
    pub state: State,
    /// What a person should look at.
    pub attention: Option<Attention>,
    /// What is known of it.
    pub stats: Stats,
    /// What its last answers were.
    pub memory: Memory,
    /// The last looks, newest last.
    pub recent: Recent,
    /// What was learned of its rhythm, as [`policy`] writes it.
    pub learned: Vec<u8>,
    /// Why the next look is when it is, in a sentence.
    pub reason: Option<String>,
    /// Counts every write; part of the compare-and-set.
    pub version: i64,
    /// When it was added.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

impl Source {
    /// A source that nobody has looked at yet; due at once.
    pub fn new(definition: Definition, now: Timestamp) -> Self {
        Self {
            id: SourceId(0),
            definition,
            state: State::Active,
            attention: None,
            stats: Stats {
                next_due_at: Some(now),
                ..Stats::default()
            },
            memory: Memory::default(),
            recent: Recent::default(),
            learned: Vec::new(),
            reason: None,
            version: 0,
            created_at: now,
            updated_at: now,
        }
    }

    /// The part of its looks that brought something new; none before the first.
    pub fn hit_rate(&self) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a count of looks is far below 2^53"
        )]
        let rate = || self.stats.hit_count as f64 / self.stats.check_count as f64;
        (self.stats.check_count > 0).then(rate)
    }
}
