//! What an edition is made from: the world's news site, its search, its pages and the reader
//! services.

mod days;
mod failing;
mod listing;
mod reading;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::hacker_news::{HackerNews, List, Settings};
use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        story::Listed,
    },
    time::{Clock, Sleeper},
};
use almanack_lab::news::{self, Config, Handle, Running, site::Site};
use almanack_testkit::clock::ManualClock;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::date};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fixture::client;

/// 2026-01-05T08:00:00Z: the time of all tests.
const MORNING: Timestamp = Timestamp::constant(1_767_600_000, 0);
/// The day before, from its first second to the first after it.
const DAY_S: (i64, i64) = (1_767_484_800, 1_767_571_200);

/// Waits by moving the clock, and remembers how long.
struct Waits {
    clock: Arc<ManualClock>,
    waits: Mutex<Vec<i64>>,
}

#[async_trait]
impl Sleeper for Waits {
    async fn until(&self, at: Timestamp) {
        let wait = at.duration_since(self.clock.now());
        self.waits.lock().unwrap().push(wait.as_secs());
        self.clock.set(at);
    }
}

/// The world's news site on a fixed morning, and a source of stories for it.
struct News {
    running: Running,
    clock: Arc<ManualClock>,
    wait_max: Arc<Waits>,
    _stop: DropGuard,
}

impl News {
    async fn with(site: Site) -> Self {
        let mut config = Config::new(([127, 0, 0, 1], 0).into(), site);
        config.clock = Arc::new(|| MORNING);
        let stop = CancellationToken::new();
        let running = news::start(config, stop.clone()).await.unwrap();
        let clock = Arc::new(ManualClock::at(MORNING));
        let wait_max = Arc::new(Waits {
            clock: clock.clone(),
            waits: Mutex::default(),
        });
        Self {
            running,
            clock,
            wait_max,
            _stop: stop.drop_guard(),
        }
    }

    /// A site with few stories.
    async fn quiet() -> Self {
        Self::with(Site::new(3, 40)).await
    }

    /// A site whose search shows only a part of a day at once.
    async fn busy() -> Self {
        Self::with(Site::new(3, 1400)).await
    }

    fn handle(&self) -> &Handle {
        &self.running.handle
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.running.url())
    }

    fn hacker_news(&self, list: List) -> HackerNews {
        self.hacker_news_within(list, Duration::from_mins(5))
    }

    fn hacker_news_within(&self, list: List, timeout: Duration) -> HackerNews {
        let settings = Settings {
            // As people write it, and in canonical form.
            firebase_url: self.url("/"),
            algolia_url: self.url(""),
            list,
            timeout,
            ..Settings::default()
        };
        let (clock, sleeper) = (self.clock.clone(), self.wait_max.clone());
        HackerNews::new(client(), settings, clock, sleeper)
    }

    async fn list(&self, list: List, wanted: &Wanted) -> Result<Vec<Listed>, Failure> {
        let budget = Budget::new(100);
        let listed = self.hacker_news(list).list(wanted, &budget).await;
        self.assert_paid(&budget);
        listed
    }

    /// Every request that came was counted, and none that did not.
    fn assert_paid(&self, budget: &Budget) {
        assert_eq!(u64::from(budget.spent()), self.handle().total());
    }

    fn waits(&self) -> Vec<i64> {
        std::mem::take(&mut self.wait_max.waits.lock().unwrap())
    }
}

fn today(limit: usize) -> Wanted {
    let second = |at| Timestamp::from_second(at).unwrap();
    Wanted {
        date: date(2026, 1, 5),
        is_today: true,
        day_start: second(DAY_S.0),
        day_end: second(DAY_S.1),
        now: MORNING,
        limit,
    }
}

/// The edition of so many days ago.
fn past(days: i64, limit: usize) -> Wanted {
    let ago = SignedDuration::from_hours(24 * days);
    let today = today(limit);
    Wanted {
        is_today: false,
        day_start: today.day_start - ago,
        day_end: today.day_end - ago,
        ..today
    }
}

fn keys(listed: &[Listed]) -> Vec<&str> {
    listed.iter().map(|story| story.key.0.as_str()).collect()
}
