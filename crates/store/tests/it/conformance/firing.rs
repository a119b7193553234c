//! Firings whose work is followed (DP-19).

use std::sync::Arc;

use almanack_core::{
    follow::{Ended, Ending, Followed, FollowedChange, Work},
    plan::DISPATCH,
    reschedule::{Cancel, Put, Request, decide},
    store::{Applied, Store},
    task::{Identity, TaskId},
};
use jiff::{SignedDuration, Timestamp};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_600_000 + second).unwrap()
}

async fn firing(store: &Arc<dyn Store>, subject: &str) -> TaskId {
    let identity = Identity::parse(subject, DISPATCH).unwrap();
    let put = Request::Put(Put::at(identity, at(0)));
    let change = decide(None, &put, "test", at(0)).unwrap();
    match store.apply(vec![change]).await.unwrap()[..] {
        [Applied::Done { inserted: Some(id) }] => id,
        ref other => panic!("{other:?}"),
    }
}

async fn cancel(store: &Arc<dyn Store>, firing: TaskId) {
    let row = store.load_task(firing).await.unwrap().unwrap();
    let request = Request::Cancel(Cancel {
        identity: row.identity.clone(),
        revision: None,
    });
    let change = decide(Some(&row), &request, "test", at(1)).unwrap();
    store.apply(vec![change]).await.unwrap();
}

fn work(task_id: i64) -> Work {
    Work::Task {
        task_id: TaskId(task_id),
    }
}

fn followed(firing: TaskId, work: Work) -> Followed {
    Followed::new(firing, work, at(0), SignedDuration::from_hours(24))
}

fn ending(ended: Ended, second: i64) -> FollowedChange {
    FollowedChange {
        ending: Some(Ending::new(ended, "so it ended", at(second))),
        ..FollowedChange::default()
    }
}

async fn load(store: &Arc<dyn Store>, firing: TaskId) -> Option<Followed> {
    store.load_followed(&[firing]).await.unwrap().pop()
}

/// What was written down is read again; what was written first stays.
pub(crate) async fn dp_19_what_was_handed_over_is_written_down_once(store: Arc<dyn Store>) {
    let (one, other) = (firing(&store, "a").await, firing(&store, "b").await);
    assert_eq!(store.load_followed(&[]).await.unwrap(), []);
    assert_eq!(load(&store, one).await, None);
    let first = followed(one, work(7));
    store.save_followed(&first).await.unwrap();
    store.save_followed(&followed(one, work(8))).await.unwrap();
    let run = Work::Run {
        run: Some(9_000_000_001),
        since: at(3),
    };
    let second = followed(other, run);
    store.save_followed(&second).await.unwrap();
    assert_eq!(load(&store, one).await, Some(first.clone()));
    let mut both = store.load_followed(&[other, one, TaskId(0)]).await.unwrap();
    both.sort_by_key(|it| it.task_id);
    assert_eq!(both, [first, second]);
}

/// The first ending stays, and nothing changes after it.
pub(crate) async fn dp_19_of_several_endings_the_first_stays(store: Arc<dyn Store>) {
    let id = firing(&store, "a").await;
    store.save_followed(&followed(id, work(7))).await.unwrap();
    let began = FollowedChange {
        work: Some(work(8)),
        started_at: Some(at(5)),
        heard_at: Some(at(6)),
        note: Some("half of it".to_owned()),
        ..FollowedChange::default()
    };
    assert!(store.change_followed(id, &began).await.unwrap());
    let later = FollowedChange {
        started_at: Some(at(50)),
        ..FollowedChange::default()
    };
    assert!(store.change_followed(id, &later).await.unwrap());
    let (done, failed) = (ending(Ended::Done, 10), ending(Ended::Failed, 11));
    let both = tokio::join!(
        store.change_followed(id, &done),
        store.change_followed(id, &failed)
    );
    let both = (both.0.unwrap(), both.1.unwrap());
    assert!(both.0 != both.1, "one of two is written: {both:?}");
    let expected = if both.0 { done } else { failed };
    assert!(!store.change_followed(id, &began).await.unwrap());
    let after = load(&store, id).await.unwrap();
    assert_eq!(after.ending, expected.ending);
    assert_eq!(after.started_at, Some(at(5)), "what began stays begun");
    assert_eq!((after.work, after.heard_at), (work(8), Some(at(6))));
    assert_eq!(after.note.as_deref(), Some("half of it"));
    let nothing = store.change_followed(TaskId(0), &began).await.unwrap();
    assert!(!nothing, "what is not there does not change");
}

/// A report counts only while its firing is live; what was cancelled is found to be cleared up.
pub(crate) async fn dp_19_a_cancelled_firing_takes_no_report_and_is_found(store: Arc<dyn Store>) {
    let (live, gone) = (firing(&store, "a").await, firing(&store, "b").await);
    for id in [live, gone] {
        let report = Work::Report { within_s: 60 };
        store.save_followed(&followed(id, report)).await.unwrap();
    }
    assert_eq!(store.load_abandoned(10).await.unwrap(), []);
    cancel(&store, gone).await;
    let report = FollowedChange {
        only_live: true,
        ..ending(Ended::Done, 10)
    };
    assert!(!store.change_followed(gone, &report).await.unwrap());
    assert_eq!(load(&store, gone).await.unwrap().ending, None);
    let abandoned = store.load_abandoned(10).await.unwrap();
    assert_eq!(abandoned.len(), 1);
    assert_eq!(abandoned[0].task_id, gone);
    assert!(store.change_followed(live, &report).await.unwrap());
    let cleared = ending(Ended::Cancelled, 11);
    assert!(store.change_followed(gone, &cleared).await.unwrap());
    assert_eq!(store.load_abandoned(10).await.unwrap(), []);
}

/// Only what ended before an instant is deleted, the oldest first.
pub(crate) async fn dp_19_what_ended_long_ago_is_deleted(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for (subject, ended) in [
        ("a", Some(10)),
        ("b", Some(20)),
        ("c", Some(90)),
        ("d", None),
    ] {
        let id = firing(&store, subject).await;
        store.save_followed(&followed(id, work(7))).await.unwrap();
        if let Some(second) = ended {
            let change = ending(Ended::Done, second);
            assert!(store.change_followed(id, &change).await.unwrap());
        }
        ids.push(id);
    }
    assert_eq!(store.prune_followed(at(50), 1).await.unwrap(), 1);
    assert_eq!(load(&store, ids[0]).await, None, "the oldest first");
    assert_eq!(store.prune_followed(at(50), 10).await.unwrap(), 1);
    let mut left = store.load_followed(&ids).await.unwrap();
    left.sort_by_key(|it| it.task_id);
    let left: Vec<TaskId> = left.iter().map(|it| it.task_id).collect();
    assert_eq!(left, ids[2..]);
}
