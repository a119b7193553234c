//! What a restore leaves that is killed between any two steps.
//!
//! After each step the folder is copied as it is, files that are one staying one: what a process
//! killed there leaves. Each copy is then used as an operator would. (To copy a file gives up this
//! process's locks on it; no other process is here to profit.)

use std::collections::BTreeMap;

use rusqlite::config::DbConfig;

use super::*;
use crate::{
    backup::{save, verify},
    sqlite::{Durability, SqliteStore},
};

/// Everything that is in the old store when it is replaced.
const OLD: &str = "old+late";
const FORCED: (Replace, Checksum) = (Replace::Allowed, Checksum::Required);
const STEPS: [Step; 4] = [Step::Copied, Step::Settled, Step::Linked, Step::Named];

/// A folder that was copied while it was in use.
struct Photograph(tempfile::TempDir);

impl Photograph {
    fn of(folder: &Path) -> Self {
        let copy = tempfile::tempdir().unwrap();
        let mut seen = BTreeMap::new();
        for file in fs::read_dir(folder).unwrap() {
            let from = file.unwrap().path();
            let to = copy.path().join(from.file_name().unwrap());
            match seen.insert(fs::metadata(&from).unwrap().ino(), to.clone()) {
                Some(first) => fs::hard_link(first, to).unwrap(),
                None => fs::copy(from, to).map(|_| ()).unwrap(),
            }
        }
        Self(copy)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A store with one node, whose name says whose store it is.
fn stored(path: &Path, whose: &str) -> SqliteStore {
    let store = SqliteStore::open(path, Durability::Normal).unwrap();
    write(&Connection::open(path).unwrap(), whose);
    store
}

fn write(store: &Connection, node: &str) {
    let insert = "insert into node (name, session, version, started_at_us, seen_at_us, skew_us) \
         values ($1, $1, '1', 0, 0, 0)";
    store.execute(insert, [node]).unwrap();
}

/// A process that opens the store during the copy, writes, and is killed: what it wrote is
/// in the log.
fn killed_in_between(path: &Path) {
    let store = Connection::open(path).unwrap();
    let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    store.set_db_config(keep, true).unwrap();
    store.pragma_update(None, "journal_mode", "wal").unwrap();
    write(&store, "late");
}

/// Whose store opens under a name, found out as a node would: by opening it, and reading it to its
/// end.
fn whose(path: &Path) -> String {
    drop(SqliteStore::open(path, Durability::Normal).unwrap());
    verify(path, Checksum::Ignored).unwrap();
    let store = Connection::open(path).unwrap();
    let name = "select group_concat(name, '+') from (select name from node order by name desc)";
    store.query_row(name, [], |row| row.get(0)).unwrap()
}

/// A folder with a backup of the new store and, under the name, the old one as a killed node leaves
/// it: what it holds is in the log.
fn stage() -> Photograph {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.db");
    drop(stored(&other, "new"));
    let kept = (Replace::Never, Verify::Whole);
    save(
        &other,
        &folder.path().join("backup.db"),
        kept,
        &mut |_, _| (),
    )
    .unwrap();
    fs::remove_file(other).unwrap();
    let alive = stored(&folder.path().join("almanack.db"), "old");
    let killed = Photograph::of(folder.path());
    drop(alive);
    let log = fs::metadata(killed.file("almanack.db-wal")).unwrap();
    assert!(log.len() > 0, "what is proven needs a log");
    killed
}

/// The folder after each step.
fn photographs(stage: &Photograph) -> Vec<(Step, Photograph)> {
    let mut taken = Vec::new();
    let (from, to) = (stage.file("backup.db"), stage.file("almanack.db"));
    in_steps((&from, &to), FORCED, &mut |_, _| (), &mut |step| {
        if step == Step::Copied {
            killed_in_between(&to);
        }
        taken.push((step, Photograph::of(stage.0.path())));
    })
    .unwrap();
    let steps: Vec<Step> = taken.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps, STEPS);
    taken
}

#[test]
fn a_kill_at_any_step_leaves_a_whole_store_under_the_name() {
    for (step, left) in photographs(&stage()) {
        let expected = if step == Step::Named { "new" } else { OLD };
        assert_eq!(whose(&left.file("almanack.db")), expected, "{step:?}");
        let aside = left.file("almanack.db.replaced");
        if step == Step::Named {
            assert_eq!(whose(&aside), OLD);
        }
    }
}

#[test]
fn no_log_stands_beside_the_name_when_it_changes_hands() {
    for (step, left) in photographs(&stage()) {
        let names = left.names();
        let logs = names
            .iter()
            .filter(|it| it.ends_with("-wal") || it.ends_with("-shm"));
        assert_eq!(
            logs.count() > 0,
            step == Step::Copied,
            "{step:?}: {names:?}"
        );
    }
}

/// In write-ahead logging from the first moment on, with nothing beside it: neither a node nor the
/// doctor finds anything to change.
#[test]
fn the_new_store_is_as_a_node_leaves_it() {
    let stage = stage();
    for (step, left) in photographs(&stage) {
        let beside_it = left.names().into_iter();
        let logs: Vec<String> = beside_it.filter(|it| it.contains(".partial-")).collect();
        assert!(logs.is_empty(), "{step:?}: {logs:?}");
        if step == Step::Named {
            let store = Connection::open(left.file("almanack.db")).unwrap();
            let mode = store.query_row("pragma journal_mode", [], |row| row.get::<_, String>(0));
            assert_eq!(mode.unwrap(), "wal");
        }
    }
}

/// A restore that was stopped is made again: with `--force`, as before.
#[test]
fn a_restore_that_was_stopped_is_made_again() {
    for (step, left) in photographs(&stage()) {
        let to = left.file("almanack.db");
        let found = left_behind(&to);
        let (partial, aside) = (partial(&to), aside(&to));
        let expected = match step {
            Step::Copied | Step::Settled => vec![Left::Partial(partial)],
            Step::Linked => vec![Left::Partial(partial), Left::Twin(aside.clone())],
            Step::Named => vec![Left::Replaced(aside.clone())],
        };
        assert_eq!(found, expected, "{step:?}");
        let again = restore(&left.file("backup.db"), &to, FORCED, &mut |_, _| ());
        if step == Step::Named {
            assert!(
                matches!(again, Err(Error::Exists { .. })),
                "the old one stays"
            );
        } else {
            again.unwrap();
        }
        assert_eq!(
            (whose(&to), whose(&aside)),
            ("new".to_owned(), OLD.to_owned())
        );
        assert_eq!(left_behind(&to), [Left::Replaced(aside)]);
    }
}

/// The second is refused whenever it comes, and leaves the first one's copy alone.
#[test]
fn of_two_restores_at_once_one_is_refused() {
    let stage = stage();
    let (from, to) = (stage.file("backup.db"), stage.file("almanack.db"));
    let refused = || {
        let second = restore(&from, &to, FORCED, &mut |_, _| ());
        assert!(matches!(second, Err(Error::AtWork { .. })), "{second:?}");
        let found = left_behind(&to);
        assert!(found.contains(&Left::AtWork(partial(&to))), "{found:?}");
    };
    let mut done = |step| {
        if step == Step::Copied {
            refused();
        }
    };
    in_steps((&from, &to), FORCED, &mut |_, _| refused(), &mut done).unwrap();
    assert_eq!(whose(&to), "new");
    assert_eq!(left_behind(&to), [Left::Replaced(aside(&to))]);
    let names = Photograph::of(stage.0.path()).names();
    let locks = names.iter().filter(|it| it.contains(".partial"));
    assert_eq!(locks.count(), 0, "{names:?}");
}

#[test]
fn a_store_that_another_process_has_open_is_left_alone() {
    let stage = stage();
    let (from, to) = (stage.file("backup.db"), stage.file("almanack.db"));
    let there = Connection::open(&to).unwrap();
    let count = || there.query_row("select count(*) from node", [], |row| row.get::<_, i64>(0));
    assert_eq!(count().unwrap(), 1);
    let refused = restore(&from, &to, FORCED, &mut |_, _| ());
    assert!(matches!(refused, Err(Error::InUse { .. })), "{refused:?}");
    assert_eq!(count().unwrap(), 1);
    assert_eq!(left_behind(&to), [], "nothing is left of what was begun");
    drop(there);
    assert_eq!(whose(&to), "old");
}

/// The name may lead elsewhere, to a larger disk: it goes on doing so.
#[test]
fn a_link_to_a_store_stays_a_link() {
    let stage = stage();
    let (from, name) = (stage.file("backup.db"), stage.file("link.db"));
    std::os::unix::fs::symlink(stage.file("almanack.db"), &name).unwrap();
    restore(&from, &name, FORCED, &mut |_, _| ()).unwrap();
    assert!(name.is_symlink());
    assert_eq!(whose(&stage.file("almanack.db")), "new");
    assert_eq!(whose(&stage.file("almanack.db.replaced")), "old");
    assert_eq!(left_behind(&name).len(), 1);
}

/// What a store's removal leaves, or an interrupted restore of an earlier version, which moved a
/// store before its log.
#[test]
fn a_log_without_its_store_is_reported_and_not_applied_to_another() {
    let stage = stage();
    let (from, to) = (stage.file("backup.db"), stage.file("almanack.db"));
    fs::remove_file(&to).unwrap();
    let log = beside(&to, "-wal");
    assert_eq!(left_behind(&to), [Left::Log(log.clone())]);
    let refused = restore(&from, &to, FORCED, &mut |_, _| ());
    assert!(matches!(refused, Err(Error::Log { .. })), "{refused:?}");
    assert!(!to.exists());
    // The other kind: what a transaction has to take back.
    let journal = beside(&to, "-journal");
    fs::rename(log, &journal).unwrap();
    assert_eq!(left_behind(&to), [Left::Log(journal.clone())]);
    fs::remove_file(journal).unwrap();
    restore(
        &from,
        &to,
        (Replace::Never, Checksum::Required),
        &mut |_, _| (),
    )
    .unwrap();
    assert_eq!(whose(&to), "new");
}
