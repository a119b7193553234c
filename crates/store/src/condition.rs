//! How a database is, for who looks after it: nothing is created, migrated or changed.

use almanack_core::store::Result;
use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use crate::{
    Location, migrate,
    postgres::{self, CONNECTIONS_MAX, connect_alone, explain as explain_postgres},
    row::instant,
    sqlite::{BUSY_TIMEOUT, applied, explain as explain_sqlite, unopened},
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
    /// How many migrations were applied, of how many this version knows; `None` where a newer one has been.
    pub migrations: Option<(usize, usize)>,
    /// What time it is there, where that may differ from here.
    pub time: Option<Timestamp>,
    /// What only one of the two has.
    pub make: Make,
}

/// What only one of the two has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Make {
    /// A file.
    Sqlite {
        /// How commits are kept: `wal` once a node has opened it.
        journal_mode: String,
        /// Why nobody may write, if nobody may.
        unwritable: Option<String>,
    },
    /// A server.
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
    },
}

/// Looks at a database.
pub async fn look(location: &Location) -> Result<Condition> {
    match location {
        Location::Sqlite(path) => {
            let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
            let connection =
                opened.map_err(|error| unopened(&path.display().to_string(), error))?;
            sqlite(&connection).map_err(|error| explain_sqlite("look", error.into()))
        }
        Location::Postgres(url) => postgres(url).await,
    }
}

fn sqlite(connection: &Connection) -> rusqlite::Result<Condition> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let journal_mode = connection.query_row("pragma journal_mode", [], |row| row.get(0))?;
    let tried = connection.execute_batch("begin immediate; rollback");
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

async fn postgres(url: &str) -> Result<Condition> {
    let failed = |error| explain_postgres("look", error);
    let client = connect_alone(url).await?;
    let row = client.query_one(SETTINGS_POSTGRES, &[]).await;
    let row = row.map_err(failed)?;
    Ok(Condition {
        version: format!("PostgreSQL {}", row.get::<_, String>(0)),
        migrations: known(&postgres::applied(&client).await?),
        time: instant(row.get(8)).ok(),
        make: Make::Postgres {
            version_number: row.get(1),
            fsync: row.get(2),
            full_page_writes: row.get(3),
            synchronous_commit: row.get(4),
            connections_max: row.get(5),
            connections: row.get(6),
            may_create: row.get(7),
        },
    })
}

fn known(applied: &[migrate::Applied]) -> Option<(usize, usize)> {
    migrate::pending(migrate::ALL, applied).ok()?;
    Some((applied.len(), migrate::ALL.len()))
}
