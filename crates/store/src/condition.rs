//! The condition of a database, for its operator: nothing is created or migrated, and no row
//! changes. To know whether a database takes writes, something is written: what is there already,
//! committed like everything else.

use std::{fs::File, io::Read as _, path::Path};

use almanack_core::store::Result;
use jiff::Timestamp;
use rusqlite::Connection;

use crate::{
    Location,
    backup::{RULES, faults},
    beside, migrate,
    postgres::{
        self, CONNECTIONS_MAX, connect_alone, explain as explain_postgres,
        functions::{Schemas, installed},
    },
    row::instant,
    sqlite::{applied, explain as explain_sqlite, holds, open_as_it_is},
    unavailable,
};

/// What a node holds at most: its pool, and the connection that listens.
pub const NODE_CONNECTIONS: usize = CONNECTIONS_MAX + 1;

const SETTINGS_POSTGRES: &str = "select current_setting('server_version'), \
     current_setting('server_version_num')::integer, current_setting('fsync') = 'on', \
     current_setting('full_page_writes') = 'on', current_setting('synchronous_commit'), \
     current_setting('max_connections')::integer, \
     (select count(*) from pg_stat_activity where backend_type = 'client backend')::integer, \
     coalesce(has_schema_privilege(current_schema(), 'create'), false), \
     (extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// How a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it is, and which version.
    pub version: String,
    /// How many migrations were applied, of how many this version knows; `None` where a newer one
    /// has been.
    pub migrations: Option<(usize, usize)>,
    /// What time it is there, where that may differ from here.
    pub time: Option<Timestamp>,
    /// What only one of the two has.
    pub make: Make,
}

/// What only one of the two has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Make {
    Sqlite {
        /// How commits are kept: `wal` once a node has opened it.
        journal_mode: String,
        /// Why writes are refused, if they are.
        unwritable: Option<String>,
    },
    Postgres {
        /// Like 160004.
        version_number: i32,
        /// Whether commits reach the disk at all.
        fsync: bool,
        /// Whether a page half written survives.
        full_page_writes: bool,
        /// When a commit is acknowledged.
        synchronous_commit: String,
        /// How many may connect.
        connections_max: i32,
        /// How many are connected.
        connections: i32,
        /// Whether tables may be made.
        may_create: bool,
        /// The SQL functions for others' transactions; nothing before a node has been here.
        functions: Option<Functions>,
        /// Why writes are refused, if they are.
        unwritable: Option<String>,
    },
}

/// The SQL functions that services call in their own transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Functions {
    /// Where they are, or would be.
    pub schema: String,
    /// Their version, if they are there.
    pub installed: Option<i64>,
    /// The version that this program knows.
    pub known: i64,
}

/// Looks at a database.
pub async fn look(location: &Location) -> Result<Condition> {
    match location {
        Location::Sqlite(path) => {
            let connection = open_as_it_is(path)?;
            sqlite(&connection).map_err(|error| explain_sqlite("look", error.into()))
        }
        Location::Postgres(url) => postgres(url).await,
    }
}

fn sqlite(connection: &Connection) -> rusqlite::Result<Condition> {
    let journal_mode = connection.query_row("pragma journal_mode", [], |row| row.get(0))?;
    let tried = write_again(connection);
    Ok(Condition {
        version: format!("SQLite {}", rusqlite::version()),
        migrations: known(&applied(connection)?),
        time: None,
        make: Make::Sqlite {
            journal_mode,
            unwritable: tried.err().map(|error| error.to_string()),
        },
    })
}

/// Writes the first page as it is. A transaction that is only begun writes nothing, and a file that
/// is read-only does not mind.
fn write_again(connection: &Connection) -> rusqlite::Result<()> {
    let version: i64 = connection.query_row("pragma user_version", [], |row| row.get(0))?;
    let written = connection.execute_batch(&format!(
        "begin immediate; pragma user_version = {version}; commit"
    ));
    written.inspect_err(|_| {
        let _ = connection.execute_batch("rollback");
    })
}

/// How many bytes a SQLite file has, and how many its header says, if it was cut short. Nothing is
/// said while a log lies beside it, which may hold the rest.
pub fn cut_short(path: &Path) -> Option<(u64, u64)> {
    if holds(&beside(path, "-wal")) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut header = [0; 32];
    file.read_exact(&mut header).ok()?;
    if !header.starts_with(b"SQLite format 3\0") {
        return None;
    }
    let page = u64::from(u16::from_be_bytes([header[16], header[17]]));
    let page = if page == 1 { 65_536 } else { page };
    let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
    let whole = page * u64::from(pages);
    (length < whole).then_some((length, whole))
}

/// The same on a server: a row of ours, where there is one.
const WRITE_AGAIN_POSTGRES: &str =
    "update migration set name = name where number = (select min(number) from migration)";
/// Where the extension lies that compares indexes, if there is one and we may call it.
const AMCHECK: &str = "select quote_ident(n.nspname) from pg_extension e \
     join pg_namespace n on n.oid = e.extnamespace where e.extname = 'amcheck' \
     and has_function_privilege(to_regprocedure(quote_ident(n.nspname) \
         || '.bt_index_check(regclass, boolean)'), 'execute')";

/// Reads everything, and holds it against the rules; answers what is wrong. Takes as long as the
/// store is large.
pub async fn verify(location: &Location) -> Result<Vec<String>> {
    match location {
        Location::Sqlite(path) => {
            let path = path.clone();
            let reading = tokio::task::spawn_blocking(move || verify_sqlite(&path)).await;
            reading.map_err(|error| unavailable("verify", error))?
        }
        Location::Postgres(url) => verify_postgres(url).await,
    }
}

fn verify_sqlite(path: &Path) -> Result<Vec<String>> {
    let found = faults(&open_as_it_is(path)?);
    found.map_err(|error| explain_sqlite("verify", error.into()))
}

/// Indexes against their tables where the server has `amcheck`; every row is read, which fails
/// where a page is damaged.
async fn verify_postgres(url: &str) -> Result<Vec<String>> {
    let failed = |error| explain_postgres("verify", error);
    let client = connect_alone(url).await?;
    let mut found = Vec::new();
    for (what, count) in RULES {
        let rows: i64 = client.query_one(count, &[]).await.map_err(failed)?.get(0);
        if rows > 0 {
            found.push(format!("{rows} {what}"));
        }
    }
    let tables = "select relname::text from pg_class \
         where relkind = 'r' and relnamespace = current_schema()::regnamespace order by 1";
    for table in client.query(tables, &[]).await.map_err(failed)? {
        let name: String = table.get(0);
        let read = format!(
            "select count(t::text) from \"{}\" t",
            name.replace('"', "\"\"")
        );
        if let Err(error) = client.query_one(&read, &[]).await {
            let why = explain_postgres("read", error).chain();
            found.push(format!("table `{name}`: {why}"));
        }
    }
    let amcheck = client.query_opt(AMCHECK, &[]).await.map_err(failed)?;
    if let Some(amcheck) = amcheck {
        let schema: String = amcheck.get(0);
        let indexes = format!(
            "select {schema}.bt_index_check(c.oid, true) from pg_index i \
             join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam \
             where a.amname = 'btree' and c.relnamespace = current_schema()::regnamespace"
        );
        if let Err(error) = client.query(&indexes, &[]).await {
            let why = explain_postgres("verify", error).chain();
            found.push(format!("an index does not match its table: {why}"));
        }
    }
    Ok(found)
}

async fn postgres(url: &str) -> Result<Condition> {
    let failed = |error| explain_postgres("look", error);
    let client = connect_alone(url).await?;
    let row = client.query_one(SETTINGS_POSTGRES, &[]).await;
    let row = row.map_err(failed)?;
    let applied = postgres::applied(&client).await?;
    let unwritable = if applied.is_empty() {
        None
    } else {
        client.execute(WRITE_AGAIN_POSTGRES, &[]).await.err()
    };
    Ok(Condition {
        version: format!("PostgreSQL {}", row.get::<_, String>(0)),
        migrations: known(&applied),
        time: instant(row.get(8)).ok(),
        make: Make::Postgres {
            version_number: row.get(1),
            fsync: row.get(2),
            full_page_writes: row.get(3),
            synchronous_commit: row.get(4),
            connections_max: row.get(5),
            connections: row.get(6),
            may_create: row.get(7),
            functions: if applied.is_empty() {
                None
            } else {
                Some(functions(&client).await?)
            },
            unwritable: unwritable.map(|error| explain_postgres("write", error).chain()),
        },
    })
}

async fn functions(client: &tokio_postgres::Client) -> Result<Functions> {
    let schemas = Schemas::find(client).await?;
    Ok(Functions {
        // Who may not look into the schema may not call what is there either.
        installed: installed(client, &schemas, migrate::newest())
            .await
            .unwrap_or_default(),
        schema: schemas.functions,
        known: migrate::newest(),
    })
}

fn known(applied: &[migrate::Applied]) -> Option<(usize, usize)> {
    migrate::pending(migrate::ALL, applied).ok()?;
    Some((applied.len(), migrate::ALL.len()))
}
