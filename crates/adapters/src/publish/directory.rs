//! A local directory: the document is one file in it, whole or not at all.
//!
//! It is written to a temporary file, synced to disk and renamed, so that a reader of the directory
//! (a web server, a site generator) never sees half of it, not even after a power failure.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        port::{Failure, FailureClass, Message, Presence, Publisher, Sent},
    },
    time::Entropy,
};
use async_trait::async_trait;

use super::template::PathTemplate;

/// The path, where the settings name none.
pub const PATH: &str = "{date}-daily.md";

#[derive(Debug, Clone)]
pub struct DirectoryPublisherSettings {
    /// The destination's name in the configuration.
    pub destination: String,
    /// The directory; made if it is missing.
    pub root: PathBuf,
    /// The file in it.
    pub path: PathTemplate,
}

/// Delivers to a file.
pub struct DirectoryPublisher {
    settings: DirectoryPublisherSettings,
    entropy: Arc<dyn Entropy>,
}

impl DirectoryPublisher {
    /// Delivers according to `settings`; incomplete files have names from `entropy`.
    pub fn new(settings: DirectoryPublisherSettings, entropy: Arc<dyn Entropy>) -> Self {
        Self { settings, entropy }
    }

    fn file(&self, message: &Message<'_>) -> FilePath {
        FilePath {
            root: self.settings.root.clone(),
            path: self.settings.path.fill(message.document.inputs.date),
        }
    }
}

#[async_trait]
impl Publisher for DirectoryPublisher {
    fn destination(&self) -> &str {
        &self.settings.destination
    }

    /// Never used: a look decides.
    fn on_unknown(&self) -> OnUnknown {
        OnUnknown::Repeat
    }

    fn on_revision(&self) -> OnRevision {
        OnRevision::Replace
    }

    fn requests_per_part(&self) -> u32 {
        0
    }

    async fn send(&self, message: &Message<'_>, _: &Arc<Budget>) -> Sent {
        let (file, body) = (self.file(message), message.body.as_bytes().to_vec());
        let suffix = self.entropy.next_u64();
        let written = blocking_pool(move || file.write(&body, suffix).map(|()| file.receipt()));
        match written.await {
            Ok(receipt) => Sent::Confirmed {
                receipt: Some(receipt),
            },
            Err(error) => Sent::Failed(error.into()),
        }
    }

    async fn look(&self, message: &Message<'_>, _: &Arc<Budget>) -> Presence {
        let (file, body) = (self.file(message), message.body.as_bytes().to_vec());
        let found =
            blocking_pool(move || file.says(&body).map(|same| same.then(|| file.receipt())));
        match found.await {
            Ok(receipt @ Some(_)) => Presence::There { receipt },
            Ok(None) => Presence::NotThere,
            Err(error) => Presence::Failed(error.into()),
        }
    }
}

/// Disk access blocks, so it does not run on the runtime's threads.
async fn blocking_pool<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(Error::Stopped))
}

/// Why a file was not written or read.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{doing} `{path}`: {source}")]
    Io {
        doing: &'static str,
        path: String,
        source: io::Error,
    },
    #[error("`{0}` leads out of the directory by a link")]
    Outside(String),
    #[error("the writing was stopped")]
    Stopped,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        use io::ErrorKind::{IsADirectory, NotADirectory, PermissionDenied, ReadOnlyFilesystem};
        let class = match &error {
            Error::Outside(_) => FailureClass::Refused,
            Error::Io { source, .. } => match source.kind() {
                PermissionDenied | ReadOnlyFilesystem | IsADirectory | NotADirectory => {
                    FailureClass::Refused
                }
                _ => FailureClass::Transient,
            },
            Error::Stopped => FailureClass::Transient,
        };
        Self::new(class, error.to_string())
    }
}

struct FilePath {
    root: PathBuf,
    path: String,
}

impl FilePath {
    fn receipt(&self) -> String {
        self.root.join(&self.path).display().to_string()
    }

    fn error(&self, doing: &'static str) -> impl FnOnce(io::Error) -> Error + use<> {
        let path = self.path.clone();
        move |source| Error::Io {
            doing,
            path,
            source,
        }
    }

    /// Whether the file exists with this content.
    fn says(&self, body: &[u8]) -> Result<bool, Error> {
        match fs::read(self.root.join(&self.path)) {
            Ok(present) => Ok(present == body),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.error("read")(error)),
        }
    }

    fn write(&self, body: &[u8], suffix: u64) -> Result<(), Error> {
        let (folder, name) = self.folder()?;
        let target = folder.join(name);
        let draft = folder.join(format!(".{name}.{suffix:016x}.tmp"));
        let moved = write_whole(&draft, body).and_then(|()| fs::rename(&draft, &target));
        if moved.is_err() {
            // The rest of it is of no use; the first error is the one to report.
            let _ = fs::remove_file(&draft);
        }
        let kept = moved.and_then(|()| fs::File::open(&folder)?.sync_all());
        kept.map_err(self.error("write"))
    }

    /// The file's folder, created if it is missing, and the file's name. Every folder on the way is
    /// looked at before the next is made: a link may lead anywhere.
    fn folder(&self) -> Result<(PathBuf, &str), Error> {
        let opened = fs::create_dir_all(&self.root).and_then(|()| self.root.canonicalize());
        let root = opened.map_err(self.error("make the folder of"))?;
        let (folders, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let mut here = root.clone();
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            here = enter(&here.join(part)).map_err(self.error("make the folder of"))?;
            if !here.starts_with(&root) {
                return Err(Error::Outside(self.path.clone()));
            }
        }
        Ok((here, name))
    }
}

/// The folder itself, made if it is missing.
fn enter(folder: &Path) -> io::Result<PathBuf> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => folder.canonicalize(),
    }
}

fn write_whole(path: &Path, body: &[u8]) -> io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(body)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
