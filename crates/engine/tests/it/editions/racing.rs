//! Two nodes at the same moment: one works, the other finds nothing to do (ED-14…ED-16).

use std::collections::BTreeMap;

use almanack_core::{
    edition::{
        account::Change,
        batch::{self, Batch},
        delivery::Delivery,
        port::FailureClass,
    },
    store::EditionWritten,
};
use almanack_testkit::layer::{Layer, Layered};

use super::*;

on_both!(
    ed_14_two_ticks_at_the_same_moment_do_the_work_once,
    ed_14_two_runs_at_the_same_moment_publish_once,
    ed_15_stories_of_a_dead_process_are_given_back,
    ed_12_a_lease_is_not_longer_for_an_answer_that_comes_late,
);

/// A store whose answers to claims take so long, on the clock of the test.
struct Late {
    clock: Arc<ManualClock>,
    by: SignedDuration,
}

#[async_trait::async_trait]
impl Layer for Late {
    async fn write_edition(
        &self,
        below: &dyn Store,
        change: Change,
    ) -> almanack_core::store::Result<EditionWritten> {
        let sent = |delivery: &Delivery| delivery.state == delivery::State::Sent;
        let running = |batch: &Batch| batch.status == batch::Status::Running;
        let claims = change.deliveries.iter().any(sent) || change.batches.iter().any(running);
        let written = below.write_edition(change).await;
        if claims {
            self.clock.advance(self.by);
        }
        written
    }
}

/// A node that gets a story or a message after the lease has expired leaves it alone: another node
/// may have it.
async fn ed_12_a_lease_is_not_longer_for_an_answer_that_comes_late(store: Arc<dyn Store>) {
    let quick = Room::on(store.clone(), EditionHarness::with(1));
    quick.tick().await;
    let by = SignedDuration::from_mins(6);
    let clock = quick.clock.clone();
    let slow = Room {
        store: Layered::over(store, Late { clock, by }),
        clock: quick.clock.clone(),
        news: quick.news.clone(),
        subscriptions: Reloadable::default(),
        settings: settings(),
        behaviour: Behaviour::default(),
    };
    quick.news.forget_calls();
    slow.editions().tick().await.unwrap();
    assert_eq!(quick.news.calls(), [], "no page was read");
    quick.news.decide(|call, _| match call {
        Call::Send(..) => {
            almanack_testkit::edition_harness::InjectedFault::Fails(FailureClass::Transient)
        }
        _ => almanack_testkit::edition_harness::InjectedFault::Well,
    });
    quick.tick_times(2).await;
    assert_eq!(quick.account().await.edition.state, State::Aggregating);
    quick.news.heal();
    slow.tick().await;
    assert_eq!((quick.sent_to("github"), quick.sent_to("telegram")), (0, 0));
    quick.tick_times(2).await;
    assert!(is_published(&quick.account().await));
    assert_eq!((quick.sent_to("github"), quick.sent_to("telegram")), (1, 2));
}

async fn ed_14_two_ticks_at_the_same_moment_do_the_work_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(12));
    for _ in 0..4 {
        let (one, other) = (room.editions(), room.editions());
        let (first, second) = tokio::join!(one.tick(), other.tick());
        first.unwrap();
        second.unwrap();
        room.clock.advance(TICK);
    }
    let account = room.account().await;
    assert!(is_published(&account), "{}", account.edition.state);
    let calls = room.news.calls();
    let mut pages: BTreeMap<u32, usize> = BTreeMap::new();
    for call in &calls {
        if let Call::Page(number) = call {
            *pages.entry(*number).or_default() += 1;
        }
    }
    assert_eq!(pages.len(), 12);
    assert!(
        pages.values().all(|times| *times == 1),
        "no story twice: {pages:?}"
    );
    assert_eq!(
        count_calls(&calls, |call| *call == Call::List),
        1,
        "no list twice"
    );
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
}

/// Lets others go on while a node waits a little for them, and freezes time meanwhile: what
/// a database takes in real time must not cost a lease.
struct Linger(Arc<ManualClock>);

#[async_trait::async_trait]
impl Sleeper for Linger {
    async fn until(&self, at: Timestamp) {
        let now = almanack_core::time::Clock::now(self.0.as_ref());
        if at.duration_since(now) > SignedDuration::from_secs(1) {
            std::future::pending::<()>().await;
        }
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

async fn ed_14_two_runs_at_the_same_moment_publish_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(20));
    let waits = || room.editions_that_wait_by(Arc::new(Linger(room.clock.clone())));
    let (one, other) = (waits(), waits());
    one.take_up(today()).await.unwrap();
    let watch = &almanack_engine::editions::Unwatched;
    let (first, second) = tokio::join!(one.run(today(), watch), other.run(today(), watch));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(is_published(&first.account), "{:?}", first.end);
    assert!(
        is_published(&second.account),
        "the sender is waited for: {:?}",
        second.end
    );
    let account = room.account().await;
    assert_eq!(count(&account, Status::Completed), 20);
    assert_eq!((room.sent_to("github"), room.sent_to("telegram")), (1, 2));
}

async fn ed_15_stories_of_a_dead_process_are_given_back(store: Arc<dyn Store>) {
    use batch::Status::{Failed, Success};
    let room = Room::on(store, EditionHarness::with(8));
    room.tick().await;
    room.news.decide(|call, _| match call {
        Call::Titles(_) => almanack_testkit::edition_harness::InjectedFault::Hangs,
        _ => almanack_testkit::edition_harness::InjectedFault::Well,
    });
    // It hangs, and is stopped before its own time limit ends it.
    let editions = room.editions();
    {
        let ticking = editions.tick();
        tokio::pin!(ticking);
        while count(&room.account().await, Status::Processing) == 0 {
            let _ = futures_util::poll!(ticking.as_mut());
            tokio::task::yield_now().await;
        }
    }
    room.news.heal();
    let ticked = editions.tick().await.unwrap();
    assert_eq!(
        did(&ticked),
        Vec::<&str>::new(),
        "the previous batch is still running"
    );
    room.clock.advance(TICK);
    let ticked = room.tick().await;
    assert_eq!(did(&ticked), ["recover", "process"]);
    room.tick().await;
    let account = room.account().await;
    assert!(is_published(&account));
    assert_eq!(count(&account, Status::Completed), 8);
    let statuses: Vec<batch::Status> = account.batches.iter().map(|batch| batch.status).collect();
    assert_eq!(statuses, [Failed, Success, Success]);
    assert!(
        account.stories.iter().all(|story| story.retry_count == 0),
        "dying is not failing"
    );
}
