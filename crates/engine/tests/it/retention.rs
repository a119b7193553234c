//! How far a node's walk over its tasks goes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::{
    reschedule::Request,
    store::{Pruned, Result, Store},
    task::TaskId,
    time::Clock as _,
};
use almanack_engine::{
    node,
    reschedule::{Kinds, Rescheduler},
    retention::STEP,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    fixture::{PUBLISH, put},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{
    node::{ports, settings},
    virtual_time::{VirtualTime, pause},
};

/// Remembers where each step began.
#[derive(Clone, Default)]
struct Footprints(Arc<Mutex<Vec<i64>>>);

impl Footprints {
    /// The walks so far. The last one may not have ended.
    fn walks(&self) -> Vec<Vec<i64>> {
        let steps = self.0.lock().unwrap();
        let mut walks: Vec<Vec<i64>> = Vec::new();
        for step in steps.iter().copied() {
            match walks.last_mut() {
                Some(walk) if step > 0 => walk.push(step),
                _ => walks.push(vec![step]),
            }
        }
        walks
    }
}

#[async_trait]
impl Layer for Footprints {
    async fn prune(
        &self,
        below: &dyn Store,
        before: Timestamp,
        after: TaskId,
        limit: usize,
    ) -> Result<Pruned> {
        self.0.lock().unwrap().push(after.0);
        below.prune(before, after, limit).await
    }
}

/// Writes so many steps' worth of tasks that wait for next month.
async fn fill(store: &Arc<dyn Store>, time: VirtualTime, name: &str, steps: usize) {
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(store.clone(), Arc::new(time), kinds);
    let due_at = time.now() + SignedDuration::from_hours(30 * 24);
    for step in 0..steps {
        let requests = (0..STEP).map(|number| {
            let subject = format!("{name}:{step}-{number}");
            Request::Put(put(&subject, PUBLISH, due_at))
        });
        let taken = rescheduler.ask_all(requests.collect(), "test").await;
        assert_eq!(taken.unwrap().len(), STEP);
    }
}

/// The node forgets after an hour. What lies behind the first young rows is not read, however much
/// it is; once they have grown old, it is.
#[tokio::test(start_paused = true)]
async fn a_walk_ends_where_rows_are_too_young_to_be_forgotten() {
    let (time, footprints) = (VirtualTime::start(), Footprints::default());
    let store = Arc::new(SqliteStore::in_memory().unwrap());
    let store = Layered::over(store, footprints.clone());
    fill(&store, time, "old", 1).await;
    pause(Duration::from_hours(2)).await;
    fill(&store, time, "young", 3).await;
    let ports = ports(store, time, 1, Duration::ZERO);
    let node = node::admit(ports, settings(SignedDuration::ZERO)).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(node.unwrap().run(stop.clone()));
    pause(Duration::from_mins(30)).await;
    let rows = i64::try_from(STEP).unwrap();
    let walks = footprints.walks();
    assert!(walks.len() > 1, "{walks:?}");
    for walk in &walks[..walks.len() - 1] {
        assert_eq!(walk, &[0, rows], "of a table of four steps");
    }
    pause(Duration::from_hours(1)).await;
    let walks = footprints.walks();
    let last = &walks[walks.len() - 2];
    assert!(last.contains(&(3 * rows)), "now all of it: {walks:?}");
    stop.cancel();
    running.await.unwrap();
}
