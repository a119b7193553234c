//! PostgreSQL: a schema of its own per rule, in the cluster that `dev/check` starts.

use almanack_core::store::{Applied, SourceStore};
use almanack_store::postgres::PostgresStore;
use almanack_testkit::{
    conformance::Fresh,
    fixture::{START, new_schedule, schedule, source},
    postgres::Schema,
};

async fn fresh() -> Fresh {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    Fresh::new(store).keeping(schema)
}

almanack_testkit::conformance!(fresh);

/// PostgreSQL keeps no null byte in a text. Asking again would not help, and a planner must be able to
/// tell that from a database that is away: it then looks for the one schedule at fault (DP-18).
#[tokio::test]
async fn dp_18_a_value_that_is_refused_is_not_transient() {
    let fresh = fresh().await;
    let mut bad = schedule("bad", START);
    bad.definition = "\0".to_owned();
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
