//! A store of one's own for a moment: what measurements run on, and what they clean up.

use std::path::PathBuf;

use almanack_core::store::{Error, Result};

use jiff::Timestamp;
use rusqlite::params_from_iter;
use tokio_postgres::{Client, types::ToSql};

use crate::{
    Location, beside,
    postgres::{connect_alone, functions::Schemas},
    row::micros,
};

/// Rows that wait, not yet due, one second apart; `$1` microseconds is the first one's time, `$2`
/// how many. SQLite makes its numbers by recursion, PostgreSQL has a function for it.
macro_rules! far_columns {
    () => {
        "insert into task (subject, kind, status, is_current, execute_at_us, due_at_us, priority, \
         attempt, max_retry, term, revision, decisions, created_at_us, created_execute_at_us, \
         origin, payload) select 'far:' || n, 'BENCH', 'INIT', true, $1 + n * 1000000, \
         $1 + n * 1000000, 5, 0, 3, 0, 1, 0, $1, $1 + n * 1000000, 'bench', 'null' from "
    };
}
const FAR_SQLITE: &str = concat!(
    "with recursive g(n) as (select 1 union all select n + 1 from g where n < $2) ",
    far_columns!(),
    "g"
);
const FAR_POSTGRES: &str = concat!(far_columns!(), "generate_series(1, $2::bigint) g(n)");

const BYTES_SQLITE: &str = "select (c.page_count - f.freelist_count) * s.page_size \
     from pragma_page_count c, pragma_freelist_count f, pragma_page_size s";
const BYTES_POSTGRES: &str = "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint \
     from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace";

/// How many are due by `$1`, exactly: [`crate::task::DEPTH`] stops counting where no reader would
/// want to know.
const DUE: &str = "select count(*) from task where due_at_us <= $1";

/// What a service sees of a request's answer.
const ANSWERED: &str = "select answered_at_us is not null from inbox where number = $1";

/// Where a measurement keeps its data.
pub enum Scratch {
    /// A file and its companions.
    Sqlite(PathBuf),
    /// A schema in the given database.
    Postgres { url: String, schema: String },
}

impl Scratch {
    /// Makes room beside `location` under `name`; nothing that is there is touched.
    pub async fn create(location: &Location, name: &str) -> Result<Self> {
        match location {
            Location::Sqlite(path) => Ok(Self::Sqlite(beside(path, &format!(".{name}")))),
            Location::Postgres(url) => {
                run(url, &format!("create schema \"{name}\"")).await?;
                Ok(Self::Postgres {
                    url: url.clone(),
                    schema: name.to_owned(),
                })
            }
        }
    }

    /// Where to open it.
    pub fn location(&self) -> Location {
        match self {
            Self::Sqlite(path) => Location::Sqlite(path.clone()),
            Self::Postgres { url, schema } => {
                let separator = if url.contains('?') { '&' } else { '?' };
                Location::Postgres(format!(
                    "{url}{separator}options=-c%20search_path%3D{schema}"
                ))
            }
        }
    }

    /// Removes it and everything in it. Stores opened on it must be gone.
    pub async fn remove(self) -> Result<()> {
        match self {
            Self::Sqlite(path) => {
                for ending in ["", "-wal", "-shm"] {
                    // The companions come and go; the file itself is in a folder of our choosing.
                    let _ = std::fs::remove_file(beside(&path, ending));
                }
                Ok(())
            }
            Self::Postgres { url, schema } => {
                // The functions of a store have a schema of their own.
                let both = format!("\"{schema}\", \"almanack_{schema}\"");
                run(&url, &format!("drop schema if exists {both} cascade")).await
            }
        }
    }
}

/// A service that asks in its own transactions, as others than nodes do.
pub struct InboxClient {
    client: Client,
    put: String,
}

impl InboxClient {
    /// Connects to a PostgreSQL database whose functions a node has made.
    pub async fn connect(url: &str) -> Result<Self> {
        let client = connect_alone(url).await?;
        let functions = Schemas::find(&client).await?.functions;
        let put =
            format!("select \"{functions}\".put($1, $2, clock_timestamp() + interval '1 day')");
        Ok(Self { client, put })
    }

    /// Asks for a task a day from now; the request's number, once it is committed.
    pub async fn put(&self, kind: &str, subject: &str) -> Result<i64> {
        let row = self.client.query_one(&self.put, &[&kind, &subject]).await;
        Ok(row.map_err(unavailable)?.get(0))
    }

    /// Whether a node has answered a request.
    pub async fn is_answered(&self, number: i64) -> Result<bool> {
        let row = self.client.query_one(ANSWERED, &[&number]).await;
        Ok(row.map_err(unavailable)?.get(0))
    }
}

/// Writes `count` tasks of kind `BENCH` that are not due before `first_due_at_us`.
pub async fn load_far(location: &Location, first_due_at_us: i64, count: i64) -> Result<()> {
    match location {
        Location::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).map_err(unavailable)?;
            let parameters = (first_due_at_us, count);
            // The text's first parameter is the count, which SQLite numbers by appearance.
            connection
                .execute(FAR_SQLITE, (parameters.1, parameters.0))
                .map_err(unavailable)?;
            Ok(())
        }
        Location::Postgres(url) => {
            let client = connect_alone(url).await?;
            let loaded = client
                .execute(FAR_POSTGRES, &[&first_due_at_us, &count])
                .await;
            loaded.map_err(unavailable)?;
            settle(location).await
        }
    }
}

/// Updates statistics, as a store in use would have them.
pub async fn settle(location: &Location) -> Result<()> {
    match location {
        Location::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).map_err(unavailable)?;
            connection.execute_batch("analyze").map_err(unavailable)
        }
        Location::Postgres(url) => run(url, "vacuum analyze task").await,
    }
}

/// How large a store is: what its rows and indexes take, logs not counted.
pub async fn bytes(location: &Location) -> Result<u64> {
    number(location, [BYTES_SQLITE, BYTES_POSTGRES], None).await
}

/// How many tasks are due by then.
pub async fn due(location: &Location, at: Timestamp) -> Result<u64> {
    number(location, [DUE, DUE], Some(micros(at))).await
}

/// The one number that a statement answers with, the first text on SQLite and the second on
/// PostgreSQL.
async fn number(location: &Location, texts: [&str; 2], parameter: Option<i64>) -> Result<u64> {
    let number: i64 = match location {
        Location::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).map_err(unavailable)?;
            let parameters = params_from_iter(parameter);
            let answer = connection.query_row(texts[0], parameters, |row| row.get(0));
            answer.map_err(unavailable)?
        }
        Location::Postgres(url) => {
            let client = connect_alone(url).await?;
            let parameters = parameter.iter().map(|value| value as &(dyn ToSql + Sync));
            let parameters: Vec<_> = parameters.collect();
            let row = client.query_one(texts[1], &parameters).await;
            row.map_err(unavailable)?.get(0)
        }
    };
    Ok(u64::try_from(number).unwrap_or_default())
}

async fn run(url: &str, statements: &str) -> Result<()> {
    connect_alone(url)
        .await?
        .batch_execute(statements)
        .await
        .map_err(unavailable)
}

fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    crate::unavailable("prepare scratch store", error)
}
