//! Sources: check when something new is likely.
//!
//! A source is an address that publishes entries. Each active source is one task (`source:17`,
//! [`SOURCE_CHECK`]) that comes again: at every check the address is looked at ([`check`]), what is
//! new is kept ([`entry`]), and the source learns when to come next ([`policy`]). "Check now",
//! pause, resume and a cadence by hand are reschedules of that task; there is no second clock.
//!
//! What must stay true: an active source always has a live task; whatever the outcome of a look,
//! the source's row says so and says when it will be looked at again (nothing dies silently).

pub mod category;
pub mod check;
pub mod clock;
pub mod courtesy;
pub mod entry;
pub mod filter;
pub mod hints;
pub mod hub;
pub mod identity;
pub mod options;
pub mod policy;
pub mod reading;
pub mod recent;
pub mod replay;
pub mod robots;
pub mod search;
pub mod settle;
pub mod why;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use crate::lang::Sentence;
use crate::task::{Identity, Invalid};
use check::{FailureClass, Validators};
use hints::Hints;
use options::{Options, Publisher};
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct SourceId(pub i64);

impl SourceId {
    /// Who checks it.
    pub fn identity(self) -> Result<Identity, Invalid> {
        Identity::parse(&format!("{SUBJECT_PREFIX}{self}"), SOURCE_CHECK)
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

names! {
    /// What the founding documents distinguish: feeds, and sources read by custom rules.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SourceType {
        /// RSS, Atom, JSON Feed.
        Rss = "rss",
        /// A page, JSON or a sitemap.
        Custom = "custom",
    }
}

/// The definition of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SourceDefinition))]
pub struct Definition {
    /// Its name; at first the name it gives itself.
    pub name: String,
    /// Its address; unique.
    pub address: String,
    /// How it is read.
    pub reading: Reading,
    /// Its folders, joined as in [`category`]; empty at the top.
    pub category: String,
    /// Its own policy, as text that [`policy`] reads; the node's when not given.
    pub policy: Option<String>,
    /// Its cadence, set by hand; none when it is learned.
    #[serde(rename = "cadence_by_hand")]
    pub cadence: Option<Cadence>,
    /// Everything else that was set about it.
    pub options: Options,
}

/// Whether a source is looked at.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum State {
    /// It is.
    Active,
    /// A person paused it.
    Paused {
        /// Since when.
        since: Timestamp,
        /// The person's note.
        note: Option<String>,
    },
    /// It reported that it is gone for good; a person may resume it.
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
        self.into()
    }
}

/// A state on the wire: its name, and beside it what is known of it.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SourceState))]
struct StateOnWire<'a> {
    /// `active`, `paused` or `ended`.
    state: &'static str,
    /// The pause it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<Paused<'a>>,
    /// Why it is not looked at any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<Ended<'a>>,
}

/// A pause.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct Paused<'a> {
    since: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

/// Why a source is gone for good.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
struct Ended<'a> {
    since: Timestamp,
    reason: &'a str,
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (paused, ended) = match self {
            Self::Active => (None, None),
            Self::Paused { since, note } => {
                let (since, note) = (*since, note.as_deref());
                (Some(Paused { since, note }), None)
            }
            Self::Ended { since, reason } => {
                let since = *since;
                (None, Some(Ended { since, reason }))
            }
        };
        let state = self.as_str();
        StateOnWire {
            state,
            paused,
            ended,
        }
        .serialize(serializer)
    }
}

names! {
    /// Why a source needs attention. At most one at a time: the most urgent.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Attention {
        /// It is unusually quiet.
        Silent = "silent",
        /// Its document shows more entries than are read.
        Truncated = "truncated",
        /// Its ids identify nothing: they change, or several entries share one.
        Identity = "identity",
        /// It has failed many times in a row; it is still tried, slowly.
        Failing = "failing",
        /// It moved to the address of another source.
        Duplicate = "duplicate",
        /// It needs credentials that are missing or expired.
        Credentials = "credentials",
        /// It has ended: its server said that it is gone for good.
        Gone = "gone",
    }
}

/// The statistics of a source, under the founding documents' names (SS-01).
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SourceStats))]
pub struct Stats {
    /// How often it publishes, in words.
    pub frequency_type: Option<Frequency>,
    /// How often the classic policy checks it; statistics are counted by it.
    pub cadence: Option<Cadence>,
    /// The hour of the day, UTC, around which it publishes.
    #[serde(serialize_with = "hundredths")]
    pub avg_publish_hour: Option<f64>,
    /// How widely that hour spreads.
    #[serde(serialize_with = "hundredths")]
    pub std_publish_hour: Option<f64>,
    /// When it is looked at next; none while it is not. This is what was decided, and the order of
    /// the due list (SS-08); its task says when it really is, because a person may have moved that,
    /// or a busy host. INVARIANT: only an active source has one, and it is never before
    /// `backoff_until`.
    #[serde(skip)]
    pub next_due_at: Option<Timestamp>,
    /// When it was last looked at.
    pub last_check_at: Option<Timestamp>,
    /// When its newest entry was published, or first seen where no time is given. Only moves
    /// forward.
    pub last_article_at: Option<Timestamp>,
    /// Failures in a row.
    pub fail_count: u32,
    /// Until when failures keep it waiting.
    pub backoff_until: Option<Timestamp>,
    /// The message of the last failure; none after a success.
    pub last_error: Option<String>,
    /// The kind of that failure.
    pub last_error_class: Option<FailureClass>,
    /// Looks made.
    pub check_count: u64,
    /// Looks that found new entries.
    pub hit_count: u64,
}

/// People read hours, not fractions of seconds.
#[expect(clippy::ref_option, reason = "serde hands a reference")]
fn hundredths<S: Serializer>(hour: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    hour.map(|hour| (hour * 100.0).round() / 100.0)
        .serialize(serializer)
}

/// What a source's row remembers of its documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    /// The server's validators of its last response.
    pub validators: Validators,
    /// What the publisher last requested.
    pub hints: Hints,
    /// Where it says it has moved for good, and how often in a row it has said so.
    pub moving: Option<Moving>,
    /// Hashes of the keys its last document showed: most documents show nothing else next time, and
    /// what a document still shows is never pruned.
    pub shown: Vec<u64>,
    /// Fingerprints of the entries with those keys, in the same order: an entry whose fingerprint
    /// differs next time was edited. Shorter where an earlier version wrote the row.
    pub prints: Vec<u32>,
    /// What was noticed about its publisher.
    pub publisher: Publisher,
    /// Entries published before this may have been pruned: if they show up again they are not new.
    pub pruned_before: Option<Timestamp>,
}

/// A permanent move that is not yet believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Moving {
    /// Where to.
    pub address: String,
    /// How often in a row this was said.
    pub times: u32,
}

/// A source, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Source {
    /// Number of the row.
    #[serde(rename = "source_id")]
    pub id: SourceId,
    /// Its definition.
    #[serde(flatten)]
    pub definition: Definition,
    /// Whether it is looked at.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schema(value_type = StateOnWire<'static>))]
    pub state: State,
    /// Why it needs attention.
    pub attention: Option<Attention>,
    /// What is known of it.
    #[serde(flatten)]
    pub stats: Stats,
    /// What its last answers were.
    #[serde(skip)]
    pub memory: Memory,
    /// The last looks, newest last.
    #[serde(skip)]
    pub recent: Recent,
    /// What was learned of its rhythm, as [`policy`] writes it.
    #[serde(skip)]
    pub learned: Vec<u8>,
    /// Why the next look is when it is, in a sentence.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub reason: Option<Sentence>,
    /// Counts every write; part of the compare-and-set.
    #[serde(skip)]
    pub version: i64,
    /// When it was added.
    pub created_at: Timestamp,
    /// When its row last changed.
    pub updated_at: Timestamp,
}

impl Source {
    /// A source that has not been looked at yet; due at once.
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

    /// Whether no check of it has succeeded yet: what the first one finds is history, not news.
    pub fn is_unread(&self) -> bool {
        self.learned.is_empty()
    }

    /// The share of its looks that found something new; none before the first.
    pub fn hit_rate(&self) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a count of looks is far below 2^53"
        )]
        let rate = || self.stats.hit_count as f64 / self.stats.check_count as f64;
        (self.stats.check_count > 0).then(rate)
    }
}
