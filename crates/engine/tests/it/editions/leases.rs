//! Leases: what takes long is held by its node's lease, and within a minute by no node once that
//! node is gone.

use std::sync::atomic::{AtomicUsize, Ordering};

use almanack_core::{
    edition::{account::Change, delivery::State as Ledger, plan::Requester},
    store::{EditionWritten, Error, Result},
    time::Clock,
};
use almanack_engine::editions::Unwatched;
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    edition_harness::{InjectedFault, Place},
    layer::{Layer, Layered},
};
use tokio::sync::Semaphore;

use super::*;
use crate::virtual_time::VirtualTime;

on_both!(
    ed_14_the_list_is_held_by_its_fetcher_alone,
    ed_15_a_batch_is_held_by_its_worker_alone,
    ed_12_a_delivery_is_held_by_its_sender_alone,
);

fn one_place() -> EditionHarness {
    EditionHarness::with_places(1, vec![Place::named("github")])
}

async fn ed_14_the_list_is_held_by_its_fetcher_alone(store: Arc<dyn Store>) {
    let room = Room::on(store, one_place());
    room.editions().take_up(today()).await.unwrap();
    room.news.decide(|call, _| match call {
        Call::List => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    let next = outlive(&room, |account| account.edition.fetching_until).await;
    assert_eq!(next, ["fetch"]);
    assert_eq!(count_calls(&room.news.calls(), |it| *it == Call::List), 2);
}

async fn ed_15_a_batch_is_held_by_its_worker_alone(store: Arc<dyn Store>) {
    let room = Room::on(store, one_place());
    room.tick().await;
    room.news.decide(|call, _| match call {
        Call::Titles(_) => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    let next = outlive(&room, |account| Some(account.batches.first()?.lease_until)).await;
    assert_eq!(next[0], "recover");
}

async fn ed_12_a_delivery_is_held_by_its_sender_alone(store: Arc<dyn Store>) {
    let room = Room::on(store, one_place());
    room.tick().await;
    room.news.decide(|call, _| match call {
        Call::Send(..) => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    let next = outlive(&room, |account| account.deliveries.first()?.lease_until).await;
    assert_eq!(next, ["deliver", "publish"], "looked at, and there it was");
    assert_eq!(room.sent_to("github"), 1);
}

/// A node works for two leases on what hangs, and others leave it alone; then they die, and
/// another has it a lease later. Answers what that one does.
async fn outlive(room: &Room, lease: fn(&Account) -> Option<Timestamp>) -> Vec<&'static str> {
    let rules = &room.settings.rules;
    let beats = Arc::new(Beats {
        clock: room.clock.clone(),
        beat: rules.beat(),
        released: Semaphore::new(0),
    });
    let working = room.editions_that_wait_by(beats.clone());
    let stepping =
        tokio::spawn(async move { working.step(today(), Requester::Tick, &Unwatched).await });
    for beat in 1..=8 {
        let until = room_now(room) + rules.lease();
        assert!(is_held_until(room, lease, until).await, "beat {beat}");
        room.clock.advance(rules.beat());
        beats.released.add_permits(1);
        let waits = room.editions().tick().await.unwrap();
        assert_eq!(did(&waits), Vec::<&str>::new(), "beat {beat}");
    }
    stepping.abort();
    assert!(stepping.await.is_err());
    room.news.heal();
    room.clock.advance(rules.lease());
    did(&room.editions().tick().await.unwrap())
}

/// Whether it is held so long, now or soon.
async fn is_held_until(
    room: &Room,
    lease: fn(&Account) -> Option<Timestamp>,
    until: Timestamp,
) -> bool {
    for _ in 0..5_000 {
        if lease(&room.account().await) == Some(until) {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

/// Wakes heartbeats on request, and no waiter that waits for longer than that.
struct Beats {
    clock: Arc<ManualClock>,
    beat: SignedDuration,
    released: Semaphore,
}

#[async_trait::async_trait]
impl Sleeper for Beats {
    async fn until(&self, at: Timestamp) {
        if at > self.clock.now() + self.beat {
            std::future::pending::<()>().await;
        }
        let permit = self.released.acquire().await;
        permit.unwrap().forget();
    }
}

/// Takes that something is sent, once, and nothing more about it until it is over.
#[derive(Default)]
struct Deaf(AtomicUsize);

#[async_trait::async_trait]
impl Layer for Deaf {
    async fn write_edition(&self, below: &dyn Store, change: Change) -> Result<EditionWritten> {
        let sends = change.deliveries.iter().any(|it| it.state == Ledger::Sent);
        if sends && self.0.fetch_add(1, Ordering::SeqCst) > 0 {
            return Err(Error::Unavailable {
                statement: "write edition",
                source: "gone".into(),
            });
        }
        below.write_edition(change).await
    }
}

/// Another may send it then; so a sender that cannot extend its lease stops before.
#[tokio::test(start_paused = true)]
async fn ed_12_a_sender_that_cannot_extend_its_lease_stops_before_it_expires() {
    let time = VirtualTime::start();
    let store = Layered::over(Arc::new(SqliteStore::in_memory().unwrap()), Deaf::default());
    let room = Room::on(store, one_place());
    room.news.decide(|call, _| match call {
        Call::Send(..) => InjectedFault::Hangs,
        _ => InjectedFault::Well,
    });
    let kinds = Kinds::default();
    let rescheduler = Rescheduler::new(room.store.clone(), Arc::new(time), kinds);
    let editions = Editions {
        store: room.store.clone(),
        shown: room.store.clone(),
        clock: Arc::new(time),
        sleeper: Arc::new(time),
        rescheduler: Arc::new(rescheduler),
        outside: room.news.outside(),
        settings: settings(),
        subscriptions: Reloadable::default(),
    };
    let (date, began_at) = (editions.today(), time.now());
    editions.take_up(date).await.unwrap();
    for _ in 0..2 {
        let stepped = editions.step(date, Requester::Tick, &Unwatched).await;
        stepped.unwrap();
    }
    let account = room.store.load_account(date).await.unwrap().unwrap();
    assert_eq!(ledger(&account, "github"), [Ledger::Unknown]);
    let rules = Rules::default();
    let took = time.now().duration_since(began_at);
    assert_eq!(took, rules.lease() - rules.beat());
}
