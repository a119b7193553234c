//! Bulk changes, carried out by nodes that die (WK-07).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use almanack_core::{
    bulk::{Action, Bulk, BulkRequest, Skip, State},
    handler::Handler as _,
    reschedule::{Change, Put, Request, decide},
    store::{Applied, Error, HistoryPage, Result, Store, TaskFilter},
    task::{ClaimedTask, Status, Tags, Task},
};
use almanack_engine::bulk::{BulkHandler, Bulks, STEP_ROWS};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{PUBLISH, START, at, claim_request, identity, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;

const TASKS: usize = 3 * STEP_ROWS + 7;

/// Loses every second answer to a step, after it took effect or before.
struct Dying(AtomicUsize);

#[async_trait]
impl Layer for Dying {
    async fn advance_bulk(
        &self,
        below: &dyn Store,
        bulk: &Bulk,
        changes: Vec<Change>,
    ) -> Result<Option<(Bulk, Vec<Applied>)>> {
        let dies = || Error::Unreadable {
            what: "the node died".to_owned(),
        };
        match self.0.fetch_add(1, Ordering::Relaxed) % 3 {
            0 => Err(dies()),
            1 => {
                below.advance_bulk(bulk, changes).await?;
                Err(dies())
            }
            _ => below.advance_bulk(bulk, changes).await,
        }
    }
}

async fn planted(store: &dyn Store, count: usize) {
    let change = |n: usize| {
        let put = Put {
            tags: Some(Tags::parse(&["nightly"]).unwrap()),
            ..put(&format!("a:{n}"), PUBLISH, at(60))
        };
        decide(None, &Request::Put(put), "author", START).unwrap()
    };
    store.apply((0..count).map(change).collect()).await.unwrap();
}

fn request(action: Action, by_s: Option<i64>) -> BulkRequest {
    let filter = TaskFilter {
        tags: Tags::parse(&["nightly"]).unwrap(),
        ..TaskFilter::default()
    };
    BulkRequest {
        action,
        by_s,
        to: None,
        filter,
    }
}

fn bulks(store: &Arc<dyn Store>) -> Bulks {
    let clock = Arc::new(ManualClock::at(START));
    Bulks {
        store: Arc::clone(store),
        clock,
    }
}

async fn all(store: &dyn Store) -> Vec<Task> {
    let filter = TaskFilter {
        limit: 10_000,
        ..request(Action::Cancel, None).filter
    };
    store.list_tasks(&filter).await.unwrap().rows
}

/// Its task, as a node that claims it gets it.
async fn claimed(store: &dyn Store) -> ClaimedTask {
    let tasks = store
        .claim(claim_request(1, START, 10))
        .await
        .unwrap()
        .tasks;
    tasks.into_iter().next().unwrap()
}

#[tokio::test]
async fn wk_07_a_bulk_move_survives_its_nodes_and_moves_each_task_once() {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    planted(&*store, TASKS).await;
    let (bulks, request) = (bulks(&store), request(Action::Move, Some(7_200)));
    let dry_run = bulks.dry_run(&request).await.unwrap();
    assert_eq!((dry_run.would_change, dry_run.exact), (TASKS as u64, true));
    planted_later(&*store).await;
    let through = Some(dry_run.through_task_id);
    let bulk = bulks.start(request, through, "ops").await.unwrap();
    let task = claimed(&*store).await;
    let (mut attempts, dying) = (0, Dying(AtomicUsize::new(0)));
    let handler = BulkHandler {
        store: Layered::over(Arc::clone(&store), dying),
        clock: Arc::new(ManualClock::at(START)),
        step_rows: STEP_ROWS,
    };
    while handler.attempt(&task).await.name() != "done" {
        attempts += 1;
        assert!(attempts < 100, "it gets further with every attempt");
    }
    assert!(attempts > 3, "nodes died");
    let done = store.load_bulk(bulk.id).await.unwrap().unwrap();
    assert_eq!(
        (done.state, done.changed),
        (State::Done, dry_run.would_change)
    );
    assert_eq!((done.matched, done.skipped.len()), (dry_run.matched, 0));
    let rows = all(&*store).await;
    let moved = rows
        .iter()
        .filter(|row| row.execute_at == at(7_260) && row.decisions == 1);
    assert_eq!(moved.count(), TASKS, "each once");
    let new = rows.iter().filter(|row| row.execute_at == at(60)).count();
    assert_eq!(new, 1, "what came after the dry run stays");
    let page = HistoryPage::WHOLE;
    let history = store
        .load_history(&identity("a:0", PUBLISH), page)
        .await
        .unwrap();
    assert_eq!(history.decisions[0].origin, format!("ops bulk {}", bulk.id));
}

async fn planted_later(store: &dyn Store) {
    let put = Put {
        tags: Some(Tags::parse(&["nightly"]).unwrap()),
        ..put("late:1", PUBLISH, at(60))
    };
    let change = decide(None, &Request::Put(put), "author", START).unwrap();
    store.apply(vec![change]).await.unwrap();
}

#[tokio::test]
async fn wk_07_what_changed_since_the_dry_run_is_skipped_and_counted() {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    planted(&*store, 3).await;
    let (bulks, request) = (bulks(&store), request(Action::Cancel, None));
    let dry_run = bulks.dry_run(&request).await.unwrap();
    let first = decide_cancel(&*store, "a:0").await;
    store.apply(vec![first]).await.unwrap();
    let through = Some(dry_run.through_task_id);
    let bulk = bulks.start(request, through, "ops").await.unwrap();
    let task = claimed(&*store).await;
    let handler = BulkHandler {
        store: Arc::clone(&store),
        clock: Arc::new(ManualClock::at(START)),
        step_rows: STEP_ROWS,
    };
    assert_eq!(handler.attempt(&task).await.name(), "done");
    let done = store.load_bulk(bulk.id).await.unwrap().unwrap();
    assert_eq!((dry_run.would_change, done.changed), (3, 2));
    assert_eq!(done.skipped.get(&Skip::Ended), Some(&1));
    assert!(
        all(&*store)
            .await
            .iter()
            .all(|row| row.status == Status::Cancelled)
    );
    assert!(bulks.cancel(bulk.id, "anna").await.is_err(), "it has ended");
}

async fn decide_cancel(store: &dyn Store, subject: &str) -> Change {
    let identity = identity(subject, PUBLISH);
    let row = store
        .load_current(std::slice::from_ref(&identity))
        .await
        .unwrap()
        .remove(0);
    let request = Request::Cancel(almanack_core::reschedule::Cancel {
        identity,
        revision: None,
    });
    decide(row.as_ref(), &request, "author", START).unwrap()
}
