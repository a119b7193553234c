//! Sees every write to an edition take effect, right above the store, and keeps a copy of every
//! edition.

mod costs;
mod desk;
mod ledger;
mod picture;
mod repeats;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use almanack_core::{
    alert::{Alert, Key, decide::NOTIFY_FOR},
    edition::{
        Account, EditionId, EditionName,
        account::Change,
        allowance::{Caps, Period, Usage},
        delivery::{self, Delivery},
        hold::{Hold, SILENCE},
        story::{Status, Story},
    },
    store::{Applied, EditionWritten, Result, Store},
};
use almanack_testkit::{edition_harness::EditionHarness, layer::Layer};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::{
    super::{record::Record, time::TrueClock},
    between::best_of,
    cast::Cast,
};
use costs::Costs;
use repeats::Times;

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
    editions: BTreeMap<EditionId, Account>,
    /// Revisions that somebody let out, or that need nobody.
    let_out: BTreeSet<(EditionId, u32)>,
    /// Documents that are below the standard, by day and revision.
    below: BTreeSet<(EditionId, u32)>,
    /// Days whose edition a person wanted published as it is.
    forced: BTreeSet<EditionId>,
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
    costs: Costs,
    times: Times,
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
    pub(super) fn edition(&self, id: EditionId) -> Option<Account> {
        self.pages().editions.get(&id).cloned()
    }

    /// Whether there is work left in the edition of a day, or none yet.
    pub(super) fn is_open(&self, id: EditionId) -> bool {
        let pages = self.pages();
        let known = pages.editions.get(&id);
        known.is_none_or(|account| account.edition.state.is_open())
    }

    /// Whether the arrival of a message was written down whose key begins so.
    pub(super) fn is_confirmed(&self, beginning: &str) -> bool {
        let pages = self.pages();
        let first = pages.confirmed.range(beginning.to_owned()..).next();
        first.is_some_and(|key| key.starts_with(beginning))
    }

    /// Whether a revision might leave.
    pub(super) fn is_let_out(&self, id: EditionId, revision: u32) -> bool {
        self.pages().let_out.contains(&(id, revision))
    }

    /// Editions that wait for a person.
    pub(super) fn waiting(&self) -> Vec<EditionId> {
        let pages = self.pages();
        let all = pages.editions.iter();
        let all = all.filter(|(_, account)| account.edition.waiting().is_some());
        all.map(|(id, _)| *id).collect()
    }

    /// An edition that was taken back, the newest.
    pub(super) fn retracted(&self) -> Option<EditionId> {
        let pages = self.pages();
        let mut all = pages.editions.iter().rev();
        let found = all.find(|(_, account)| account.edition.retraction.is_some());
        found.map(|(id, _)| *id)
    }

    /// Editions of earlier days that somebody let out and nodes still have to send.
    pub(super) fn let_out_late(&self) -> Vec<EditionId> {
        let pages = self.pages();
        let all = pages.editions.iter().filter(|(_, account)| {
            let edition = &account.edition;
            let late = edition.reopened_at.is_some() && edition.state.is_open();
            late && edition.hold.as_ref().is_some_and(Hold::lets_out)
        });
        all.map(|(id, _)| *id).collect()
    }

    /// A person wants the edition of a day published as it is.
    pub(super) fn is_forced(&self, id: EditionId) {
        self.pages().forced.insert(id);
    }

    /// What is below the standard leaves only if a person wants it (ED-39).
    fn check_standard(&self, change: &Change) -> std::result::Result<(), String> {
        let (id, rules) = (change.edition.id, &self.cast.settings.rules);
        let mut pages = self.pages();
        if let Some(document) = &change.document {
            let stories = &document.inputs.stories;
            let with_text = stories.iter().filter(|it| it.content_summary.is_some());
            let least = usize::from(rules.quality.text_percent_min);
            if with_text.count() * 100 < stories.len() * least {
                pages.below.insert((id, document.inputs.revision));
            }
        }
        let sent = |it: &&Delivery| it.state == delivery::State::Sent;
        let sent = change.deliveries.iter().find(sent);
        let below = sent.is_some_and(|it| pages.below.contains(&(id, it.revision)));
        if below && !pages.forced.contains(&id) {
            return Err("it is sent below its standard, and no person wanted it".to_owned());
        }
        Ok(())
    }

    /// Stories have their own texts, and were not published lately (ED-37, ED-40).
    fn check_stories(&self, write: &Write<'_>) -> std::result::Result<(), String> {
        let stories = write.change.stories.iter();
        if let Some(first) = stories.clone().find(|story| story.rank == 1)
            && write.before.stories.is_empty()
        {
            let best = format!("hn:{}", best_of(write.after.edition.id.date));
            if self.cast.settings.filter.is_none() && first.listed.key.0 != best {
                self.record
                    .note("witness", "leaves out what was published lately");
            }
        }
        let written = |story: &&Story| story.status == Status::Completed;
        stories.filter(written).try_for_each(repeats::check_text)?;
        let mut pages = self.pages();
        let Pages {
            times, editions, ..
        } = &mut *pages;
        times.check(write, editions)?;
        times.saw(write, self.truth.now());
        Ok(())
    }

    /// So many more requests to the model leave.
    pub(super) fn requests_leave(&self, more: i64) {
        self.pages().costs.requests += more;
    }

    /// What is counted is what was counted, and no less than what was spent (ED-44).
    pub(super) async fn check_costs(&self, store: &dyn Store) -> std::result::Result<(), String> {
        let months = self.pages().costs.months();
        for ((name, month), tokens) in months {
            let spending = store.load_spending(name, month).await;
            let counted = spending.map_err(|error| error.chain())?.month.tokens();
            if counted != tokens {
                return Err(format!(
                    "{name}: the store counts {counted} tokens for {month}, and {tokens} were counted"
                ));
            }
        }
        // Without caps a request is counted by its answer, which may be lost.
        if self.cast.settings.caps.is_none() {
            return Ok(());
        }
        self.pages().costs.check()
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
        pages.editions.retain(|id, _| id.date >= date);
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn saw(&self, before: &Account, change: &Change, after: &Account) {
        let id = after.edition.id;
        if before.edition.state != after.edition.state {
            let (from, to) = (before.edition.state, after.edition.state);
            self.record
                .note("witness", format_args!("{id}: {from} -> {to}"));
        }
        let write = Write {
            before,
            change,
            after,
            now: self.truth.now() + self.cast.skew,
            cast: &self.cast,
            room: &self.room,
        };
        let checked = picture::check(&write)
            .and_then(|()| ledger::check(&write))
            .and_then(|()| desk::check(&write))
            .and_then(|()| self.check_standard(change))
            .and_then(|()| self.check_stories(&write));
        self.record
            .check(checked.map_err(|what| format!("{id}: {what}")));
        let held = after.edition.hold.as_ref();
        let silent = |hold: &&Hold| hold.decision.as_ref().is_some_and(|it| it.by == SILENCE);
        if before.edition.hold != after.edition.hold
            && let Some(hold) = held.filter(silent)
        {
            let what = if hold.lets_out() {
                "let out"
            } else {
                "dropped"
            };
            let note = format_args!("{id}: nobody answered: it is {what}");
            self.record.note("witness", note);
        }
        let needs_nobody = self.cast.settings.rules.approval.is_none();
        if held.map_or(needs_nobody, Hold::lets_out) {
            let revision = after.edition.revision;
            self.pages().let_out.insert((id, revision));
        }
        for written in &change.deliveries {
            let (revision, to, part) = (written.revision, &written.destination, written.part);
            let key = format!("edition:{id}/{revision}/{to}/{part}");
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

    async fn reserve_spend(
        &self,
        below: &dyn Store,
        name: EditionName,
        on: Date,
        most: Usage,
        caps: Caps,
        now: Timestamp,
    ) -> Result<Option<Period>> {
        let refused = below.reserve_spend(name, on, most, caps, now).await?;
        if let Some(period) = refused {
            let note = format_args!("{name}: a cap refuses a request this {period}");
            self.record.note("witness", note);
        } else {
            let caps = self.cast.settings.caps;
            let checked = self.pages().costs.reserved((name, on), most, caps);
            self.record.check(checked);
        }
        Ok(refused)
    }

    async fn settle_spend(
        &self,
        below: &dyn Store,
        name: EditionName,
        on: Date,
        reserved: Usage,
        actual: Usage,
        now: Timestamp,
    ) -> Result<()> {
        below.settle_spend(name, on, reserved, actual, now).await?;
        self.pages().costs.settled((name, on), reserved, actual);
        Ok(())
    }

    async fn load_shared(
        &self,
        below: &dyn Store,
        key: String,
        from: Timestamp,
    ) -> Result<Option<String>> {
        let found = below.load_shared(key, from).await?;
        if found.is_some() {
            self.record.note("witness", "a text is shared");
        }
        Ok(found)
    }

    async fn write_edition(&self, below: &dyn Store, change: Change) -> Result<EditionWritten> {
        let id = change.edition.id;
        let known = self.edition(id);
        let before = match known {
            Some(account) => Some(account),
            None => below.load_account(id).await?,
        };
        let written = below.write_edition(change.clone()).await?;
        let Some(before) = before else {
            if written == EditionWritten::Done {
                let what = format_args!("{id}: an edition that was never opened was written");
                self.record.broke(what);
            }
            return Ok(written);
        };
        let same = before.edition.version == change.edition.version;
        match written {
            EditionWritten::Lost if same => {
                let what = "a write was refused although no other had been faster";
                self.record.broke(format_args!("{id}: {what}"));
            }
            EditionWritten::Lost => self.record.note("witness", "another node was faster"),
            EditionWritten::Done => {
                if !same {
                    self.record.broke(format_args!(
                        "{id}: what was decided on version {} was written on version {}",
                        change.edition.version, before.edition.version
                    ));
                }
                let after = change.clone().apply(before.clone());
                self.saw(&before, &change, &after);
                self.pages().editions.insert(id, after);
            }
        }
        Ok(written)
    }
}
