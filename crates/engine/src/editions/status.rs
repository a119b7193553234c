//! An edition's status, for people and programs (ED-25).

use std::collections::BTreeSet;

use almanack_core::{
    alert::{
        Alert,
        decide::ALERTS_MAX,
        find::{Finding, edition},
    },
    edition::{
        Account, EditionId,
        allowance::Spending,
        document::Document,
        forecast::{Forecast, forecast},
    },
    store::{AlertFilter, EditionFilter, EditionLine},
};
use jiff::{Timestamp, civil::Date};

use super::{Editions, Error};

/// An edition's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The edition with all its rows.
    pub account: Account,
    pub forecast: Forecast,
    /// Its alerts, latest first.
    pub alerts: Vec<Alert>,
    /// What models cost the editions of its name in the month of its day.
    pub spending: Spending,
}

impl Editions {
    /// The status of a day's edition; none if there is none.
    pub async fn status(&self, id: EditionId) -> Result<Option<Status>, Error> {
        let Some(account) = self.shown.load_account(id).await? else {
            return Ok(None);
        };
        let all = AlertFilter {
            closed_from: Timestamp::MIN,
            limit: ALERTS_MAX,
        };
        let mut alerts = self.shown.load_alerts(all).await?;
        alerts.retain(|alert| alert.key.about.edition() == Some(id));
        Ok(Some(Status {
            forecast: self.forecast(&account),
            spending: self.spending(id.date).await?,
            account,
            alerts,
        }))
    }

    /// What is wrong with an edition by its own rows, before a watch has seen it.
    pub fn troubles(&self, account: &Account) -> Vec<Finding> {
        let overdue_after = self.settings.rules.overdue_after;
        edition::find(
            account,
            &BTreeSet::new(),
            Some(overdue_after),
            self.clock.now(),
        )
    }

    /// The plan of an edition.
    pub fn forecast(&self, account: &Account) -> Forecast {
        let now = self.clock.now();
        forecast(account, &self.settings.rules, self.next_tick(now), now)
    }

    /// What models cost the editions of this name in the month of a day.
    pub async fn spending(&self, month_of: Date) -> Result<Spending, Error> {
        let name = self.settings.name;
        Ok(self.shown.load_spending(name, month_of).await?)
    }

    /// The edition of a day with all its rows, for a reader.
    pub async fn look(&self, id: EditionId) -> Result<Account, Error> {
        let found = self.shown.load_account(id).await?;
        found.ok_or(Error::Unknown(id))
    }

    /// A stored document for a reader: the latest, or that of a revision.
    pub async fn show(&self, id: EditionId, revision: Option<u32>) -> Result<Document, Error> {
        let found = self.shown.load_document(id, revision).await?;
        found.ok_or(Error::NoDocument(id, revision))
    }

    /// The first edition after this one that was published, for readers.
    pub async fn published_after(&self, id: EditionId) -> Result<Option<EditionId>, Error> {
        Ok(self.shown.published_after(id).await?)
    }

    /// Published editions that contain `text`, newest first, for readers.
    pub async fn search(
        &self,
        text: &str,
        before: Option<Date>,
        limit: usize,
    ) -> Result<Vec<EditionId>, Error> {
        let name = self.settings.name;
        let found = self.shown.search_editions(name, text, before, limit);
        Ok(found.await?)
    }

    /// Editions, newest day first.
    pub async fn list(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>, Error> {
        Ok(self.shown.list_editions(filter).await?)
    }

    fn next_tick(&self, now: Timestamp) -> Option<Timestamp> {
        let ticks = self.settings.ticks.as_ref()?;
        ticks.timetable.next_after(now, &ticks.zone)
    }
}
