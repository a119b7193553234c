//! How an edition stands, for people and programs (ED-25).

use almanack_core::{
    edition::{
        Account,
        forecast::{Forecast, forecast},
    },
    store::{EditionFilter, EditionLine},
};
use jiff::{Timestamp, civil::Date};

use super::{Editions, Error};

/// How an edition stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The edition with all its rows.
    pub account: Account,
    /// Its plan.
    pub forecast: Forecast,
}

impl Editions {
    /// How the edition of a day stands; none if there is none.
    pub async fn status(&self, date: Date) -> Result<Option<Status>, Error> {
        let Some(account) = self.store.load_account(date).await? else {
            return Ok(None);
        };
        Ok(Some(Status {
            forecast: self.forecast(&account),
            account,
        }))
    }

    /// The plan of an edition.
    pub fn forecast(&self, account: &Account) -> Forecast {
        let now = self.clock.now();
        forecast(account, &self.settings.rules, self.next_tick(now), now)
    }

    /// Editions, newest day first.
    pub async fn list(&self, filter: &EditionFilter) -> Result<Vec<EditionLine>, Error> {
        Ok(self.store.list_editions(filter).await?)
    }

    fn next_tick(&self, now: Timestamp) -> Option<Timestamp> {
        let ticks = self.settings.ticks.as_ref()?;
        ticks.timetable.next_after(now, &ticks.zone)
    }
}
