//! One writer per copy.
//!
//! Two processes that write a copy for the same name would write into each other's. Who begins
//! therefore locks a file beside the copy, and the second is refused. The system gives the lock up
//! with its process, however that ends: what a killed one leaves is an empty file that the next one
//! locks. (The copy itself cannot hold the lock: over a network's filesystem it would keep out
//! SQLite's own locks, those of this process too.)
//!
//! INVARIANT: the lock's file is removed only by its holder, and a lock on a file that has lost
//! its name is worth nothing.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::ErrorKind,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use super::{Error, PRIVATE, Result, beside, unread};

/// The right to write a copy, until it is dropped.
#[derive(Debug)]
pub(super) struct WriterLock {
    path: PathBuf,
    _lock: File,
}

impl WriterLock {
    /// Takes it, unless another process has it.
    pub(super) fn take(part: &Path) -> Result<Self> {
        let path = lock_of(part);
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let opened = options.mode(PRIVATE).open(&path);
        let lock = opened.map_err(|source| unread("create", &path, source))?;
        Self::of(lock, path, part)
    }

    fn of(lock: File, path: PathBuf, part: &Path) -> Result<Self> {
        match lock.try_lock() {
            Ok(()) if is_named(&lock, &path) => Ok(Self { path, _lock: lock }),
            // Filesystems without locks keep no process out, as always.
            Err(TryLockError::Error(source)) if source.kind() == ErrorKind::Unsupported => {
                Ok(Self { path, _lock: lock })
            }
            Err(TryLockError::Error(source)) => Err(unread("lock", &path, source)),
            // Its holder is at work, or has just ended.
            Ok(()) | Err(TryLockError::WouldBlock) => Err(Error::AtWork { path: part.into() }),
        }
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a process writes the copy now.
pub(super) fn is_held(part: &Path) -> bool {
    let locked = File::open(lock_of(part)).map(|lock| lock.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

fn is_named(lock: &File, path: &Path) -> bool {
    match (lock.metadata(), fs::metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

fn lock_of(part: &Path) -> PathBuf {
    beside(part, ".lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It would keep no process out: the next one makes a new file under the name, and locks
    /// that.
    #[test]
    fn a_lock_on_a_file_that_has_lost_its_name_is_worth_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().join("almanack.db.partial");
        let first = WriterLock::take(&part).unwrap();
        assert!(is_held(&part));
        let late = || File::open(lock_of(&part)).unwrap();
        let (one, other) = (late(), late());
        drop(first);
        assert!(!is_held(&part));
        let refused = WriterLock::of(one, lock_of(&part), &part);
        assert!(matches!(refused, Err(Error::AtWork { .. })), "{refused:?}");
        let second = WriterLock::take(&part).unwrap();
        let refused = WriterLock::of(other, lock_of(&part), &part);
        assert!(matches!(refused, Err(Error::AtWork { .. })), "{refused:?}");
        assert!(is_held(&part), "{second:?}");
    }
}
