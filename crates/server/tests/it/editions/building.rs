//! Building takes as long as it takes, and goes on without its caller.

use std::{sync::Arc, time::Duration};

use almanack_core::time::Sleeper;
use almanack_testkit::edition_harness::{Call, InjectedFault};
use async_trait::async_trait;
use axum::http::Method;
use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::{Newsstand, SYNC, Stand};
use crate::harness::{request, send};

struct Never;

#[async_trait]
impl Sleeper for Never {
    async fn until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }
}

/// Waits until the test lets it go on.
struct Held(Arc<Semaphore>);

#[async_trait]
impl Sleeper for Held {
    async fn until(&self, _: Timestamp) {
        self.0.acquire().await.unwrap().forget();
    }
}

#[tokio::test(start_paused = true)]
async fn ed_21_building_is_not_cut_off_by_the_time_limit_of_requests() {
    let sleeper: Arc<dyn Sleeper> = Arc::new(Never);
    let stand = Stand {
        sleeper: Some(sleeper),
        ..Stand::default()
    }
    .open()
    .await;
    // Every single call takes longer than any other request may.
    stand.news.slow_down(Duration::from_secs(31));
    let answer = stand.world.post(SYNC, "").await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.json()["success"], true);
}

#[tokio::test]
async fn ed_21_building_goes_on_when_the_caller_goes_away() {
    let held = Arc::new(Semaphore::new(0));
    let sleeper: Arc<dyn Sleeper> = Arc::new(Held(held.clone()));
    let stand = Stand {
        sleeper: Some(sleeper),
        ..Stand::default()
    }
    .open()
    .await;
    stand.news.decide(|call, before| match call {
        Call::Comments(1) if before == 0 => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    let app = stand.world.app.clone();
    let caller = tokio::spawn(async move { send(&app, request(Method::POST, SYNC, "")).await });
    while !stand.news.calls().contains(&Call::Comments(1)) {
        tokio::task::yield_now().await;
    }
    caller.abort();
    assert!(caller.await.is_err(), "the caller is gone");
    assert_eq!(stand.status().await["status"], "processing");
    held.add_permits(1);
    let mut looks = 0;
    while stand.status().await["status"] != "published" {
        looks += 1;
        tokio::task::yield_now().await;
        assert!(looks < 10_000, "it never went on");
    }
}

#[tokio::test]
async fn ed_14_two_triggers_at_the_same_moment_make_one_edition() {
    let stand = Newsstand::open().await;
    let (one, other) = tokio::join!(stand.world.post(SYNC, ""), stand.world.post(SYNC, ""));
    for answer in [one, other] {
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.json()["success"], true, "{}", answer.body);
    }
    assert_eq!(stand.news.received("github").len(), 1);
    assert_eq!(stand.news.received("telegram").len(), 2);
}
