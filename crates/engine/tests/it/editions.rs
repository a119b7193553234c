//! Editions on both databases, with an outside world that behaves as configured.

mod caps;
mod deadline;
mod deliveries;
mod desk;
mod leases;
mod logs;
mod opening;
mod outage;
mod people;
mod quality;
mod racing;
mod sharing;
mod ticks;
mod unreadable;
mod wave;

use std::sync::Arc;

use almanack_core::{
    alert::{About, decide::Behaviour, facts::Bounds},
    edition::{
        Account, EditionId, EditionName, State, allowance::Caps, delivery, rules::Rules,
        story::Status,
    },
    event::outgoing::Subscriptions,
    store::{AlertFilter, Store},
    time::{Clock, Sleeper},
};
use almanack_engine::{
    editions::{
        Editions, Settings, Ticked,
        handler::{RunHandler, TickHandler},
    },
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    watch::{Watch, WatchSettings, Watching},
};
use almanack_testkit::{
    clock::ManualClock,
    edition_harness::{Call, EditionHarness},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// Every rule becomes a test on each database.
macro_rules! on_both {
    ($($rule:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test(start_paused = true)]
                async fn $rule() {
                    let store = almanack_store::sqlite::SqliteStore::in_memory().unwrap();
                    super::$rule(std::sync::Arc::new(store)).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test]
                async fn $rule() {
                    let schema = almanack_testkit::postgres::Schema::create().await;
                    let store = almanack_store::postgres::PostgresStore::connect(schema.url()).await.unwrap();
                    super::$rule(std::sync::Arc::new(store)).await;
                }
            )*
        }
    };
}
pub(crate) use on_both;

const MORNING: Timestamp = Timestamp::constant(1_767_506_400, 0);
const TICK: SignedDuration = SignedDuration::from_mins(10);

/// Waits by moving the clock, once all others have had their turn.
struct Jump(Arc<ManualClock>);

#[async_trait::async_trait]
impl Sleeper for Jump {
    async fn until(&self, at: Timestamp) {
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        let now = almanack_core::time::Clock::now(self.0.as_ref());
        self.0.set(now.max(at));
    }
}

/// A store, a clock that the test moves, and a harness.
struct Room {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    news: EditionHarness,
    settings: Settings,
    subscriptions: Reloadable<Subscriptions>,
    /// How people want to be notified.
    behaviour: Behaviour,
}

fn settings() -> Settings {
    Settings {
        name: EditionName::default(),
        rules: Rules::default(),
        zone: TimeZone::UTC,
        title: "Daily".to_owned(),
        language: "zh-CN".to_owned(),
        caps: Caps::default(),
        filter: None,
        ready_by: None,
        ticks: None,
        node: "node".to_owned(),
    }
}

impl Room {
    fn on(store: Arc<dyn Store>, news: EditionHarness) -> Self {
        Self {
            store,
            clock: Arc::new(ManualClock::at(MORNING)),
            news,
            settings: settings(),
            subscriptions: Reloadable::default(),
            behaviour: Behaviour::default(),
        }
    }

    /// A process that makes editions; each call is another one, as far as others can see.
    fn editions(&self) -> Arc<Editions> {
        self.editions_that_wait_by(Arc::new(Jump(self.clock.clone())))
    }

    fn editions_that_wait_by(&self, sleeper: Arc<dyn Sleeper>) -> Arc<Editions> {
        self.editions_on(self.clock.clone(), sleeper)
    }

    /// The same by another clock than the one that the test moves.
    fn editions_on(&self, clock: Arc<dyn Clock>, sleeper: Arc<dyn Sleeper>) -> Arc<Editions> {
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let rescheduler = Rescheduler::new(self.store.clone(), clock.clone(), kinds);
        Arc::new(Editions {
            store: self.store.clone(),
            shown: self.store.clone(),
            clock,
            sleeper,
            rescheduler: Arc::new(rescheduler),
            outside: self.news.outside(),
            settings: self.settings.clone(),
            subscriptions: self.subscriptions.clone(),
        })
    }

    fn run_handler(&self, editions: Arc<Editions>) -> RunHandler {
        RunHandler {
            editions: editions.into(),
            clock: self.clock.clone(),
        }
    }

    fn tick_handler(&self) -> TickHandler {
        TickHandler {
            editions: self.editions().into(),
            clock: self.clock.clone(),
        }
    }

    /// A round of the watch.
    async fn look(&self) {
        let settings = WatchSettings {
            bounds: Bounds {
                overdue: Some(self.settings.rules.overdue_after),
                ..Bounds::default()
            },
            behaviour: self.behaviour.clone(),
            ..WatchSettings::default()
        };
        let watching = Reloadable::new(Watching {
            settings,
            notifier: Arc::new(self.news.clone()),
        });
        let mut watch = Watch::new(self.store.clone(), self.clock.clone(), watching);
        watch.round_of_editions().await.unwrap();
    }

    /// What is wrong with the edition of this day now, by the names of the rules.
    async fn open_alerts(&self) -> Vec<String> {
        self.open_alerts_of(today()).await
    }

    async fn open_alerts_of(&self, id: EditionId) -> Vec<String> {
        self.look().await;
        let open = AlertFilter {
            closed_from: Timestamp::MAX,
            limit: 100,
        };
        let mut alerts = self.store.load_alerts(open).await.unwrap();
        alerts.retain(|alert| alert.is_open() && alert.cool_down_since.is_none());
        alerts.retain(|alert| alert.key.about.edition() == Some(id));
        let mut names: Vec<String> = alerts
            .iter()
            .map(|alert| match &alert.key.about {
                About::Delivery { destination, .. } => format!("{}:{destination}", alert.key.rule),
                _ => alert.key.rule.to_string(),
            })
            .collect();
        names.sort();
        names
    }

    /// One tick, a round of the watch, and then ten minutes.
    async fn tick(&self) -> Ticked {
        let ticked = self.editions().tick().await.unwrap();
        self.look().await;
        self.clock.advance(TICK);
        ticked
    }

    async fn tick_times(&self, times: usize) {
        for _ in 0..times {
            self.tick().await;
        }
    }

    async fn account(&self) -> Account {
        self.account_of(today()).await
    }

    async fn account_of(&self, id: EditionId) -> Account {
        self.editions().account(id).await.unwrap()
    }

    fn sent_to(&self, destination: &str) -> usize {
        self.news.received(destination).len()
    }
}

fn room_now(room: &Room) -> Timestamp {
    almanack_core::time::Clock::now(room.clock.as_ref())
}

fn today() -> EditionId {
    jiff::civil::date(2026, 1, 4).into()
}

/// What a tick did, in one line.
fn did(ticked: &Ticked) -> Vec<&'static str> {
    let steps = ticked.steps.iter();
    steps
        .flat_map(|step| step.actions.iter().copied())
        .collect()
}

fn count(account: &Account, status: Status) -> usize {
    let found = account
        .stories
        .iter()
        .filter(|story| story.status == status);
    found.count()
}

fn count_calls(calls: &[Call], which: impl Fn(&Call) -> bool) -> usize {
    calls.iter().filter(|call| which(call)).count()
}

fn ledger(account: &Account, destination: &str) -> Vec<delivery::State> {
    let own = account
        .deliveries
        .iter()
        .filter(|delivery| delivery.destination == destination);
    own.map(|delivery| delivery.state).collect()
}

fn is_published(account: &Account) -> bool {
    account.edition.state == State::Published
}
