//! Links that decide about an edition, in messages that only their receivers read.
//!
//! Whoever has a link may decide, so it goes by Telegram and mail alone: a topic of ntfy or a
//! channel of Slack is often open to more people than the operator thinks of.

use std::fmt;

use almanack_core::{edition::review::Review, follow::to_url, secret::Secret};

use crate::{language::Language, signature::SigningKey};

/// Makes links.
#[derive(Clone)]
pub struct ReviewLinks {
    base: String,
    key: SigningKey,
}

impl fmt::Debug for ReviewLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReviewLinks")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl ReviewLinks {
    /// Links to the nodes at `base`, signed by `key`.
    pub fn new(base: &str, key: SigningKey) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { base, key }
    }

    /// The link of a review.
    pub fn link(&self, review: &Review) -> Secret {
        let signed = self
            .key
            .sign_by_newest(&review.signed_id(), review.expires_at, b"");
        let (base, signature) = (&self.base, to_url(&signed));
        let (id, revision) = (review.id, review.revision);
        let (since, expires) = (review.since_us, review.expires_at.as_second());
        Secret::new(&format!(
            "{base}/review/{id}?revision={revision}&since={since}&expires={expires}&signature={signature}"
        ))
    }
}

impl Language {
    /// The line with a link.
    pub(super) fn review(self, link: &Secret) -> String {
        let link = link.expose();
        match self {
            Self::English => format!("Read it, then approve or reject it: {link}"),
            Self::Chinese => format!("阅读后批准或驳回：{link}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn ed_42_a_link_is_signed_for_one_wait_of_one_revision() {
        let key = SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let links = ReviewLinks::new("https://news.example/", key.clone());
        let review = Review {
            id: jiff::civil::date(2026, 1, 5).into(),
            revision: 2,
            since_us: 1_767_600_000_000_001,
            expires_at: Timestamp::from_second(1_767_610_000).unwrap(),
        };
        let link = links.link(&review);
        let start = "https://news.example/review/2026-01-05?revision=2&since=1767600000000001\
                     &expires=1767610000&signature=";
        let signature = link.expose().strip_prefix(start).unwrap();
        assert!(review.is_signed(&key, signature));
        for other in [
            Review {
                id: jiff::civil::date(2026, 1, 6).into(),
                ..review.clone()
            },
            Review {
                revision: 1,
                ..review.clone()
            },
            Review {
                since_us: 0,
                ..review.clone()
            },
            Review {
                expires_at: Timestamp::MAX,
                ..review.clone()
            },
        ] {
            assert!(!other.is_signed(&key, signature), "{other:?}");
        }
        assert!(!format!("{links:?} {link:?}").contains(signature));
    }
}
