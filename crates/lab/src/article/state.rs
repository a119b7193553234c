//! An article's state machine, as pure functions.
//!
//! ```text
//!            submit               audit                      publish
//!   DRAFT ──────────► PENDING_AUDIT ──────► AUDIT_SUCCESS ──────────► PUBLISHED
//!                           │                    ▲
//!                           │ audit              │ review: passed
//!                           ▼                    │
//!                     AUTO_AUDIT_FAILED ─────────┤
//!                                                │ review: failed
//!                                                ▼
//!                                       MANUAL_AUDIT_FAILED
//! ```
//!
//! Withdrawing is a flag beside the state: it is possible in every state but PUBLISHED, final, and
//! stops everything else.
//!
//! INVARIANT: every change raises the revision by one, and a change that alters what Almanack
//! should do carries the corresponding events. Reaching `AUDIT_SUCCESS` announces the publication
//! again, although its time did not change: calls that came too early may have used up the publish
//! task's retries, and without a newer event no call would ever come again.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;

/// A text with this word does not pass the automatic audit.
pub const FORBIDDEN: &str = "FORBIDDEN";

/// An article's state. The names are those of the founding documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    Draft,
    /// Submitted; waits for its audit.
    PendingAudit,
    /// Rejected by the automatic audit; a reviewer may still pass it.
    AutoAuditFailed,
    /// Rejected by a reviewer. Final.
    ManualAuditFailed,
    AuditSuccess,
    Published,
}

impl State {
    /// The name used in the database and in responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "DRAFT",
            Self::PendingAudit => "PENDING_AUDIT",
            Self::AutoAuditFailed => "AUTO_AUDIT_FAILED",
            Self::ManualAuditFailed => "MANUAL_AUDIT_FAILED",
            Self::AuditSuccess => "AUDIT_SUCCESS",
            Self::Published => "PUBLISHED",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_value(text.into()).ok()
    }
}

/// One article, as stored and as returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Article {
    /// Its id; `article:{id}` is its subject in Almanack.
    pub id: i64,
    pub title: String,
    pub body: String,
    pub state: State,
    /// When its author wants it published.
    pub publish_at: Timestamp,
    /// Number of its newest change.
    pub revision: i64,
    /// When its author withdrew it.
    pub withdrawn_at: Option<Timestamp>,
    /// When it was published.
    pub published_at: Option<Timestamp>,
    /// Publish calls that reached it, with effect or without.
    pub publish_calls: i64,
    /// Publish calls that took effect: none or one.
    pub publish_effects: i64,
}

/// A requested change of an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeRequest {
    /// The author submits it.
    Submit,
    /// The author reschedules it.
    Move {
        /// The new time.
        publish_at: Timestamp,
    },
    /// The author withdraws it.
    Withdraw,
    /// Almanack calls for the audit.
    Audit,
    /// A reviewer decides after the automatic audit rejected it.
    Review { passed: bool },
}

/// What must be announced to Almanack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announcement {
    Audit,
    /// Publish it at its time.
    Publish,
    /// No audit any more.
    CancelAudit,
    /// No publication any more.
    CancelPublish,
}

/// A change to be stored, together with what must be announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub state: State,
    pub publish_at: Timestamp,
    pub withdrawn_at: Option<Timestamp>,
    /// To be written in the same transaction.
    pub announcements: Vec<Announcement>,
}

/// Decides a request: a change, no change (already in that state), or a refusal.
pub fn decide(
    article: &Article,
    request: ChangeRequest,
    now: Timestamp,
) -> Result<Option<Change>, Refusal> {
    match (request, article.withdrawn_at) {
        (ChangeRequest::Withdraw, Some(_)) => Ok(None),
        (_, Some(_)) => Err(Refusal::Withdrawn),
        (ChangeRequest::Submit, None) => Ok(submit(article)),
        (ChangeRequest::Move { publish_at }, None) => move_to(article, publish_at),
        (ChangeRequest::Withdraw, None) => withdraw(article, now).map(Some),
        (ChangeRequest::Audit, None) => audit(article),
        (ChangeRequest::Review { passed }, None) => review(article, passed).map(Some),
    }
}

/// Why a publish call changed nothing; `None` means that it was published before.
pub fn why_not_published(article: &Article) -> Option<Refusal> {
    match article.state {
        State::Published => None,
        _ if article.withdrawn_at.is_some() => Some(Refusal::Withdrawn),
        State::Draft | State::PendingAudit => Some(Refusal::NotReady),
        State::AutoAuditFailed | State::ManualAuditFailed => Some(Refusal::AuditFailed),
        // Audited, not withdrawn: only an outdated call for a time to come finds it unchanged.
        State::AuditSuccess => Some(Refusal::Superseded),
    }
}

fn change(article: &Article, state: State, announcements: &[Announcement]) -> Change {
    Change {
        state,
        publish_at: article.publish_at,
        withdrawn_at: None,
        announcements: announcements.to_vec(),
    }
}

fn approve(article: &Article) -> Change {
    change(article, State::AuditSuccess, &[Announcement::Publish])
}

fn submit(article: &Article) -> Option<Change> {
    let announcements = [Announcement::Audit, Announcement::Publish];
    (article.state == State::Draft).then(|| change(article, State::PendingAudit, &announcements))
}

fn move_to(article: &Article, publish_at: Timestamp) -> Result<Option<Change>, Refusal> {
    let announcements: &[Announcement] = match article.state {
        State::Published => return Err(Refusal::AlreadyPublished),
        State::ManualAuditFailed => return Err(Refusal::AuditFailed),
        // No publish task exists in these states; entering the next one announces the time.
        State::Draft | State::AutoAuditFailed => &[],
        State::PendingAudit | State::AuditSuccess => &[Announcement::Publish],
    };
    if publish_at == article.publish_at {
        return Ok(None);
    }
    Ok(Some(Change {
        publish_at,
        ..change(article, article.state, announcements)
    }))
}

fn withdraw(article: &Article, now: Timestamp) -> Result<Change, Refusal> {
    let announcements: &[Announcement] = match article.state {
        State::Published => return Err(Refusal::AlreadyPublished),
        State::Draft | State::AutoAuditFailed | State::ManualAuditFailed => &[],
        State::PendingAudit => &[Announcement::CancelAudit, Announcement::CancelPublish],
        State::AuditSuccess => &[Announcement::CancelPublish],
    };
    Ok(Change {
        withdrawn_at: Some(now),
        ..change(article, article.state, announcements)
    })
}

fn audit(article: &Article) -> Result<Option<Change>, Refusal> {
    match article.state {
        State::Draft => Err(Refusal::NotReady),
        State::PendingAudit if article.body.contains(FORBIDDEN) => {
            let announcements = [Announcement::CancelPublish];
            let failed = change(article, State::AutoAuditFailed, &announcements);
            Ok(Some(failed))
        }
        State::PendingAudit => Ok(Some(approve(article))),
        _ => Ok(None),
    }
}

fn review(article: &Article, passed: bool) -> Result<Change, Refusal> {
    match (article.state, passed) {
        (State::AutoAuditFailed, true) => Ok(approve(article)),
        (State::AutoAuditFailed, false) => Ok(change(article, State::ManualAuditFailed, &[])),
        _ => Err(Refusal::NotUnderReview),
    }
}

#[cfg(test)]
mod tests;
