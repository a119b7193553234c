//! SQLite: on a file with threads of its own, as in production, and in memory on the caller's
//! thread, as in the simulator.

mod file {
    use std::future::{Ready, ready};

    use almanack_store::sqlite::{Durability, SqliteStore};
    use almanack_testkit::conformance::Fresh;

    /// Not durable against power failure: the same code, without waiting for the disk.
    fn fresh() -> Ready<Fresh> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("almanack.db");
        let store = SqliteStore::open(&path, Durability::Normal).unwrap();
        ready(Fresh::new(store).keeping(directory))
    }

    almanack_testkit::conformance!(fresh);
}

mod memory {
    use std::future::{Ready, ready};

    use almanack_store::sqlite::SqliteStore;
    use almanack_testkit::conformance::Fresh;

    fn fresh() -> Ready<Fresh> {
        ready(Fresh::new(SqliteStore::in_memory().unwrap()))
    }

    almanack_testkit::conformance!(fresh);
}
