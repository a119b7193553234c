//! One node per file.
//!
//! Two nodes on one file would plan and claim correctly, by the same compare-and-sets as anywhere.
//! But neither hears of the other's changes before its next poll, both keep limits that are meant
//! for all, and every write of one makes the other wait: a second one is always a mistake. So a
//! node locks a file beside the database, and the next one is refused with the number of the
//! process that has it. Commands and ticks come and go beside a node and do not ask.
//!
//! The system gives the lock up with its process, however that ends; what a killed one leaves is a
//! file that the next one locks.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process,
};

/// Only readers of the database need know which process works on it.
const PRIVATE: u32 = 0o600;
/// Longest name of a process that is read.
const PROCESS_BYTES_MAX: u64 = 32;

/// Why a node may not work on a file.
#[derive(Debug, thiserror::Error)]
pub enum Occupied {
    #[error("process {process} already runs a node on {}", path.display())]
    ByAnother { path: PathBuf, process: String },
    /// The file beside it could not be locked.
    #[error("lock {}: {source}", path.display())]
    File {
        /// The file that was to be locked.
        path: PathBuf,
        source: io::Error,
    },
}

/// The right to be the node on a file, until it is dropped.
#[derive(Debug)]
pub struct NodeLock {
    path: PathBuf,
    _lock: File,
}

impl NodeLock {
    /// Takes it, unless another process has it. The database must be there.
    pub(crate) fn take(database: &Path) -> Result<Self, Occupied> {
        // By whatever name it was called, the lock is beside the file itself.
        let database = database.canonicalize().unwrap_or_else(|_| database.into());
        let path = beside(&database);
        let failed = |source| Occupied::File {
            path: path.clone(),
            source,
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut lock = options.mode(PRIVATE).open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) if is_named(&lock, &path) => {}
            // Filesystems without locks keep no process out.
            Err(TryLockError::Error(source)) if source.kind() == ErrorKind::Unsupported => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Ok(()) | Err(TryLockError::WouldBlock) => {
                let process = holder(&mut lock);
                return Err(Occupied::ByAnother {
                    path: database,
                    process,
                });
            }
        }
        sign(&mut lock).map_err(failed)?;
        Ok(Self { path, _lock: lock })
    }

    /// Whether a process runs a node on the file now.
    pub(crate) fn is_held(database: &Path) -> bool {
        let database = database.canonicalize().unwrap_or_else(|_| database.into());
        let locked = File::open(beside(&database)).map(|lock| lock.try_lock_shared());
        matches!(locked, Ok(Err(TryLockError::WouldBlock)))
    }
}

impl Drop for NodeLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".node");
    name.into()
}

fn sign(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.write_all(process::id().to_string().as_bytes())
}

fn holder(lock: &mut File) -> String {
    let mut process = String::new();
    let read = lock.take(PROCESS_BYTES_MAX).read_to_string(&mut process);
    match read {
        Ok(_) if !process.trim().is_empty() => process.trim().to_owned(),
        _ => "of another user, or one that just starts,".to_owned(),
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

    #[test]
    fn a_second_node_is_refused_and_reported_who_has_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("almanack.db");
        File::create(&database).unwrap();
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink(&database, &link).unwrap();
        let first = NodeLock::take(&database).unwrap();
        for path in [&database, &link] {
            let refused = NodeLock::take(path).unwrap_err().to_string();
            let expected = format!("process {} already runs a node on ", process::id());
            assert!(refused.starts_with(&expected), "{refused}");
            assert!(refused.ends_with("almanack.db"), "{refused}");
        }
        assert!(NodeLock::is_held(&link));
        drop(first);
        assert!(!NodeLock::is_held(&database));
        let second = NodeLock::take(&link).unwrap();
        drop(second);
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "nothing is left beside the database");
    }

    #[test]
    fn what_a_killed_node_left_keeps_no_node_out() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("almanack.db");
        File::create(&database).unwrap();
        fs::write(beside(&database), "4294967295").unwrap();
        let lock = NodeLock::take(&database).unwrap();
        let signed = fs::read_to_string(beside(&database)).unwrap();
        assert_eq!(signed, process::id().to_string());
        drop(lock);
    }
}
