//! SQLite: on a file with its own threads, as in production, and in memory on the caller's
//! thread, as in the simulator.

use almanack_core::store::SourceStore;
use almanack_store::sqlite::{Durability, SqliteStore};
use almanack_testkit::fixture::source;
use rusqlite::Connection;

use crate::conformance::entry_search::check_wordless;

const DAMAGE_SQLITE: &str = "update source set shown = x'0000000000000001ff', recent = x'010203', \
     learned = x'ff', hints = '{'";

mod file {
    use std::future::{Ready, ready};

    use crate::conformance::Fresh;
    use almanack_store::sqlite::{Durability, SqliteStore};

    /// Not durable against power failure: the same code, without waiting for the disk.
    fn fresh() -> Ready<Fresh> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("almanack.db");
        let store = SqliteStore::open(&path, Durability::Normal).unwrap();
        ready(Fresh::new(store).keeping(directory))
    }

    crate::conformance!(fresh);
}

/// What a source remembers for itself is not worth losing the source over.
#[tokio::test]
async fn ss_10_a_damaged_memory_leaves_the_source_readable() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("almanack.db");
    let store = SqliteStore::open(&path, Durability::Normal).unwrap();
    store.add_sources(vec![source("a")]).await.unwrap();
    let damage = Connection::open(&path).unwrap();
    damage.execute_batch(DAMAGE_SQLITE).unwrap();
    super::check_damaged(&store).await;
}

#[tokio::test]
async fn ss_24_entries_of_earlier_versions_are_found_once_they_have_words() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("almanack.db");
    let store = SqliteStore::open(&path, Durability::Normal).unwrap();
    let forget = async |text| {
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(text).unwrap();
    };
    check_wordless(&store, forget).await;
}

/// The caller that drops a store may move or remove its files at once: its log has gone with it.
#[test]
fn a_dropped_store_has_closed_its_files() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("almanack.db");
        drop(SqliteStore::open(&path, Durability::Normal).unwrap());
        let files = std::fs::read_dir(directory.path()).unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, ["almanack.db"]);
    }
}

mod memory {
    use std::future::{Ready, ready};

    use crate::conformance::Fresh;
    use almanack_store::sqlite::SqliteStore;

    fn fresh() -> Ready<Fresh> {
        ready(Fresh::new(SqliteStore::in_memory().unwrap()))
    }

    crate::conformance!(fresh);
}
