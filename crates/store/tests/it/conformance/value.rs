//! Values: what goes in comes out.

use std::sync::Arc;

use almanack_core::{
    reschedule::{Put, Request, decide},
    store::{Applied, Store},
    task::{KIND_BYTES_MAX, MAX_RETRY_MAX, Revision, SUBJECT_BYTES_MAX, Task},
    time::LATEST,
};
use almanack_testkit::fixture::{PUBLISH, START, at, payload, put};
use jiff::{SignedDuration, Timestamp};

use super::{ORIGIN, ask, claim_one, current, done, end, plant, task};

/// The row after a round trip; a claim's view of it must agree.
async fn through(store: &dyn Store, intent: Put, now: Timestamp) -> Task {
    let identity = intent.identity.clone();
    plant(store, intent, now).await;
    current(store, &identity).await.expect("just planted")
}

/// Subjects, payloads, origins, answers.
pub(crate) async fn text_of_any_script_survives(store: Arc<dyn Store>) {
    let text = r#"{"标题": "你好, \u0000 🦀", "rtl": "שלום", "quote": "'; drop table task; --", "b": "\\"}"#;
    let intent = Put {
        payload: Some(payload(text)),
        callback_url: Some("http://例え.example/?q='\"%00".to_owned()),
        ..put("文章:四十二/é🦀'\"\\%_", PUBLISH, START)
    };
    let request = Request::Put(intent.clone());
    let change = decide(None, &request, "作者 'n\" \\ 🦀", START).unwrap();
    assert_ne!(store.apply(vec![change]).await.unwrap(), [Applied::Lost]);
    let row = current(&*store, &intent.identity).await.unwrap();
    assert_eq!(
        (&row.identity, row.payload.as_str()),
        (&intent.identity, text)
    );
    assert_eq!(
        (&row.callback_url, row.origin.as_str()),
        (&intent.callback_url, "作者 'n\" \\ 🦀")
    );
    let attempt = claim_one(&*store, 1, START).await;
    assert_eq!(
        (&attempt.identity, &attempt.payload),
        (&row.identity, &row.payload)
    );
    let answer = almanack_core::finish::Outcome::Done {
        detail: Some("好的 🦀\n'".to_owned()),
    };
    end(&*store, &attempt, &answer, START).await;
    assert_eq!(
        task(&*store, row.id).await.detail.as_deref(),
        Some("好的 🦀\n'")
    );
}

/// Everything at its limit, in one row.
pub(crate) async fn the_largest_values_survive(store: Arc<dyn Store>) {
    let subject = "é".repeat(SUBJECT_BYTES_MAX / 2);
    let kind_name = "K".repeat(KIND_BYTES_MAX);
    let text = format!("\"{}\"", "x".repeat(64 * 1024 - 2));
    let intent = Put {
        payload: Some(payload(&text)),
        max_retry: Some(MAX_RETRY_MAX),
        revision: Some(Revision(i64::MAX)),
        ..put(&subject, &kind_name, START)
    };
    let row = through(&*store, intent.clone(), START).await;
    assert_eq!(
        (row.identity, row.payload),
        (intent.identity, intent.payload.unwrap())
    );
    assert_eq!(
        (row.max_retry, row.revision),
        (MAX_RETRY_MAX, Revision(i64::MAX))
    );
}

/// Cut once at the border, never again.
pub(crate) async fn instants_survive_to_the_microsecond(store: Arc<dyn Store>) {
    let odd = |us: i64| START + SignedDuration::from_micros(us);
    let row = through(&*store, put("article:1", PUBLISH, odd(123_457)), odd(1)).await;
    assert_eq!(
        (row.execute_at, row.due_at),
        (odd(123_457), Some(odd(123_457)))
    );
    assert_eq!(
        (row.created_at, row.created_execute_at),
        (odd(1), odd(123_457))
    );
    let attempt = claim_one(&*store, 1, odd(123_459)).await;
    assert_eq!(
        (attempt.execute_at, attempt.started_at),
        (odd(123_457), odd(123_459))
    );
    end(&*store, &attempt, &done(), odd(223_461)).await;
    assert_eq!(task(&*store, row.id).await.finished_at, Some(odd(223_461)));
}

/// A task for the year 9999 waits among the others and can be moved.
pub(crate) async fn the_far_ends_of_time_survive(store: Arc<dyn Store>) {
    let last = LATEST;
    let row = through(&*store, put("article:1", PUBLISH, last), START).await;
    assert_eq!((row.execute_at, row.due_at), (last, Some(last)));
    let early: Timestamp = "1970-01-01T00:00:00Z".parse().unwrap();
    let row = through(&*store, put("article:2", PUBLISH, early), early).await;
    assert_eq!((row.due_at, row.created_at), (Some(early), early));
    let claim = store
        .claim(almanack_testkit::fixture::claim_request(1, START, 10))
        .await
        .unwrap();
    assert_eq!((claim.tasks.len(), claim.next_due_at), (1, Some(last)));
    let moved = ask(
        &*store,
        &Request::Put(put("article:1", PUBLISH, at(60))),
        START,
    )
    .await;
    assert_eq!(
        (moved.old_execute_at, moved.execute_at),
        (Some(last), at(60))
    );
    assert_eq!(ORIGIN, task(&*store, moved.task_id).await.origin);
}

/// Cheap, and without a trace.
pub(crate) async fn the_store_answers_a_ping(store: Arc<dyn Store>) {
    store.ping().await.expect("ping");
    store.database_time().await.expect("database_time");
    assert!(store.safety_poll() > SignedDuration::ZERO);
}
