//! `almanack backup`, `almanack backup verify`, `almanack restore`.
//!
//! SQLite only: PostgreSQL has its own, better tools; for it, the command to run is printed.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use almanack_store::{
    Location,
    backup::{self, Checksum, Error, Held, Left, Replace, Verify},
};

use serde_json::Map;

use super::{alive::refuse_alive, no_database, progress::progress};
use crate::{commands::prelude::*, config::secret::without_password};

/// Writes a backup, or verifies one.
pub(super) fn run(arguments: &BackupArguments, inputs: &Inputs, output: &mut Output) -> Done {
    match (&arguments.command, &arguments.file) {
        (Some(BackupCommand::Verify { file, no_checksum }), _) => {
            verify(file, checksum(*no_checksum), output)
        }
        (None, Some(file)) => save(arguments, file, inputs, output),
        (None, None) => Err(Failure::usage("name a file for the backup")),
    }
}

fn save(arguments: &BackupArguments, file: &Path, inputs: &Inputs, output: &mut Output) -> Done {
    let settings = checked(config::load(inputs, Need::Database))?;
    let from = sqlite_file(settings.database.url.expose(), |url| pg_dump(file, url))?;
    if !from.exists() {
        return Err(no_database(&from));
    }
    if is_same(&from, file) {
        let what = format!("`{}` is the store itself", file.display());
        return Err(Failure::usage(what).hint("name another file"));
    }
    let replace = allowed(arguments.force);
    let verify = if arguments.no_verify {
        Verify::Skip
    } else {
        Verify::Whole
    };
    let saved = copying(output, |progress| {
        backup::save(&from, file, (replace, verify), progress)
    });
    let held = saved.map_err(|error| with_hint(error, Direction::Save))?;
    show("saved", file, &held, output)
}

fn verify(file: &Path, checksum: Checksum, output: &mut Output) -> Done {
    refuse_missing(file)?;
    let held = backup::verify(file, checksum);
    let held = held.map_err(|error| with_hint(error, Direction::Verify))?;
    show("whole", file, &held, output)
}

fn refuse_missing(file: &Path) -> Result<()> {
    if file.exists() {
        return Ok(());
    }
    let what = format!("no backup at {}", file.display());
    Err(Failure::not_found(what))
}

/// Restores the store from a backup.
pub(super) fn restore(arguments: &RestoreArguments, inputs: &Inputs, output: &mut Output) -> Done {
    let settings = checked(config::load(inputs, Need::Database))?;
    let to = sqlite_file(settings.database.url.expose(), |url| {
        let file = arguments.file.display();
        format!(
            "stop all nodes, then: pg_restore --clean --if-exists --single-transaction --dbname='{url}' '{file}'"
        )
    })?;
    refuse_missing(&arguments.file)?;
    if is_same(&to, &arguments.file) {
        let what = format!("`{}` is the store itself", to.display());
        return Err(Failure::usage(what).hint("name a backup of it"));
    }
    if to.exists() {
        let location = Location::Sqlite(to.clone());
        wait_for(refuse_alive(&location, settings.node.lease))?;
    }
    let how = (allowed(arguments.force), checksum(arguments.no_checksum));
    report_left(&to, output);
    let restored = copying(output, |progress| {
        backup::restore(&arguments.file, &to, how, progress)
    });
    let held = restored.map_err(|error| with_hint(error, Direction::Restore))?;
    let done = show("restored", &to, &held, output);
    output.aside("changes since the backup are lost: tasks that were due since then run again\n");
    done
}

/// Reports what an earlier restore left, if this one continues from it.
fn report_left(to: &Path, output: &mut Output) {
    for left in backup::left_behind(to) {
        let (path, what) = match left {
            Left::Partial(path) => (
                path,
                "is left from an interrupted restore; writing it again",
            ),
            Left::Twin(path) => (
                path,
                "is a second name of the store, left from an interrupted restore; continuing from there",
            ),
            // These are refused later, if they block the restore.
            Left::AtWork(_) | Left::Replaced(_) | Left::Log(_) => continue,
        };
        output.note(&format!("note: `{}` {what}\n", path.display()));
    }
}

fn allowed(force: bool) -> Replace {
    if force {
        Replace::Allowed
    } else {
        Replace::Never
    }
}

fn checksum(ignored: bool) -> Checksum {
    if ignored {
        Checksum::Ignored
    } else {
        Checksum::Required
    }
}

/// Copies with a progress bar, on a terminal.
fn copying<T>(output: &Output, copy: impl FnOnce(backup::Progress<'_>) -> T) -> T {
    let bar = progress(Some(0), output);
    let done = copy(&mut |left, pages| {
        bar.set_length(pages);
        bar.set_position(pages - left);
        bar.set_message("pages");
    });
    bar.finish_and_clear();
    done
}

fn show(what: &str, file: &Path, held: &Held, output: &mut Output) -> Done {
    if output.json {
        let tables = held.tables.iter().map(|(table, sum)| {
            let checksum = format!("{:032x}", sum.checksum);
            let view = json!({ "rows": sum.rows, "checksum": checksum });
            (table.clone(), view)
        });
        output.value(&json!({
            "outcome": what,
            "file": file.display().to_string(),
            "bytes": held.bytes,
            "sha256": held.checksum,
            "migrations": held.migrations,
            "verified": !held.tables.is_empty(),
            "tables": tables.collect::<Map<_, _>>(),
        }))?;
        return Ok(Exit::Ok);
    }
    let filled = held.tables.iter().filter(|(_, sum)| sum.rows > 0);
    let rows: Vec<Vec<Cell>> = filled
        .map(|(table, sum)| vec![Cell::new(table), Cell::new(sum.rows.to_string())])
        .collect();
    if !rows.is_empty() {
        output.table(&["TABLE", "ROWS"], &rows)?;
    }
    let read = if held.tables.is_empty() {
        "not verified"
    } else {
        "verified"
    };
    let (name, bytes) = (file.display(), held.bytes);
    output.line(&format!("{what}: {name}, {bytes} bytes, {read}"))?;
    Ok(Exit::Ok)
}

/// The file of the store, or the commands for PostgreSQL.
fn sqlite_file(url: &str, with_its_own_tools: impl FnOnce(&str) -> String) -> Result<PathBuf> {
    match Location::parse(url).map_err(Failure::usage)? {
        Location::Sqlite(path) => Ok(path),
        Location::Postgres(url) => {
            let what = "the database is PostgreSQL: use its own tools";
            Err(Failure::usage(what).hint(with_its_own_tools(&without_password(&url))))
        }
    }
}

fn pg_dump(file: &Path, url: &str) -> String {
    let file = file.display();
    format!(
        "pg_dump --format=custom --file='{file}' '{url}'; for all databases of the server, with WAL: \
         pg_basebackup --pgdata=FOLDER --wal-method=stream"
    )
}

/// By whichever name: an interrupted restore leaves the store under two.
fn is_same(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
    match (number(one), number(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Save,
    Verify,
    Restore,
}

fn with_hint(error: Error, direction: Direction) -> Failure {
    let what = error.to_string();
    let failed = Failure::failed(what);
    match (error, direction) {
        (Error::Store(error), _) => Failure::from(error),
        (Error::Exists { .. }, Direction::Restore) => failed.hint(
            "it is the store that an earlier --force replaced; move or remove it; nothing was changed",
        ),
        (Error::InUse { .. }, _) => {
            failed.hint("stop the process that uses it and try again; nothing was replaced")
        }
        (Error::AtWork { .. }, _) => {
            failed.hint("wait until it ends, and try again; nothing was changed")
        }
        (Error::Log { path }, _) => {
            let what = "a store was removed or moved without its log, or a restore by an earlier version \
                        was interrupted";
            let log = path.display();
            failed.hint(format!(
                "{what}: move it beside its store, under that store's name, or remove it \
                 (rm '{log}'); nothing was changed"
            ))
        }
        (Error::Exists { .. }, _) => failed.hint("choose another name, or replace it with --force"),
        (Error::NotEmpty { .. }, _) => {
            failed.hint(
                "restore into another file with --database sqlite:FILE, or move this one aside with \
                 --force",
            )
        }
        (Error::Damaged { .. }, Direction::Save) => {
            failed.hint("nothing was written; check the disk, and the store with `almanack doctor`")
        }
        (Error::Unsealed { .. }, _) => failed.hint(
            "it is truncated, or another tool wrote it; --no-checksum checks the structure only; \
             nothing was changed",
        ),
        (Error::Damaged { .. }, _) => failed.hint("use an earlier backup; nothing was changed"),
        (Error::File { .. }, _) => {
            failed.hint("check that this user may write there, and that the disk has space")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_postgresql_the_command_to_copy_is_reported_without_the_password() {
        let url = "postgres://bob:hunter2@db/almanack";
        let found = sqlite_file(url, |url| pg_dump(Path::new("a.dump"), url));
        let failure = found.unwrap_err().text();
        assert!(
            failure.contains(
                "pg_dump --format=custom --file='a.dump' 'postgres://bob:***@db/almanack'"
            )
        );
        assert!(!failure.contains("hunter2"));
    }
}
