//! Reading accounts and writing turns.

use almanack_core::{
    alert::Severity,
    edition::{Account, account::Change, alert::Alert, port::Notice, turn},
    store::EditionWritten,
};
use jiff::{Timestamp, civil::Date};

use super::{Editions, Error};

/// How often a lost race is decided again. Destinations are delivered to side by side and all write to one
/// edition, so a few in a row are nothing.
const ROUNDS_MAX: usize = 50;

impl Editions {
    /// The edition of a day with all its rows.
    pub async fn account(&self, date: Date) -> Result<Account, Error> {
        let found = self.store.load_account(date).await?;
        found.ok_or(Error::Unknown(date))
    }

    /// Writes a turn that was decided on `account`, with the alerts it brings. `None` if somebody was faster.
    pub(super) async fn write(
        &self,
        account: &Account,
        change: Option<Change>,
    ) -> Result<Option<Account>, Error> {
        let (rules, now) = (&self.settings.rules, self.clock.now());
        let Some(mut change) = turn::watched(account, change, rules, now) else {
            return Ok(Some(account.clone()));
        };
        change.tells = self.subscriptions.get().of_edition(account, &change);
        match self.store.write_edition(change.clone()).await? {
            EditionWritten::Lost => Ok(None),
            EditionWritten::Done => {
                say(account, &change);
                Ok(Some(change.apply(account.clone())))
            }
        }
    }

    /// Decides on the account as it is and writes that; decides again whenever somebody was faster. `None` if
    /// there was nothing to write.
    pub(super) async fn turn<T>(
        &self,
        date: Date,
        mut decide: impl FnMut(&Account, Timestamp) -> Option<(Change, T)> + Send,
    ) -> Result<Option<(Account, T)>, Error> {
        for _ in 0..ROUNDS_MAX {
            let account = self.account(date).await?;
            let Some((change, value)) = decide(&account, self.clock.now()) else {
                return Ok(None);
            };
            if let Some(account) = self.write(&account, Some(change)).await? {
                return Ok(Some((account, value)));
            }
        }
        Err(Error::Contended(date))
    }

    /// Tells people what they have not been told. Who cannot be told now, or does not want to be, is told at the first tick that finds
    /// them ready: the row says what they have not heard.
    pub(super) async fn tell(&self, date: Date) -> Result<(), Error> {
        let account = self.account(date).await?;
        let teller = &self.outside.teller;
        for (alert, news) in turn::to_tell(&account) {
            let now = self.clock.now();
            if teller.tell_at(alert.rule.severity(), now) > now {
                continue;
            }
            let notice = Notice {
                date,
                alert: &alert,
                news,
            };
            if let Err(failure) = teller.tell(&notice).await {
                let (rule, error) = (alert.rule.name(), failure.detail);
                tracing::warn!(edition.date = %date, alert = rule, error, "an alert could not be told; it is tried again");
                continue;
            }
            let told = |account: &Account, now| {
                turn::told(account, &alert, news, now).map(|change| (change, ()))
            };
            self.turn(date, told).await?;
        }
        Ok(())
    }
}

/// Says in the log and the metrics what a change brings to an end or begins: once, because it is written once.
fn say(before: &Account, change: &Change) {
    let date = before.edition.date;
    let (from, to) = (before.edition.state, change.edition.state);
    if from != to {
        tracing::info!(edition.date = %date, edition.from = %from, edition.state = %to, "an edition moved on");
        metrics::counter!("almanack_edition_transitions_total", "state" => to.as_str())
            .increment(1);
    }
    let told = |alert: &&Alert| alert.open_told_at.is_some() || alert.close_told_at.is_some();
    for alert in change.alerts.iter().filter(|alert| !told(alert)) {
        if alert.closed_at.is_none() {
            opened(before, alert);
        }
    }
    for alert in change
        .alerts
        .iter()
        .filter(|alert| alert.closed_at.is_some())
    {
        let was_open = |known: &&Alert| known.rule == alert.rule && known.closed_at.is_none();
        if before.alerts.iter().any(|known| was_open(&known)) {
            tracing::info!(edition.date = %date, alert = alert.rule.name(), "an alert is over");
        }
    }
}

fn opened(before: &Account, alert: &Alert) {
    let (date, rule, detail) = (before.edition.date, alert.rule.name(), &alert.detail);
    metrics::counter!("almanack_edition_alerts_total", "rule" => alert.rule.label()).increment(1);
    match alert.rule.severity() {
        Severity::Critical => {
            tracing::error!(edition.date = %date, alert = rule, detail, "an edition needs a person");
        }
        Severity::Warning => {
            tracing::warn!(edition.date = %date, alert = rule, detail, "an edition needs a person");
        }
    }
}
