//! PostgreSQL: a separate schema per rule, in the cluster that `dev/check` starts.

use almanack_core::{
    backoff::Backoff,
    finish::{Outcome, finish},
    reschedule::{Request, decide},
    store::{Applied, Error, Finished, Node, NodeStore as _, SourceStore, Store as _},
    task::ClaimedTask,
};
use almanack_store::{Location, postgres::PostgresStore};
use almanack_testkit::{
    fixture::{PUBLISH, START, claim_request, new_schedule, node, put, schedule, source},
    postgres::Schema,
};
use jiff::{SignedDuration, Timestamp};

use crate::conformance::{Fresh, entry_search::check_wordless};

async fn fresh() -> Fresh {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    Fresh::new(store).keeping(schema)
}

crate::conformance!(fresh);

/// PostgreSQL keeps no null byte in a text. Asking again would not help, and a planner must be able
/// to distinguish that from a database that is away: it then looks for the one schedule at fault
/// (DP-18).
#[tokio::test]
async fn dp_18_a_value_that_is_refused_is_not_transient() {
    let fresh = fresh().await;
    let mut bad = schedule("bad", START);
    bad.definition = "\0".to_owned().into();
    let writes = vec![
        new_schedule(schedule("good", START)),
        new_schedule(bad.clone()),
    ];
    let refused = fresh.store().write_schedules(writes).await.unwrap_err();
    assert!(!refused.is_transient(), "{}", refused.chain());
    let due = fresh.store().load_due_schedules(START, 9).await.unwrap();
    assert_eq!(due.schedules, [], "the good one was in the same commit");
    let alone = vec![new_schedule(schedule("good", START))];
    assert_eq!(
        fresh.store().write_schedules(alone).await.unwrap(),
        [Applied::Done { inserted: None }]
    );
}

/// The server's clock is in the year 2031, and so does the last beat of a node: by this machine's
/// clock it would be years ahead or, one day, long dead. The register comes with the server's time.
#[tokio::test]
async fn the_register_comes_with_the_time_of_the_database() {
    let schema = Schema::create().await;
    // Found before the real one, because the search path names the schema first.
    schema
        .run(
            "create function clock_timestamp() returns timestamptz language sql as \
             $$ select timestamptz '2031-02-03 04:05:06.789+00' $$",
        )
        .await;
    let url = format!("{}%2Cpg_catalog", schema.url());
    let now: Timestamp = "2031-02-03T04:05:06.789Z".parse().unwrap();
    let location = Location::Postgres(url.clone());
    let empty = almanack_store::registered(&location).await.unwrap();
    assert_eq!((empty.nodes, empty.now), (Vec::new(), Some(now)));
    let store = PostgresStore::connect(&url).await.unwrap();
    assert_eq!(store.database_time().await.unwrap(), Some(now));
    let beating = Node {
        seen_at: now - SignedDuration::from_secs(5),
        ..node("node-a", "session-a")
    };
    store.save_node(&beating).await.unwrap();
    let register = almanack_store::registered(&location).await.unwrap();
    assert_eq!((register.nodes, register.now), (vec![beating], Some(now)));
}

/// What a source remembers for itself is not worth losing the source over.
#[tokio::test]
async fn ss_10_a_damaged_memory_leaves_the_source_readable() {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    store.add_sources(vec![source("a")]).await.unwrap();
    schema
        .run(
            "update source set shown = '\\x0000000000000001ff', recent = '\\x010203', \
             learned = '\\xff', hints = '{'",
        )
        .await;
    super::check_damaged(&store).await;
}

#[tokio::test]
async fn ss_24_entries_of_earlier_versions_are_found_once_they_have_words() {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    check_wordless(&store, async |text| schema.run(text).await).await;
}

/// The engine then looks for the one ending at fault instead of trying all of them again for ever.
#[tokio::test]
async fn sf_06_an_ending_that_is_refused_is_not_transient_and_ends_nothing() {
    let fresh = fresh().await;
    let store = fresh.store();
    let requests = ["article:1", "article:2"].map(|subject| put(subject, PUBLISH, START));
    let mut changes = Vec::new();
    for request in requests {
        let request = Request::Put(request);
        changes.push(decide(None, &request, "test", START).unwrap());
    }
    store.apply(changes).await.unwrap();
    let claimed = store.claim(claim_request(1, START, 9)).await.unwrap();
    let backoff = Backoff::default();
    let done = Outcome::Done { detail: None };
    let end = |task: &ClaimedTask| finish(task, &done, &backoff, START, 0);
    let mut finishes: Vec<_> = claimed.tasks.iter().map(end).collect();
    finishes[1].detail = Some("\0".to_owned());
    let refused = store.finish(finishes.clone()).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused:?}");
    finishes[1] = finishes[1].with_less()[0].clone();
    assert_eq!(
        store.finish(finishes).await.unwrap(),
        [Finished::Applied; 2]
    );
}
