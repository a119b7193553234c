//! `[backup]`: scheduled copies of a SQLite store.

use std::path::PathBuf;

use almanack_store::Location;
use jiff::SignedDuration;

use super::{
    super::{key::KeyPath, reader::Reader, report::Problem, value},
    DAY_S, Database, seconds,
};

/// `[backup]`
#[derive(Debug, Clone)]
pub(crate) struct Backup {
    /// Where backups are kept; without one none is made.
    pub(crate) directory: Option<PathBuf>,
    /// From one to the next.
    pub(crate) every: SignedDuration,
    /// How many are kept.
    pub(crate) keep: usize,
}

impl Backup {
    pub(super) fn read(reader: &mut Reader<'_>, database: &Database) -> Self {
        let key = |name| KeyPath::plain("backup", name);
        let folder = |raw: &_| value::text(raw).map(PathBuf::from);
        let directory = reader.optional(&key("directory"), "(none are made)", folder);
        let read = Self {
            directory: directory.map(|folder| reader.base.join(folder)),
            every: reader.value(
                &key("every"),
                SignedDuration::from_secs(DAY_S),
                value::duration(seconds(60..=30 * DAY_S)),
            ),
            keep: reader.value(&key("keep"), 7, value::count(1..=1_000)),
        };
        for name in ["every", "keep"] {
            let place = reader.place(&key(name));
            if read.directory.is_none() && place.is_some() {
                let what = format!("backup.{name} has no effect without backup.directory");
                let hint = "name the folder, like \"/var/backups/almanack\"";
                reader
                    .problems
                    .push(Problem::warning(what, place).hint(hint));
            }
        }
        let is_postgres = matches!(
            Location::parse(database.url.expose()),
            Ok(Location::Postgres(_))
        );
        if read.directory.is_some() && is_postgres {
            let what = "[backup] copies SQLite files, and this database is PostgreSQL";
            let hint = "remove it, and let a timer run pg_dump, or pg_basebackup with an archive of the log";
            let place = reader.place(&key("directory"));
            reader.problems.push(Problem::error(what, place).hint(hint));
        }
        read
    }
}
