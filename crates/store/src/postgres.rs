//! The store on PostgreSQL: any number of nodes, one database.
//!
//! Statements take whole lists, so a round trip carries a batch; independent ones are sent without
//! waiting for each other's answers. Concurrent changes of intent share a statement and a commit
//! (see `gate.rs`). Nodes hear of each other's changes through `LISTEN/NOTIFY` (see `listen.rs`).

mod alert;
mod claim;
mod edition;
mod gate;
mod lane;
mod listen;
mod overview;
mod plan;
#[cfg(test)]
mod plans;
mod port;
mod records;
mod schedule;
mod sign_in;
mod source;
mod task;

use std::time::Duration;

use almanack_core::store::{Cause, Error, Node, Nudges, Result, Store};
use async_trait::async_trait;
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::{Client, Config, NoTls, error::SqlState};

use crate::{
    migrate,
    nudge::{NudgeReceiver, Nudger},
    postgres::{
        gate::Gate,
        listen::Listener,
        records::LoadCurrent,
        source::{LoadSources, WriteSources},
        task::Apply,
    },
    register,
    row::{self, instant},
};

/// Connections a node holds at most. Two carry changes, one or two each claim and finish, the rest
/// answer questions.
const CONNECTIONS_MAX: usize = 12;
/// How long to wait for a connection, new or used, before saying that the database is gone.
const PATIENCE: Duration = Duration::from_secs(3);
/// A connection on which nothing comes back for so long is given up: a network that swallows
/// everything must not hold a claim or a heartbeat for the quarter of an hour that TCP would.
const SILENCE: Duration = Duration::from_secs(15);
/// A node asks this often even if nobody nudged it.
const SAFETY_POLL: SignedDuration = SignedDuration::from_secs(10);

/// Every statement here is driven by a short list or an index. A plan made while a table was still
/// empty would read it from end to end and stay cached while it grows; a plan made for one list from
/// statistics that lag behind (nothing was RUNNING when they were taken) walks the whole table for
/// each of its rows; and while a table is small, collecting a whole range and sorting it looks
/// cheaper than reading the first rows of it in the order of the index. Generic plans without the
/// alternatives leave only the intended plan. A statement that takes half a minute is lost anyway.
const SESSION_OPTIONS: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off \
     -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off -c statement_timeout=30000";

/// The store on one PostgreSQL database.
pub struct PostgresStore {
    pool: Pool,
    changes: Gate<Apply>,
    looks: Gate<LoadCurrent>,
    sources: Gate<LoadSources>,
    source_writes: Gate<WriteSources>,
    nudger: Nudger,
    /// Where hints are told and heard; one per schema.
    channel: String,
    _listener: Listener,
}

impl PostgresStore {
    /// Connects, migrates, and starts listening.
    pub async fn connect(url: &str) -> Result<Self> {
        let mut config: Config = url
            .parse()
            .map_err(|error| unavailable("read URL", error))?;
        let options = config
            .get_options()
            .map(|given| format!("{given} {SESSION_OPTIONS}"));
        config.options(options.as_deref().unwrap_or(SESSION_OPTIONS));
        config
            .application_name("almanack")
            .connect_timeout(PATIENCE)
            .keepalives_idle(SILENCE)
            .tcp_user_timeout(SILENCE);
        let manager = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let timeouts = Timeouts {
            wait: Some(PATIENCE),
            create: Some(PATIENCE),
            recycle: Some(PATIENCE),
        };
        let pool = Pool::builder(Manager::from_config(config.clone(), NoTls, manager))
            .max_size(CONNECTIONS_MAX)
            .runtime(Runtime::Tokio1)
            .timeouts(timeouts)
            .build()
            .map_err(|error| unavailable("build connection pool", error))?;
        let channel = prepare(&pool).await?;
        let nudger = Nudger::new();
        let listener = Listener::start(config, channel.clone(), nudger.clone())
            .await
            .map_err(|error| explain("listen for changes", error))?;
        let changes = Gate::open(Apply {
            pool: pool.clone(),
            channel: channel.clone(),
        });
        let looks = Gate::open(LoadCurrent { pool: pool.clone() });
        let sources = Gate::open(LoadSources { pool: pool.clone() });
        let source_writes = Gate::open(WriteSources {
            pool: pool.clone(),
            channel: channel.clone(),
        });
        Ok(Self {
            pool,
            changes,
            looks,
            sources,
            source_writes,
            nudger,
            channel,
            _listener: listener,
        })
    }

    async fn client(&self) -> Result<Object> {
        client(&self.pool).await
    }
}

#[async_trait]
impl Store for PostgresStore {
    fn nudges(&self) -> Box<dyn Nudges> {
        Box::new(NudgeReceiver::new(self.nudger.subscribe()))
    }

    fn safety_poll(&self) -> SignedDuration {
        SAFETY_POLL
    }

    async fn database_time(&self) -> Result<Option<Timestamp>> {
        // The one statement that asks the database for the time: nodes correct their clocks by it.
        const NOW: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";
        let failed = |error| explain("read database time", error);
        let client = self.client().await?;
        let statement = client.prepare_cached(NOW).await.map_err(failed)?;
        let row = client.query_one(&statement, &[]).await.map_err(failed)?;
        Ok(Some(instant(row.get(0))?))
    }

    async fn ping(&self) -> Result<()> {
        let client = self.client().await?;
        client
            .batch_execute("select 1")
            .await
            .map_err(|error| explain("ping", error))
    }
}

/// A connection of one's own, without what a node sets for its sessions: for who reads or writes everything.
pub(crate) async fn connect_alone(url: &str) -> Result<Client> {
    let statement = "connect to PostgreSQL";
    let mut config: Config = url
        .parse()
        .map_err(|error| unavailable("read URL", error))?;
    config
        .application_name("almanack")
        .connect_timeout(PATIENCE)
        .keepalives_idle(SILENCE)
        .tcp_user_timeout(SILENCE);
    let connected = config.connect(NoTls).await;
    let (client, connection) = connected.map_err(|error| Error::Unavailable {
        statement,
        source: bare(error),
    })?;
    tokio::spawn(connection);
    Ok(client)
}

/// Who is registered in a database that is only looked at.
pub(crate) async fn registered(url: &str) -> Result<Vec<Node>> {
    let failed = |error| explain("load nodes", error);
    let client = connect_alone(url).await?;
    let known = client.query_one("select to_regclass('node') is not null", &[]);
    if !known.await.map_err(failed)?.get::<_, bool>(0) {
        return Ok(Vec::new());
    }
    let rows = client.query(register::LOAD_NODES, &[]).await;
    rows.map_err(failed)?.iter().map(row::node).collect()
}

async fn client(pool: &Pool) -> Result<Object> {
    let statement = "connect to PostgreSQL";
    pool.get().await.map_err(|error| match error {
        // The pool's own words would only stand before the server's.
        PoolError::Backend(error) => Error::Unavailable {
            statement,
            source: bare(error),
        },
        other => unavailable(statement, other),
    })
}

/// Brings the schema up to date and names the channel for hints. Two nodes may start at once: the
/// second waits at the lock and then finds nothing left to do.
async fn prepare(pool: &Pool) -> Result<String> {
    const LOCK: &str = "select pg_advisory_xact_lock(hashtext('almanack ' || current_schema()))";
    let failed = |error| explain("migrate", error);
    let mut client = client(pool).await?;
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute(LOCK).await.map_err(failed)?;
    transaction
        .batch_execute(migrate::CREATE_LEDGER)
        .await
        .map_err(failed)?;
    let rows = transaction
        .query(migrate::LOAD_APPLIED, &[])
        .await
        .map_err(failed)?;
    let applied: Vec<(i64, String)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for step in migrate::pending(&applied)? {
        transaction
            .batch_execute(step.postgres)
            .await
            .map_err(failed)?;
        transaction
            .execute(migrate::NOTE_APPLIED, &[&step.number, &step.name])
            .await
            .map_err(failed)?;
    }
    let schema = transaction
        .query_one("select current_schema()", &[])
        .await
        .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(format!("almanack_{}", schema.get::<_, String>(0)))
}

fn unavailable(
    statement: &'static str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::Unavailable {
        statement,
        source: Box::new(error),
    }
}

/// What the server said, without the driver's "db error" before it.
fn bare(error: tokio_postgres::Error) -> Cause {
    if error.as_db_error().is_none() {
        return Box::new(error);
    }
    let told = error.to_string();
    error.into_source().unwrap_or_else(|| told.into())
}

/// Whether the server refuses the values themselves (a null byte, a number too large, a key that
/// exists): asked again, it would refuse again. Only then does a batch look for its one bad item.
fn is_refused(code: &SqlState) -> bool {
    ["22", "23", "54"]
        .iter()
        .any(|class| code.code().starts_with(class))
}

/// Sorts the server's errors by what a caller can do about them.
pub(crate) fn explain(statement: &'static str, error: tokio_postgres::Error) -> Error {
    let unwritable = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::DISK_FULL,
        SqlState::INSUFFICIENT_PRIVILEGE,
    ];
    let incompatible = [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN];
    match error.code() {
        Some(code) if is_refused(code) => Error::Refused {
            statement,
            source: bare(error),
        },
        Some(code) if unwritable.contains(code) => Error::Unwritable {
            statement,
            source: bare(error),
        },
        Some(code) if incompatible.contains(code) => Error::Incompatible {
            // The driver's own words are just "db error"; the server names what is missing.
            what: error
                .as_db_error()
                .map_or_else(|| error.to_string(), |told| told.message().to_owned()),
        },
        _ => Error::Unavailable {
            statement,
            source: bare(error),
        },
    }
}
