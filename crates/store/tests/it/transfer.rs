//! A store moved from one database into the other, and back.
//!
//! It is filled by rules of the conformance suite, which know the oddest values each column can
//! hold.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use almanack_core::{
    backoff::Backoff,
    edition::account::Change,
    finish::{Outcome, finish},
    source::{SourceId, search::Query},
    store::{
        ClaimId, EditionFilter, EditionWritten, EntryFilter, ScheduleFilter, SourceFilter, Store,
        TaskFilter, Written,
    },
};
use almanack_store::{
    Location,
    sqlite::{Durability, SqliteStore},
    transfer::{Error, Moved, Others, Step, transfer},
};
use almanack_testkit::{
    fixture::{
        at, claim_request,
        edition::{day, document, story},
        fires, identity, next_look, schedule_name,
    },
    postgres::Schema,
};
use rusqlite::Connection;
use tokio_postgres::NoTls;

use crate::conformance::{edition, entry, fleet, ledger, node, once, sign_in, token};

/// Where [`filled`] puts something.
const FILLED: &[&str] = &[
    "attempt",
    "batch",
    "claim",
    "decision",
    "delivery",
    "edition",
    "edition_document",
    "entry",
    "node",
    "once",
    "past_claim",
    "schedule",
    "schedule_edit",
    "session",
    "slot",
    "source",
    "source_fleet",
    "story",
    "task",
    "token",
    "user_account",
];

/// A store with something in every table.
pub(super) async fn filled(path: &Path) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path, Durability::Normal).unwrap());
    let own = || Arc::clone(&store);
    once::rs_14_receipts_are_given_back_as_they_were(own()).await;
    tried(&*store).await;
    ledger::edits_are_reported_oldest_first(own()).await;
    fired(&*store, "other").await;
    entry::ss_13_every_field_of_an_entry_survives(own()).await;
    learned(&*store).await;
    fleet::ss_15_checks_are_counted_from_price_to_price(own()).await;
    edition::every_field_of_an_account_survives(own()).await;
    printed(&*store).await;
    sign_in::removing_a_user_ends_their_sessions(own()).await;
    token::tokens_are_listed_by_name(own()).await;
    node::two_runs_of_one_name_are_two_nodes(own()).await;
    store
}

/// Claims whatever is due, has it fail, and claims it again: an attempt, a claim that is over and
/// one that holds.
async fn tried(store: &dyn Store) {
    store.release_claims(&[ClaimId(1)]).await.unwrap();
    let first = store.claim(claim_request(2, at(600), 10)).await.unwrap();
    assert!(!first.tasks.is_empty(), "something was due");
    let retry = Outcome::Retry {
        error: "a\tb\n\\N 满".to_owned(),
        retry_after: None,
    };
    let end = |task| finish(task, &retry, &Backoff::default(), at(601), 0);
    let ends = first.tasks.iter().map(end).collect();
    store.finish(ends).await.unwrap();
    store.release_claims(&[ClaimId(2)]).await.unwrap();
    let second = store.claim(claim_request(3, at(90_000), 10)).await.unwrap();
    assert!(!second.tasks.is_empty(), "it was due again");
}

/// A slot in the ledger, and its firing.
async fn fired(store: &dyn Store, name: &str) {
    let found = store.load_schedules(&[schedule_name(name)]).await.unwrap();
    let write = fires(found[0].as_ref().unwrap());
    store.write_schedules(vec![write]).await.unwrap();
}

/// Bytes that are no text, and a number that is not whole.
async fn learned(store: &dyn Store) {
    let found = store.load_sources(&[SourceId(1)]).await.unwrap();
    let look = next_look(found[0].as_ref().unwrap(), at(5), |source| {
        source.learned = vec![0, 9, 10, 92, 255];
        source.memory.shown = vec![1, u64::MAX];
    });
    assert_eq!(
        store.write_sources(vec![look]).await.unwrap(),
        [Written::Done]
    );
}

/// An edition with a document.
async fn printed(store: &dyn Store) {
    let (opened, _) = store.open_edition(day(9).into(), at(0)).await.unwrap();
    let mut change = Change::of(opened);
    change.document = Some(document(day(9), 1, &[story(1)]));
    let written = store.write_edition(change).await.unwrap();
    assert_eq!(written, EditionWritten::Done);
}

/// Everything that the ports show of a store.
async fn contents(store: &dyn Store) -> String {
    let tasks = TaskFilter {
        limit: 1_000,
        ..TaskFilter::default()
    };
    let schedules = ScheduleFilter {
        limit: 1_000,
        ..ScheduleFilter::default()
    };
    let sources = SourceFilter {
        limit: 1_000,
        ..SourceFilter::default()
    };
    let editions = EditionFilter {
        limit: 1_000,
        ..EditionFilter::default()
    };
    let schedules = store.list_schedules(&schedules).await.unwrap().rows;
    let mut edits = Vec::new();
    for schedule in &schedules {
        edits.push(store.load_edits(schedule.id, 100).await.unwrap());
    }
    format!(
        "{:#?}\n{schedules:#?}\n{edits:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}",
        store.list_tasks(&tasks).await.unwrap(),
        store.list_sources(&sources).await.unwrap(),
        store.list_editions(&editions).await.unwrap(),
        (
            store.load_account(day(0).into()).await.unwrap(),
            store.load_document(day(9).into(), None).await.unwrap(),
        ),
        store.load_expired(at(100_000), 100).await.unwrap(),
        store.load_users().await.unwrap(),
        store.load_tokens().await.unwrap(),
        store.load_fleet().await.unwrap(),
    )
}

/// How many entries a search finds: what it looks in is moved by no one, and is there all the same
/// (SS-24).
async fn found(store: &dyn Store) -> usize {
    let filter = EntryFilter {
        search: Query::parse("Ünïcode O'Neil"),
        limit: 10,
        ..EntryFilter::default()
    };
    store.list_entries(&filter).await.unwrap().rows.len()
}

async fn moved(from: &Location, to: &Location) -> Result<Vec<Moved>, Error> {
    transfer(from, to, Others::Wait, &mut |_| ()).await
}

async fn open(location: &Location) -> Arc<dyn Store> {
    almanack_store::open(location, Durability::Normal)
        .await
        .unwrap()
}

/// There and back: everything is the same through the ports, no table is left out, and numbers go
/// on where they were.
#[tokio::test]
async fn a_store_is_moved_whole_and_back_again() {
    let folder = tempfile::tempdir().unwrap();
    let first = Location::Sqlite(folder.path().join("first.db"));
    let second = Location::Sqlite(folder.path().join("second.db"));
    let schema = Schema::create().await;
    let between = Location::Postgres(schema.url().to_owned());
    let store = filled(&folder.path().join("first.db")).await;
    let before = contents(&*store).await;
    assert_eq!(found(&*store).await, 2);
    drop(store);

    let mut steps = Vec::new();
    let there = transfer(&first, &between, Others::Wait, &mut |step| steps.push(step)).await;
    let there = there.unwrap();
    for name in FILLED {
        let table = there.iter().find(|table| table.table == *name);
        assert!(table.is_some_and(|it| it.sum.rows > 0), "{name}: {there:?}");
    }
    let rows: u64 = there.iter().map(|table| table.sum.rows).sum();
    assert_eq!(steps[0], Step::Total(rows));
    assert_eq!(contents(&*open(&between).await).await, before);
    assert_eq!(found(&*open(&between).await).await, 2);

    assert_eq!(moved(&between, &second).await.unwrap(), there);
    let store = open(&second).await;
    assert_eq!(contents(&*store).await, before);
    assert_eq!(found(&*store).await, 2);
    assert_eq!(
        highest(folder.path(), "first.db"),
        highest(folder.path(), "second.db")
    );
}

/// The numbers that were used last, by table. The newest row may be gone, and its number is still
/// no other's.
fn highest(folder: &Path, file: &str) -> Vec<(String, i64)> {
    let connection = Connection::open(folder.join(file)).unwrap();
    let mut statement = connection
        .prepare("select name, seq from sqlite_sequence order by name")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// A task that ran when its node was killed is still running, and its lease passes there.
#[tokio::test]
async fn a_lease_passes_on_the_other_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.db");
    let schema = Schema::create().await;
    let target = Location::Postgres(schema.url().to_owned());
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&path, Durability::Normal).unwrap());
    once::rs_14_changes_and_key_are_written_together(Arc::clone(&store)).await;
    let taken = store
        .claim(claim_request(1, at(9_000_000), 1))
        .await
        .unwrap();
    assert_eq!(taken.tasks.len(), 1);
    drop(store);
    moved(&Location::Sqlite(path), &target).await.unwrap();
    let store = open(&target).await;
    assert!(
        store
            .load_expired(at(9_000_000), 9)
            .await
            .unwrap()
            .is_empty()
    );
    let passed = store.load_expired(at(9_000_060), 9).await.unwrap();
    assert_eq!(passed.len(), 1);
    assert_eq!(passed[0].tasks, taken.tasks);
}

/// All files of a folder, byte for byte, but for the index of a log: it is memory that readers
/// share.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(path).unwrap())
    });
    files.filter(|(name, _)| !name.ends_with("-shm")).collect()
}

/// Everything in a schema: what there is, where it lies, and the rows as the server writes them
/// down.
async fn dumped(schema: &Schema) -> Vec<String> {
    const ALL: &str = "select format('%s %s %s %s ', c.relname, c.relkind, c.oid, c.relfilenode) || \
         case when c.relkind in ('r', 'p', 'v') then query_to_xml(format('select * from %I', c.relname), true, true, '')::text \
         else '' end from pg_class c where c.relnamespace = current_schema()::regnamespace order by 1";
    let (client, connection) = tokio_postgres::connect(schema.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let rows = client.query(ALL, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// What is refused as a target, and what the refusal names. Each is made in both databases by the
/// same statements.
const USED: &[(&str, &str)] = &[
    ("create table task (id bigint)", "table `task`"),
    (
        "create table migration (id bigint, run_on text); insert into migration values (1, 'today')",
        "table `migration`",
    ),
    (
        "create table orders (id bigint); insert into orders values (1)",
        "table `orders`",
    ),
    ("create view node as select 1 as one", "view `node`"),
];

#[tokio::test]
async fn a_foreign_database_is_refused_and_left_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.db");
    drop(SqliteStore::open(&path, Durability::Normal).unwrap());
    let source = Location::Sqlite(path);
    for (made, named) in USED {
        let schema = Schema::create().await;
        schema.run(made).await;
        let before = dumped(&schema).await;
        let target = Location::Postgres(schema.url().to_owned());
        let refused = moved(&source, &target).await.unwrap_err();
        assert!(matches!(refused, Error::Foreign { .. }), "{refused}");
        assert!(refused.to_string().contains(named), "{refused}");
        assert_eq!(dumped(&schema).await, before, "{made}");
    }
}

#[tokio::test]
async fn a_foreign_file_is_refused_and_left_unchanged() {
    let schema = Schema::create().await;
    let source = Location::Postgres(schema.url().to_owned());
    drop(open(&source).await);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("second.db");
    let target = Location::Sqlite(path.clone());
    for (made, named) in USED {
        let _ = fs::remove_file(&path);
        Connection::open(&path)
            .unwrap()
            .execute_batch(made)
            .unwrap();
        let before = files(folder.path());
        let refused = moved(&source, &target).await.unwrap_err();
        assert!(matches!(refused, Error::Foreign { .. }), "{refused}");
        assert!(refused.to_string().contains(named), "{refused}");
        assert!(files(folder.path()) == before, "{made}");
    }
    for (held, why) in [("no database at all, but a text", "not a database")] {
        fs::write(&path, held).unwrap();
        let refused = moved(&source, &target).await.unwrap_err();
        assert!(refused.to_string().contains(why), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), held.as_bytes());
    }
}

#[tokio::test]
async fn a_target_that_holds_something_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("first.db");
    filled(&source).await;
    let schema = Schema::create().await;
    let target = Location::Postgres(schema.url().to_owned());
    let there = open(&target).await;
    token::tokens_are_listed_by_name(Arc::clone(&there)).await;
    let before = dumped(&schema).await;
    let refused = moved(&Location::Sqlite(source), &target).await.unwrap_err();
    assert!(matches!(refused, Error::NotEmpty { .. }), "{refused}");
    assert!(refused.to_string().contains("`token`"), "{refused}");
    assert_eq!(dumped(&schema).await, before);
}

/// Also where the rows are in the log alone, as a killed node leaves them: the log is not copied
/// into the file.
#[tokio::test]
async fn a_file_that_holds_something_is_refused_and_left_unchanged() {
    let schema = Schema::create().await;
    let source = Location::Postgres(schema.url().to_owned());
    drop(open(&source).await);
    let (alive, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = filled(&alive.path().join("second.db")).await;
    for (name, bytes) in files(alive.path()) {
        fs::write(killed.path().join(name), bytes).unwrap();
    }
    let logged = files(killed.path())["second.db-wal"].len();
    assert!(logged > 0, "what is proven needs a log");
    for folder in [&alive, &killed] {
        let before = files(folder.path());
        let target = Location::Sqlite(folder.path().join("second.db"));
        let refused = moved(&source, &target).await.unwrap_err();
        assert!(matches!(refused, Error::NotEmpty { .. }), "{refused}");
        assert!(refused.to_string().contains("`token`"), "{refused}");
        assert!(files(folder.path()) == before, "{refused}");
    }
    drop(store);
}

/// Nothing to be moved is reported as such, and makes no store.
#[tokio::test]
async fn a_source_without_a_store_is_refused() {
    let schema = Schema::create().await;
    let folder = tempfile::tempdir().unwrap();
    let target = Location::Sqlite(folder.path().join("second.db"));
    let source = Location::Postgres(schema.url().to_owned());
    let refused = moved(&source, &target).await.unwrap_err();
    assert!(
        matches!(refused, Error::Behind { applied: 0, .. }),
        "{refused}"
    );
    assert!(files(folder.path()).is_empty());
}

/// The steps that an older version took.
macro_rules! older {
    ($($name:literal),* $(,)?) => {
        [$(include_str!(concat!("../../migrations/postgres/", $name, ".sql"))),*]
    };
}
const OLDER: [&str; 8] = older![
    "0001_task",
    "0002_node_token",
    "0003_schedule",
    "0004_source",
    "0005_editions",
    "0006_sign_in_overview",
    "0007_schedule_beside",
    "0008_lane",
];
const OLDER_LEDGER: &str = "create table migration (number bigint primary key, name text not null); \
     create table migration_mark (number bigint primary key, works_from bigint not null); \
     insert into migration values (1, '0001_task'), (2, '0002_node_token'), (3, '0003_schedule'), \
     (4, '0004_source'), (5, '0005_editions'), (6, '0006_sign_in_overview'), \
     (7, '0007_schedule_beside'), (8, '0008_lane')";

/// A database that was prepared, by this version or an earlier one, is as good as none.
#[tokio::test]
async fn an_empty_store_is_moved_into() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.db");
    filled(&path).await;
    let schema = Schema::create().await;
    let target = Location::Postgres(schema.url().to_owned());
    for step in OLDER {
        schema.run(step).await;
    }
    schema.run(OLDER_LEDGER).await;
    moved(&Location::Sqlite(path), &target).await.unwrap();
}

/// Whatever stops it, the target stays empty, and the next try finds it so.
#[tokio::test]
async fn a_move_that_fails_halfway_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.db");
    filled(&path).await;
    let spoilt = Connection::open(&path).unwrap();
    spoilt
        .execute("update user_account set scope = 'a' || char(0)", [])
        .unwrap();
    let schema = Schema::create().await;
    let target = Location::Postgres(schema.url().to_owned());
    let source = Location::Sqlite(path);
    let refused = moved(&source, &target).await.unwrap_err();
    let words = refused.to_string();
    assert!(
        words.contains("`user_account`") && words.contains("null byte"),
        "{words}"
    );
    let there = open(&target).await;
    let current = [identity("article:1", "ARTICLE_PUBLISH")];
    assert_eq!(there.load_current(&current).await.unwrap(), [None]);
    spoilt
        .execute("update user_account set scope = 'read'", [])
        .unwrap();
    drop(spoilt);
    moved(&source, &target).await.unwrap();
}

/// Who writes to the source waits until everything is over.
#[tokio::test]
async fn no_other_process_writes_to_the_source_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.db");
    filled(&path).await;
    let schema = Schema::create().await;
    let target = Location::Postgres(schema.url().to_owned());
    let source = Location::Sqlite(path.clone());
    for (others, writes) in [(Others::GoOn, true), (Others::Wait, false)] {
        let other = Connection::open(&path).unwrap();
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        let mut wrote = Vec::new();
        let mut try_to_write = |_| {
            let statement = "update node set skew_us = skew_us + 1";
            wrote.push(other.execute(statement, []).is_ok());
        };
        // The second time the target is filled; by then the source was already held.
        let _ = transfer(&source, &target, others, &mut try_to_write).await;
        assert!(
            wrote.iter().all(|it| *it == writes),
            "{others:?}: {wrote:?}"
        );
    }
}
