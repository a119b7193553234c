//! The port between a source and whatever looks at it, and the possible results of a look.
//!
//! A look answers with a document, with "nothing changed", or with a failure of a known class. What
//! that does to the source is decided in `settle`; the words of a failure are for people only and
//! decide nothing (SS-05).

use std::sync::Arc;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    entry::FoundEntry, hints::Hints, hub::NamedHub, identity::Known, options::Options,
    reading::Reading,
};

/// Looks at sources.
#[async_trait]
pub trait Checker: Send + Sync {
    /// Makes one look. A checker keeps to the pace of the host it asks: it answers
    /// [`Look::Wait`] at once rather than hold up others.
    async fn look(&self, ask: &Ask, now: Timestamp) -> Look;

    /// Feeds that a site's address leads to, the likeliest first. The address is requested as a
    /// source with these options would be.
    async fn discover(
        &self,
        address: &str,
        options: &Options,
        now: Timestamp,
    ) -> Result<Vec<Candidate>, Failure>;

    /// Reads the article that an entry links to: plain text, a line for each paragraph. It keeps
    /// to the pace of the host like a look. A checker that reads none says so.
    async fn article(&self, link: &str, now: Timestamp) -> Article {
        let _ = (link, now);
        let detail = "this node reads no articles";
        Article::Failed(Failure::new(FailureClass::Refused, detail))
    }

    /// Why this could never be looked at, whatever the network says: an address that is none or may
    /// not be asked, rules that cannot be read.
    fn problem(&self, address: &str, reading: &Reading) -> Option<String>;
}

/// A feed that was discovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub address: String,
    /// Its title.
    pub title: Option<String>,
    /// What it is, in a word: `rss`, `atom`, `json`.
    pub format: Option<String>,
}

/// What to look at, and what is known from last time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ask {
    pub address: String,
    /// How it is read.
    pub reading: Reading,
    /// The server's validators of its last response.
    pub validators: Validators,
    /// How it is requested, and what makes a failure of a response.
    pub options: Options,
    /// What its last document showed: entries that are still the same need not be cleaned.
    pub known: Arc<Known>,
}

/// A server's validators of its response; sent back byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
}

/// The result of a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// A document was read.
    Document(Box<Document>),
    /// The server says that nothing has changed.
    Unchanged(Unchanged),
    /// It could not be read.
    Failed(Failure),
    /// No request was made: the host is busy. Come again at this time.
    Wait(Timestamp),
}

/// The result of reading an article.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Article {
    /// Its text.
    Text(String),
    /// It could not be read.
    Failed(Failure),
    /// No request was made: the host is busy. Come again at this time.
    Wait(Timestamp),
}

/// The answer that nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unchanged {
    /// When to come again, by the publisher.
    pub hints: Hints,
    /// Where the address has moved for good, if every hop said so.
    pub moved_to: Option<String>,
}

/// A document as read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document {
    /// What the source calls itself.
    pub title: Option<String>,
    /// Its entries that are unfamiliar or edited, cleaned, in the order shown.
    pub entries: Vec<FoundEntry>,
    /// Its other entries: those that [`Ask::known`] knows as they are. None where nothing was
    /// known.
    pub familiar: Vec<Familiar>,
    /// How many more it showed than are read of a document.
    pub left_out: usize,
    /// Whether one id stood for several entries; these are known by their links then.
    pub ids_shared: bool,
    /// What to send back next time.
    pub validators: Validators,
    /// When to come again, by the publisher.
    pub hints: Hints,
    /// Where the address has moved for good, if every hop said so.
    pub moved_to: Option<String>,
    /// The hub that pushes it.
    pub hub: Option<NamedHub>,
}

/// An entry that is shown as it was last time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Familiar {
    /// Hash of its key.
    pub key: u64,
    /// The fingerprint to remember it by.
    pub print: u32,
    /// When its publisher says it was published.
    pub published_at: Option<Timestamp>,
}

/// Why a look failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure: this decides what happens.
    pub class: FailureClass,
    /// A sentence a person understands, without secrets.
    pub detail: String,
    /// When the server wants to be asked again, if it said so.
    pub retry_after: Option<SignedDuration>,
}

names! {
    /// Kinds of failure, by what is done about them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FailureClass {
        /// 429, or 503 with `Retry-After`: rate limited.
        RateLimited = "rate_limited",
        /// 401: credentials are missing or expired; an operator must renew them.
        Unauthorised = "unauthorised",
        /// 403, 451: not for us.
        Forbidden = "forbidden",
        /// 410: gone for good; the source ends.
        Gone = "gone",
        /// 404: not there, for now.
        NotFound = "not_found",
        /// 5xx and other statuses.
        Server = "server",
        /// The name could not be resolved.
        Dns = "dns",
        /// No connection, or it broke.
        Connection = "connection",
        /// The certificate or handshake was refused.
        Tls = "tls",
        /// No answer, or no end of it, in time.
        Timeout = "timeout",
        /// The address may not be asked: private, or of a scheme or port that is not allowed.
        Refused = "refused",
        /// Redirects without end, or to where they must not lead.
        Redirect = "redirect",
        /// More than we are willing to read.
        TooLarge = "too_large",
        /// The answer is not what the source is read as.
        NotAFeed = "not_a_feed",
        /// The answer broke off or contradicts itself.
        Malformed = "malformed",
        /// The source's own rules find nothing or cannot be applied.
        Rules = "rules",
    }
}

impl Failure {
    /// A failure whose server said nothing about when to come again.
    pub fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self {
            class,
            detail: detail.into(),
            retry_after: None,
        }
    }
}
