//! The PostgreSQL side of a move.
//!
//! Rows arrive by `copy`, which is several times faster than inserting them, in one transaction
//! that holds all tables: a node that starts on the target meanwhile waits, and finds everything or
//! nothing.

use std::io::Cursor;

use almanack_core::store;
use futures_util::{SinkExt as _, StreamExt as _};
use rusqlite::types::Value;
use tokio_postgres::{Client, CopyInSink, types::ToSql};

use super::{
    BATCH_ROWS, Column, Error, Moved, Others, Result, Step, Sum, Table, compare,
    empty::{Thing, has_ledger, refuse_foreign},
    quoted, refuse_filled, sqlite, up_to_date,
    value::Kind,
};
use crate::{
    migrate,
    postgres::{applied, connect_alone, explain},
};

/// What has a name in the schema. Tables that are partitioned count, and their partitions do not:
/// rows are sent to the whole. Nor does what an extension created, or a sequence that belongs to a
/// column.
const LIST_THINGS: &str = "select c.oid, c.relname::text, case c.relkind when 'v' then 'view' \
     when 'm' then 'view' when 'S' then 'sequence' when 'c' then 'type' when 'f' then 'foreign table' \
     else 'table' end from pg_class c \
     where c.relkind in ('r', 'p', 'v', 'm', 'S', 'c', 'f') and not c.relispartition \
     and c.relnamespace = current_schema()::regnamespace \
     and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass \
     and d.objid = c.oid and (d.deptype = 'e' or c.relkind = 'S' and d.deptype in ('a', 'i'))) \
     order by c.relname collate \"C\"";
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
        // Listed before: the first query fixes the moment that is read, and `lock table` must come
        // before it, or what a writer commits while the lock is waited for would be missed.
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

    /// Locks these tables; a database without any has nothing to lock.
    async fn hold(&self, names: &[String], mode: &str) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.run(&format!("lock table {} in {mode} mode", names.join(", ")))
            .await
    }

    /// Ends what was begun without a trace. Explicit, not left to the end of the connection: no one
    /// has to wait for tables until the server finds out.
    pub(super) async fn let_go(&self) {
        let _ = self.run("rollback").await;
    }

    /// Keeps what was written, and has the planner learn of it; or takes back what was begun.
    pub(super) async fn end(self, moved: Result<Vec<Moved>>) -> Result<Vec<Moved>> {
        let moved = match moved {
            Ok(moved) => moved,
            Err(error) => {
                self.let_go().await;
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
        let rows = self.0.query(LIST_THINGS, &[]).await.map_err(failed)?;
        let tables = rows.iter().filter(|row| row.get::<_, &str>(2) == "table");
        let tables = tables.map(|row| (row.get(0), row.get::<_, String>(1)));
        // Both sides have their own lists of migrations.
        let of_rows = |name: &str| !migrate::LEDGERS.contains(&name);
        Ok(tables.filter(|(_, name)| of_rows(name)).collect())
    }

    async fn refuse_used(&self) -> Result<()> {
        let things = self.things().await?;
        let applied = if has_ledger(&things) {
            applied(&self.0).await?
        } else {
            Vec::new()
        };
        refuse_foreign(&things, &applied)?;
        let names = self.list().await?;
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        refuse_filled(self.counts(&names).await?)
    }

    async fn things(&self) -> Result<Vec<Thing>> {
        let rows = self.0.query(LIST_THINGS, &[]).await.map_err(failed)?;
        let mut things = Vec::new();
        for row in rows {
            let columns = self.0.query(LIST_COLUMNS, &[&row.get::<_, u32>(0)]).await;
            let columns = columns.map_err(failed)?;
            things.push(Thing {
                what: row.get(2),
                name: row.get(1),
                columns: columns.iter().map(|column| column.get(0)).collect(),
            });
        }
        Ok(things)
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

    pub(super) async fn counts(&self, tables: &[&str]) -> Result<Vec<(String, u64)>> {
        let mut counts = Vec::new();
        for &name in tables {
            let count = format!("select count(*) from {}", quoted(name));
            let row = self.0.query_one(&count, &[]).await.map_err(failed)?;
            let rows = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
            counts.push((name.to_owned(), rows));
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

/// Refuses a database whose schema holds something, in a transaction that cannot change it.
pub(super) async fn refuse_used(url: &str) -> Result<()> {
    let side = Side(connect_alone(url).await?);
    side.run("begin isolation level repeatable read read only")
        .await?;
    let refused = side.refuse_used().await;
    side.let_go().await;
    refused
}

/// Moves all rows from SQLite.
pub(super) async fn fill(
    source: &sqlite::Side,
    target: &Side,
    tables: &[Table],
    report: &mut dyn FnMut(Step),
) -> Result<Vec<Moved>> {
    let mut moved = Vec::new();
    for table in tables {
        let mut sent = Sum::default();
        let mut sink = Box::pin(target.receive(table).await?);
        source
            .each(table, async |rows: Vec<Vec<Value>>| {
                report(sent.moved(table, &rows));
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
            report(arrived.compared(table, &rows));
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
            what: format!("column `{name}` of `{table}` has the type {kind}, which SQLite lacks"),
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
