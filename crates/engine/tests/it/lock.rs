//! Locks in the store, on both databases.

use std::sync::Arc;

use almanack_core::{
    lock::SlotLock,
    store::{TaskFilter, TaskStore},
};
use almanack_engine::lock::{SLOT_LOCK, StoreLock};
use almanack_store::{postgres::PostgresStore, sqlite::SqliteStore};
use almanack_testkit::{
    clock::ManualClock,
    entropy::SeededEntropy,
    fixture::{START, claim_request},
    lock::{Place, key},
    postgres::Schema,
};

fn place(store: Arc<dyn TaskStore>) -> Place {
    let clock = Arc::new(ManualClock::at(START));
    // Shared, as the operating system's is: two nodes never draw the same mark.
    let entropy = Arc::new(SeededEntropy::new(7));
    Place::new(move || {
        Arc::new(StoreLock::new(
            store.clone(),
            clock.clone(),
            entropy.clone(),
        ))
    })
}

mod sqlite {
    use std::future::{Ready, ready};

    use super::*;

    fn fresh() -> Ready<Place> {
        ready(place(Arc::new(SqliteStore::in_memory().unwrap())))
    }

    almanack_testkit::lock_conformance!(fresh);
}

mod postgres {
    use super::*;

    async fn fresh() -> Place {
        let schema = Schema::create().await;
        let store = PostgresStore::connect(schema.url()).await.unwrap();
        place(Arc::new(store)).keeping(schema)
    }

    almanack_testkit::lock_conformance!(fresh);
}

#[tokio::test]
async fn a_marker_is_never_run() {
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    let clock = Arc::new(ManualClock::at(START));
    let lock = StoreLock::new(store.clone(), clock, Arc::new(SeededEntropy::new(1)));
    lock.acquire(&key(1, 60)).await.unwrap();
    let claimed = store.claim(claim_request(1, START, 10)).await.unwrap();
    assert_eq!(claimed.tasks, []);
    let filter = TaskFilter {
        limit: 10,
        ..TaskFilter::default()
    };
    let rows = store.list_tasks(&filter).await.unwrap().rows;
    assert_eq!(rows[0].identity.kind.as_str(), SLOT_LOCK);
}
