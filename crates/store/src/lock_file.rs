//! Files that keep other processes out.
//!
//! Who is to be alone locks a file beside what it works on, and the second is refused. The system
//! gives the lock up with its process, however that ends: what a killed one leaves is a file that
//! the next one locks. (What is worked on cannot hold the lock itself: over a network's filesystem
//! it would keep out SQLite's own locks, those of this process too.)
//!
//! INVARIANT: the lock's file is removed only by its holder, and a lock on a file that has lost
//! its name is worth nothing.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// What processes work on is private, and so is which of them does.
const PRIVATE: u32 = 0o600;

/// A lock, until it is dropped.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    pub(crate) file: File,
}

impl LockFile {
    /// Takes it, unless another process has it; then answers the file as that one left it.
    pub(crate) fn take(path: &Path) -> io::Result<Result<Self, File>> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        Self::lock(options.mode(PRIVATE).open(path)?, path)
    }

    fn lock(file: File, path: &Path) -> io::Result<Result<Self, File>> {
        match file.try_lock() {
            Ok(()) if is_named(&file, path) => {}
            // Filesystems without locks keep no process out.
            Err(TryLockError::Error(source)) if source.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(source)) => return Err(source),
            // Its holder is at work, or has just ended.
            Ok(()) | Err(TryLockError::WouldBlock) => return Ok(Err(file)),
        }
        let path = path.into();
        Ok(Ok(Self { path, file }))
    }

    /// Whether a process holds it now.
    pub(crate) fn is_held(path: &Path) -> bool {
        let locked = File::open(path).map(|lock| lock.try_lock_shared());
        matches!(locked, Ok(Err(TryLockError::WouldBlock)))
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Its holder may have removed it between our opening it and locking it.
fn is_named(lock: &File, path: &Path) -> bool {
    match (lock.metadata(), fs::metadata(path)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It would keep no process out: the next one makes a new file under the name, and locks
    /// that.
    #[test]
    fn a_lock_on_a_file_that_has_lost_its_name_is_worth_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("almanack.db.partial.lock");
        let first = LockFile::take(&path).unwrap().unwrap();
        assert!(LockFile::is_held(&path));
        let late = || File::open(&path).unwrap();
        let (one, other) = (late(), late());
        drop(first);
        assert!(!LockFile::is_held(&path));
        assert!(LockFile::lock(one, &path).unwrap().is_err());
        let second = LockFile::take(&path).unwrap().unwrap();
        assert!(LockFile::lock(other, &path).unwrap().is_err());
        assert!(LockFile::is_held(&path), "{second:?}");
    }
}
