//! Where the demo keeps its files, and what becomes of them.

use std::path::{Path, PathBuf};

use super::configuration::FILE;
use crate::{
    failure::{Exit, Failure},
    output::Output,
    wiring,
};

/// A folder that is removed at the end, unless it is to be kept.
pub(super) struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// The folder to be kept, or a new one.
    pub(super) fn create(keep: Option<&Path>) -> Result<Self, Failure> {
        let folder = match keep {
            Some(path) => Self {
                path: wanted(path)?,
                keep: true,
            },
            None => Self {
                path: std::env::temp_dir().join(format!(
                    "almanack-demo-{:08x}",
                    wiring::entropy().next_u64() >> 32
                )),
                keep: false,
            },
        };
        std::fs::create_dir_all(&folder.path).map_err(|error| folder.failed(&error))?;
        Ok(folder)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Says what becomes of it.
    pub(super) fn part(&self, output: &mut Output) -> Result<(), Failure> {
        if self.keep {
            let file = self.path.join(FILE);
            output.line(&format!(
                "\nIt stays in {}; look around in it with\n  almanack serve --config {}",
                self.path.display(),
                file.display()
            ))?;
        }
        output.flush()
    }

    /// That it cannot be used.
    pub(super) fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::new(
            Exit::Failed,
            format!("use folder `{}`: {error}", self.path.display()),
        )
        .hint("choose another with --keep FOLDER")
    }
}

/// A folder that can be kept: none that is a file, none with a demo in it whose clock has run ahead.
fn wanted(path: &Path) -> Result<PathBuf, Failure> {
    let shown = path.display();
    let refused =
        |what: String| Failure::new(Exit::Usage, what).hint("choose another with --keep FOLDER");
    if path.exists() && !path.is_dir() {
        return Err(refused(format!("--keep: `{shown}` is not a folder")));
    }
    if path.join(FILE).exists() {
        let what = format!("--keep: `{shown}` holds an {FILE} already");
        let file = path.join(FILE);
        return Err(Failure::new(Exit::Usage, what).hint(format!(
            "choose another folder, or look around in this one with `almanack serve --config {}`",
            file.display()
        )));
    }
    std::path::absolute(path).map_err(|error| refused(format!("--keep: `{shown}`: {error}")))
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed is in the machine's temporary folder and goes with it.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
