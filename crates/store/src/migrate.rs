//! Migrations: numbered, named, paired, and run on start.
//!
//! Both databases keep the list of what has been applied in `migration`. Old and new nodes overlap
//! during an upgrade, so a step either **expands** (adds what older versions do not miss and do not
//! disturb) or **contracts** (takes away what older versions need), and says which in its text:
//!
//! ```text
//! -- expand                  every version that worked before works on
//! -- contract from 0012      only versions that know step 12 work from here on; a step that names
//!                            itself lets none work on
//! ```
//!
//! What a step demands is written beside it (`migration_mark`), for versions that do not know the
//! step. A node that finds steps from the future starts if all of them leave it what it needs, and
//! otherwise refuses and says which does not: starting anyway could damage data.
//!
//! A step must not stop the others for longer than a moment, whatever a table holds. What adds a
//! table or a column is done at once. An index on a table that is there already is a step of its
//! own, with nothing else in it but other indexes, and says so:
//!
//! ```text
//! -- concurrently            PostgreSQL builds these indexes while the table is written to
//! create index task_kind on task (kind, id);
//! ```

use almanack_core::store::{Error, Result};

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
    migration!(10, "0010_room_for_ends"),
    migration!(11, "0011_task_expiries"),
    migration!(12, "0012_access_guard"),
    migration!(13, "0013_node_trouble"),
    migration!(14, "0014_clock"),
    migration!(15, "0015_decision_requested"),
    migration!(16, "0016_one_alert"),
    migration!(17, "0017_edition_alert"),
    migration!(18, "0018_words_of_the_field"),
    migration!(19, "0019_source_options"),
    migration!(20, "0020_entry_found_by"),
    migration!(21, "0021_firing"),
    migration!(22, "0022_run_log"),
    migration!(23, "0023_calendar"),
    migration!(24, "0024_monitor"),
    migration!(25, "0025_pace"),
    migration!(26, "0026_task_expiry"),
    migration!(27, "0027_task_expires_index"),
    migration!(28, "0028_find"),
    migration!(29, "0029_inbox"),
    migration!(30, "0030_task_share"),
    migration!(31, "0031_edition_name"),
    migration!(32, "0032_shared_text"),
    migration!(33, "0033_edition_deadline"),
    migration!(34, "0034_edition_details"),
    migration!(35, "0035_edition_desk"),
    migration!(36, "0036_newsletter"),
    migration!(37, "0037_task_share_index"),
    migration!(38, "0038_model_spend"),
    migration!(39, "0039_overview_prompt"),
];

/// The tables that record the schema of a database.
pub(crate) const LEDGERS: [&str; 2] = ["migration", "migration_mark"];
/// Beside each step, for versions that do not know it: they work if they know all steps up to
/// `works_from`.
pub(crate) const CREATE_LEDGER: &str = "create table if not exists migration \
     (number bigint primary key, name text not null); \
     create table if not exists migration_mark \
     (number bigint primary key, works_from bigint not null)";
pub(crate) const LOAD_APPLIED: &str = "select migration.number, migration.name, \
     migration_mark.works_from from migration \
     left join migration_mark on migration_mark.number = migration.number \
     order by migration.number";
/// The same of a database that no version has marked yet, for readers.
pub(crate) const LOAD_UNMARKED: &str =
    "select number, name, cast(null as bigint) from migration order by number";
pub(crate) const NOTE_APPLIED: &str = "insert into migration (number, name) values ($1, $2)";
pub(crate) const MARK_APPLIED: &str =
    "insert into migration_mark (number, works_from) values ($1, $2)";

/// A step that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) number: i64,
    pub(crate) name: String,
    /// What it demands; steps from before this was written down have no mark.
    pub(crate) works_from: Option<i64>,
}

/// The newest step that this version knows. What is made anew beside the steps carries it as its
/// version.
pub(crate) fn newest() -> i64 {
    ALL.last().map_or(0, |migration| migration.number)
}

impl Migration {
    /// The last step that a version must know to work after this one. Unmarked steps demand that
    /// they are known themselves.
    pub(crate) fn works_from(&self) -> i64 {
        marks(self.postgres).next().unwrap_or(self.number)
    }

    /// Whether it makes nothing but indexes, on tables that others write to meanwhile.
    pub(crate) fn is_concurrent(&self) -> bool {
        self.postgres.lines().any(|line| line == "-- concurrently")
    }

    /// What PostgreSQL is to do, one by one and without comments.
    pub(crate) fn statements(&self) -> Vec<String> {
        let code = |line: &'static str| line.split_once("--").map_or(line, |(code, _)| code);
        let lines: Vec<&str> = self.postgres.lines().map(code).collect();
        let statements = lines.join("\n");
        let statements = statements.split(';').map(str::trim);
        let statements = statements.filter(|text| !text.is_empty());
        statements.map(str::to_owned).collect()
    }
}

/// A statement that makes an index.
pub(crate) struct Index<'a> {
    pub(crate) name: &'a str,
    pub(crate) table: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Index<'a> {
    /// Reads `create [unique] index NAME on TABLE …`.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix("create ")?;
        let rest = rest.strip_prefix("unique ").unwrap_or(rest);
        let (name, rest) = rest.strip_prefix("index ")?.split_once(" on ")?;
        let table = rest.split([' ', '(']).next()?;
        Some(Self { name, table, text })
    }

    /// The same, while the table is written to.
    pub(crate) fn concurrently(&self) -> String {
        self.text.replacen("index ", "index concurrently ", 1)
    }
}

/// What the lines of a text that are marks demand.
fn marks(text: &str) -> impl Iterator<Item = i64> {
    text.lines().filter_map(|line| match line.trim() {
        "-- expand" => Some(0),
        line => line.strip_prefix("-- contract from ")?.parse().ok(),
    })
}

/// What of `all` is left to do after `applied`, or why nothing must be done.
pub(crate) fn pending(
    all: &'static [Migration],
    applied: &[Applied],
) -> Result<&'static [Migration]> {
    let known = all.last().map_or(0, |migration| migration.number);
    let too_much = |step: &&Applied| {
        let demanded = step.works_from.unwrap_or(step.number);
        step.number > known && demanded > known
    };
    if let Some(Applied { number, name, .. }) = applied.iter().find(too_much) {
        return Err(Error::Incompatible {
            what: format!(
                "migration {number} (`{name}`) from a newer version of Almanack; this one knows \
                 migrations up to {known}. Start the newer version, or restore a backup made \
                 before the upgrade"
            ),
        });
    }
    let done = applied.last().map_or(0, |step| step.number);
    let from = all
        .iter()
        .position(|migration| migration.number > done)
        .unwrap_or(all.len());
    Ok(&all[from..])
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

    fn applied(number: i64, name: &str, works_from: Option<i64>) -> Applied {
        Applied {
            number,
            name: name.to_owned(),
            works_from,
        }
    }

    #[test]
    fn a_step_from_the_future_is_fine_if_it_leaves_what_this_version_needs() {
        let known = ALL.last().unwrap().number;
        for (works_from, fine, why) in [
            (Some(0), true, "it only adds"),
            (Some(known), true, "what it takes away is not used any more"),
            (Some(known + 1), false, "it takes away what is used"),
            (None, false, "its purpose is not stated"),
        ] {
            let newest = applied(known + 7, "0999_from_the_future", works_from);
            match pending(ALL, &[applied(1, "0001_task", None), newest]) {
                Ok(steps) => assert_eq!((fine, steps.len()), (true, 0), "{why}"),
                Err(error) => {
                    let refusal = error.to_string();
                    assert!(!fine, "{why}: {refusal}");
                    assert!(refusal.contains("0999_from_the_future"), "{refusal}");
                    assert!(refusal.contains("newer version"), "{refusal}");
                }
            }
        }
    }

    /// A mark that is missing or misspelt would keep older nodes out; one that differs would do so
    /// in one database.
    #[test]
    fn every_step_says_whether_it_expands_or_contracts() {
        for step in ALL.iter().filter(|step| step.number >= 8) {
            let said = |text| marks(text).collect::<Vec<i64>>();
            assert_eq!(said(step.postgres).len(), 1, "{}", step.name);
            assert_eq!(said(step.postgres), said(step.sqlite), "{}", step.name);
            // Step 18 renamed what is stored before the first release; none after it may lock all
            // older nodes out at once.
            let leaves_room = step.works_from() < step.number || step.number == 18;
            assert!(leaves_room, "{}", step.name);
        }
        assert_eq!(
            marks("-- contract from 0012\ndrop table x").next(),
            Some(12)
        );
    }

    /// Built plainly it would block all writes to the table, for as long as the table is
    /// large (SF-08).
    #[test]
    fn sf_08_an_index_on_a_table_that_is_there_is_built_concurrently() {
        for step in ALL.iter().filter(|step| step.number > 10) {
            for text in step.statements() {
                let index = Index::parse(&text);
                let concurrent = step.is_concurrent();
                assert!(index.is_some() || !concurrent, "{}: {text}", step.name);
                let Some(index) = index.filter(|_| !concurrent) else {
                    continue;
                };
                let made = format!("create table {} (", index.table);
                assert!(step.postgres.contains(&made), "{}: {text}", step.name);
            }
        }
        let step = Migration {
            number: 1,
            name: "",
            sqlite: "",
            postgres: "-- a; b\n-- concurrently\ncreate unique index a on b(c)\n    where d;\n-- e\n",
        };
        let texts = step.statements();
        assert_eq!(texts, ["create unique index a on b(c)\n    where d"]);
        let index = Index::parse(&texts[0]).unwrap();
        assert_eq!((index.name, index.table), ("a", "b"));
        let concurrently = "create unique index concurrently a on b(c)\n    where d";
        assert_eq!(index.concurrently(), concurrently);
    }

    #[test]
    fn only_what_is_missing_is_pending() {
        assert_eq!(pending(ALL, &[]).unwrap().len(), ALL.len());
        assert_eq!(
            pending(ALL, &[applied(1, "0001_task", None)])
                .unwrap()
                .len(),
            ALL.len() - 1
        );
    }
}
