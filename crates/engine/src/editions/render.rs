//! Documents: made from an account, and made again from what was kept of them.

use almanack_core::edition::{
    Account,
    document::{Document, Inputs, Printed},
    story::{Status, Story},
    turn,
};
use jiff::{Timestamp, civil::Date};

use super::{Editions, Error};

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
    pub async fn document(&self, date: Date, revision: Option<u32>) -> Result<Document, Error> {
        let found = self.store.load_document(date, revision).await?;
        found.ok_or(Error::NoDocument(date))
    }

    /// Makes a document again from its stored inputs, with its own template or another.
    pub async fn rebuild(
        &self,
        date: Date,
        revision: Option<u32>,
        template: Option<&str>,
    ) -> Result<Rebuilt, Error> {
        let document = self.document(date, revision).await?;
        let renderer = &self.outside.renderer;
        let used = template.unwrap_or(&document.template);
        let body = renderer.print(used, &document.inputs)?;
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
    pub async fn preview(&self, date: Date) -> Result<Document, Error> {
        let account = self.look(date).await?;
        self.make(&account, self.clock.now())
    }

    /// Makes the document of an account's completed stories and every delivery of it. `false` if
    /// another run was faster.
    pub(super) async fn aggregate(&self, account: &Account) -> Result<bool, Error> {
        let now = self.clock.now();
        let document = self.make(account, now)?;
        let deliveries = self
            .outside
            .publishers
            .iter()
            .flat_map(|publisher| turn::intend(account, &document, publisher.as_ref(), now))
            .collect();
        let change = turn::aggregate(account, document, deliveries, now);
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
        let inputs = Inputs {
            date: account.edition.date,
            revision: account.edition.revision.saturating_add(1),
            title: self.settings.title.clone(),
            language: self.settings.language.clone(),
            left_out: account.counts().total - account.counts().completed,
            stories,
        };
        let renderer = &self.outside.renderer;
        let template = renderer.template().to_owned();
        let body = renderer.print(&template, &inputs)?;
        Ok(Document {
            inputs_digest: self.inputs_digest(&template, &inputs),
            body_digest: renderer.digest(body.as_bytes()),
            inputs,
            template,
            body,
            made_at: now,
        })
    }

    fn inputs_digest(&self, template: &str, inputs: &Inputs) -> String {
        // Maps and floats are what makes JSON ambiguous, and there are none in here.
        let json = serde_json::to_vec(&(template, inputs)).unwrap_or_default();
        self.outside.renderer.digest(&json)
    }
}
