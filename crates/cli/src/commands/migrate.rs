//! `almanack migrate FROM TO`: copies a whole store to a database of the other type.

use almanack_store::{
    Location,
    transfer::{Error, Moved, Others, Step, transfer},
};

use super::{
    alive::{alive, refuse_alive},
    progress::progress,
};
use crate::{
    commands::prelude::*,
    config::secret::{has_password, without_password},
};

/// Copies everything or nothing.
pub(super) fn run(arguments: &MigrateArguments, inputs: &Inputs, output: &mut Output) -> Done {
    let lease = checked(config::load(inputs, Need::Database))?.node.lease;
    let from = place("FROM", &arguments.from, inputs, output)?;
    let to = place("TO", &arguments.to, inputs, output)?;
    refuse_pair(&from, &to)?;
    if let Location::Sqlite(path) = &from
        && !path.exists()
    {
        let what = format!("FROM: no database at {}", path.display());
        return Err(Failure::not_found(what).hint(
            "nothing was changed; pass the file that the nodes use; `almanack check` shows it",
        ));
    }
    let moved = wait_for(async {
        let others = if arguments.force {
            report_alive(&from, lease, output).await?;
            Others::GoOn
        } else {
            refuse_alive(&from, lease).await?;
            Others::Wait
        };
        let bar = progress(Some(0), output);
        let mut reported_step = |step| match step {
            // Every row travels once and is read back once.
            Step::Total(rows) => bar.set_length(rows * 2),
            Step::Moved { table, rows } => {
                bar.set_message(table);
                bar.inc(rows);
            }
            Step::Compared { table, rows } => {
                bar.set_message(format!("{table}, compared"));
                bar.inc(rows);
            }
        };
        let moved = transfer(&from, &to, others, &mut reported_step).await;
        bar.finish_and_clear();
        moved.map_err(with_hint)
    })?;
    show(&moved, output)?;
    if !output.json {
        let to = shown(&to);
        output.note(&format!(
            "all tables have equal rows and checksums on both sides; now set database.url to {to} and \
         start the nodes\n"
        ));
    }
    Ok(Exit::Ok)
}

async fn report_alive(
    from: &Location,
    lease: jiff::SignedDuration,
    output: &mut Output,
) -> Result<()> {
    let nodes = alive(from, lease).await?;
    if !nodes.is_empty() {
        let names: Vec<String> = nodes.iter().map(|it| format!("`{}`", it.name)).collect();
        let names = names.join(", ");
        output.note(&format!(
            "warning: nodes are running on this database: {names}; their changes from now on are not \
             copied\n"
        ));
    }
    Ok(())
}

/// A database as written on the command line, or in a variable that is named there.
fn place(argument: &str, text: &str, inputs: &Inputs, output: &mut Output) -> Result<Location> {
    let unknown = |what: String| {
        let hint = "write sqlite:FILE, postgres://user@host/database, or env:NAME";
        Failure::usage(format!("{argument}: {what}")).hint(hint)
    };
    let url = match text.strip_prefix("env:") {
        Some(name) => inputs
            .environment
            .get(name)
            .ok_or_else(|| unknown(format!("the variable {name} is not set")))?,
        None => text,
    };
    if url == text && has_password(url) {
        output.note(&format!(
            "warning: {argument}: every user of this machine can read a password in an argument\n\
             hint: put the address into a variable and write env:NAME\n"
        ));
    }
    Location::parse(url)
        .map_err(|_| unknown(format!("`{}` is not a database", without_password(url))))
}

fn refuse_pair(from: &Location, to: &Location) -> Result<()> {
    let hint = match (from, to) {
        (Location::Sqlite(_), Location::Sqlite(_)) => {
            "for a copy of a SQLite store: `almanack backup FILE`"
        }
        (Location::Postgres(_), Location::Postgres(_)) => {
            "for a copy of a PostgreSQL database: pg_dump and pg_restore"
        }
        _ => return Ok(()),
    };
    let what = "both databases are of the same type; migrate moves a store from SQLite to PostgreSQL, or back";
    Err(Failure::usage(what).hint(hint))
}

fn shown(location: &Location) -> String {
    match location {
        Location::Sqlite(path) => format!("\"sqlite:{}\"", path.display()),
        Location::Postgres(url) => format!("\"{}\"", without_password(url)),
    }
}

fn show(moved: &[Moved], output: &mut Output) -> Result<()> {
    let view = |Moved { table, sum }: &Moved| {
        let checksum = format!("{:032x}", sum.checksum);
        json!({ "table": table, "rows": sum.rows, "checksum": checksum })
    };
    let mut tables: Vec<Value> = moved.iter().map(view).collect();
    if output.json {
        return output.value(&json!({ "outcome": "moved", "tables": tables }));
    }
    tables.retain(|table| table["rows"] != 0);
    output.columns(TABLES, &tables, Timestamp::UNIX_EPOCH, true)
}

const TABLES: &[Column] = &[
    column("TABLE", "/table", plain),
    column("ROWS", "/rows", plain),
    column("CHECKSUM", "/checksum", plain),
];

fn with_hint(error: Error) -> Failure {
    let failed = Failure::failed(&error);
    match error {
        Error::Store(error) => error.into(),
        Error::NotEmpty { .. } => {
            failed.hint("nothing was changed; pass an empty or missing database")
        }
        Error::Foreign { .. } => failed.hint(
            "nothing was changed; pass an empty or missing database or file, or on PostgreSQL an empty schema: \
             `?options=-c%20search_path%3DNAME` at the end of the address",
        ),
        Error::Behind { .. } => failed.hint(
            "start this version on it once to apply its migrations, and stop it; nothing was changed",
        ),
        Error::Unfit { .. } => failed.hint("nothing was changed; correct or remove that row"),
        Error::Differs { .. } => failed.hint("nothing was kept; please report this as a bug"),
        Error::Unlike { .. } | Error::SameMake => failed,
    }
}
