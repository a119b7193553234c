//! Upgrades of large tables (SF-08), in steps of their own.

use almanack_testkit::postgres::Schema;
use tokio_postgres::Client;

use super::{connect_alone, upgrade};
use crate::migrate::Migration;

const fn step(number: i64, name: &'static str, postgres: &'static str) -> Migration {
    Migration {
        number,
        name,
        sqlite: "",
        postgres,
    }
}

const TABLE: Migration = step(
    1,
    "0001_table",
    "-- expand\ncreate table big (id bigint, filler text)",
);
const INDEX: Migration = step(
    2,
    "0002_index",
    "-- expand\n-- concurrently\ncreate index big_id on big (id);\n",
);
/// More than an index is built on at once.
const FILL: &str = "insert into big select n, repeat('x', 1000) from generate_series(1, 10000) n";

async fn open(schema: &Schema) -> Client {
    connect_alone(schema.url()).await.unwrap()
}

async fn number(client: &Client, text: &str) -> i64 {
    client.query_one(text, &[]).await.unwrap().get(0)
}

async fn steps_taken(client: &Client) -> i64 {
    number(client, "select count(*) from migration").await
}

async fn is_valid(client: &Client) -> bool {
    let text = "select indisvalid from pg_index where indexrelid = 'big_id'::regclass";
    client.query_one(text, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn sf_08_a_step_may_take_longer_than_any_statement() {
    static STEPS: [Migration; 1] = [step(
        1,
        "0001_slow",
        "-- expand\ncreate table slow as select 1 as one from pg_sleep(0.4)",
    )];
    let schema = Schema::create().await;
    let url = format!("{}%20-c%20statement_timeout%3D100", schema.url());
    let mut client = connect_alone(&url).await.unwrap();
    let slow = client.batch_execute("select pg_sleep(0.4)").await;
    assert!(slow.is_err(), "the session itself has the timeout");
    upgrade(&mut client, &STEPS).await.unwrap();
    assert_eq!(steps_taken(&client).await, 1);
}

/// The index waits for an old snapshot, so its build lasts for as long as this test wants.
/// Meanwhile the table is written to, and a second node that starts neither fails nor disturbs the
/// first.
#[tokio::test]
async fn sf_08_others_write_while_an_index_on_a_large_table_is_built() {
    static STEPS: [Migration; 2] = [TABLE, INDEX];
    const BUILDING: &str = "select count(*) from pg_stat_progress_create_index p, pg_sleep(0.02) \
         where p.relid = 'big'::regclass and p.phase like 'waiting%'";
    let schema = Schema::create().await;
    let (mut first, mut second) = (open(&schema).await, open(&schema).await);
    let (reader, writer) = (open(&schema).await, open(&schema).await);
    upgrade(&mut first, &STEPS[..1]).await.unwrap();
    writer.batch_execute(FILL).await.unwrap();
    let snapshot = "begin isolation level repeatable read; select count(*) from big";
    reader.batch_execute(snapshot).await.unwrap();
    let both = tokio::spawn(async move {
        tokio::join!(upgrade(&mut first, &STEPS), upgrade(&mut second, &STEPS))
    });
    while number(&writer, BUILDING).await == 0 {
        assert!(!both.is_finished(), "it did not wait");
    }
    let write = "set statement_timeout = 2000; insert into big values (0, '')";
    writer.batch_execute(write).await.unwrap();
    assert_eq!(number(&writer, BUILDING).await, 1, "still being built");
    assert_eq!(steps_taken(&writer).await, 1);
    reader.batch_execute("commit").await.unwrap();
    let (first, second) = both.await.unwrap();
    first.unwrap();
    second.unwrap();
    assert!(is_valid(&writer).await);
    assert_eq!(steps_taken(&writer).await, 2);
}

#[tokio::test]
async fn sf_08_an_index_whose_build_was_interrupted_is_built_again() {
    static STEPS: [Migration; 2] = [TABLE, INDEX];
    let schema = Schema::create().await;
    let mut client = open(&schema).await;
    upgrade(&mut client, &STEPS[..1]).await.unwrap();
    let doubles = "insert into big values (1, ''), (1, '')";
    client.batch_execute(doubles).await.unwrap();
    let fails = "create unique index concurrently big_id on big (id)";
    assert!(client.batch_execute(fails).await.is_err());
    assert!(!is_valid(&client).await, "what an interrupted build leaves");
    upgrade(&mut client, &STEPS).await.unwrap();
    assert!(is_valid(&client).await);
}

/// A step needs a table for itself that a client reads for long. Statements after it must not
/// have to wait for that reader as well.
#[tokio::test]
async fn sf_08_a_step_that_waits_for_a_table_does_not_block_others() {
    static STEPS: [Migration; 2] = [
        TABLE,
        step(
            2,
            "0002_column",
            "-- expand\nalter table big add column more bigint",
        ),
    ];
    const WAITING: &str = "select count(*) from pg_locks l, pg_sleep(0.02) \
         where l.relation = 'big'::regclass and not l.granted";
    let schema = Schema::create().await;
    let (mut upgrading, reader, other) = (
        open(&schema).await,
        open(&schema).await,
        open(&schema).await,
    );
    upgrade(&mut upgrading, &STEPS[..1]).await.unwrap();
    let read = "begin; select count(*) from big";
    reader.batch_execute(read).await.unwrap();
    let upgrade = tokio::spawn(async move { upgrade(&mut upgrading, &STEPS).await });
    while number(&other, WAITING).await == 0 {
        assert!(!upgrade.is_finished(), "it did not wait");
    }
    let look = "set statement_timeout = 10000; select count(*) from big";
    other.batch_execute(look).await.unwrap();
    assert!(!upgrade.is_finished());
    reader.batch_execute("commit").await.unwrap();
    upgrade.await.unwrap().unwrap();
    assert_eq!(steps_taken(&other).await, 2);
}
