//! The database, its durability, and the nodes that use it.

use std::path::PathBuf;

use almanack_adapters::{clock::SystemClock, disk};
use almanack_core::{store::Node, time::Clock as _};
use almanack_store::{
    Location,
    condition::{self, Condition, Functions, Make, NODE_CONNECTIONS},
};

use super::Finding;
use crate::{
    commands::{alive::alive, prelude::*},
    config::secret::without_password,
    failure::DAMAGED,
    process,
};

/// The oldest PostgreSQL that we are tested with.
const POSTGRES_MIN: i32 = 150_000;
/// Less than this, and a log of writes may not find room.
const FREE_BYTES: u64 = 256 * 1024 * 1024;
/// A node follows the database's clock; a machine this far off is still worth a warning.
const SKEW: SignedDuration = SignedDuration::from_secs(1);
/// What to do about a server whose tables do not hold together.
const DAMAGED_SERVER: &str = "stop the nodes, dump what can still be read, and restore the server's newest \
     backup; `reindex` rebuilds a damaged index";

/// Checks the database, if it exists, and whether it can be opened as it is.
pub(super) async fn look(settings: &Settings, deep: bool) -> Result<(Vec<Finding>, Filled)> {
    let url = settings.database.url.expose();
    let location = Location::parse(url).map_err(Failure::usage)?;
    let shown = without_password(url);
    if let Location::Sqlite(path) = &location
        && !path.exists()
    {
        let hint = "`almanack serve` creates it; check the name if it should exist";
        let what = format!("{shown} does not exist yet");
        let mut findings = vec![Finding::warning("database", what).hint(hint)];
        findings.extend(access(settings, Filled::No).await);
        return Ok((findings, Filled::No));
    }
    if let Location::Sqlite(path) = &location
        && let Some(cut) = condition::cut_short(path)
    {
        return Ok((vec![judge_cut(&shown, cut)], Filled::Otherwise));
    }
    let found = match condition::look(&location).await {
        Ok(found) => found,
        Err(error) => {
            let (what, hint) = Failure::from(error).parts();
            let finding = Finding::failed("database", format!("{shown}: {what}"));
            return Ok((vec![finding.hint(hint)], Filled::Otherwise));
        }
    };
    let filled = Filled::of(&found);
    let mut findings = vec![
        Finding::ok("database", format!("{shown} answers: {}", found.version)),
        migrations(&found),
    ];
    findings.extend(access(settings, filled).await);
    findings.extend(durability(
        &found.make,
        wiring::store_folder(&settings.database),
    ));
    if let Some(time) = found.time {
        findings.push(judge_skew(time, SystemClock.now()));
    }
    findings.extend(nodes(&alive(&location, settings.node.lease).await?));
    if deep {
        findings.extend(deeply(&location).await);
    }
    Ok((findings, filled))
}

fn judge_cut(shown: &str, (has, whole): (u64, u64)) -> Finding {
    let what = format!("{shown} is truncated: it has {has} bytes of {whole}");
    Finding::failed("database", what).hint(DAMAGED)
}

async fn deeply(location: &Location) -> Vec<Finding> {
    let hint = match location {
        Location::Sqlite(_) => DAMAGED,
        Location::Postgres(_) => DAMAGED_SERVER,
    };
    let check = "store";
    match condition::verify(location).await {
        Ok(found) if found.is_empty() => {
            vec![Finding::ok(check, "read completely; all rules hold")]
        }
        Ok(found) => {
            let failed = |what| Finding::failed(check, what).hint(hint);
            found.into_iter().map(failed).collect()
        }
        Err(error) => vec![Finding::failed(check, error.chain()).hint(hint)],
    }
}

/// Which of our tables a database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    No,
    /// Everything, as this version leaves it: it can be opened, and nothing is migrated by that.
    Whole,
    /// What only a start would complete, or a newer version.
    Otherwise,
}

impl Filled {
    fn of(found: &Condition) -> Self {
        match found.migrations {
            Some((0, _)) => Self::No,
            Some((applied, known)) if applied == known => Self::Whole,
            _ => Self::Otherwise,
        }
    }
}

/// Whether `serve` would refuse to listen, by the same rule.
async fn access(settings: &Settings, filled: Filled) -> Option<Finding> {
    let judged = match filled {
        Filled::No => process::refuse_unguarded(settings.server.listen),
        Filled::Whole => process::would_answer(settings, SystemClock.now()).await,
        Filled::Otherwise => return None,
    };
    Some(match judged {
        Ok(whom) => Finding::ok("access", whom),
        Err(failure) => {
            let (what, hint) = failure.parts();
            Finding::failed("access", what).hint(hint)
        }
    })
}

fn migrations(found: &Condition) -> Finding {
    let check = "schema";
    match found.migrations {
        None => Finding::failed(check, "a newer version of Almanack has migrated it")
            .hint("run the newer version, or restore an earlier backup"),
        Some((0, _)) => Finding::warning(check, "the database has no tables of Almanack yet")
            .hint("`almanack serve` creates them; check the address if they should exist"),
        Some((applied, known)) if applied < known => {
            let what =
                format!("{applied} of {known} migrations; the next start applies the others");
            Finding::warning(check, what).hint("back up before you start a new version")
        }
        Some((applied, _)) => Finding::ok(check, format!("{applied} migrations, up to date")),
    }
}

/// What keeps what was acknowledged; `folder` is that of a file.
fn durability(make: &Make, folder: Option<PathBuf>) -> Vec<Finding> {
    match make {
        Make::Sqlite {
            journal_mode,
            unwritable,
        } => {
            let folder = folder.unwrap_or_default();
            vec![
                writable(unwritable.as_deref()),
                journal(journal_mode),
                network(disk::networked(&folder)),
                room(disk::free_bytes(&folder).ok()),
            ]
        }
        Make::Postgres {
            version_number,
            fsync,
            full_page_writes,
            synchronous_commit,
            connections_max,
            connections,
            may_create,
            functions,
            unwritable,
        } => [
            version(*version_number),
            writable_server(unwritable.as_deref(), *may_create),
            commits(*fsync && *full_page_writes, synchronous_commit),
            room_to_connect(*connections_max, *connections),
        ]
        .into_iter()
        .chain(functions.as_ref().map(sql_functions))
        .collect(),
    }
}

fn writable(unwritable: Option<&str>) -> Finding {
    match unwritable {
        None => Finding::ok("writing", "a write was committed"),
        Some(why) => Finding::failed("writing", why)
            .hint("check that this user may write the file and its folder, and that no other process locks it"),
    }
}

fn journal(mode: &str) -> Finding {
    if mode == "wal" {
        return Finding::ok("durability", "write-ahead log");
    }
    Finding::warning("durability", format!("journal mode is {mode}, not wal")).hint(
        "a node sets it when it opens the file; if it does not change, the filesystem does not \
         support it",
    )
}

fn network(kind: Option<String>) -> Finding {
    match kind {
        None => Finding::ok("filesystem", "local"),
        Some(kind) => Finding::failed(
            "filesystem",
            format!("the file is on {kind}, a network filesystem"),
        )
        .hint("SQLite needs a local disk; over a network, use PostgreSQL"),
    }
}

fn room(free: Option<u64>) -> Finding {
    let mebibytes = |bytes: u64| bytes / 1024 / 1024;
    match free {
        None => Finding::warning("disk", "free space is unknown"),
        Some(free) if free < FREE_BYTES => {
            let what = format!("{} MiB left", mebibytes(free));
            Finding::failed("disk", what)
                .hint("free some space: without it, nothing can be written")
        }
        Some(free) => Finding::ok("disk", format!("{} MiB left", mebibytes(free))),
    }
}

fn version(number: i32) -> Finding {
    if number < POSTGRES_MIN {
        let what = "older than PostgreSQL 15, which is not tested";
        return Finding::warning("version", what).hint("upgrade the server");
    }
    Finding::ok("version", "new enough")
}

fn writable_server(unwritable: Option<&str>, may_create: bool) -> Finding {
    match unwritable {
        Some(why) => Finding::failed("writing", why).hint(
            "check that this user may write its tables, and that the server's disk has space",
        ),
        None if may_create => Finding::ok(
            "writing",
            "a write was committed, and this user may create tables",
        ),
        None => Finding::warning("writing", "this user may not create tables").hint(
            "migrations need it: grant create on the schema, or let another user start new \
                 versions first",
        ),
    }
}

fn commits(survive: bool, synchronous: &str) -> Finding {
    let check = "durability";
    if !survive {
        let what = "fsync or full_page_writes is off: a power failure may lose everything";
        return Finding::failed(check, what).hint("turn both on in postgresql.conf");
    }
    if synchronous == "off" {
        let what = "synchronous_commit is off: acknowledged changes may be lost";
        let hint = "set it to on for this database: alter database … set synchronous_commit = on";
        return Finding::warning(check, what).hint(hint);
    }
    Finding::ok(check, format!("fsync on, synchronous_commit {synchronous}"))
}

fn sql_functions(functions: &Functions) -> Finding {
    let (check, schema, known) = ("sql functions", &functions.schema, functions.known);
    match functions.installed {
        None => Finding::warning(
            check,
            format!("`{schema}.put`, `cancel` or `receipt` is missing"),
        )
        .hint(format!(
            "a node creates them when it starts, if this user may: `create schema {schema} \
                 authorization USER`, as a superuser, is enough"
        )),
        Some(version) if version > known => Finding::warning(
            check,
            format!("version {version} is newer than this program, which knows {known}"),
        )
        .hint(format!(
            "what they request waits for a newer node: upgrade, or drop the schema `{schema}` and \
             restart a node to get version {known}"
        )),
        Some(version) if version < known => {
            Finding::warning(check, format!("version {version} is older than {known}"))
                .hint("a node replaces them when it starts; its log says why it could not")
        }
        Some(version) => Finding::ok(check, format!("`{schema}`, version {version}")),
    }
}

fn room_to_connect(most: i32, used: i32) -> Finding {
    let left = usize::try_from(most - used).unwrap_or_default();
    let what =
        format!("{used} of {most} connections are used; a node takes up to {NODE_CONNECTIONS}");
    if left < NODE_CONNECTIONS {
        return Finding::warning("connections", what)
            .hint("raise max_connections, or use a pooler in session mode");
    }
    Finding::ok("connections", what)
}

fn judge_skew(database: Timestamp, machine: Timestamp) -> Finding {
    let skew = machine.duration_since(database);
    let what = format!("this machine's is {skew:#} ahead");
    if skew.abs() > SKEW {
        return Finding::warning("clock of the database", what)
            .hint("nodes follow the database's clock; synchronise both machines anyway");
    }
    Finding::ok("clock of the database", what)
}

/// The nodes that use it.
fn nodes(alive: &[Node]) -> Vec<Finding> {
    if alive.is_empty() {
        return vec![Finding::ok("nodes", "no node is running")];
    }
    let own = env!("CARGO_PKG_VERSION");
    let finding = |node: &Node| {
        let check = format!("node {}", node.name);
        let skew = SignedDuration::from_micros(node.skew_us);
        if skew.abs() > SKEW {
            let what = format!("its clock is {skew:#} off; the node corrects for it");
            return Finding::warning(check, what).hint("set that machine's clock");
        }
        if node.version != own {
            let what = format!("it runs {}, this is {own}", node.version);
            return Finding::warning(check, what).hint("fine during an upgrade; finish it soon");
        }
        Finding::ok(check, format!("alive, seen at {}", node.seen_at))
    };
    alive.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Verdict;

    fn server(change: impl FnOnce(&mut Make)) -> Vec<Verdict> {
        let mut make = Make::Postgres {
            version_number: 160_004,
            fsync: true,
            full_page_writes: true,
            synchronous_commit: "on".to_owned(),
            connections_max: 100,
            connections: 5,
            may_create: true,
            functions: Some(Functions {
                schema: "almanack".to_owned(),
                installed: Some(30),
                known: 30,
            }),
            unwritable: None,
        };
        change(&mut make);
        durability(&make, None)
            .iter()
            .map(|it| it.verdict)
            .collect()
    }

    #[test]
    fn what_a_server_may_lose_is_reported() {
        use Verdict::{Failed, Ok, Warning};
        assert_eq!(server(|_| ()), [Ok, Ok, Ok, Ok, Ok]);
        let old = |make: &mut Make| {
            let Make::Postgres {
                version_number,
                fsync,
                ..
            } = make
            else {
                return;
            };
            (*version_number, *fsync) = (130_001, false);
        };
        assert_eq!(server(old), [Warning, Ok, Failed, Ok, Ok]);
        let bound = |make: &mut Make| {
            let Make::Postgres {
                may_create,
                synchronous_commit,
                connections,
                ..
            } = make
            else {
                return;
            };
            (*may_create, *connections) = (false, 90);
            "off".clone_into(synchronous_commit);
        };
        assert_eq!(server(bound), [Ok, Warning, Warning, Warning, Ok]);
    }

    #[test]
    fn wk_03_functions_of_another_version_are_reported() {
        for (installed, verdict, named) in [
            (None, Verdict::Warning, "`almanack.put`"),
            (Some(29), Verdict::Warning, "older than 30"),
            (Some(30), Verdict::Ok, "version 30"),
            (Some(31), Verdict::Warning, "newer than this program"),
        ] {
            let found = sql_functions(&Functions {
                schema: "almanack".to_owned(),
                installed,
                known: 30,
            });
            assert_eq!(found.verdict, verdict, "{installed:?}");
            assert!(found.what.contains(named), "{}", found.what);
        }
    }

    #[test]
    fn a_full_disk_a_network_and_a_clock_that_is_off_are_reported() {
        assert_eq!(room(Some(1)).verdict, Verdict::Failed);
        assert_eq!(room(Some(u64::MAX)).verdict, Verdict::Ok);
        assert_eq!(network(Some("nfs4".to_owned())).verdict, Verdict::Failed);
        assert_eq!(journal("delete").verdict, Verdict::Warning);
        let at: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
        let late = at + SignedDuration::from_secs(-3);
        assert_eq!(judge_skew(at, late).verdict, Verdict::Warning);
        assert_eq!(judge_skew(at, at).verdict, Verdict::Ok);
    }
}
