//! The demo's folder, and its removal.
//!
//! A temporary folder is removed at the end, or by a later demo if this one is killed. A running
//! demo holds a lock in its folder, which the system releases with the process.
//!
//! INVARIANT: only a folder of this user with a lock that no process holds is removed. A lock gets
//! its name when it is held, so a demo that has just started has none or a held one.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::configuration::FILE;
use crate::{
    failure::{Failure, Result},
    output::Output,
    wiring,
};

/// Prefix of temporary folders.
const PREFIX: &str = "almanack-demo-";
/// The lock in such a folder, held while its demo runs.
const LOCK: &str = "demo.lock";

/// What to do about a folder that cannot be used.
const CHOOSE: &str = "choose another with --keep FOLDER";

/// A folder that is removed at the end, unless it is to be kept.
pub(super) struct Folder {
    path: PathBuf,
    /// None if the folder is to be kept.
    lock: Option<File>,
}

impl Folder {
    /// The folder to be kept, or a new one.
    pub(super) fn create(keep: Option<&Path>) -> Result<Self> {
        let Some(path) = keep else {
            return Self::passing(&std::env::temp_dir());
        };
        let path = wanted(path)?;
        fs::create_dir_all(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { path, lock: None })
    }

    /// A new one; removes those of ended demos.
    fn passing(temporary: &Path) -> Result<Self> {
        let chance = wiring::entropy().next_u64() >> 32;
        let path = temporary.join(format!("{PREFIX}{chance:08x}"));
        let made = fs::create_dir_all(&path).and_then(|()| hold(&path));
        let lock = made.map_err(|error| failed(&path, &error))?;
        sweep(&path);
        Ok(Self {
            path,
            lock: Some(lock),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Prints whether it is kept.
    pub(super) fn part(&self, output: &mut Output) -> Result<()> {
        if self.lock.is_none() {
            let file = self.path.join(FILE);
            output.line(&format!(
                "\nFiles kept in {}; open them with\n  almanack serve --config {}",
                self.path.display(),
                file.display()
            ))?;
        }
        output.flush()
    }

    /// The failure to use it.
    pub(super) fn failed(&self, error: &io::Error) -> Failure {
        failed(&self.path, error)
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    let what = format!("use folder `{}`: {error}", path.display());
    Failure::failed(what).hint(CHOOSE)
}

fn hold(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("demo.lock.new");
    let lock = File::create(&unnamed)?;
    lock.try_lock()?;
    fs::rename(unnamed, folder.join(LOCK))?;
    Ok(lock)
}

/// Removes the folders beside `own` whose demos have ended. What cannot be removed stays and does
/// no harm.
fn sweep(own: &Path) {
    let Ok(user) = fs::metadata(own).map(|own| own.uid()) else {
        return;
    };
    let beside = own.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in beside.into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Of the entry itself: never remove what a link points to.
        let found = entry.metadata();
        if !is_named || !found.is_ok_and(|it| it.is_dir() && it.uid() == user) {
            continue;
        }
        if let Ok(lock) = File::open(entry.path().join(LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Refuses a file, and a folder with an earlier demo, whose clock is ahead.
fn wanted(path: &Path) -> Result<PathBuf> {
    let shown = path.display();
    let refused = |what: String| Failure::usage(what).hint(CHOOSE);
    if path.exists() && !path.is_dir() {
        return Err(refused(format!("--keep: `{shown}` is not a folder")));
    }
    if path.join(FILE).exists() {
        let what = format!("--keep: `{shown}` already contains {FILE}");
        let file = path.join(FILE);
        return Err(Failure::usage(what).hint(format!(
            "choose another folder, or open this one with `almanack serve --config {}`",
            file.display()
        )));
    }
    std::path::absolute(path).map_err(|error| refused(format!("--keep: `{shown}`: {error}")))
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // On failure it stays in the system's temporary folder, which is cleaned up anyway.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(temporary: &Path) -> Folder {
        Folder::passing(temporary)
            .map_err(|error| error.text())
            .unwrap()
    }

    /// A demo that was killed and removed nothing.
    fn kill(mut folder: Folder) -> PathBuf {
        drop(folder.lock.take());
        folder.path.clone()
    }

    #[test]
    fn what_a_killed_demo_left_is_removed_by_the_next_and_nothing_else_is() {
        let temporary = tempfile::tempdir().unwrap();
        let (living, killed) = (begin(temporary.path()), begin(temporary.path()));
        let killed = kill(killed);
        fs::write(killed.join("almanack.db"), "rows").unwrap();
        let other = |name: &str| {
            let path = temporary.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let no_lock = other("almanack-demo-kept");
        let (elsewhere, link) = (other("elsewhere"), temporary.path().join("almanack-demo-1"));
        fs::write(elsewhere.join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let next = begin(temporary.path());
        assert!(!killed.exists());
        for path in [living.path(), next.path(), &no_lock, &elsewhere, &link] {
            assert!(path.symlink_metadata().is_ok(), "{}", path.display());
        }
        assert!(elsewhere.join(LOCK).exists());
    }
}
