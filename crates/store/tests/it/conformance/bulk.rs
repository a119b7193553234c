//! Bulk changes and their progress.

use std::sync::Arc;

use almanack_core::{
    bulk::{Action, Bulk, BulkId, BulkRequest, Skip, State},
    reschedule::{Change, Request},
    store::{Applied, Reading, Store, TaskFilter},
    task::{Status, TaskId},
};
use almanack_testkit::fixture::{PUBLISH, START, at, kind, put};

use super::{ask, plant_many, task};

async fn begun(store: &dyn Store, through: TaskId) -> Bulk {
    let request = BulkRequest {
        action: Action::Move,
        by_s: Some(7_200),
        to: None,
        filter: TaskFilter {
            kind: Some(kind(PUBLISH)),
            ..TaskFilter::default()
        },
    };
    let bulk = Bulk::new(request, through, "ops", START);
    let id = store.create_bulk(&bulk).await.expect("create_bulk");
    store
        .load_bulk(id)
        .await
        .expect("load_bulk")
        .expect("a bulk change")
}

/// The next page, planned.
async fn planned(store: &dyn Store, bulk: &Bulk) -> (Bulk, Vec<Change>) {
    let filter = TaskFilter {
        before: Some(bulk.before),
        reading: Reading::Changed,
        limit: 2,
        ..bulk.request.filter.clone()
    };
    let page = store.list_tasks(&filter).await.expect("list_tasks");
    bulk.next(&page.rows, page.next, at(1))
}

pub(crate) async fn wk_07_a_bulk_change_is_written_with_its_task(store: Arc<dyn Store>) {
    let bulk = begun(&*store, TaskId(9)).await;
    let identity = bulk.id.identity().expect("an identity");
    let row = store
        .load_current(&[identity])
        .await
        .expect("load_current")
        .remove(0);
    let row = row.expect("its task");
    assert_eq!(
        (row.status, row.due_at, row.origin),
        (Status::Init, Some(START), "ops".into())
    );
    assert_eq!(bulk.before, TaskId(10));
    let second = begun(&*store, TaskId(9)).await;
    let page = store.list_bulks(None, 1).await.expect("list_bulks");
    assert_eq!(
        (page.rows, page.next),
        (vec![second.clone()], Some(second.id))
    );
    let page = store.list_bulks(page.next, 1).await.expect("list_bulks");
    assert_eq!((page.rows, page.next), (vec![bulk], None));
    assert_eq!(store.load_bulk(BulkId(999)).await.expect("load_bulk"), None);
}

/// Of everyone who saw the same step one carries it out: nothing is moved twice.
pub(crate) async fn wk_07_a_step_takes_effect_once(store: Arc<dyn Store>) {
    let ids = plant_many(&*store, "a", PUBLISH, 2, at(60)).await;
    let bulk = begun(&*store, ids[1]).await;
    let (next, changes) = planned(&*store, &bulk).await;
    let advanced = store
        .advance_bulk(&next, changes.clone())
        .await
        .expect("advance_bulk");
    let (advanced, applied) = advanced.expect("the first");
    assert_eq!(applied, [Applied::Done { inserted: None }; 2]);
    assert_eq!(
        (advanced.step, advanced.changed, advanced.matched),
        (1, 2, 2)
    );
    assert_eq!(
        store.load_bulk(bulk.id).await.expect("load_bulk"),
        Some(advanced)
    );
    let (again, changes) = planned(&*store, &bulk).await;
    assert_eq!(changes.len(), 2, "the moved rows could be moved again");
    let lost = store
        .advance_bulk(&again, changes)
        .await
        .expect("advance_bulk");
    assert_eq!(lost, None, "another took this step");
    for id in ids {
        assert_eq!(task(&*store, id).await.execute_at, at(7_260));
    }
}

/// A row that changed in between is left alone and counted, and the others change.
pub(crate) async fn wk_07_a_row_that_changed_meanwhile_is_counted(store: Arc<dyn Store>) {
    let ids = plant_many(&*store, "a", PUBLISH, 2, at(60)).await;
    let bulk = begun(&*store, ids[1]).await;
    let (next, changes) = planned(&*store, &bulk).await;
    ask(&*store, &Request::Put(put("a:0", PUBLISH, at(5))), START).await;
    let advanced = store
        .advance_bulk(&next, changes)
        .await
        .expect("advance_bulk");
    let (advanced, _) = advanced.expect("advanced");
    assert_eq!(
        (advanced.changed, advanced.skipped.get(&Skip::Changed)),
        (1, Some(&1))
    );
    let mut times = Vec::new();
    for id in ids {
        times.push(task(&*store, id).await.execute_at);
    }
    times.sort();
    assert_eq!(times, [at(5), at(7_260)]);
}

/// What a person stopped is not walked on, and is forgotten when it is old.
pub(crate) async fn wk_07_a_stopped_bulk_change_changes_nothing(store: Arc<dyn Store>) {
    let ids = plant_many(&*store, "a", PUBLISH, 1, at(60)).await;
    let bulk = begun(&*store, ids[0]).await;
    let (next, changes) = planned(&*store, &bulk).await;
    assert!(
        store
            .cancel_bulk(bulk.id, "anna", at(2))
            .await
            .expect("cancel_bulk")
    );
    assert!(
        !store
            .cancel_bulk(bulk.id, "ben", at(3))
            .await
            .expect("cancel_bulk")
    );
    let late = store
        .advance_bulk(&next, changes)
        .await
        .expect("advance_bulk");
    assert_eq!(late, None);
    assert_eq!(task(&*store, ids[0]).await.execute_at, at(60));
    let stopped = store
        .load_bulk(bulk.id)
        .await
        .expect("load_bulk")
        .expect("kept");
    let by = stopped.cancelled_by.as_deref();
    assert_eq!(
        (stopped.state, by, stopped.ended_at),
        (State::Cancelled, Some("anna"), Some(at(2)))
    );
    let open = begun(&*store, ids[0]).await;
    assert_eq!(store.prune_bulks(at(2), 10).await.expect("prune_bulks"), 0);
    assert_eq!(
        store.prune_bulks(at(1_000), 10).await.expect("prune_bulks"),
        1
    );
    assert!(store.load_bulk(open.id).await.expect("load_bulk").is_some());
}
