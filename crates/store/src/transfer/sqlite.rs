//! The SQLite side of a move.

use std::path::Path;

use almanack_core::store;
use rusqlite::{Connection, config::DbConfig, types::Value};

use super::{
    BATCH_ROWS, Column, Error, Moved, Others, Result, Step, Sum, Table, compare,
    empty::{Thing, has_ledger, refuse_foreign},
    postgres, quoted, refuse_filled, up_to_date,
    value::Kind,
};
use crate::{
    beside, migrate,
    sqlite::{applied, explain, holds, open_as_it_is},
};

/// Tables with rows of their own. A virtual table and its shadows are an index of another table,
/// which its triggers fill.
const LIST_TABLES: &str = "select name from pragma_table_list where schema = 'main' \
     and type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name";
/// Everything that has its own name. Indexes and triggers belong to one of these.
const LIST_THINGS: &str = "select type, name from pragma_table_list where schema = 'main' \
     and type in ('table', 'view', 'virtual') and name <> 'entry_search' \
     and name not like 'sqlite\\_%' escape '\\' order by name";
const LIST_COLUMNS: &str = "select name from pragma_table_info($1) order by name";
const LOAD_NUMBER: &str = "select max(seq) from sqlite_sequence where name = $1";
const FORGET_NUMBER: &str = "delete from sqlite_sequence where name = $1";
const SAVE_NUMBER: &str = "insert into sqlite_sequence (name, seq) values ($1, $2)";

/// A file in a transaction.
pub(super) struct Side(Connection);

impl Side {
    /// Begins to read: of one moment, whatever happens meanwhile. Who wants to write waits, if
    /// `others` shall.
    pub(super) fn read(path: &Path, others: Others) -> Result<Self> {
        let begin = match others {
            Others::Wait => "begin immediate",
            // The first look fixes the moment.
            Others::GoOn => "begin; select 1 from sqlite_schema limit 1",
        };
        let side = Self::begin(path, begin)?;
        up_to_date(&applied(&side.0).map_err(failed)?)?;
        Ok(side)
    }

    /// Begins to write, alone.
    pub(super) fn write(path: &Path) -> Result<Self> {
        Self::begin(path, "begin immediate")
    }

    fn begin(path: &Path, begin: &str) -> Result<Self> {
        let connection = open_as_it_is(path)?;
        connection.execute_batch(begin).map_err(failed)?;
        Ok(Self(connection))
    }

    pub(super) fn commit(&self) -> Result<()> {
        Ok(self.0.execute_batch("commit").map_err(failed)?)
    }

    /// The names of its tables.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        Ok(names(&self.0).map_err(failed)?)
    }

    /// Whether it has these columns, and no others.
    pub(super) fn fit(&self, tables: &[Table]) -> Result<()> {
        for table in tables {
            let has = columns(&self.0, &table.name).map_err(failed)?;
            let wanted = table.columns.iter().map(|column| &column.name);
            if !wanted.eq(has.iter()) {
                let what = format!("table `{}` has different columns", table.name);
                return Err(Error::Unlike { what });
            }
        }
        Ok(())
    }

    pub(super) fn counts(&self, tables: &[&str]) -> Result<Vec<(String, u64)>> {
        Ok(counts(&self.0, tables).map_err(failed)?)
    }

    /// All rows of a table, a batch at a time. Without an order: a table is read in that of its
    /// key, which is how it is kept.
    pub(super) async fn each(
        &self,
        table: &Table,
        mut take: impl AsyncFnMut(Vec<Vec<Value>>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.0.prepare(&select(table)).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        loop {
            let batch = next_batch(table, &mut rows)?;
            if batch.is_empty() {
                return Ok(());
            }
            take(batch).await?;
        }
    }

    /// The largest number that a table has used.
    pub(super) fn number(&self, table: &Table) -> Result<Option<i64>> {
        let number = self
            .0
            .query_row(LOAD_NUMBER, [&table.name], |row| row.get(0));
        Ok(number.map_err(failed)?)
    }

    fn set_number(&self, table: &Table, number: Option<i64>) -> Result<()> {
        self.0
            .execute(FORGET_NUMBER, [&table.name])
            .map_err(failed)?;
        if let Some(number) = number {
            let saved = self.0.execute(SAVE_NUMBER, (&table.name, number));
            saved.map_err(failed)?;
        }
        Ok(())
    }

    fn put(&self, table: &Table, rows: Vec<Vec<Value>>) -> Result<()> {
        let places: Vec<String> = (1..=table.columns.len()).map(|n| format!("?{n}")).collect();
        let insert = format!(
            "insert into {} ({}) values ({})",
            quoted(&table.name),
            table.column_list(),
            places.join(", ")
        );
        let mut statement = self.0.prepare_cached(&insert).map_err(failed)?;
        for row in rows {
            let put = statement.execute(rusqlite::params_from_iter(row));
            put.map_err(failed)?;
        }
        Ok(())
    }
}

/// Refuses a file that holds something, without changing it.
pub(super) fn refuse_used(path: &Path) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let connection = open_to_look(path)?;
    let things = things(&connection).map_err(failed)?;
    let applied = if has_ledger(&things) {
        applied(&connection).map_err(failed)?
    } else {
        Vec::new()
    };
    refuse_foreign(&things, &applied)?;
    let tables = names(&connection).map_err(failed)?;
    let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
    refuse_filled(counts(&connection, &tables).map_err(failed)?)
}

/// Who leaves a file last copies its log into it. Who only looks must not: a log that a killed node
/// left stays beside its file. An empty one is none, and goes with us, so that we leave no file
/// behind either.
fn open_to_look(path: &Path) -> Result<Connection> {
    let has_log = holds(&beside(path, "-wal"));
    let connection = open_as_it_is(path)?;
    let keep = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep, has_log).map_err(failed)?;
    Ok(connection)
}

/// Moves all rows from PostgreSQL.
pub(super) async fn fill(
    source: &postgres::Side,
    target: &Side,
    tables: &[Table],
    report: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    let mut moved = Vec::new();
    for table in tables {
        let mut sent = Sum::default();
        source
            .each(table, async |rows: Vec<Vec<Value>>| {
                report(sent.moved(table, &rows));
                target.put(table, rows)
            })
            .await?;
        if table.numbered.is_some() {
            target.set_number(table, source.number(table).await?)?;
        }
        let mut arrived = Sum::default();
        let back = async |rows: Vec<Vec<Value>>| {
            report(arrived.compared(table, &rows));
            Ok(())
        };
        target.each(table, back).await?;
        moved.push(compare(table, sent, arrived)?);
    }
    Ok(moved)
}

/// The tables of a file by themselves, as it keeps them: to compare two files.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<(String, Vec<String>)>> {
    let names = names(connection)?.into_iter();
    let tables = names.map(|name| {
        let columns = columns(connection, &name)?;
        Ok((name, columns))
    });
    tables.collect()
}

/// Rows and checksum of a table, by what is kept.
pub(crate) fn sum(
    connection: &Connection,
    table: &str,
    columns: &[String],
) -> rusqlite::Result<Sum> {
    let list: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
    let select = format!("select {} from {}", list.join(", "), quoted(table));
    let mut statement = connection.prepare(&select)?;
    let mut rows = statement.query([])?;
    let mut sum = Sum::default();
    while let Some(row) = rows.next()? {
        let values = (0..columns.len()).map(|at| row.get::<_, Value>(at));
        sum.add(&values.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(sum)
}

fn things(connection: &Connection) -> rusqlite::Result<Vec<Thing>> {
    let mut statement = connection.prepare(LIST_THINGS)?;
    let things = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let things = things.map(|thing| {
        let (what, name) = thing?;
        let columns = columns(connection, &name)?;
        Ok(Thing {
            what,
            name,
            columns,
        })
    });
    things.collect()
}

/// How many rows each of these tables has.
pub(crate) fn counts(
    connection: &Connection,
    tables: &[&str],
) -> rusqlite::Result<Vec<(String, u64)>> {
    let counted = tables.iter().map(|&name| {
        let count = format!("select count(*) from {}", quoted(name));
        let rows: i64 = connection.query_row(&count, [], |row| row.get(0))?;
        Ok((name.to_owned(), u64::try_from(rows).unwrap_or_default()))
    });
    counted.collect()
}

fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(LIST_TABLES)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    let of_rows = |name: &str| !migrate::LEDGERS.contains(&name);
    let names = names.filter(|name| name.as_deref().map_or(true, of_rows));
    names.collect()
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached(LIST_COLUMNS)?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

fn select(table: &Table) -> String {
    let (columns, name) = (table.column_list(), quoted(&table.name));
    format!("select {columns} from {name}")
}

fn next_batch(table: &Table, rows: &mut rusqlite::Rows<'_>) -> Result<Vec<Vec<Value>>> {
    let mut batch = Vec::new();
    while batch.len() < BATCH_ROWS {
        let Some(row) = rows.next().map_err(failed)? else {
            break;
        };
        let values = table.columns.iter().enumerate();
        let values = values.map(|(at, column)| read(table, column, row.get(at).map_err(failed)?));
        batch.push(values.collect::<Result<_>>()?);
    }
    Ok(batch)
}

fn read(table: &Table, column: &Column, value: Value) -> Result<Value> {
    let kind: Kind = column.kind;
    kind.settle(value).map_err(|what| Error::Unfit {
        table: table.name.clone(),
        what: format!("column `{}`: {what}", column.name),
    })
}

fn failed(error: rusqlite::Error) -> store::Error {
    explain("move a store", error.into())
}
