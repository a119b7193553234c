//! Documents: made from an account, and made again from what was kept of them.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account, EditionId,
        document::{Document, Inputs, Printed, retraction},
        overview, quality,
        revision::{Revised, Revision},
        story::{Status, Story},
        turn,
    },
};
use jiff::Timestamp;

use super::{Editions, Error, quality::Gate};

/// A document that was made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// As stored.
    pub document: Document,
    /// As it comes out now.
    pub body: String,
    /// Whether inputs, template and output are byte for byte what they were.
    pub identical: bool,
}

impl Editions {
    /// A stored document: the latest, or that of a revision.
    pub async fn document(&self, id: EditionId, revision: Option<u32>) -> Result<Document, Error> {
        let found = self.store.load_document(id, revision).await?;
        found.ok_or(Error::NoDocument(id, revision))
    }

    /// Makes a document again from its stored inputs, with its own template or another.
    pub async fn rebuild(
        &self,
        id: EditionId,
        revision: Option<u32>,
        template: Option<&str>,
    ) -> Result<Rebuilt, Error> {
        let document = self.document(id, revision).await?;
        let renderer = &self.outside.renderer;
        let used = template.unwrap_or(&document.template);
        let body = match (template, document.retracted()) {
            (None, Some(note)) => retraction(&document.inputs, note),
            _ => renderer.print(used, &document.inputs)?,
        };
        let identical = self.inputs_digest(used, &document.inputs) == document.inputs_digest
            && renderer.digest(body.as_bytes()) == document.body_digest
            && body == document.body;
        Ok(Rebuilt {
            document,
            body,
            identical,
        })
    }

    /// What the document would be if it were made now; nothing is kept.
    pub async fn preview(&self, id: EditionId) -> Result<Document, Error> {
        let account = self.look(id).await?;
        self.make(&account, self.clock.now())
    }

    /// Makes the document of an account's completed stories and every delivery of it, and holds it
    /// if it is below its standard. `false` if another run was faster.
    pub(super) async fn aggregate(
        &self,
        account: &Account,
        gate: Gate,
        budget: &Arc<Budget>,
    ) -> Result<bool, Error> {
        let now = self.clock.now();
        let document = self.make(account, now)?;
        let lacks = self.lacks(&document, gate, budget).await;
        let improves = account.edition.improving_at.is_some();
        if improves && !self.is_improved(account, &document, &lacks).await? {
            return match turn::not_improved(account, now) {
                Some(change) => Ok(self.write(account, change).await?.is_some()),
                None => Ok(false),
            };
        }
        let publishers = self.outside.publishers.iter();
        let deliveries = publishers
            .flat_map(|publisher| turn::intend(account, &document, publisher.as_ref(), now))
            .collect();
        let mut change = turn::aggregate(account, document, deliveries, now);
        let approval = self.settings.rules.approval;
        change.edition.hold = approval.map(|it| it.hold(&self.settings.zone, now));
        if let Some(reason) = quality::reason(&lacks) {
            let (id, before) = (account.edition.id, account.edition.hold.as_ref());
            tracing::error!(edition.id = %id, reason, "edition held: it is not sent before it is better, or you publish it");
            let hold = quality::hold(&lacks, before, &self.settings.rules, now);
            change.edition.hold = Some(hold);
            change.edition.reason = Some(reason);
        }
        Ok(self.write(account, change).await?.is_some())
    }

    fn make(&self, account: &Account, now: Timestamp) -> Result<Document, Error> {
        let completed = |story: &&Story| story.status == Status::Completed;
        let stories: Vec<Printed> = account
            .stories
            .iter()
            .filter(completed)
            .map(Printed::from)
            .collect();
        let mut inputs = Inputs {
            name: account.edition.id.name,
            date: account.edition.id.date,
            revision: account.edition.revision.saturating_add(1),
            title: self.settings.title.clone(),
            language: self.settings.language.clone(),
            overview: overview::of(account, &stories),
            left_out: account.counts().total - account.counts().completed,
            stories,
        };
        turn::correct_again(&mut inputs, &account.edition.corrections);
        self.render(inputs, None, now)
    }

    /// Renders a document.
    pub(super) fn render(
        &self,
        inputs: Inputs,
        revised: Option<Revised>,
        now: Timestamp,
    ) -> Result<Document, Error> {
        let renderer = &self.outside.renderer;
        let template = renderer.template().to_owned();
        let body = match revised.as_ref().map(|revised| &revised.change) {
            Some(Revision::Retracted { note, .. }) => retraction(&inputs, note.as_deref()),
            _ => renderer.print(&template, &inputs)?,
        };
        Ok(Document {
            inputs_digest: self.inputs_digest(&template, &inputs),
            body_digest: renderer.digest(body.as_bytes()),
            inputs,
            template,
            body,
            made_at: now,
            revised,
        })
    }

    fn inputs_digest(&self, template: &str, inputs: &Inputs) -> String {
        // Maps and floats are what makes JSON ambiguous, and there are none in here.
        let json = serde_json::to_vec(&(template, inputs)).unwrap_or_default();
        self.outside.renderer.digest(&json)
    }
}
