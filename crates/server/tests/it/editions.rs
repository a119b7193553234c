//! Editions over HTTP, with scripted ports of the outside.

mod api;
mod building;
mod compat;
mod desk;
mod named;
pub(crate) mod pages;

use std::{collections::BTreeSet, sync::Arc};

use almanack_core::{
    edition::{EDITION_RUN, EditionName, allowance::Caps, plan::Requester, rules::Rules},
    store::TokenStore,
    time::Sleeper,
    token::Scope,
};
use almanack_engine::{
    editions::{EditionSet, Editions, Outside, Settings, Stepped, Unwatched},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
};
use almanack_server::{StatusPage, Tick, access::Access};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    edition_harness::{Call, EditionHarness, InjectedFault},
    fixture::kind,
};
use axum::http::Method;
use jiff::{civil::Date, tz::TimeZone};

use crate::{
    access::made,
    harness::{Answer, Forward, World, with},
};

/// The day tests begin on.
pub(crate) const TODAY: &str = "2026-01-05";
const STATUS: &str = "/task-status";
const SYNC: &str = "/trigger-export-sync";

/// What a test decides about editions.
pub(crate) struct Stand {
    pub(crate) stories: u32,
    pub(crate) access: Access,
    pub(crate) public: bool,
    pub(crate) rules: Rules,
    pub(crate) language: &'static str,
    pub(crate) outside: fn(Outside) -> Outside,
    pub(crate) sleeper: Option<Arc<dyn Sleeper>>,
    pub(crate) store: Option<SqliteStore>,
    /// Names of further editions that are made of the same.
    pub(crate) beside: Vec<&'static str>,
    pub(crate) status_page: Option<StatusPage>,
}

impl Default for Stand {
    fn default() -> Self {
        Self {
            stories: 8,
            access: Access::Open,
            public: true,
            rules: Rules {
                retries_by_itself: 0,
                ..Rules::default()
            },
            language: "zh-CN",
            outside: |outside| outside,
            sleeper: None,
            store: None,
            beside: Vec::new(),
            status_page: None,
        }
    }
}

/// A node that makes editions.
pub(crate) struct Newsstand {
    pub(crate) world: World,
    pub(crate) news: EditionHarness,
    pub(crate) editions: Arc<Editions>,
}

/// Makes editions of what a harness has.
pub(crate) fn made_from(
    store: &Arc<SqliteStore>,
    clock: &Arc<ManualClock>,
    news: &EditionHarness,
) -> Arc<Editions> {
    let sleeper = Arc::new(Forward(clock.clone()));
    let settings = settings(Rules::default(), "zh-CN");
    editions(store, clock, sleeper, news.outside(), settings)
}

/// The same, and one of the name `weekly`.
pub(crate) fn two_made_from(
    store: &Arc<SqliteStore>,
    clock: &Arc<ManualClock>,
    news: &EditionHarness,
) -> EditionSet {
    let sleeper = Arc::new(Forward(clock.clone()));
    let weekly = Settings {
        name: EditionName::parse("weekly").unwrap(),
        ..settings(Rules::default(), "zh-CN")
    };
    let weekly = editions(store, clock, sleeper, news.outside(), weekly);
    EditionSet::of([made_from(store, clock, news), weekly])
}

fn settings(rules: Rules, language: &str) -> Settings {
    Settings {
        name: EditionName::default(),
        rules,
        zone: TimeZone::UTC,
        title: "HackerNews Daily".to_owned(),
        language: language.to_owned(),
        caps: Caps::default(),
        filter: None,
        ready_by: None,
        ticks: None,
        node: "node-a".to_owned(),
    }
}

impl Stand {
    pub(crate) async fn open(self) -> Newsstand {
        let news = EditionHarness::with(self.stories);
        let store = self.store;
        let store = store.unwrap_or_else(|| SqliteStore::in_memory().unwrap());
        // One token would close an open node.
        let guarded = self.access == Access::Tokens;
        for scope in Scope::ALL.into_iter().filter(|_| guarded) {
            let (token, _) = made(scope.as_str(), scope);
            store.save_token(&token).await.unwrap();
        }
        let outside = (self.outside)(news.outside());
        let settings = settings(self.rules, self.language);
        let mut made = None;
        let parts = |store: &Arc<SqliteStore>, clock: &Arc<ManualClock>| {
            let sleeper = self.sleeper;
            let sleeper = sleeper.unwrap_or_else(|| Arc::new(Forward(clock.clone())));
            let editions = editions(store, clock, sleeper, outside, settings);
            made = Some(editions.clone());
            let beside = self.beside.into_iter().map(|name| {
                let settings = Settings {
                    name: EditionName::parse(name).unwrap(),
                    title: format!("The {name} one"),
                    ..editions.settings.clone()
                };
                Arc::new(Editions {
                    store: editions.store.clone(),
                    shown: editions.shown.clone(),
                    clock: editions.clock.clone(),
                    sleeper: editions.sleeper.clone(),
                    rescheduler: editions.rescheduler.clone(),
                    outside: editions.outside.clone(),
                    settings,
                    subscriptions: Reloadable::default(),
                })
            });
            let beside: Vec<_> = beside.collect();
            let all = beside.into_iter().chain([editions]);
            (Tick::default(), EditionSet::of(all))
        };
        let world = match self.status_page {
            Some(page) => World::showing(page, store, self.access, parts),
            None => World::built(store, self.access, self.public, parts),
        };
        Newsstand {
            world,
            news,
            editions: made.unwrap(),
        }
    }
}

fn editions(
    store: &Arc<SqliteStore>,
    clock: &Arc<ManualClock>,
    sleeper: Arc<dyn Sleeper>,
    outside: Outside,
    settings: Settings,
) -> Arc<Editions> {
    let kinds = Kinds {
        configured: BTreeSet::from([kind(EDITION_RUN)]),
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(store.clone(), clock.clone(), kinds);
    Arc::new(Editions {
        store: store.clone(),
        shown: store.clone(),
        clock: clock.clone(),
        sleeper,
        rescheduler: Arc::new(rescheduler),
        outside,
        settings,
        subscriptions: Reloadable::default(),
    })
}

impl Newsstand {
    pub(crate) async fn open() -> Self {
        Stand::default().open().await
    }

    /// A node whose edition of today is published.
    pub(crate) async fn published() -> Self {
        let stand = Self::open().await;
        let answer = stand.world.post(SYNC, "").await;
        assert_eq!(answer.json()["success"], true, "{}", answer.body);
        stand
    }

    /// One tick's worth of work on today's edition.
    pub(crate) async fn step(&self) -> Stepped {
        let today = self.editions.today();
        self.editions.take_up(today).await.unwrap();
        let stepped = self.editions.step(today, Requester::Tick, &Unwatched).await;
        stepped.unwrap()
    }

    async fn status(&self) -> serde_json::Value {
        self.world.get(STATUS).await.json()
    }

    /// From now on the first story of every batch fails.
    pub(crate) fn lose_titles(&self) {
        self.news.decide(|call, _| match call {
            Call::Titles(_) => InjectedFault::Lacks,
            _ => InjectedFault::Well,
        });
    }

    /// From now on a destination takes nothing.
    pub(crate) fn refuse_at(&self, place: &'static str) {
        use almanack_core::edition::port::FailureClass;
        self.news.decide(move |call, _| match call {
            Call::Send(name, _) if name == place => InjectedFault::Fails(FailureClass::Credentials),
            _ => InjectedFault::Well,
        });
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, shown: Option<&str>) -> Answer {
        let shown = shown.map(|scope| format!("Bearer alm_{scope}"));
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(shown.as_deref().map(|shown| ("authorization", shown)));
        self.world.send(with(method, path, "", &headers)).await
    }
}

fn date(text: &str) -> Date {
    text.parse().unwrap()
}
