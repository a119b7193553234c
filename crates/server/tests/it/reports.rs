//! Reports about firings: by signature alone, in time, once (DP-19).

use almanack_core::{
    follow::{Followed, Work, signed_id, to_url},
    plan::DISPATCH,
    reschedule::{Put, Request, decide},
    store::{Applied, FiringStore as _, LogPage, RunId, RunLogStore as _, TaskStore as _},
    task::{Identity, Status, TaskId, Term},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::harness::{World, report_key};

/// A firing that waits for a report.
pub(crate) async fn awaiting(world: &World, subject: &str) -> TaskId {
    let now = almanack_core::time::Clock::now(&*world.clock);
    let identity = Identity::parse(subject, DISPATCH).unwrap();
    let put = Request::Put(Put::at(identity, now + SignedDuration::from_secs(60)));
    let change = decide(None, &put, "schedule import", now).unwrap();
    let applied = world.store.apply(vec![change]).await.unwrap();
    let [Applied::Done { inserted: Some(id) }] = applied[..] else {
        panic!("{applied:?}");
    };
    let work = Work::Report { within_s: 3_600 };
    let followed = Followed::new(id, work, now, SignedDuration::from_hours(24));
    world.store.save_followed(&followed).await.unwrap();
    id
}

fn address(id: TaskId, signed_for: TaskId, stage: &str) -> String {
    let signature = report_key().sign(&signed_id(signed_for), Timestamp::UNIX_EPOCH, b"");
    let signature = to_url(&signature);
    format!("/api/v1/firings/{id}/{stage}?signature={signature}")
}

#[tokio::test]
async fn dp_19_a_report_needs_the_signature_of_its_firing_and_nothing_else() {
    let world = World::open();
    let (one, other) = (awaiting(&world, "a").await, awaiting(&world, "b").await);
    let finish = r#"{"outcome":"done"}"#;
    for forged in [
        address(one, other, "finish"),
        format!("/api/v1/firings/{one}/finish?signature=AAAA"),
        format!("/api/v1/firings/{one}/finish?signature=%F0%9F"),
        format!("/api/v1/firings/{one}/finish"),
        address(TaskId(999), other, "finish"),
    ] {
        let refused = world.post(&forged, finish).await;
        assert!(matches!(refused.status, 400 | 401), "{forged}");
    }
    let before = world.store.load_followed(&[one]).await.unwrap();
    assert_eq!(before[0].ending, None, "nothing has changed");
    let unknown = TaskId(999);
    let refused = world.post(&address(unknown, unknown, "start"), "").await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "no_such_firing")
    );
    let taken = world.post(&address(one, one, "start"), "").await;
    assert_eq!(taken.status, 200, "{}", taken.body);
}

#[tokio::test]
async fn dp_19_a_bad_report_changes_nothing_and_a_good_one_counts_once() {
    let world = World::open();
    let id = awaiting(&world, "a").await;
    for (stage, body, code) in [
        ("finish", "{}", "invalid_value"),
        ("finish", r#"{"outcome":"well"}"#, "invalid_body"),
        ("finish", r#"{"outcome":"done","x":1}"#, "invalid_body"),
        ("progress", r#"{"outcome":"done"}"#, "invalid_value"),
        ("progress", "not json", "invalid_body"),
    ] {
        let refused = world.post(&address(id, id, stage), body).await;
        assert_eq!(refused.code(), code, "{stage} {body}: {}", refused.body);
    }
    let long = json!({ "text": "x".repeat(5_000) }).to_string();
    let taken = world.post(&address(id, id, "progress"), &long).await;
    assert_eq!(taken.status, 200, "{}", taken.body);
    let note = world.store.load_followed(&[id]).await.unwrap()[0]
        .note
        .clone();
    assert!(note.is_some_and(|note| note.len() <= 500), "bounded");
    let finish = r#"{"outcome":"failed","text":"no paper"}"#;
    let first = world.post(&address(id, id, "finish"), finish).await;
    assert_eq!(first.json()["next_report_until"], json!(null));
    for stage in ["finish", "start", "progress"] {
        let body = if stage == "finish" { finish } else { "" };
        let again = world.post(&address(id, id, stage), body).await;
        assert_eq!((again.status, again.code().as_str()), (409, "firing_ended"));
        assert!(again.body.contains("no paper"), "{}", again.body);
    }
    let task = world.store.load_task(id).await.unwrap().unwrap();
    let now = almanack_core::time::Clock::now(&*world.clock);
    assert_eq!(
        (task.status, task.due_at),
        (Status::Init, Some(now)),
        "woken"
    );
}

#[tokio::test]
async fn dp_20_what_is_reported_is_in_the_log_without_secrets() {
    let world = World::open();
    let id = awaiting(&world, "a").await;
    for (stage, body) in [
        ("start", r#"{"text":"page 1 of 2"}"#),
        ("progress", r#"{"text":"signed in with correct horse"}"#),
        ("finish", r#"{"outcome":"done","text":"two pages"}"#),
        ("finish", r#"{"outcome":"done","text":"too late"}"#),
    ] {
        world.post(&address(id, id, stage), body).await;
    }
    let page = LogPage {
        run: RunId {
            task_id: id,
            term: Term(1),
        },
        from: 0,
        pieces: 10,
    };
    let pieces = world.store.load_run_log(page).await.unwrap();
    let text: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.text).collect();
    let expected = "page 1 of 2\nsigned in with ***\ntwo pages\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}
