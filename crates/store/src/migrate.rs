//! Migrations: numbered, named, paired, and run on start.
//!
//! Both databases keep the list of what has been applied in `migration`. A number this version does
//! not know means that a newer Almanack has been here: starting anyway could damage its data, so we
//! refuse and say which. Old and new nodes overlap during an upgrade, hence expand first, contract
//! in a later version.

use almanack_core::store::{Error, Result};

/// One step.
pub(crate) struct Migration {
    pub(crate) number: i64,
    pub(crate) name: &'static str,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

macro_rules! migration {
    ($number:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $name, ".sql")),
        }
    };
}

/// All steps, in order.
pub(crate) const ALL: &[Migration] = &[
    migration!(1, "0001_task"),
    migration!(2, "0002_node_token"),
    migration!(3, "0003_schedule"),
    migration!(4, "0004_source"),
    migration!(5, "0005_editions"),
    migration!(6, "0006_sign_in_overview"),
    migration!(7, "0007_schedule_beside"),
    migration!(8, "0008_lane"),
    migration!(9, "0009_alert"),
];

pub(crate) const CREATE_LEDGER: &str = "create table if not exists migration \
     (number bigint primary key, name text not null)";
pub(crate) const LOAD_APPLIED: &str = "select number, name from migration order by number";
pub(crate) const NOTE_APPLIED: &str = "insert into migration (number, name) values ($1, $2)";

/// What is left to do after `applied`, or why nothing must be done.
pub(crate) fn pending(applied: &[(i64, String)]) -> Result<&'static [Migration]> {
    let known = ALL.last().map_or(0, |migration| migration.number);
    if let Some((number, name)) = applied.iter().find(|(number, _)| *number > known) {
        return Err(Error::Incompatible {
            what: format!(
                "migration {number} (`{name}`) from a newer version of Almanack; this one knows \
                 migrations up to {known}. Start the newer version, or restore a backup made \
                 before the upgrade"
            ),
        });
    }
    let done = applied.last().map_or(0, |(number, _)| *number);
    let from = ALL
        .iter()
        .position(|migration| migration.number > done)
        .unwrap_or(ALL.len());
    Ok(&ALL[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_without_gaps_and_named_after_their_number() {
        for (migration, expected) in ALL.iter().zip(1..) {
            assert_eq!(migration.number, expected);
            assert!(
                migration.name.starts_with(&format!("{expected:04}_")),
                "{}",
                migration.name
            );
        }
    }

    #[test]
    fn a_migration_from_a_newer_version_is_refused_by_name() {
        let applied = [
            (1, "0001_task".into()),
            (999, "0999_from_the_future".into()),
        ];
        let refusal = pending(&applied).map(<[_]>::len).unwrap_err().to_string();
        assert!(refusal.contains("0999_from_the_future"), "{refusal}");
        assert!(refusal.contains("newer version"), "{refusal}");
    }

    #[test]
    fn only_what_is_missing_is_pending() {
        assert_eq!(pending(&[]).unwrap().len(), ALL.len());
        assert_eq!(
            pending(&[(1, "0001_task".into())]).unwrap().len(),
            ALL.len() - 1
        );
    }
}
