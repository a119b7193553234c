//! The ports between an edition and the outside it is made from and goes to.
//!
//! All of them spend from the request budget they are handed, every request of theirs, tries and
//! redirects included (ED-08); when it is empty they answer [`FailureClass::Spent`] at once and the
//! work stops cleanly. None of them waits longer than its own time limits, and none of them keeps
//! anything: whatever must survive is the edition's.

use std::{any::Any, sync::Arc};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

use super::{
    allowance::Usage,
    delivery::{OnRevision, OnUnknown},
    document::{Document, Inputs, Printed},
    prompts::Prompts,
    quote::Comment,
    story::{Listed, StoryKey},
};
use crate::budget::Budget;

names! {
    /// Why something outside did not work, by what is done about it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FailureClass {
        /// The budget is spent; nothing was requested. Not a failure.
        Spent = "spent",
        /// Rate limited; see `retry_after`.
        RateLimited = "rate_limited",
        /// No answer in time, or none at all, or one that says "later".
        Transient = "transient",
        /// Credentials are missing, wrong or not enough; an operator must renew them.
        Credentials = "credentials",
        /// Refused for good: not there, not allowed, not possible.
        Refused = "refused",
        /// An answer came that cannot be used: a block page, an empty page, prose instead of data.
        Unusable = "unusable",
        /// A cap on what models cost is reached; nothing was requested. `retry_after` says when it
        /// frees: until then another try cannot help (ED-44).
        Capped = "capped",
    }
}

/// Why something outside did not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Failure {
    /// What kind of failure: this decides what happens.
    pub class: FailureClass,
    /// A sentence a person understands, without secrets.
    pub detail: String,
    /// When the other side wants to be asked again, if it said so.
    pub retry_after: Option<SignedDuration>,
}

impl Failure {
    /// A failure whose other side said nothing about when to come again.
    pub fn new(class: FailureClass, detail: impl Into<String>) -> Self {
        Self {
            class,
            detail: detail.into(),
            retry_after: None,
        }
    }

    /// The budget is spent.
    pub fn spent() -> Self {
        Self::new(FailureClass::Spent, crate::budget::Spent.to_string())
    }

    /// Whether the budget was spent before it could be tried.
    pub fn is_spent(&self) -> bool {
        self.class == FailureClass::Spent
    }
}

/// Which stories are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub date: Date,
    /// Whether that is the present day. A list of "the best now" cannot be had for another one.
    pub is_today: bool,
    /// The day before the edition's, in its zone: from the first instant…
    pub day_start: Timestamp,
    /// …to the first that is no longer part of it.
    pub day_end: Timestamp,
    pub now: Timestamp,
    pub limit: usize,
}

/// Lists stories, and what is said about them (ED-33).
#[async_trait]
pub trait StorySource: Send + Sync {
    /// The name used in the store and in messages.
    fn name(&self) -> &str;

    /// The best stories, best first, no two with one key, at most [`Wanted::limit`].
    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure>;

    /// What people say about a story, as plain texts without empty ones, the most relevant first;
    /// none where there is no discussion.
    async fn comments(&self, key: &StoryKey, budget: &Arc<Budget>)
    -> Result<Vec<Comment>, Failure>;
}

/// An article, as its page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Article {
    pub text: String,
    /// What the page says about itself, if it does.
    pub description: Option<String>,
    /// The web address of the picture that the page names for itself.
    pub image_url: Option<String>,
}

impl Article {
    /// An article of which only the text is known.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

/// Reads pages (ED-35).
#[async_trait]
pub trait Reader: Send + Sync {
    /// The article at an address, without what surrounds it. A block page, an empty or an oversized
    /// one is a failure, never an article.
    async fn read(&self, url: &str, budget: &Arc<Budget>) -> Result<Article, Failure>;
}

/// What a summary is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text<'a> {
    Article {
        text: &'a str,
        /// What the page says about itself.
        description: Option<&'a str>,
    },
    /// What people say about one; at least [`super::summary::COMMENTS_MIN`] of them.
    Comments(&'a [Comment]),
}

impl<'a> Text<'a> {
    /// An article of which only the text is known.
    pub fn article(text: &'a str) -> Self {
        Self::Article {
            text,
            description: None,
        }
    }
}

/// How long a summary is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As the operator wants it.
    Full,
    /// A sentence or two: there is little time (ED-38).
    Short,
}

names! {
    /// How much the content filter lets through (FACTS: three levels, each with what the one
    /// before refuses).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Sensitivity {
        /// Refuses what is plainly illegal or explicit.
        Low = "low",
        #[default]
        Medium = "medium",
        /// And whatever touches politics or censorship.
        High = "high",
    }
}

/// Writes in the edition's language (ED-36).
#[async_trait]
pub trait Writer: Send + Sync {
    /// The model's name, for people.
    fn name(&self) -> &str;

    /// The prompts that the model gets; `None` if there is no model.
    fn prompts(&self) -> Option<&Prompts> {
        None
    }

    /// Titles in the edition's language, each at the place of its original, in one request. `None`
    /// in a place means that this one is missing, which is a failure of that story (ED-09).
    /// `Ok(None)` means that there is no translator and the originals stay.
    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure>;

    /// A summary, not empty, of bounded length.
    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure>;

    /// What opens an edition: a few sentences about its stories, best first, in at most one request.
    /// `Ok(None)` means that there is no model to write one.
    async fn overview(
        &self,
        _stories: &[Printed],
        _budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Which of the titles may be published, each at its place, in one request.
    async fn judge(
        &self,
        titles: &[String],
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure>;
}

/// What was counted for a request before it left.
#[derive(Debug)]
pub struct Reserved {
    /// The day that it counts for.
    pub on: Date,
    pub usage: Usage,
    /// Dropped when the request is over, settled or not.
    pub under_way: Option<Box<dyn Any + Send + Sync>>,
}

/// Counts what models cost an edition, and refuses what would exceed a cap (ED-44).
///
/// A request that is not settled, because its caller was stopped or the node died, stays counted
/// with the most that it could cost.
#[async_trait]
pub trait Meter: Send + Sync {
    /// Counts a request that is about to leave, with the most that it can cost.
    /// [`FailureClass::Capped`] if a cap does not allow it.
    async fn reserve(&self, most: Usage) -> Result<Reserved, Failure>;

    /// Corrects the count of a request by what it cost.
    async fn settle(&self, reserved: Reserved, actual: Usage);
}

/// Why a template cannot be rendered, with line and reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadTemplate(pub String);

/// Renders documents. Pure: the same inputs and template give the same bytes, always.
pub trait Renderer: Send + Sync {
    /// The template of the configuration.
    fn template(&self) -> &str;

    /// Fills a template.
    fn print(&self, template: &str, inputs: &Inputs) -> Result<String, BadTemplate>;

    /// SHA-256 in hexadecimal.
    fn digest(&self, bytes: &[u8]) -> String;
}

/// What is sent to a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// The document it is part of.
    pub document: &'a Document,
    /// Which message of several, from 1.
    pub part: u32,
    pub body: &'a str,
    /// The permanent id of this part of this revision at this destination, for destinations that
    /// recognise duplicates.
    pub key: String,
}

/// The result of sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The destination has it, and knows it by this.
    Confirmed {
        /// A commit, a message, a path.
        receipt: Option<String>,
    },
    /// It certainly does not have it.
    Failed(Failure),
    /// It left, and no answer came back.
    Unknown(Failure),
}

/// The result of a look at a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    There {
        /// What the destination knows it by.
        receipt: Option<String>,
    },
    /// It is not there.
    NotThere,
    /// This destination answers but cannot be looked at, or takes the same message twice without
    /// harm: see [`Publisher::on_unknown`].
    CannotVerify,
    /// The look failed; try again later. Also where it could find out nothing about the message: a
    /// destination that does not answer now may do so later.
    Failed(Failure),
}

/// Delivers editions to one destination (ED-34).
#[async_trait]
pub trait Publisher: Send + Sync {
    /// The destination's name in the configuration.
    fn destination(&self) -> &str;

    /// The messages a document makes, in order. Pure; asked once per document, and what it says is
    /// stored. `None` for one message that is the document itself.
    fn parts(&self, _: &Document) -> Vec<Option<String>> {
        vec![None]
    }

    /// What to do when it is unknown whether a message arrived and there is no way to look.
    fn on_unknown(&self) -> OnUnknown;

    /// What to do with a second document of an edition that was delivered already.
    fn on_revision(&self) -> OnRevision;

    /// Requests that sending one part takes when nothing has to be tried twice.
    fn requests_per_part(&self) -> u32;

    /// Whether it could take an edition now, as far as can be known without sending one. Asked only
    /// where the quality standard wants it (ED-39); a destination that cannot know is ready.
    async fn ready(&self, _: &Arc<Budget>) -> Result<(), Failure> {
        Ok(())
    }

    /// How long to wait before a part that follows another. The sender waits before it records that
    /// the part is being sent: a node stopped in a pause has sent nothing, and there is no doubt
    /// about it.
    fn pause(&self) -> SignedDuration {
        SignedDuration::ZERO
    }

    /// Sends a part, at once: what waits in here is in doubt if its process dies.
    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent;

    /// Looks whether a part has arrived.
    async fn look(&self, _: &Message<'_>, _: &Arc<Budget>) -> Presence {
        Presence::CannotVerify
    }
}
