//! Backups of a store that is written to, and what they are worth.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use almanack_store::{
    backup::{Error, Held, Replace, Verify, restore, save, verify},
    sqlite::{Durability, SqliteStore},
};
use rusqlite::Connection;

use super::transfer::filled;

fn saved(from: &Path, to: &Path) -> Result<Held, Error> {
    save(from, to, (Replace::Never, Verify::Whole), &mut |_, _| ())
}

fn names(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Of one moment, however much is written meanwhile; whole, alone in its folder, and nobody else's to read.
#[tokio::test]
async fn a_backup_is_of_one_moment_while_a_node_writes() {
    let (place, kept) = (Place::new(), Place::new());
    let (from, to) = (place.file("almanack.db"), kept.file("backup.db"));
    let store = filled(&from).await;
    // Enough for several steps.
    let writer = Connection::open(&from).unwrap();
    writer
        .execute_batch(
            "create table filling as with recursive g(n) as (select 1 union all select n + 1 from g \
             where n < 30000) select n, zeroblob(1000) as b from g",
        )
        .unwrap();
    let mut steps = 0;
    let mut write = |_, _| {
        steps += 1;
        let statement = "update node set skew_us = skew_us + 1";
        writer.execute(statement, []).unwrap();
    };
    let held = save(&from, &to, (Replace::Never, Verify::Whole), &mut write).unwrap();
    assert!(steps > 1, "one step proves nothing");
    assert_eq!(names(kept.folder.path()), ["backup.db"]);
    let mode = fs::metadata(&to).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(verify(&to).unwrap(), held);
    let skew = |path: &Path| -> i64 {
        let connection = Connection::open(path).unwrap();
        let sum = "select sum(skew_us) from node";
        connection.query_row(sum, [], |row| row.get(0)).unwrap()
    };
    assert!(skew(&to) < skew(&from), "written after the moment");
    drop(store);
}

#[tokio::test]
async fn what_is_there_is_not_overwritten_unasked() {
    let place = Place::new();
    let (from, to) = (place.file("almanack.db"), place.file("backup.db"));
    filled(&from).await;
    fs::write(&to, "precious").unwrap();
    assert!(matches!(saved(&from, &to), Err(Error::Exists { .. })));
    assert_eq!(fs::read(&to).unwrap(), b"precious");
    save(
        &from,
        &to,
        (Replace::Allowed, Verify::Whole),
        &mut |_, _| (),
    )
    .unwrap();
    verify(&to).unwrap();
    let nothing = saved(&place.file("none.db"), &place.file("other.db"));
    assert!(matches!(nothing, Err(Error::Store(_))));
    assert!(!place.file("none.db").exists() && !place.file("other.db").exists());
}

/// Each by the rule it breaks.
#[tokio::test]
async fn a_damaged_backup_is_found_out() {
    let place = Place::new();
    let (from, good) = (place.file("almanack.db"), place.file("good.db"));
    filled(&from).await;
    saved(&from, &good).unwrap();
    for (damage, told) in [
        (
            "update task set is_current = false where id = (select max(id) from task where is_current)",
            "exactly one current",
        ),
        ("delete from claim", "claim is gone"),
        (
            "update task set due_at_us = null where status = 'INIT'",
            "without a time",
        ),
        ("delete from schedule", "do not exist"),
    ] {
        let bad = place.file("bad.db");
        fs::copy(&good, &bad).unwrap();
        let connection = Connection::open(&bad).unwrap();
        assert!(connection.execute(damage, []).unwrap() > 0, "{damage}");
        drop(connection);
        let found = verify(&bad).unwrap_err().to_string();
        assert!(found.contains(told), "{found}");
    }
    let mut bytes = fs::read(&good).unwrap();
    bytes.truncate(bytes.len() / 2);
    for bytes in [bytes, b"not a database at all".to_vec(), Vec::new()] {
        fs::write(place.file("bad.db"), bytes).unwrap();
        assert!(verify(&place.file("bad.db")).is_err());
        let to = place.file("restored.db");
        let refused = restore(&place.file("bad.db"), &to, Replace::Never, &mut |_, _| ());
        assert!(refused.is_err() && !to.exists());
    }
}

/// Into nothing, into an empty store, and over a filled one only when asked, which is put aside.
#[tokio::test]
async fn a_store_is_restored_into_an_empty_place() {
    let place = Place::new();
    let (from, backup) = (place.file("almanack.db"), place.file("backup.db"));
    filled(&from).await;
    let held = saved(&from, &backup).unwrap();
    let none = place.file("none.db");
    let empty = place.file("empty.db");
    drop(SqliteStore::open(&empty, Durability::Normal).unwrap());
    for to in [&none, &empty] {
        let restored = restore(&backup, to, Replace::Never, &mut |_, _| ()).unwrap();
        assert_eq!(restored.tables, held.tables);
        assert_eq!(verify(to).unwrap().tables, held.tables);
    }
    let refused = restore(&backup, &from, Replace::Never, &mut |_, _| ());
    assert!(matches!(refused, Err(Error::NotEmpty { .. })));
    restore(&backup, &from, Replace::Allowed, &mut |_, _| ()).unwrap();
    assert_eq!(
        verify(&place.file("almanack.db.replaced")).unwrap().tables,
        held.tables
    );
    let twice = restore(&backup, &from, Replace::Allowed, &mut |_, _| ());
    assert!(
        matches!(twice, Err(Error::Exists { .. })),
        "what was put aside stays"
    );
}
