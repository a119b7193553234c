//! A folder of scheduled backups, each named after its instant: `almanack-20260105T120000Z.db`.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use almanack_core::backup::Vault;
use async_trait::async_trait;
use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{Offset, TimeZone},
};

use super::{Replace, Verify, save};

const NAME: &str = "almanack-%Y%m%dT%H%M%SZ.db";
/// What backups hold is private.
const PRIVATE: u32 = 0o700;

/// Backups of one store in one folder. Files with other names are ignored.
#[derive(Debug, Clone)]
pub struct Rotation {
    pub store: PathBuf,
    /// The folder; made if it is not there.
    pub folder: PathBuf,
}

impl Rotation {
    fn file(&self, made_at: Timestamp) -> PathBuf {
        let civil = Offset::UTC.to_datetime(made_at);
        self.folder.join(civil.strftime(NAME).to_string())
    }
}

fn made_at(file: &Path) -> Option<Timestamp> {
    let civil = DateTime::strptime(NAME, file.file_name()?.to_str()?).ok()?;
    civil.to_zoned(TimeZone::UTC).ok().map(|it| it.timestamp())
}

fn list(folder: &Path) -> io::Result<Vec<Timestamp>> {
    let files = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let mut found = Vec::new();
    for file in files {
        found.extend(made_at(&file?.path()));
    }
    Ok(found)
}

/// Runs blocking work on the blocking pool.
async fn blocking_pool<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(error.to_string()))
}

#[async_trait]
impl Vault for Rotation {
    async fn list(&self) -> Result<Vec<Timestamp>, String> {
        let folder = self.folder.clone();
        blocking_pool(move || list(&folder).map_err(|error| failure("read", &folder, &error))).await
    }

    async fn save(&self, now: Timestamp) -> Result<u64, String> {
        let (this, file) = (self.clone(), self.file(now));
        blocking_pool(move || {
            let mut folder = fs::DirBuilder::new();
            let made = folder.recursive(true).mode(PRIVATE).create(&this.folder);
            made.map_err(|error| failure("create", &this.folder, &error))?;
            let how = (Replace::Never, Verify::Whole);
            let held = save(&this.store, &file, how, &mut |_, _| ());
            held.map(|held| held.bytes)
                .map_err(|error| error.to_string())
        })
        .await
    }

    async fn remove(&self, made_at: Timestamp) -> Result<(), String> {
        let file = self.file(made_at);
        blocking_pool(move || match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failure("remove", &file, &error))
            }
            _ => Ok(()),
        })
        .await
    }
}

fn failure(what: &str, path: &Path, error: &io::Error) -> String {
    format!("{what} `{}`: {error}", path.display())
}
