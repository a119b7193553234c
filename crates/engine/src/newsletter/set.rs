//! The newsletters of a node: one for each edition that is mailed.
//!
//! Each has its own sender, secret and title. A mailing belongs to the edition it mails, a link and
//! a confirmation to the edition that was subscribed to, so the row of the subscriber decides which
//! newsletter speaks.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    edition::EditionName,
    newsletter::{SubscriberId, link::Purpose},
};

use super::{Error, Newsletter};

/// All newsletters of a node, by the names of their editions.
#[derive(Clone, Default)]
pub struct NewsletterSet(BTreeMap<EditionName, Arc<Newsletter>>);

/// What a signed link leads to.
pub struct Followed<'a> {
    /// Sends the edition that was subscribed to, or signs like it where that edition is not mailed
    /// any more: a link to unsubscribe is valid for ever.
    pub newsletter: &'a Arc<Newsletter>,
    pub id: SubscriberId,
    /// What the edition is called.
    pub title: String,
}

impl NewsletterSet {
    /// These; of two of one edition the later one.
    pub fn of(all: impl IntoIterator<Item = Arc<Newsletter>>) -> Self {
        let all = all.into_iter();
        Self(all.map(|it| (it.settings.edition, it)).collect())
    }

    /// The one of this edition.
    pub fn get(&self, edition: EditionName) -> Option<&Arc<Newsletter>> {
        self.0.get(&edition)
    }

    /// By the names of their editions.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Newsletter>> {
        self.0.values()
    }

    /// Whose link it is; `None` if no newsletter that speaks for them signed it, or if it is too
    /// old.
    pub async fn follow(
        &self,
        purpose: Purpose,
        token: &str,
    ) -> Result<Option<Followed<'_>>, Error> {
        let has_signed = |it: &&Arc<Newsletter>| it.read_link(purpose, token).is_some();
        // Nothing is read for whoever guesses.
        let Some(signer) = self.iter().find(has_signed) else {
            return Ok(None);
        };
        let Some(id) = signer.read_link(purpose, token) else {
            return Ok(None);
        };
        let Some(row) = signer.store.load_subscriber(id).await? else {
            let title = signer.settings.title.clone();
            return Ok(Some(Followed {
                newsletter: signer,
                id,
                title,
            }));
        };
        let Some(own) = self.get(row.edition) else {
            let title = row.edition.to_string();
            return Ok(Some(Followed {
                newsletter: signer,
                id,
                title,
            }));
        };
        Ok(has_signed(&own).then(|| Followed {
            newsletter: own,
            id,
            title: own.settings.title.clone(),
        }))
    }
}
