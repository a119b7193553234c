//! The PostgreSQL side of a move.
//!
//! Rows arrive by `copy`, which is several times faster than inserting them, in one transaction that holds all
//! tables: a node that starts on the target meanwhile waits, and finds everything or nothing.

use std::io::Cursor;

use almanack_core::store;
use futures_util::{SinkExt as _, StreamExt as _};
use rusqlite::types::Value;
use tokio_postgres::{Client, CopyInSink, types::ToSql};

use super::{
    BATCH_ROWS, Column, Error, Moved, Others, Result, Step, Sum, Table, compare, quoted, sqlite,
    up_to_date, value::Kind,
};
use crate::{
    migrate,
    postgres::{applied, connect_alone, explain},
};

/// Tables that are partitioned count, and their partitions do not: rows are sent to the whole.
const LIST_TABLES: &str = "select c.oid, c.relname::text from pg_class c \
     where c.relkind in ('r', 'p') and not c.relispartition \
     and c.relnamespace = current_schema()::regnamespace order by c.relname collate \"C\"";
const LIST_COLUMNS: &str = "select a.attname::text, format_type(a.atttypid, null), \
     a.attidentity <> '' from pg_attribute a where a.attrelid = $1 and a.attnum > 0 \
     and not a.attisdropped and a.attgenerated = '' order by a.attname collate \"C\"";
const LIST_KEY: &str = "select a.attname::text from pg_index i \
     cross join unnest(i.indkey) with ordinality k(attnum, place) \
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum \
     where i.indrelid = $1 and i.indisprimary order by k.place";
const LOAD_NUMBER: &str = "select pg_sequence_last_value(pg_get_serial_sequence($1, $2)::regclass)";
/// Numbers that were given away are never taken back, so this may stand outside the transaction.
const SAVE_NUMBER: &str = "select setval(pg_get_serial_sequence($1, $2), $3)";

/// A database in a transaction.
pub(super) struct Side(Client);

impl Side {
    /// Begins to read: of one moment. Who wants to write waits, if `others` shall.
    pub(super) async fn read(url: &str, others: Others) -> Result<Self> {
        let side = Self(connect_alone(url).await?);
        // Listed before: the first query fixes the moment that is read, and `lock table` must come before it, or what
        // a writer commits while the lock is waited for would be missed.
        let names = side.names().await?;
        side.run("begin isolation level repeatable read").await?;
        if others == Others::Wait {
            side.hold(&names, "share").await?;
        }
        up_to_date(&applied(&side.0).await?)?;
        Ok(side)
    }

    /// Begins to write, alone.
    pub(super) async fn write(url: &str) -> Result<Self> {
        let side = Self(connect_alone(url).await?);
        let names = side.names().await?;
        side.run("begin").await?;
        side.hold(&names, "exclusive").await?;
        Ok(side)
    }

    async fn names(&self) -> Result<Vec<String>> {
        let tables = self.list().await?;
        Ok(tables.iter().map(|(_, name)| quoted(name)).collect())
    }

    async fn hold(&self, names: &[String], mode: &str) -> Result<()> {
        self.run(&format!("lock table {} in {mode} mode", names.join(", ")))
            .await
    }

    /// Keeps what was written, and has the planner learn of it; or takes back what was begun. Said, not left to
    /// the end of the connection: nobody has to wait for tables until the server finds out.
    pub(super) async fn end(self, moved: Result<Vec<Moved>>) -> Result<Vec<Moved>> {
        let moved = match moved {
            Ok(moved) => moved,
            Err(error) => {
                let _ = self.run("rollback").await;
                return Err(error);
            }
        };
        self.run("commit").await?;
        for table in &moved {
            self.run(&format!("analyze {}", quoted(&table.table)))
                .await?;
        }
        Ok(moved)
    }

    async fn run(&self, statements: &str) -> Result<()> {
        Ok(self.0.batch_execute(statements).await.map_err(failed)?)
    }

    async fn list(&self) -> Result<Vec<(u32, String)>> {
        let rows = self.0.query(LIST_TABLES, &[]).await.map_err(failed)?;
        let tables = rows.iter().map(|row| (row.get(0), row.get::<_, String>(1)));
        // Both sides have their own lists of migrations.
        let of_rows = |name: &str| !migrate::LEDGERS.contains(&name);
        Ok(tables.filter(|(_, name)| of_rows(name)).collect())
    }

    /// Its tables, as both databases have them.
    pub(super) async fn tables(&self) -> Result<Vec<Table>> {
        let mut tables = Vec::new();
        for (number, name) in self.list().await? {
            let rows = self.0.query(LIST_COLUMNS, &[&number]).await;
            let rows = rows.map_err(failed)?;
            let identity = rows.iter().find(|row| row.get(2));
            let numbered = identity.map(|row| row.get(0));
            let columns = rows.iter().map(|row| column(&name, row.get(0), row.get(1)));
            let columns = columns.collect::<Result<_>>()?;
            let key = self.0.query(LIST_KEY, &[&number]).await.map_err(failed)?;
            tables.push(Table {
                columns,
                key: key.iter().map(|row| row.get(0)).collect(),
                numbered,
                name,
            });
        }
        Ok(tables)
    }

    pub(super) async fn counts(&self, tables: &[Table]) -> Result<Vec<(String, u64)>> {
        let mut counts = Vec::new();
        for table in tables {
            let count = format!("select count(*) from {}", quoted(&table.name));
            let row = self.0.query_one(&count, &[]).await.map_err(failed)?;
            let rows = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
            counts.push((table.name.clone(), rows));
        }
        Ok(counts)
    }

    /// All rows of a table in the order of its key, a batch at a time.
    pub(super) async fn each(
        &self,
        table: &Table,
        mut take: impl AsyncFnMut(Vec<Vec<Value>>) -> Result<()>,
    ) -> Result<()> {
        let none: [&i64; 0] = [];
        let rows = self.0.query_raw(&select(table), none).await;
        let rows = rows.map_err(failed)?.chunks(BATCH_ROWS);
        let mut rows = std::pin::pin!(rows);
        while let Some(batch) = rows.next().await {
            let batch = batch.into_iter().map(|row| {
                let row = row.map_err(failed)?;
                let values = table.columns.iter().enumerate();
                let values = values.map(|(at, column)| column.kind.read(&row, at));
                Ok(values
                    .collect::<std::result::Result<_, _>>()
                    .map_err(failed)?)
            });
            take(batch.collect::<Result<_>>()?).await?;
        }
        Ok(())
    }

    /// The largest number that a table has used.
    pub(super) async fn number(&self, table: &Table) -> Result<Option<i64>> {
        let name = quoted(&table.name);
        let row = self
            .0
            .query_one(LOAD_NUMBER, &[&name, &table.numbered])
            .await;
        Ok(row.map_err(failed)?.get(0))
    }

    async fn set_number(&self, table: &Table, number: i64) -> Result<()> {
        let name = quoted(&table.name);
        let parameters: [&(dyn ToSql + Sync); 3] = [&name, &table.numbered, &number];
        let saved = self.0.query_one(SAVE_NUMBER, &parameters).await;
        saved.map_err(failed)?;
        Ok(())
    }

    async fn receive(&self, table: &Table) -> Result<CopyInSink<Cursor<Vec<u8>>>> {
        let (name, columns) = (quoted(&table.name), table.column_list());
        let copy = format!("copy {name} ({columns}) from stdin");
        Ok(self.0.copy_in(&copy).await.map_err(failed)?)
    }
}

/// Moves all rows from SQLite.
pub(super) async fn fill(
    source: &sqlite::Side,
    target: &Side,
    tables: &[Table],
    told: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    let mut moved = Vec::new();
    for table in tables {
        let mut sent = Sum::default();
        let mut sink = Box::pin(target.receive(table).await?);
        source
            .each(table, async |rows: Vec<Vec<Value>>| {
                told(sent.moved(table, &rows));
                let lines = Cursor::new(lines(table, &rows));
                Ok(sink.send(lines).await.map_err(failed)?)
            })
            .await?;
        sink.as_mut().finish().await.map_err(failed)?;
        if table.numbered.is_some()
            && let Some(number) = source.number(table)?
        {
            target.set_number(table, number).await?;
        }
        let mut arrived = Sum::default();
        let back = async |rows: Vec<Vec<Value>>| {
            told(arrived.compared(table, &rows));
            Ok(())
        };
        target.each(table, back).await?;
        moved.push(compare(table, sent, arrived)?);
    }
    Ok(moved)
}

fn column(table: &str, name: String, kind: &str) -> Result<Column> {
    match Kind::parse(kind) {
        Some(kind) => Ok(Column { name, kind }),
        None => Err(Error::Unlike {
            what: format!("column `{name}` of `{table}` has the type {kind}, which SQLite has not"),
        }),
    }
}

fn select(table: &Table) -> String {
    let (columns, name) = (table.column_list(), quoted(&table.name));
    let key: Vec<String> = table.key.iter().map(|column| quoted(column)).collect();
    let order = if key.is_empty() {
        String::new()
    } else {
        format!(" order by {}", key.join(", "))
    };
    format!("select {columns} from {name}{order}")
}

fn lines(table: &Table, rows: &[Vec<Value>]) -> Vec<u8> {
    let mut lines = String::new();
    for row in rows {
        for (at, (value, column)) in row.iter().zip(&table.columns).enumerate() {
            if at > 0 {
                lines.push('\t');
            }
            column.kind.write(value, &mut lines);
        }
        lines.push('\n');
    }
    lines.into_bytes()
}

fn failed(error: tokio_postgres::Error) -> store::Error {
    explain("move a store", error)
}
