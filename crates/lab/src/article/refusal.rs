//! Why an article stays as it is: the answers that are no failures.
//!
//! Almanack acts on the status: 425 asks for another try, everything else here ends the task.
//! INVARIANT: `superseded` must not count as success on the other side. A task that succeeded
//! ignores later changes of time (RS-04), and the newer event could not bring it back.

/// Why a wish or a call has no effect. Expected, so a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such article.
    Unknown,
    /// Its author withdrew it.
    Withdrawn,
    /// It is published already.
    AlreadyPublished,
    /// It did not pass its audit.
    AuditFailed,
    /// Its audit has not happened yet; try again later.
    NotReady,
    /// The author wants a later time by now.
    Superseded,
    /// The automatic audit did not refuse it, so there is nothing to review.
    NotUnderReview,
}

impl Refusal {
    /// HTTP status. 425 asks for another try; the others end the matter.
    pub fn status(self) -> u16 {
        match self {
            Self::Unknown => 404,
            Self::Withdrawn => 410,
            Self::NotReady => 425,
            Self::AlreadyPublished
            | Self::AuditFailed
            | Self::Superseded
            | Self::NotUnderReview => 409,
        }
    }

    /// Stable code of the answer.
    pub fn code(self) -> &'static str {
        match self {
            Self::Unknown => "unknown_article",
            Self::Withdrawn => "withdrawn",
            Self::AlreadyPublished => "already_published",
            Self::AuditFailed => "audit_failed",
            Self::NotReady => "not_ready",
            Self::Superseded => "superseded",
            Self::NotUnderReview => "not_under_review",
        }
    }

    /// The same as a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Self::Unknown => "there is no such article",
            Self::Withdrawn => "its author has withdrawn the article",
            Self::AlreadyPublished => "the article is published already",
            Self::AuditFailed => "the article did not pass its audit",
            Self::NotReady => "the article has not been audited yet",
            Self::Superseded => "its author has moved the publication to a later time",
            Self::NotUnderReview => "the article does not wait for a person's verdict",
        }
    }
}
