//! The desk: people approve or reject a finished edition, correct it, take it back (ED-42).
//!
//! A correction is a new document, rendered here and written with its deliveries in one change, on
//! the version of the edition that it was made from; whoever was overtaken begins again with what
//! is there now.

use almanack_core::edition::{
    Account, Edition, EditionId,
    account::Change,
    document::{Document, Inputs},
    revision::{Correction, Revised, Revision, RevisionLine},
    turn::{self, Day, Meant, NotNow},
};
use jiff::Timestamp;

use super::{Editions, Error};

/// How often to decide again after another run was faster.
const ROUNDS_MAX: usize = 10;
/// Most revisions in a history.
const REVISIONS_MAX: usize = 500;

/// What became of a decision about a held edition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The edition as it is now.
    pub account: Account,
    /// Whether this call decided it; `false` if it was decided so before.
    pub changed: bool,
}

/// A document that a person wants, before it is rendered.
struct Draft {
    inputs: Inputs,
    change: Revision,
    /// What is kept for documents that are made later.
    kept: Option<Correction>,
}

impl Editions {
    /// Lets a held edition out. A node delivers it at once.
    pub async fn approve(&self, id: EditionId, meant: Meant, by: &str) -> Result<Decided, Error> {
        let (id, day) = self.day_of(id)?;
        let decision = |account: &Account, now| turn::approve(account, meant, by, day, now);
        let decided = self.rule(id, decision).await?;
        if decided.changed {
            let revision = decided.account.edition.revision;
            tracing::info!(edition.id = %id, revision, by, "edition approved");
            self.request(id, by).await?;
        }
        Ok(decided)
    }

    /// Keeps a held edition from leaving.
    pub async fn reject(&self, id: EditionId, meant: Meant, by: &str) -> Result<Decided, Error> {
        let (id, _) = self.day_of(id)?;
        let decision = |account: &Account, now| turn::reject(account, meant, by, now);
        let decided = self.rule(id, decision).await?;
        if decided.changed {
            let revision = decided.account.edition.revision;
            tracing::info!(edition.id = %id, revision, by, "edition rejected");
        }
        Ok(decided)
    }

    /// Writes a decision on the account as it is. A refusal changes nothing.
    async fn rule(
        &self,
        id: EditionId,
        decision: impl Fn(&Account, Timestamp) -> Result<Option<Change>, NotNow> + Send + Sync,
    ) -> Result<Decided, Error> {
        let mut refused = None;
        let decided = |account: &Account, now| match decision(account, now) {
            Ok(change) => Some((change?, ())),
            Err(not_now) => {
                refused = Some(not_now);
                None
            }
        };
        match (self.turn(id, decided).await?, refused) {
            (Some((account, ())), _) => Ok(Decided {
                account,
                changed: true,
            }),
            (None, Some(not_now)) => Err(not_now.into()),
            (None, None) => Ok(Decided {
                account: self.account(id).await?,
                changed: false,
            }),
        }
    }

    /// Corrects the newest document: drops, moves or edits a story. With `revision`, only if that
    /// is still the newest.
    pub async fn correct(
        &self,
        id: EditionId,
        wanted: &Correction,
        revision: Option<u32>,
        by: &str,
    ) -> Result<Account, Error> {
        let draft = |account: &Account, newest: Document, now| {
            turn::check_correctable(account, now)?;
            if revision.is_some_and(|it| it != account.edition.revision) {
                return Err(NotNow::Replaced(account.edition.revision));
            }
            let mut inputs = newest.inputs;
            let (change, kept) = turn::correct(&mut inputs, wanted)?;
            Ok(Draft {
                inputs,
                change,
                kept: Some(kept),
            })
        };
        self.revise(id, by, |edition| edition.revision, draft).await
    }

    /// Takes an edition back: readers see that, and why.
    pub async fn retract(
        &self,
        id: EditionId,
        note: Option<&str>,
        by: &str,
    ) -> Result<Account, Error> {
        let note = turn::note(note)?;
        let draft = |account: &Account, newest: Document, now| {
            turn::check_retractable(account, now)?;
            let change = Revision::Retracted {
                note: note.clone(),
                revision: account.edition.revision,
            };
            // Not one story leaves again.
            let inputs = Inputs {
                overview: None,
                stories: Vec::new(),
                ..newest.inputs
            };
            let kept = None;
            Ok(Draft {
                inputs,
                change,
                kept,
            })
        };
        self.revise(id, by, |edition| edition.revision, draft).await
    }

    /// Brings a retracted edition back as it was.
    pub async fn restore(&self, id: EditionId, by: &str) -> Result<Account, Error> {
        let retracted = |edition: &Edition| {
            let retraction = edition.retraction.as_ref();
            retraction.map_or(edition.revision, |it| it.revision)
        };
        let draft = |account: &Account, before: Document, now| {
            turn::check_revisable(account, now)?;
            if account.edition.retraction.is_none() {
                return Err(NotNow::NotRetracted);
            }
            let change = Revision::Restored {
                revision: before.inputs.revision,
            };
            let (inputs, kept) = (before.inputs, None);
            Ok(Draft {
                inputs,
                change,
                kept,
            })
        };
        self.revise(id, by, retracted, draft).await
    }

    /// The revisions of an edition, newest first.
    pub async fn revisions(&self, id: EditionId) -> Result<Vec<RevisionLine>, Error> {
        self.look(id).await?;
        Ok(self.shown.load_revisions(id, REVISIONS_MAX).await?)
    }

    /// Makes a new document of the one of `revision` and sends it, unless its edition is held.
    async fn revise(
        &self,
        id: EditionId,
        by: &str,
        revision: impl Fn(&Edition) -> u32 + Send + Sync,
        draft: impl Fn(&Account, Document, Timestamp) -> Result<Draft, NotNow> + Send + Sync,
    ) -> Result<Account, Error> {
        let (id, day) = self.day_of(id)?;
        for _ in 0..ROUNDS_MAX {
            let account = self.account(id).await?;
            if account.edition.revision == 0 {
                return Err(NotNow::NoDocument.into());
            }
            let of = revision(&account.edition);
            let (base, now) = (self.document(id, Some(of)).await?, self.clock.now());
            let draft = draft(&account, base, now)?;
            let change = self.revised(&account, draft, (by, day), now)?;
            if let Some(account) = self.write(&account, change).await? {
                let revision = account.edition.revision;
                tracing::info!(edition.id = %id, revision, by, "edition revised");
                if account.edition.waiting().is_none() {
                    self.request(id, by).await?;
                }
                return Ok(account);
            }
        }
        Err(Error::Contended(id))
    }

    /// The change that a draft makes.
    fn revised(
        &self,
        account: &Account,
        draft: Draft,
        (by, day): (&str, Day),
        now: Timestamp,
    ) -> Result<Change, Error> {
        let Draft {
            mut inputs,
            change,
            kept,
        } = draft;
        inputs.revision = account.edition.revision.saturating_add(1);
        let by = by.to_owned();
        let revised = Some(Revised { by, change });
        let document = self.render(inputs, revised, now)?;
        let note = document.retracted().map(|note| note.map(str::to_owned));
        let publishers = self.outside.publishers.iter();
        Ok(match note {
            None => {
                let deliveries =
                    publishers.flat_map(|it| turn::intend(account, &document, it.as_ref(), now));
                let deliveries = deliveries.collect();
                turn::revise(account, document, deliveries, kept, day, now)
            }
            Some(note) => {
                let deliveries = publishers
                    .flat_map(|it| turn::intend_retraction(account, &document, it.as_ref(), now));
                let deliveries = deliveries.collect();
                turn::retract(account, document, deliveries, note, day, now)
            }
        })
    }
}
