//! The quality gate: documents are held against the operator's standard before they leave (ED-39).

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        document::Document,
        quality::{self, Shortfall},
        turn,
    },
};
use futures_util::future::join_all;

use super::{Editions, Error};

/// Whether the standard counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    Kept,
    /// A person publishes it as it is.
    Opened,
}

impl Editions {
    /// What a document lacks of the standard.
    pub(super) async fn lacks(
        &self,
        document: &Document,
        gate: Gate,
        budget: &Arc<Budget>,
    ) -> Vec<Shortfall> {
        if gate == Gate::Opened {
            return Vec::new();
        }
        let standard = &self.settings.rules.quality;
        let mut lacks = standard.shortfalls(document);
        if standard.destinations {
            lacks.extend(self.not_ready(budget).await);
        }
        lacks
    }

    async fn not_ready(&self, budget: &Arc<Budget>) -> Vec<Shortfall> {
        let asked = self.outside.publishers.iter().map(|publisher| async {
            let failure = publisher.ready(budget).await.err()?;
            Some(Shortfall::Destination {
                destination: publisher.destination().to_owned(),
                detail: failure.detail,
            })
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Holds a held document against the standard again: what it lacked may be there now.
    pub(super) async fn judge(&self, account: &Account, budget: &Arc<Budget>) -> Result<(), Error> {
        let edition = &account.edition;
        let document = self.document(edition.id, Some(edition.revision)).await?;
        let lacks = self.lacks(&document, Gate::Kept, budget).await;
        let by = (&self.settings.rules, &self.settings.zone);
        let reason = quality::reason(&lacks);
        if let Some(change) = turn::judge_again(account, reason, by, self.clock.now()) {
            self.write(account, change).await?;
        }
        Ok(())
    }

    /// Whether the document of an edition that was worked on again is worth another revision: it
    /// says something else than the one before, and is no worse than what readers must have.
    pub(super) async fn is_improved(
        &self,
        account: &Account,
        document: &Document,
        lacks: &[Shortfall],
    ) -> Result<bool, Error> {
        let edition = &account.edition;
        let before = self.document(edition.id, Some(edition.revision)).await?;
        let differs = before.inputs.stories != document.inputs.stories;
        Ok(differs && (lacks.is_empty() || !account.was_published()))
    }
}
