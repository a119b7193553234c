//! Whether a target may be moved into, found out before anything is done to it.
//!
//! A target is nothing at all, a database with nothing in it, or an empty store of ours of this
//! version or an earlier one. Whatever else is there has another owner. Names alone prove
//! nothing: a table called `task` is ours if a list of our migrations is beside it and its
//! columns are those that these migrations make.
//!
//! INVARIANT: nothing is written before this has passed, so what is refused is left unchanged, byte
//! for byte. The move itself looks again at what it relies on, under its lock.

use std::collections::BTreeMap;

use almanack_core::store;
use rusqlite::Connection;

use super::{Error, Result, sqlite};
use crate::{
    migrate::{self, Applied},
    sqlite::explain,
};

/// How many names a refusal lists.
const LISTED_MAX: usize = 5;
/// The columns of the lists of migrations, sorted.
const LEDGER_COLUMNS: [&[&str]; 2] = [&["name", "number"], &["number", "works_from"]];

/// A named object in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Thing {
    /// What it is: a table, a view.
    pub(super) what: String,
    pub(super) name: String,
    pub(super) columns: Vec<String>,
}

/// Whether the lists of migrations stand there and can be read.
pub(super) fn has_ledger(things: &[Thing]) -> bool {
    let [steps, marks] = migrate::LEDGERS;
    let named = |name| things.iter().find(|thing| thing.name == name);
    named(steps).is_some_and(is_ledger) && named(marks).is_none_or(is_ledger)
}

fn is_ledger(thing: &Thing) -> bool {
    let ledgers = migrate::LEDGERS.iter().zip(LEDGER_COLUMNS);
    let known =
        |(name, columns): (&&str, &[&str])| thing.name == **name && thing.columns == columns;
    thing.what == "table" && ledgers.into_iter().any(known)
}

/// Refuses a target that has anything but what these migrations make; `applied` is what its lists
/// say, nothing if it has none.
pub(super) fn refuse_foreign(things: &[Thing], applied: &[Applied]) -> Result<()> {
    let ours = has_ledger(things) && are_ours(applied);
    let expected = if ours {
        refuse_newer(applied)?;
        layout(applied)?
    } else {
        BTreeMap::new()
    };
    let belongs = |thing: &&Thing| {
        let laid_out = expected.get(&thing.name) == Some(&thing.columns);
        thing.what == "table" && (laid_out || ours && is_ledger(thing))
    };
    let foreign: Vec<&Thing> = things.iter().filter(|thing| !belongs(thing)).collect();
    if foreign.is_empty() {
        return Ok(());
    }
    Err(Error::Foreign {
        found: listed(&foreign),
    })
}

/// Other programs keep lists of migrations, too: ours begins with our first, and has no other name
/// for any we know.
fn are_ours(applied: &[Applied]) -> bool {
    let known = |step: &Applied| {
        let known = migrate::ALL.iter().find(|ours| ours.number == step.number);
        known.map(|ours| ours.name == step.name)
    };
    applied
        .first()
        .is_none_or(|first| known(first) == Some(true))
        && applied.iter().all(|step| known(step) != Some(false))
}

/// Refuses a target that a newer version has worked on, even where this one could work beside it:
/// what that version keeps there is unknown here, and would be taken for another owner's.
fn refuse_newer(applied: &[Applied]) -> Result<()> {
    migrate::pending(migrate::ALL, applied)?;
    let known = migrate::ALL.last().map_or(0, |step| step.number);
    match applied.iter().find(|step| step.number > known) {
        None => Ok(()),
        Some(Applied { number, name, .. }) => Err(Error::Unlike {
            what: format!(
                "the target has migration {number} (`{name}`) of a newer version; this version knows {known}"
            ),
        }),
    }
}

/// The tables that these migrations make, with their columns. Both databases have the same, so the
/// one that needs no server says.
fn layout(applied: &[Applied]) -> Result<BTreeMap<String, Vec<String>>> {
    let failed = |error: rusqlite::Error| -> store::Error { explain("lay out", error.into()) };
    let done = applied.last().map_or(0, |step| step.number);
    let connection = Connection::open_in_memory().map_err(failed)?;
    for step in migrate::ALL.iter().filter(|step| step.number <= done) {
        connection.execute_batch(step.sqlite).map_err(failed)?;
    }
    let tables = sqlite::tables(&connection).map_err(failed)?;
    Ok(tables.into_iter().collect())
}

fn listed(things: &[&Thing]) -> String {
    let first = things.iter().take(LISTED_MAX);
    let mut names: Vec<String> = first
        .map(|thing| format!("{} `{}`", thing.what, thing.name))
        .collect();
    if things.len() > LISTED_MAX {
        names.push(format!("and {} more", things.len() - LISTED_MAX));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[&str]) -> Thing {
        Thing {
            what: "table".to_owned(),
            name: name.to_owned(),
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    fn applied(count: usize) -> Vec<Applied> {
        let steps = migrate::ALL.iter().take(count);
        let steps = steps.map(|step| Applied {
            number: step.number,
            name: step.name.to_owned(),
            works_from: None,
        });
        steps.collect()
    }

    /// A store as the first so many migrations leave it.
    fn store(count: usize) -> Vec<Thing> {
        let tables = layout(&applied(count)).unwrap().into_iter();
        let ledgers = migrate::LEDGERS.iter().zip(LEDGER_COLUMNS);
        let ledgers = ledgers.map(|(name, columns)| table(name, columns));
        let tables = tables.map(|(name, columns)| Thing {
            what: "table".to_owned(),
            name,
            columns,
        });
        tables.chain(ledgers).collect()
    }

    fn refusal(things: &[Thing], applied: &[Applied]) -> Option<String> {
        let refused = refuse_foreign(things, applied).err();
        refused.map(|error| error.to_string())
    }

    #[test]
    fn nothing_and_a_store_of_any_version_are_taken() {
        assert_eq!(refusal(&[], &[]), None);
        for count in 0..=migrate::ALL.len() {
            assert!(has_ledger(&store(count)));
            assert_eq!(refusal(&store(count), &applied(count)), None, "{count}");
        }
    }

    #[test]
    fn what_is_not_ours_is_refused_by_name() {
        let all = migrate::ALL.len();
        let with = |count: usize, thing: Thing| {
            let mut things = store(count);
            things.retain(|it| it.name != thing.name);
            things.push(thing);
            things
        };
        let view = Thing {
            what: "view".to_owned(),
            ..table("alert", &[])
        };
        for (things, steps, named, why) in [
            (
                vec![table("task", &["id"])],
                0,
                "table `task`",
                "no list of migrations",
            ),
            (
                with(all, table("task", &["id"])),
                all,
                "table `task`",
                "other columns",
            ),
            (
                with(all, table("orders", &["id"])),
                all,
                "table `orders`",
                "another name",
            ),
            (
                with(8, view),
                8,
                "view `alert`",
                "in the way of a migration",
            ),
            (
                store(3),
                0,
                "table `",
                "the list is empty, the tables are there",
            ),
        ] {
            let refused = refusal(&things, &applied(steps)).unwrap_or_default();
            assert!(refused.contains(named), "{why}: {refused}");
        }
    }

    #[test]
    fn a_list_of_foreign_migrations_is_refused() {
        assert!(!has_ledger(&[table("migration", &["id", "run_on"])]));
        assert!(!has_ledger(&[
            table("migration", &["name", "number"]),
            table("migration_mark", &["colour"]),
        ]));
        let things = [table("migration", &["name", "number"])];
        assert!(has_ledger(&things));
        for number in [1, 20_250_101] {
            let theirs = [Applied {
                number,
                name: "orders".to_owned(),
                works_from: None,
            }];
            let refused = refusal(&things, &theirs).unwrap();
            assert!(refused.contains("table `migration`"), "{refused}");
        }
    }

    #[test]
    fn a_newer_version_is_not_mixed_with_this_one() {
        let known = migrate::ALL.len();
        let mut future = applied(known);
        future.push(Applied {
            number: i64::try_from(known).unwrap() + 1,
            name: "0999_from_the_future".to_owned(),
            works_from: Some(0),
        });
        let refused = refusal(&store(known), &future).unwrap();
        assert!(refused.contains("newer version"), "{refused}");
    }

    #[test]
    fn a_long_list_is_cut() {
        let many: Vec<Thing> = (0..9).map(|n| table(&format!("t{n}"), &[])).collect();
        let refused = refusal(&many, &[]).unwrap();
        assert!(refused.ends_with("table `t4`, and 4 more"), "{refused}");
    }
}
