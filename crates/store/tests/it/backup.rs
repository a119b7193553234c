//! Backups of a store that is written to, and what they are worth.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use almanack_core::backup::Vault as _;
use almanack_store::{
    backup::{Checksum, Error, Held, Replace, Rotation, Verify, restore, save, verify},
    sqlite::{Durability, SqliteStore},
};
use jiff::Timestamp;
use rusqlite::Connection;

use super::transfer::filled;

const NEW: (Replace, Checksum) = (Replace::Never, Checksum::Required);
const OVER: (Replace, Checksum) = (Replace::Allowed, Checksum::Required);

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

struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Of one moment, however much is written meanwhile; whole, alone in its folder, and private
/// to read.
#[tokio::test]
async fn a_backup_is_of_one_moment_while_a_node_writes() {
    let (files, kept) = (Folder::new(), Folder::new());
    let (from, to) = (files.file("almanack.db"), kept.file("backup.db"));
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
    assert_eq!(verify(&to, Checksum::Required).unwrap(), held);
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
    let files = Folder::new();
    let (from, to) = (files.file("almanack.db"), files.file("backup.db"));
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
    verify(&to, Checksum::Required).unwrap();
    let nothing = saved(&files.file("none.db"), &files.file("other.db"));
    assert!(matches!(nothing, Err(Error::Store(_))));
    assert!(!files.file("none.db").exists() && !files.file("other.db").exists());
}

/// Each by the rule it breaks.
#[tokio::test]
async fn a_damaged_backup_is_found_out() {
    let files = Folder::new();
    let (from, good) = (files.file("almanack.db"), files.file("good.db"));
    filled(&from).await;
    saved(&from, &good).unwrap();
    for (damage, expected) in [
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
        let bad = files.file("bad.db");
        fs::copy(&good, &bad).unwrap();
        let connection = Connection::open(&bad).unwrap();
        assert!(connection.execute(damage, []).unwrap() > 0, "{damage}");
        drop(connection);
        let found = verify(&bad, Checksum::Ignored).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
    }
    let mut bytes = fs::read(&good).unwrap();
    bytes.truncate(bytes.len() / 2);
    for bytes in [bytes, b"not a database at all".to_vec(), Vec::new()] {
        fs::write(files.file("bad.db"), bytes).unwrap();
        let (bad, to) = (files.file("bad.db"), files.file("restored.db"));
        for checksum in [Checksum::Required, Checksum::Ignored] {
            assert!(verify(&bad, checksum).is_err());
            let refused = restore(&bad, &to, (Replace::Never, checksum), &mut |_, _| ());
            assert!(refused.is_err() && !to.exists());
        }
    }
}

/// Into nothing, into an empty store, and over a filled one only when asked, which is put aside.
#[tokio::test]
async fn a_store_is_restored_into_an_empty_place() {
    let files = Folder::new();
    let (from, backup) = (files.file("almanack.db"), files.file("backup.db"));
    filled(&from).await;
    let held = saved(&from, &backup).unwrap();
    let none = files.file("none.db");
    let empty = files.file("empty.db");
    drop(SqliteStore::open(&empty, Durability::Normal).unwrap());
    for to in [&none, &empty] {
        let restored = restore(&backup, to, NEW, &mut |_, _| ()).unwrap();
        assert_eq!(restored.tables, held.tables);
        assert_eq!(verify(to, Checksum::Ignored).unwrap().tables, held.tables);
    }
    let refused = restore(&backup, &from, NEW, &mut |_, _| ());
    assert!(matches!(refused, Err(Error::NotEmpty { .. })));
    restore(&backup, &from, OVER, &mut |_, _| ()).unwrap();
    assert_eq!(
        verify(&files.file("almanack.db.replaced"), Checksum::Ignored)
            .unwrap()
            .tables,
        held.tables
    );
    let twice = restore(&backup, &from, OVER, &mut |_, _| ());
    assert!(
        matches!(twice, Err(Error::Exists { .. })),
        "what was put aside stays"
    );
}

/// As well-formed as before, and not what was saved.
#[tokio::test]
async fn a_backup_that_was_altered_is_refused_by_its_bytes() {
    let files = Folder::new();
    let (from, good) = (files.file("almanack.db"), files.file("good.db"));
    filled(&from).await;
    let held = saved(&from, &good).unwrap();
    let (bad, to) = (files.file("bad.db"), files.file("restored.db"));
    let altered = |bad: &Path| {
        fs::copy(&good, bad).unwrap();
        let connection = Connection::open(bad).unwrap();
        let rows = connection.execute("update task set detail = 'altered'", []);
        assert!(rows.unwrap() > 0);
    };
    altered(&bad);
    let structure = verify(&bad, Checksum::Ignored).unwrap();
    assert_ne!(structure.tables, held.tables, "the alteration is one");
    let refuses = |expected: &str| {
        let found = verify(&bad, Checksum::Required).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}");
        let refused = restore(&bad, &to, NEW, &mut |_, _| ());
        assert!(refused.is_err() && !to.exists());
    };
    refuses("checksum");
    // What no row holds counts, too, and so does a seal that is gone.
    let whole = fs::read(&good).unwrap();
    let mut flipped = whole.clone();
    flipped[70] ^= 1;
    fs::write(&bad, flipped).unwrap();
    refuses("do not match its checksum");
    fs::write(&bad, &whole[..whole.len() - 10]).unwrap();
    refuses("has no checksum");
    // The whole file is still a database to every other tool.
    let other = Connection::open(&good).unwrap();
    let sound = other.query_row("pragma integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(sound.unwrap(), "ok");
    drop(other);
    assert_eq!(verify(&good, Checksum::Required).unwrap(), held);
}

/// Whatever a journal beside it would take back: the bytes were proven, and they alone are read.
#[tokio::test]
async fn a_journal_beside_a_backup_changes_nothing() {
    let files = Folder::new();
    let (from, good) = (files.file("almanack.db"), files.file("a ?#%.db"));
    filled(&from).await;
    let held = saved(&from, &good).unwrap();
    let other = files.file("other.db");
    fs::copy(&good, &other).unwrap();
    let writer = Connection::open(&other).unwrap();
    writer.pragma_update(None, "cache_size", 1).unwrap();
    writer
        .execute_batch("begin; delete from task; delete from slot")
        .unwrap();
    fs::copy(
        files.file("other.db-journal"),
        files.file("a ?#%.db-journal"),
    )
    .unwrap();
    assert_eq!(verify(&good, Checksum::Required).unwrap(), held);
    let to = files.file("restored.db");
    let restored = restore(&good, &to, NEW, &mut |_, _| ()).unwrap();
    assert_eq!(restored.tables, held.tables);
}

/// Named after their instants, proven, and private; files with other names are left
/// alone.
#[tokio::test]
async fn scheduled_backups_are_known_by_their_names() {
    let files = Folder::new();
    let from = files.file("almanack.db");
    filled(&from).await;
    let folder = files.file("kept/daily");
    let rotation = Rotation {
        store: from,
        folder: folder.clone(),
    };
    assert_eq!(rotation.list().await.unwrap(), [], "no folder, no backup");
    let noon: Timestamp = "2026-01-05T12:00:00.25Z".parse().unwrap();
    let bytes = rotation.save(noon).await.unwrap();
    assert_eq!(names(&folder), ["almanack-20260105T120000Z.db"]);
    let file = folder.join("almanack-20260105T120000Z.db");
    assert_eq!(fs::metadata(&file).unwrap().len(), bytes);
    verify(&file, Checksum::Required).unwrap();
    fs::write(folder.join("almanack-by-hand.db"), "").unwrap();
    let made = rotation.list().await.unwrap();
    assert_eq!(made, ["2026-01-05T12:00:00Z".parse().unwrap()]);
    let twice = rotation.save(noon).await.unwrap_err();
    assert!(twice.contains("already exists"), "{twice}");
    for _ in 0..2 {
        rotation.remove(made[0]).await.unwrap();
    }
    assert_eq!(names(&folder), ["almanack-by-hand.db"]);
    // Each is read before it gets its name: one of a store that is damaged gets none.
    let store = Connection::open(&rotation.store).unwrap();
    store.execute("delete from claim", []).unwrap();
    let refused = rotation.save(noon).await.unwrap_err();
    assert!(refused.contains("claim is gone"), "{refused}");
    assert_eq!(names(&folder), ["almanack-by-hand.db"]);
}
