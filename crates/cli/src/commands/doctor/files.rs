//! Files and folders: who may read secrets, and whether this user may write where needed.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use almanack_adapters::disk;
use almanack_store::backup::{Left, left_behind};

use super::Finding;
use crate::commands::prelude::*;

/// Any of these, and others than the owner's group may read it.
const OTHERS_READ: u32 = 0o004;

/// Looks at what is on the disk.
pub(super) fn look(settings: &Settings, inputs: &Inputs) -> Vec<Finding> {
    let mut findings = Vec::new();
    let database = wiring::sqlite_file(&settings.database);
    if let Some(path) = &database {
        let at = wiring::store_folder(&settings.database).unwrap_or_default();
        findings.push(folder("folder of the database", &at));
        findings.extend(left_behind(path).iter().map(judge_left));
    }
    if let Some(path) = &settings.backup.directory {
        findings.push(backups(path));
    }
    if settings.command.enabled {
        let path = &settings.command.directory;
        findings.push(folder("folder of commands", path));
    }
    let kept = database.into_iter().chain(secrets(inputs));
    let open: Vec<String> = kept
        .filter(|path| is_open(path))
        .map(|path| path.display().to_string())
        .collect();
    findings.push(judge_open(&open));
    findings
}

fn folder(check: &str, path: &Path) -> Finding {
    let shown = path.display();
    if disk::is_writable(path) {
        return Finding::ok(check, format!("{shown} can be written"));
    }
    Finding::failed(check, format!("{shown} cannot be written"))
        .hint("create it, or make it writable for the user that runs the node")
}

/// Where backups go; made by the first one, in the nearest folder that is there.
fn backups(path: &Path) -> Finding {
    let nearest = path.ancestors().find(|folder| folder.exists());
    match nearest {
        Some(there) if there == path => folder("folder of backups", path),
        Some(there) if disk::is_writable(there) => {
            let what = format!("{} will be created with the first backup", path.display());
            Finding::ok("folder of backups", what)
        }
        _ => folder("folder of backups", path),
    }
}

/// What restores left beside the store.
fn judge_left(left: &Left) -> Finding {
    let check = "restore";
    match left {
        Left::Partial(path) => {
            let what = format!("{} is left from an interrupted restore", path.display());
            Finding::warning(check, what)
                .hint("the store is complete; restore again, or remove the file")
        }
        Left::AtWork(path) => {
            let what = format!("a restore is running: it writes {}", path.display());
            Finding::warning(check, what).hint("wait until it ends, and check again")
        }
        Left::Twin(path) => {
            let what = format!(
                "{} is a second name of the store, left from an interrupted restore",
                path.display()
            );
            Finding::warning(check, what).hint(
                "the store is complete; restore again, or remove the second name; never open it",
            )
        }
        Left::Replaced(path) => Finding::ok(
            check,
            format!("{} is the store that was replaced", path.display()),
        ),
        Left::Log(path) => {
            let what = format!("{} is the log of a missing store", path.display());
            Finding::failed(check, what).hint(
                "move it beside its store, under that store's name, or remove it, before a store gets this name",
            )
        }
    }
}

fn judge_open(open: &[String]) -> Finding {
    if open.is_empty() {
        return Finding::ok("permissions", "no other user can read secrets");
    }
    let what = format!("every user of this machine can read {}", open.join(", "));
    Finding::warning("permissions", what).hint(format!("chmod o= {}", open.join(" ")))
}

/// The files that secrets are read from: those that the file and the environment name.
fn secrets(inputs: &Inputs) -> Vec<PathBuf> {
    let (file, _) = inputs.file();
    let base = file.parent().unwrap_or(Path::new("")).to_path_buf();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let named = |text: &str| -> Vec<PathBuf> {
        let quoted = text.split('"').filter_map(|it| it.strip_prefix("file:"));
        quoted.map(|path| base.join(path)).collect()
    };
    let variables = inputs.environment.iter();
    let variables = variables
        .filter(|(name, _)| name.starts_with("ALMANACK_"))
        .filter_map(|(_, value)| Some(base.join(value.strip_prefix("file:")?)));
    let mut found: Vec<PathBuf> = named(&text).into_iter().chain(variables).collect();
    found.sort();
    found.dedup();
    found
}

fn is_open(path: &Path) -> bool {
    let mode = std::fs::metadata(path).map(|it| it.permissions().mode());
    mode.is_ok_and(|mode| mode & OTHERS_READ != 0)
}
