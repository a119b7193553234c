//! Why an article stays unchanged: responses that are not failures.
//!
//! Almanack acts on the status: 425 requests a retry, everything else here ends the task.
//! INVARIANT: `superseded` must not count as success on the other side. A task that succeeded
//! ignores later changes of time (RS-04), and the newer event could not revive it.

/// Why a request or a call has no effect. Expected, so a value.
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
    /// Its audit has not run yet; retry later.
    NotReady,
    /// The author has since chosen a later time.
    Superseded,
    /// The automatic audit did not reject it, so there is nothing to review.
    NotUnderReview,
}

impl Refusal {
    /// HTTP status. 425 requests a retry; the others are final.
    pub fn status(self) -> u16 {
        self.parts().0
    }

    /// Stable code of the response.
    pub fn code(self) -> &'static str {
        self.parts().1
    }

    /// The same as a sentence.
    pub fn message(self) -> &'static str {
        self.parts().2
    }

    fn parts(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Unknown => (404, "unknown_article", "there is no such article"),
            Self::Withdrawn => (410, "withdrawn", "the author has withdrawn the article"),
            Self::AlreadyPublished => {
                (409, "already_published", "the article is published already")
            }
            Self::AuditFailed => (409, "audit_failed", "the article did not pass its audit"),
            Self::NotReady => (425, "not_ready", "the article has not been audited yet"),
            Self::Superseded => {
                let message = "the author has rescheduled the publication to a later time";
                (409, "superseded", message)
            }
            Self::NotUnderReview => {
                let message = "the article is not under review";
                (409, "not_under_review", message)
            }
        }
    }
}
