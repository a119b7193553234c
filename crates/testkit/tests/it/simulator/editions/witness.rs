//! Sees every write to an edition take effect, right above the store, and keeps a copy of every
//! edition.

mod ledger;
mod picture;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use almanack_core::{
    alert::{Alert, Key, decide::NOTIFY_FOR},
    edition::{
        Account,
        account::Change,
        delivery::{self, Delivery},
    },
    store::{Applied, EditionWritten, Result, Store},
};
use almanack_testkit::{edition_harness::EditionHarness, layer::Layer};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::{
    super::{record::Record, time::TrueClock},
    cast::Cast,
};

/// One write, from before to after.
pub(super) struct Write<'a> {
    pub(super) before: &'a Account,
    pub(super) change: &'a Change,
    pub(super) after: &'a Account,
    /// The latest that any clock shows.
    pub(super) now: Timestamp,
    pub(super) cast: &'a Cast,
    pub(super) room: &'a EditionHarness,
}

impl Write<'_> {
    /// Whether a person has a part of the document that is known sent again: that begins the work
    /// on it anew, as nothing else about a delivery does.
    pub(super) fn is_resent(&self, delivery: &Delivery) -> bool {
        let (before, after) = (&self.before.edition, &self.after.edition);
        delivery.state == delivery::State::Intended
            && self.change.document.is_none()
            && before.started_at != after.started_at
    }
}

#[derive(Default)]
struct Pages {
    editions: BTreeMap<Date, Account>,
    /// Letters whose arrival was written down, by their keys.
    confirmed: BTreeSet<String>,
    /// Letters that a person had sent again, by their keys.
    resent: BTreeSet<String>,
    /// Alerts as they were last written.
    alerts: BTreeMap<Key, Alert>,
    /// Those of which it was written down that people know.
    heard: BTreeSet<Key>,
    /// How often a notification was recorded.
    notified: usize,
}

/// The witness. Clones share what was seen.
#[derive(Clone)]
pub(super) struct Witness {
    truth: TrueClock,
    record: Arc<Record>,
    cast: Arc<Cast>,
    room: EditionHarness,
    pages: Arc<Mutex<Pages>>,
}

impl Witness {
    pub(super) fn new(
        truth: TrueClock,
        record: Arc<Record>,
        cast: Arc<Cast>,
        room: EditionHarness,
    ) -> Self {
        let pages = Arc::default();
        Self {
            truth,
            record,
            cast,
            room,
            pages,
        }
    }

    /// The edition of a day as it must be, if it was ever written to.
    pub(super) fn edition(&self, date: Date) -> Option<Account> {
        self.pages().editions.get(&date).cloned()
    }

    /// Whether there is work left in the edition of a day, or none yet.
    pub(super) fn is_open(&self, date: Date) -> bool {
        let pages = self.pages();
        let known = pages.editions.get(&date);
        known.is_none_or(|account| account.edition.state.is_open())
    }

    /// Whether the arrival of a message was written down whose key begins so.
    pub(super) fn is_confirmed(&self, beginning: &str) -> bool {
        let pages = self.pages();
        let first = pages.confirmed.range(beginning.to_owned()..).next();
        first.is_some_and(|key| key.starts_with(beginning))
    }

    /// Whether people heard of an alert.
    pub(super) fn is_heard(&self, key: &Key) -> bool {
        self.pages().heard.contains(key)
    }

    /// Whether a person had a message sent again.
    pub(super) fn is_resent(&self, key: &str) -> bool {
        self.pages().resent.contains(key)
    }

    /// Retention has been at work on what is older.
    pub(super) fn forget_before(&self, date: Date) {
        let mut pages = self.pages();
        pages.editions = pages.editions.split_off(&date);
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, before: &Account, change: &Change, after: &Account) {
        let date = after.edition.date;
        if before.edition.state != after.edition.state {
            let (from, to) = (before.edition.state, after.edition.state);
            self.record
                .note("witness", format_args!("{date}: {from} -> {to}"));
        }
        let write = Write {
            before,
            change,
            after,
            now: self.truth.now() + self.cast.skew,
            cast: &self.cast,
            room: &self.room,
        };
        let checked = picture::check(&write).and_then(|()| ledger::check(&write));
        self.record
            .check(checked.map_err(|what| format!("{date}: {what}")));
        for written in &change.deliveries {
            let (revision, to, part) = (written.revision, &written.destination, written.part);
            let key = format!("edition:{date}/{revision}/{to}/{part}");
            if written.state == delivery::State::Confirmed {
                self.pages().confirmed.insert(key);
            } else if write.is_resent(written) {
                self.pages().resent.insert(key);
            }
        }
    }

    /// An alert was written: no notification is recorded that people did not get, unless they could
    /// not be notified for a day.
    fn saw_alert(&self, alert: &Alert) {
        let mut pages = self.pages();
        let known = pages.alerts.insert(alert.key.clone(), alert.clone());
        let known = known.filter(|known| known.opened_at == alert.opened_at);
        let (opened, closed) = known.map_or((None, None), |it| {
            (it.open_notified_at, it.close_notified_at)
        });
        let since = alert.closed_at.unwrap_or(alert.opened_at);
        let in_time = |at: &Timestamp| at.duration_since(since) < NOTIFY_FOR;
        let is_new =
            |at: Option<Timestamp>, before| at != before && at.is_some_and(|at| in_time(&at));
        let notified =
            is_new(alert.open_notified_at, opened) || is_new(alert.close_notified_at, closed);
        pages.notified += usize::from(notified);
        if alert.open_notified_at.is_some() {
            pages.heard.insert(alert.key.clone());
        }
        if pages.notified > self.room.notified() {
            let (marked, notified) = (pages.notified, self.room.notified());
            self.record.broke(format_args!(
                "people are said to have been notified of {marked} things, but heard {notified}"
            ));
        }
    }
}

#[async_trait]
impl Layer for Witness {
    async fn write_alerts(&self, below: &dyn Store, alerts: Vec<Alert>) -> Result<Vec<Applied>> {
        let written = below.write_alerts(alerts.clone()).await?;
        for (alert, applied) in alerts.iter().zip(&written) {
            if matches!(applied, Applied::Done { .. }) {
                self.saw_alert(alert);
            }
        }
        Ok(written)
    }

    async fn write_edition(&self, below: &dyn Store, change: Change) -> Result<EditionWritten> {
        let date = change.edition.date;
        let known = self.edition(date);
        let before = match known {
            Some(account) => Some(account),
            None => below.load_account(date).await?,
        };
        let written = below.write_edition(change.clone()).await?;
        let Some(before) = before else {
            if written == EditionWritten::Done {
                let what = format_args!("{date}: an edition that was never opened was written");
                self.record.broke(what);
            }
            return Ok(written);
        };
        let same = before.edition.version == change.edition.version;
        match written {
            EditionWritten::Lost if same => {
                let what = "a write was refused although no other had been faster";
                self.record.broke(format_args!("{date}: {what}"));
            }
            EditionWritten::Lost => self.record.note("witness", "another node was faster"),
            EditionWritten::Done => {
                if !same {
                    self.record.broke(format_args!(
                        "{date}: what was decided on version {} was written on version {}",
                        change.edition.version, before.edition.version
                    ));
                }
                let after = change.clone().apply(before.clone());
                self.saw(&before, &change, &after);
                self.pages().editions.insert(date, after);
            }
        }
        Ok(written)
    }
}
