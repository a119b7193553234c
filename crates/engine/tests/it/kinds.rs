//! How many kinds may wait.

use std::sync::Arc;

use almanack_core::{reschedule::Request, store::Store};
use almanack_engine::reschedule::{Kinds, Rescheduler};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{PUBLISH, START, at, cancel, kind, put},
};

/// A claim looks at every kind that waits, so no client may fill the store with them; what is known
/// goes on.
#[tokio::test]
async fn sf_01_the_kinds_that_may_wait_are_bounded() {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    let clock = Arc::new(ManualClock::at(START));
    let kinds = Kinds {
        configured: [kind(PUBLISH)].into(),
        accept_any: true,
        waiting_max: Some(3),
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(store.clone(), clock, kinds);
    let request = |name: &str| Request::Put(put("a:1", name, at(3600)));
    let all = ["K1", "K2", PUBLISH, "K3", "K4", "K1", "K5"].map(request);
    let answers = rescheduler.ask_all(all.to_vec(), "test").await.unwrap();
    let refused: Vec<usize> = (0..7).filter(|place| answers[*place].is_err()).collect();
    assert_eq!(refused, [4, 6], "{answers:?}");
    let error = answers[4].as_ref().unwrap_err().to_string();
    assert!(
        error.contains("`K4`") && error.contains("limits.kinds"),
        "{error}"
    );
    for (name, taken) in [("K3", true), ("K4", false), (PUBLISH, true)] {
        let answer = rescheduler.ask(request(name), "test").await;
        assert_eq!(answer.is_ok(), taken, "{name}");
    }
    let withdrawn = Request::Cancel(cancel("a:1", "K2"));
    rescheduler.ask(withdrawn, "test").await.unwrap();
    let answer = rescheduler.ask(request("K4"), "test").await;
    assert!(answer.is_ok(), "there is room again: {answer:?}");
}
