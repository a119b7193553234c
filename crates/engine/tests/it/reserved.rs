//! Kinds that belong to the engine, by every way in (SF-04).

use std::sync::Arc;

use almanack_core::{
    event::incoming::intake::{Answer, ChangeRequest, Intake as _},
    reschedule::{Cancel, Put, Request},
    reserved::KINDS,
    store::{OnceKey, TaskFilter, TaskStore as _},
    task::{Identity, Revision},
};
use almanack_engine::{
    intake::Events,
    reschedule::{Error, Kinds, Rescheduler},
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{PUBLISH, START, at, identity, put},
};

struct House {
    store: Arc<SqliteStore>,
    rescheduler: Arc<Rescheduler>,
}

impl House {
    /// Every kind is accepted, so that only what is reserved is refused.
    fn new() -> Self {
        let store = Arc::new(SqliteStore::in_memory().unwrap());
        let kinds = Kinds {
            accept_any: true,
            ..Kinds::default()
        };
        let clock = Arc::new(ManualClock::at(START));
        let rescheduler = Arc::new(Rescheduler::new(store.clone(), clock, kinds));
        Self { store, rescheduler }
    }

    async fn rows(&self) -> usize {
        let all = TaskFilter {
            limit: 1_000,
            ..TaskFilter::default()
        };
        self.store.list_tasks(&all).await.unwrap().rows.len()
    }
}

/// What an event can ask for, and what a call can.
fn requests() -> Vec<Request> {
    let names = KINDS.into_iter().flat_map(|kind| {
        ["junk", "schedule:nightly@2026-01-05T08:00:10Z", "source:1"]
            .map(|name| identity(name, kind))
    });
    let every_verb = |identity: Identity| {
        let put = Put::at(identity.clone(), at(60));
        let revision = Some(Revision(9));
        [
            Request::Put(put.clone()),
            Request::Put(Put { revision, ..put }),
            Request::Cancel(Cancel {
                identity: identity.clone(),
                revision,
            }),
            Request::Cancel(Cancel {
                identity,
                revision: None,
            }),
        ]
    };
    names.flat_map(every_verb).collect()
}

fn is_reserved<T>(asked: &Result<T, Error>) -> bool {
    matches!(asked, Err(Error::Reserved { .. }))
}

#[tokio::test]
async fn sf_04_reserved_kinds_are_refused_for_every_verb_alone_and_among_others() {
    let house = House::new();
    for request in requests() {
        let alone = house.rescheduler.ask(request.clone(), "ada").await;
        assert!(is_reserved(&alone), "{request:?}: {alone:?}");
        let key = OnceKey {
            key: "ada:1".to_owned(),
            digest: "1".to_owned(),
        };
        let once = house
            .rescheduler
            .ask_once(key, vec![request.clone()], "ada");
        let once = once.await;
        assert!(is_reserved(&once), "{request:?}: {once:?}");
    }
    assert_eq!(house.rows().await, 0);
    // So many that a call is first decided as if nothing were there.
    let ours = requests();
    let others = (0..100).map(|n| Request::Put(put(&format!("article:{n}"), PUBLISH, at(60))));
    let all: Vec<Request> = ours.iter().cloned().chain(others).collect();
    let answers = house.rescheduler.ask_all(all, "ada").await.unwrap();
    let refused = answers.iter().filter(|answer| is_reserved(answer)).count();
    assert_eq!(refused, ours.len());
    assert_eq!(house.rows().await, 100, "the others are taken");
}

#[tokio::test]
async fn sf_04_a_queue_has_no_say_about_reserved_kinds() {
    let house = House::new();
    let events = Events(house.rescheduler.clone());
    let request = |request| ChangeRequest {
        id: "1".to_owned(),
        origin: "event:/articles".to_owned(),
        request,
    };
    let answers = events
        .take(requests().into_iter().map(request).collect())
        .await;
    for answer in answers {
        assert!(matches!(answer, Answer::Refused { .. }), "{answer:?}");
    }
    assert_eq!(house.rows().await, 0, "no tombstone is left");
}
