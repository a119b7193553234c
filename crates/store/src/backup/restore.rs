//! Replaces a store by a backup.
//!
//! Whichever process is killed, and whenever: the store's name always refers to a whole store. What
//! a killed restore leaves, step by step:
//!
//! ```text
//! step       under the name    beside it
//! Copied     the old one       NAME.partial: the new one, whole, proven and on the disk
//! Settled    the old one       its log is in its file, and gone
//! Linked     the old one       NAME.replaced: the old one again, the same file under two names
//! Named      the new one       NAME.replaced: the old one
//! ```
//!
//! The last step is one rename, which is the old name or the new one, never none. Beside a copy
//! lies the lock of the process that makes it (see `lock.rs`), which keeps no process out once that
//! one is gone.
//!
//! INVARIANT: no log exists beside the name when it changes hands. SQLite finds a log by its
//! store's name, and would apply that of the old store to the new one. So the old one leaves
//! write-ahead logging, which no other process can be in meanwhile, and is held alone from then
//! until the new one has the name.

use std::{
    borrow::Cow,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, ErrorCode};

use super::{
    Checksum, Draft, Error, Held, Journal, Progress, Replace, Result, Verify, discard, examine,
    lock_of, lock_writer, open, opened, sync, unread, written,
};
use crate::{
    beside,
    lock_file::LockFile,
    sqlite::{explain, holds},
    transfer::{sqlite_counts, sqlite_tables},
};

/// What has been done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Copied,
    Settled,
    Linked,
    Named,
}

/// What an earlier restore has left beside a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// A copy that never got its name; the next restore makes it anew.
    Partial(PathBuf),
    /// The copy of a restore that is at work now.
    AtWork(PathBuf),
    /// The store itself under a second name: the restore was stopped before the backup took its
    /// place. The next one goes on from there.
    Twin(PathBuf),
    /// The store that was replaced.
    Replaced(PathBuf),
    /// A log whose store is not there. SQLite would apply it to any store that is given its name.
    Log(PathBuf),
}

/// Looks for what restores have left beside a store.
pub fn left_behind(path: &Path) -> Vec<Left> {
    let path = &*real(path);
    let aside = aside(path);
    let mut left = Vec::new();
    let part = partial(path);
    left.extend(match (LockFile::is_held(&lock_of(&part)), part.exists()) {
        (true, _) => Some(Left::AtWork(part)),
        (false, true) => Some(Left::Partial(part)),
        (false, false) => None,
    });
    left.extend(match (aside.exists(), is_same_file(path, &aside)) {
        (false, _) => None,
        (true, true) => Some(Left::Twin(aside)),
        (true, false) => Some(Left::Replaced(aside)),
    });
    left.extend(orphaned_log(path).map(Left::Log));
    left
}

/// Makes a backup the store at `to`, where there must be none or an empty one. With
/// [`Replace::Allowed`] what is there is put aside, under its name and `.replaced`.
pub fn restore(
    from: &Path,
    to: &Path,
    how: (Replace, Checksum),
    report: Progress<'_>,
) -> Result<Held> {
    in_steps((from, to), how, report, &mut |_| ())
}

/// Calls `done` after each step, so that a test can see what a process killed there would leave.
pub(super) fn in_steps(
    (from, to): (&Path, &Path),
    (replace, checksum): (Replace, Checksum),
    report: Progress<'_>,
    done: &mut dyn FnMut(Step),
) -> Result<Held> {
    let (source, _) = opened(from, checksum)?;
    examine(&source, from)?;
    let to = &*real(to);
    if let Some(path) = orphaned_log(to) {
        return Err(Error::Log { path });
    }
    if to.exists() {
        judge(&open(to)?, to, replace)?;
    }
    let part = partial(to);
    // Held until the copy has the name. Who is refused here has begun nothing that would have to be
    // taken back.
    let _lock = lock_writer(&part)?;
    // The log is turned on here, before any process opens it: no log of the copy's is left when it
    // gets the name.
    let draft = Draft {
        part: &part,
        journal: Journal::WriteAhead,
    };
    let replaced = written(&source, draft, Verify::Whole, report).and_then(|held| {
        done(Step::Copied);
        take_place(&part, to, replace, done).map(|()| held)
    });
    replaced.inspect_err(|_| take_back(to))
}

/// Gives a whole copy the name.
fn take_place(part: &Path, to: &Path, replace: Replace, done: &mut dyn FnMut(Step)) -> Result<()> {
    let old = if to.exists() { Some(settle(to)?) } else { None };
    done(Step::Settled);
    if let Some(old) = &old
        && judge(old, to, replace)? > 0
    {
        link(to, &aside(to))?;
    }
    done(Step::Linked);
    fs::rename(part, to).map_err(|source| unread("rename", part, source))?;
    done(Step::Named);
    sync_folder(to)?;
    // Held until here: no process could begin to work in the old one while the name changed hands.
    drop(old);
    Ok(())
}

/// A partial copy is of no use.
fn take_back(to: &Path) {
    discard(&partial(to));
    if is_same_file(to, &aside(to)) {
        let _ = fs::remove_file(aside(to));
    }
}

/// How many rows a store has that may be replaced.
fn judge(store: &Connection, path: &Path, replace: Replace) -> Result<u64> {
    let rows = rows(store)?;
    if rows > 0 && replace == Replace::Never {
        return Err(Error::NotEmpty {
            path: path.into(),
            rows,
        });
    }
    let aside = aside(path);
    if rows > 0 && aside.exists() && !is_same_file(path, &aside) {
        return Err(Error::Exists { path: aside });
    }
    Ok(rows)
}

fn rows(store: &Connection) -> Result<u64> {
    let failed = |error: rusqlite::Error| explain("read", error.into());
    let tables = sqlite_tables(store).map_err(failed)?;
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    let counts = sqlite_counts(store, &names).map_err(failed)?;
    Ok(counts.iter().map(|(_, rows)| rows).sum())
}

/// Merges a store's log into its file, and holds the store alone. A store that another process has
/// opened cannot leave write-ahead logging, and is left as it is.
fn settle(path: &Path) -> Result<Connection> {
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::InUse { path: path.into() }
        }
        _ => explain("settle", error.into()).into(),
    };
    let store = open(path)?;
    leave_log(&store).map_err(failed)?;
    // Before it is held: to close a file, by whichever handle, gives up the locks that this process
    // has on it.
    sync(path)?;
    store.execute_batch("begin exclusive").map_err(failed)?;
    // Another process may have come in between, and begun a log.
    let mode = store.query_row("pragma journal_mode", [], |row| row.get::<_, String>(0));
    if mode.map_err(failed)? != "delete" || beside(path, "-wal").exists() {
        return Err(Error::InUse { path: path.into() });
    }
    Ok(store)
}

fn leave_log(store: &Connection) -> rusqlite::Result<()> {
    store.pragma_update(None, "synchronous", "full")?;
    store.pragma_update(None, "journal_mode", "delete")
}

/// Gives a file a second name. One that has it already was given it by a restore that was stopped.
fn link(path: &Path, second: &Path) -> Result<()> {
    match fs::hard_link(path, second) {
        Err(error)
            if error.kind() == io::ErrorKind::AlreadyExists && is_same_file(path, second) => {}
        linked => linked.map_err(|source| unread("put aside", path, source))?,
    }
    sync_folder(path)
}

/// The file that a name leads to: a link to a store elsewhere stays a link, and the log lies there.
fn real(path: &Path) -> Cow<'_, Path> {
    match path.is_symlink().then(|| path.canonicalize()) {
        Some(Ok(real)) => real.into(),
        _ => path.into(),
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let number = |path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    match (number(one), number(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

/// A log that holds something, of a store that is not there.
fn orphaned_log(path: &Path) -> Option<PathBuf> {
    let logs = ["-wal", "-journal"].map(|ending| beside(path, ending));
    logs.into_iter().find(|log| holds(log) && !path.exists())
}

/// Writes down which names a file's folder has.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    sync(folder.unwrap_or(Path::new(".")))
}

fn partial(path: &Path) -> PathBuf {
    beside(path, ".partial")
}

fn aside(path: &Path) -> PathBuf {
    beside(path, ".replaced")
}

#[cfg(test)]
mod tests;
