//! The watch: finds what needs attention, and has people notified.
//!
//! A round reads a bounded piece of the store (`collect`), has `core::alert` decide, and writes the
//! rows that change; then it sends the notifications that wait. Every node watches. Two that see
//! the same decide the same, and the store lets one of them write; who may notify is decided the
//! same way, by a lease in the row. A node that dies between notifying and recording it leaves a
//! lease that passes: people hear twice rather than never.
//!
//! Nothing waits for the watch: a channel that hangs delays the next round and no other work.

mod collect;
mod own;

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    alert::{
        About, Alert, Key, News, Rule, Severity,
        decide::{self, ALERTS_MAX, Behaviour, NOTIFY_LEASE},
        facts::{Bounds, Facts},
        find::find,
        port::{Answer, Notice, Notifier},
    },
    edition::review::Review,
    lang::Lang,
    plan::ScheduleName,
    store::{self, AlertFilter, Applied, Store},
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{health::Health, reloadable::Reloadable, wake::later};
use collect::Collector;
pub use own::FreeBytes;
use own::Own;

/// How long an alert that is over can be looked up.
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Alerts forgotten in one round.
const FORGOTTEN_MAX: usize = 200;
/// How often to try to record a notification on a row that moves on meanwhile.
const NOTE_TRIES: usize = 5;
/// Notices in one message, at most; the rest follow in the next.
const NOTICES_MAX: usize = 100;

/// How a node watches.
#[derive(Debug, Clone)]
pub struct WatchSettings {
    /// From one round to the next.
    pub every: SignedDuration,
    /// When something is wrong.
    pub bounds: Bounds,
    /// How people want to hear of it.
    pub behaviour: Behaviour,
    /// How many checks a day a source may cost, on average over all of them.
    pub checks_per_day: f64,
}

impl Default for WatchSettings {
    fn default() -> Self {
        Self {
            every: SignedDuration::from_secs(20),
            bounds: Bounds::default(),
            behaviour: Behaviour::default(),
            checks_per_day: 24.0,
        }
    }
}

/// What a round goes by: what is wrong, and who is notified.
#[derive(Clone)]
pub struct Watching {
    pub settings: WatchSettings,
    pub notifier: Arc<dyn Notifier>,
}

/// What a round looks at.
#[derive(Debug, Clone, Copy)]
enum Sight {
    Everything,
    Editions,
}

/// A node's watch.
pub struct Watch {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    /// Taken anew for every round.
    watching: Reloadable<Watching>,
    collector: Collector,
    own: Own,
}

impl Watch {
    /// Not watching yet.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        watching: Reloadable<Watching>,
    ) -> Self {
        Self {
            store,
            clock,
            watching,
            collector: Collector::default(),
            own: Own::default(),
        }
    }

    /// Looks at the disk of the store as well.
    #[must_use]
    pub fn measuring(mut self, free_bytes: FreeBytes) -> Self {
        self.own.free_bytes = Some(free_bytes);
        self
    }

    /// On behalf of a node, whose own troubles it looks for as well.
    #[must_use]
    pub fn of_node(mut self, name: String, health: Arc<Health>) -> Self {
        (self.own.node, self.own.health) = (name, health);
        self
    }

    /// Goes round until `stop`. The first round comes after a while: what a node that was down
    /// finds undone on its start, its planner is about to do. Trouble with the store is waited out;
    /// that no node can watch then is for the outbound heartbeat to report.
    pub async fn run(mut self, sleeper: &dyn Sleeper, stop: &CancellationToken) {
        loop {
            self.look_at_itself().await;
            let next_at = later(self.clock.now(), self.watching.get().settings.every);
            let waiting = sleeper.until(next_at);
            if stop.run_until_cancelled(waiting).await.is_none() {
                return;
            }
            // A notification must not be cut off by a stop that can wait for it.
            if let Err(error) = self.round().await {
                tracing::warn!(
                    error = error.chain(),
                    "the watch's round failed; will retry"
                );
            }
        }
    }

    /// One round: look, decide, write, notify.
    pub async fn round(&mut self) -> Result<(), store::Error> {
        self.round_at(Sight::Everything).await
    }

    /// The same of editions alone, for a process that builds one where perhaps no node watches: of
    /// everything else such a process would see only that no node is there.
    pub async fn round_of_editions(&mut self) -> Result<(), store::Error> {
        self.round_at(Sight::Editions).await
    }

    async fn round_at(&mut self, sight: Sight) -> Result<(), store::Error> {
        let now = self.clock.now();
        let watching = self.watching.get();
        let known = self.load(&watching, now).await?;
        self.decide(&watching, sight, &known, now).await?;
        self.notify(&watching).await?;
        if self.clock.standing().may_delete() {
            let before = now.saturating_sub(KEPT_FOR).unwrap_or(Timestamp::MIN);
            self.store.prune_alerts(before, FORGOTTEN_MAX).await?;
        }
        Ok(())
    }

    /// What is wrong with the node itself: measured and noted for the others, or, while nothing can
    /// be written, notified at once.
    pub async fn look_at_itself(&mut self) {
        let watching = self.watching.get();
        let now = self.clock.now();
        self.own.measure(self.store.as_ref(), &watching, now).await;
        self.own.report_unwritable(&watching, now).await;
    }

    async fn load(&self, watching: &Watching, now: Timestamp) -> Result<Vec<Alert>, store::Error> {
        let back = watching.settings.behaviour.known_for();
        let closed_from = now.saturating_sub(back).unwrap_or(Timestamp::MIN);
        let filter = AlertFilter {
            closed_from,
            limit: ALERTS_MAX,
        };
        self.store.load_alerts(filter).await
    }

    async fn decide(
        &mut self,
        watching: &Watching,
        sight: Sight,
        known: &[Alert],
        now: Timestamp,
    ) -> Result<(), store::Error> {
        let settings = &watching.settings;
        let open: Vec<&Alert> = known.iter().filter(|alert| alert.is_open()).collect();
        let store = self.store.as_ref();
        let facts = match sight {
            Sight::Editions => self.collector.editions_alone(store, &open, now).await?,
            Sight::Everything => Facts {
                clock: self.clock.standing(),
                ..self.collector.collect(store, &open, settings, now).await?
            },
        };
        let found = find(&facts, &settings.bounds, now);
        let changes = decide::decide(&found, known, &settings.behaviour, now);
        if changes.is_empty() {
            show_open(known.iter());
            return Ok(());
        }
        let written = self.store.write_alerts(changes.clone()).await?;
        for (alert, _) in changes.iter().zip(written).filter(|(_, it)| is_done(*it)) {
            log_change(alert);
        }
        let rows = known.iter().chain(&changes);
        let newest: BTreeMap<&Key, &Alert> = rows.map(|row| (&row.key, row)).collect();
        show_open(newest.into_values());
        Ok(())
    }

    /// Sends the waiting notifications that are this node's to send.
    async fn notify(&self, watching: &Watching) -> Result<(), store::Error> {
        let now = self.clock.now();
        let until = later(now, NOTIFY_LEASE);
        let won = self.store.claim_alerts(now, until, NOTICES_MAX).await?;
        let routes = self.routes(&won).await?;
        let reviews = self.reviews(&won).await?;
        let notices: Vec<Notice> = won
            .into_iter()
            .filter_map(|alert| {
                let channels = routes.get(&alert.key).cloned();
                let review = reviews.get(&alert.key).cloned();
                let news = alert.news()?;
                Some(Notice {
                    alert,
                    news,
                    channels,
                    review,
                })
            })
            .collect();
        if notices.is_empty() {
            return Ok(());
        }
        let answers = watching.notifier.notify(&notices).await;
        for answer in &answers {
            let (channel, outcome) = (answer.channel.clone(), answer.outcome.as_str());
            metrics::counter!("almanack_alerts_notified_total", "channel" => channel, "outcome" => outcome)
                .increment(1);
        }
        self.note(watching, &notices, &answers).await
    }

    /// The waits of editions that need approval: people decide about each by a link.
    async fn reviews(&self, alerts: &[Alert]) -> Result<BTreeMap<Key, Review>, store::Error> {
        let mut reviews = BTreeMap::new();
        let waiting = alerts
            .iter()
            .filter(|alert| alert.key.rule == Rule::Approval && alert.news() == Some(News::Opened));
        for alert in waiting {
            let Some(id) = alert.key.about.edition() else {
                continue;
            };
            let account = match self.store.load_account(id).await {
                Err(error) if error.is_unreadable() => None,
                account => account?,
            };
            let review = account.and_then(|account| Review::of(&account.edition));
            reviews.extend(review.map(|review| (alert.key.clone(), review)));
        }
        Ok(reviews)
    }

    /// The channels that schedules name for their alerts. A schedule that cannot be read names none:
    /// its alerts go to all.
    async fn routes(&self, alerts: &[Alert]) -> Result<BTreeMap<Key, Vec<String>>, store::Error> {
        let of_schedules = alerts.iter().filter_map(|alert| match &alert.key.about {
            About::Schedule(name) => Some((alert.key.clone(), name.clone())),
            _ => None,
        });
        let (keys, names): (Vec<Key>, Vec<ScheduleName>) = of_schedules.unzip();
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found = match self.store.load_schedules(&names).await {
            Ok(found) => found,
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => return Ok(BTreeMap::new()),
        };
        let routed = keys.into_iter().zip(found).filter_map(|(key, found)| {
            let channels = found?.definition.read().ok()?.alerts.clone()?;
            Some((key, channels))
        });
        Ok(routed.collect())
    }

    /// Records what was notified. A row that moved on is read again: its state decides what is left
    /// to send.
    async fn note(
        &self,
        watching: &Watching,
        notices: &[Notice],
        answers: &[Answer],
    ) -> Result<(), store::Error> {
        let behaviour = &watching.settings.behaviour;
        let mut left: Vec<&Notice> = notices.iter().collect();
        for _ in 0..NOTE_TRIES {
            let now = self.clock.now();
            let known = self.load(watching, now).await?;
            let rows = left.iter().filter_map(|notice| {
                let is_it = |row: &&Alert| row.key == notice.alert.key;
                known.iter().find(is_it).map(|row| (*notice, row))
            });
            let notified: Vec<(&Notice, Alert)> = rows
                .map(|(notice, row)| (notice, notified(notice, row, (answers, behaviour), now)))
                .collect();
            let writes = notified.iter().map(|(_, row)| row.clone()).collect();
            let written = self.store.write_alerts(writes).await?;
            let lost = notified.iter().zip(written).filter(|(_, it)| !is_done(*it));
            left = lost.map(|((notice, _), _)| *notice).collect();
            if left.is_empty() {
                return Ok(());
            }
        }
        tracing::warn!(
            alerts = left.len(),
            "could not record notifications; they will be sent again"
        );
        Ok(())
    }
}

fn notified(
    notice: &Notice,
    row: &Alert,
    (answers, behaviour): (&[Answer], &Behaviour),
    now: Timestamp,
) -> Alert {
    // Opened anew meanwhile: the notification was about the one before.
    if row.opened_at != notice.alert.opened_at {
        return row.clone();
    }
    decide::notified(row, notice.news, answers, behaviour, now)
}

fn is_done(applied: Applied) -> bool {
    matches!(applied, Applied::Done { .. })
}

fn show_open<'a>(alerts: impl Iterator<Item = &'a Alert>) {
    let mut open: BTreeMap<Rule, u32> = Rule::ALL.into_iter().map(|rule| (rule, 0)).collect();
    for alert in alerts.filter(|alert| alert.is_open()) {
        *open.entry(alert.key.rule).or_default() += 1;
    }
    for (rule, count) in open {
        metrics::gauge!("almanack_alerts_open", "rule" => rule.as_str()).set(count);
    }
}

/// The log has it too: a channel may be what is broken.
fn log_change(alert: &Alert) {
    let (rule, about) = (alert.key.rule.as_str(), alert.key.about.to_string());
    let detail = alert.detail.for_reader(Lang::English).0;
    match (alert.news(), alert.cool_down_since) {
        (Some(News::Opened), None) => {
            metrics::counter!("almanack_alerts_opened_total", "rule" => rule).increment(1);
            match alert.severity {
                Severity::Critical => {
                    tracing::error!(
                        alert.rule = rule,
                        alert.about = about,
                        detail,
                        "an alert opened"
                    );
                }
                Severity::Warning => {
                    tracing::warn!(
                        alert.rule = rule,
                        alert.about = about,
                        detail,
                        "an alert opened"
                    );
                }
            }
        }
        (Some(News::Closed | News::Passed), _) => {
            tracing::info!(alert.rule = rule, alert.about = about, "alert closed");
        }
        _ => {}
    }
}
