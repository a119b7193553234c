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
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process,
};

use crate::{beside, lock_file::LockFile};

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
pub struct NodeLock(#[expect(dead_code, reason = "held, and dropped")] LockFile);

impl NodeLock {
    /// Takes it, unless another process has it. The database must be there.
    pub(crate) fn take(database: &Path) -> Result<Self, Occupied> {
        let database = real(database);
        let path = beside(&database, ".node");
        let failed = |source| Occupied::File {
            path: path.clone(),
            source,
        };
        match LockFile::take(&path).map_err(failed)? {
            Ok(mut lock) => sign(&mut lock.file).map(|()| Self(lock)).map_err(failed),
            Err(mut held) => Err(Occupied::ByAnother {
                process: holder(&mut held),
                path: database,
            }),
        }
    }

    /// Whether a process runs a node on the file now.
    pub(crate) fn is_held(database: &Path) -> bool {
        LockFile::is_held(&beside(&real(database), ".node"))
    }
}

/// By whatever name it was called, the lock is beside the file itself.
fn real(database: &Path) -> PathBuf {
    database.canonicalize().unwrap_or_else(|_| database.into())
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

#[cfg(test)]
mod tests {
    use std::fs;

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
        fs::write(beside(&database, ".node"), "4294967295").unwrap();
        let lock = NodeLock::take(&database).unwrap();
        let signed = fs::read_to_string(beside(&database, ".node")).unwrap();
        assert_eq!(signed, process::id().to_string());
        drop(lock);
    }
}
