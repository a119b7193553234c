//! The store on PostgreSQL: any number of nodes, one database.
//!
//! Statements take whole lists, so a round trip carries a batch; independent ones are sent without
//! waiting for each other's answers. Concurrent changes of intent share a statement and a commit
//! (see `batcher.rs`). Each sort of caller has its own connections (see `caller.rs`). Nodes hear
//! of each other's changes through `LISTEN/NOTIFY` (see `listen.rs`).

mod address;
mod amend;
mod batcher;
mod claim;
mod finish;
pub(crate) mod functions;
mod inbox;
mod listen;
mod migration;
mod pace;
mod permit;
mod plan;
mod question;
mod records;
mod repeat;
mod session;
mod source;
mod task;
#[cfg(test)]
mod tests;
mod tls;

use std::{sync::Arc, time::Duration};

use almanack_core::store::{Cause, Error, Result};
use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, RecyclingMethod, Runtime, Timeouts,
};
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::{Client, error::SqlState};

use crate::{
    Register,
    caller::{Caller, READ_WITHIN, Room, Seat},
    database::{Access, Database, SqlStore},
    measure::Stopwatch,
    migrate,
    nudge::Nudger,
    postgres::{
        address::Address,
        batcher::{Batcher, Lookers},
        listen::Listener,
        question::Question,
        records::LoadCurrent,
        session::PostgresSession,
        source::{LoadSources, WriteSources},
        task::{Apply, report},
        tls::Tls,
    },
    register,
    row::{self, instant},
    session::Work,
    unavailable,
};

/// Connections that each sort of caller holds at most. Of a node's own work one or two each claim,
/// finish, beat and plan; changes travel together and need few; pages have what is left.
const WORK_CONNECTIONS: usize = 6;
const CHANGE_CONNECTIONS: usize = 4;
const PAGE_CONNECTIONS: usize = 4;
/// Connections a node holds at most, the one that listens aside.
pub(crate) const CONNECTIONS_MAX: usize = WORK_CONNECTIONS + CHANGE_CONNECTIONS + PAGE_CONNECTIONS;
/// A connection on which nothing comes back for so long is given up: a network that swallows
/// everything must not hold a claim or a heartbeat for the quarter of an hour that TCP would.
const SILENCE: Duration = Duration::from_secs(15);
/// A node asks this often even without a nudge.
const SAFETY_POLL: SignedDuration = SignedDuration::from_secs(10);

/// Every statement here is driven by a short list or an index. A plan made while a table was still
/// empty would read it from end to end and stay cached while it grows; a plan made for one list
/// from statistics that lag behind (nothing was RUNNING when they were taken) walks the whole table
/// for each of its rows; and while a table is small, collecting a whole range and sorting it looks
/// cheaper than reading the first rows of it in the order of the index. Generic plans without the
/// alternatives leave only the intended plan. A statement that takes half a minute is lost anyway.
const SESSION_OPTIONS: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off \
     -c enable_bitmapscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off -c statement_timeout=30000";

/// The one statement that asks the database for the time: nodes correct their clocks by it, and who
/// asks whether nodes are alive must go by the same.
const NOW: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";

/// The whole transaction reads what its first statement saw.
const BEGIN_MOMENT: &str = "begin isolation level repeatable read read only";

/// The store on one PostgreSQL database, for one sort of caller.
pub type PostgresStore = SqlStore<Postgres>;

/// The database, and the ways to it.
pub struct Postgres {
    shared: Arc<Shared>,
    caller: Caller,
    pool: Pool,
    changes: Batcher<Apply>,
    looks: Batcher<LoadCurrent>,
    lookers: Arc<Lookers>,
    sources: Batcher<LoadSources>,
    source_writes: Batcher<WriteSources>,
    nudger: Nudger,
    /// The channel for hints; one per schema.
    channel: String,
}

/// What all callers have in common.
struct Shared {
    work: Pool,
    changes: Pool,
    pages: Pool,
    room: Room,
    tls: Tls,
    nudger: Nudger,
    /// Hints that something is in the inbox.
    inbox_nudger: Nudger,
    channel: String,
    _listener: Listener,
}

impl PostgresStore {
    /// Connects, migrates, and starts listening.
    pub async fn connect(url: &str) -> Result<Self> {
        let mut address = Address::read(url)?;
        let config = &mut address.config;
        add_options(config, SESSION_OPTIONS);
        config
            .application_name("almanack")
            .keepalives_idle(SILENCE)
            .tcp_user_timeout(SILENCE);
        let work = pool(&address, WORK_CONNECTIONS)?;
        let changes = pool(&address, CHANGE_CONNECTIONS)?;
        let mut held_short = address.clone();
        let within = format!("-c statement_timeout={}", READ_WITHIN.as_millis());
        add_options(&mut held_short.config, &within);
        let pages = pool(&held_short, PAGE_CONNECTIONS)?;
        let channel = migration::prepare(url).await?;
        let (nudger, inbox_nudger) = (Nudger::new(), Nudger::new());
        let Address { config, tls, .. } = address;
        let heard = (nudger.clone(), inbox_nudger.clone());
        let listener = Listener::start((config, tls.clone()), channel.clone(), heard)
            .await
            .map_err(|error| explain("listen for changes", error))?;
        let shared = Shared {
            work,
            changes,
            pages,
            room: Room::new(),
            tls,
            nudger,
            inbox_nudger,
            channel,
            _listener: listener,
        };
        Ok(Self(Postgres::over(Arc::new(shared), Caller::Work)))
    }
}

impl Postgres {
    fn over(shared: Arc<Shared>, caller: Caller) -> Self {
        let pool = match caller {
            Caller::Work => shared.work.clone(),
            Caller::Changes => shared.changes.clone(),
            Caller::Pages => shared.pages.clone(),
        };
        let channel = shared.channel.clone();
        let lookers = Arc::default();
        let apply = Apply {
            pool: pool.clone(),
            channel: channel.clone(),
        };
        let changes = Batcher::behind(Arc::clone(&lookers), apply);
        let looks = Batcher::open(LoadCurrent { pool: pool.clone() });
        let sources = Batcher::open(LoadSources { pool: pool.clone() });
        let source_writes = Batcher::open(WriteSources {
            pool: pool.clone(),
            channel: channel.clone(),
        });
        Self {
            nudger: shared.nudger.clone(),
            shared,
            caller,
            pool,
            changes,
            looks,
            lookers,
            sources,
            source_writes,
            channel,
        }
    }

    async fn client(&self) -> Result<Object> {
        client(&self.pool).await
    }

    /// A seat among those who wait for their page, where that is needed.
    fn seat(&self) -> Result<Seat> {
        self.shared.room.enter(self.caller)
    }
}

/// Adds to what a session is opened with; of two that say the same, the later one counts.
fn add_options(config: &mut tokio_postgres::Config, options: &str) {
    let given = config.get_options();
    let both = given.map(|given| format!("{given} {options}"));
    config.options(both.as_deref().unwrap_or(options));
}

fn pool(address: &Address, connections: usize) -> Result<Pool> {
    let Address {
        config,
        tls,
        wait_max,
    } = address;
    let manager = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let timeouts = Timeouts {
        wait: Some(*wait_max),
        create: Some(*wait_max),
        recycle: Some(*wait_max),
    };
    Pool::builder(Manager::from_config(config.clone(), tls.clone(), manager))
        .max_size(connections)
        .runtime(Runtime::Tokio1)
        .timeouts(timeouts)
        .build()
        .map_err(|error| unavailable("build connection pool", error))
}

impl Database for Postgres {
    const SAFETY_POLL: SignedDuration = SAFETY_POLL;

    fn handed_to(&self, caller: Caller) -> Self {
        Self::over(Arc::clone(&self.shared), caller)
    }

    fn nudger(&self) -> &Nudger {
        &self.nudger
    }

    fn text(_: &'static str, postgres: &'static str) -> &'static str {
        postgres
    }

    async fn ask<A, T>(
        &self,
        access: Access,
        name: &'static str,
        args: A,
        work: Work<A, T>,
    ) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
    {
        let failed = |error| explain(name, error);
        let watch = Stopwatch::start();
        let done = match access {
            Access::Read => {
                let (_place, question) = self.question().await?;
                let client = question.client();
                let done = work(&PostgresSession { client, name }, &args).await;
                question.answered();
                done
            }
            Access::Moment => {
                let _seat = self.seat()?;
                let (client, tls) = (self.client().await?, self.shared.tls.clone());
                let question = Question::in_transaction(client, tls);
                let client = question.client();
                client.batch_execute(BEGIN_MOMENT).await.map_err(failed)?;
                let done = work(&PostgresSession { client, name }, &args).await;
                client.batch_execute("commit").await.map_err(failed)?;
                question.answered();
                done
            }
            Access::Statement => {
                let client = &self.client().await?;
                work(&PostgresSession { client, name }, &args).await
            }
            Access::Transaction => {
                let mut client = self.client().await?;
                let transaction = client.transaction().await.map_err(failed)?;
                let client = &transaction;
                let done = work(&PostgresSession { client, name }, &args).await?;
                transaction.commit().await.map_err(failed)?;
                Ok(done)
            }
        };
        watch.took(access.as_str());
        done
    }

    async fn hint(&self, due_at: Option<Timestamp>) {
        if due_at.is_some()
            && let Ok(client) = self.client().await
        {
            report(&client, &self.channel, due_at).await;
        }
    }

    async fn database_time(&self) -> Result<Option<Timestamp>> {
        let client = self.client().await?;
        let rows = session::query(&client, "read database time", NOW, &[]).await?;
        rows.first().map(|row| instant(row.get(0))).transpose()
    }

    async fn ping(&self) -> Result<()> {
        let client = self.client().await?;
        client
            .batch_execute("select 1")
            .await
            .map_err(|error| explain("ping", error))
    }
}

/// A separate connection, without what a node sets for its sessions: for a caller that reads or
/// writes everything.
pub(crate) async fn connect_alone(url: &str) -> Result<Client> {
    let statement = "connect to PostgreSQL";
    let Address {
        mut config, tls, ..
    } = Address::read(url)?;
    config
        .application_name("almanack")
        .keepalives_idle(SILENCE)
        .tcp_user_timeout(SILENCE);
    let connected = config.connect(tls).await;
    let (client, connection) = connected.map_err(|error| unavailable(statement, bare(error)))?;
    tokio::spawn(connection);
    Ok(client)
}

/// The steps that a database has; none if it has no list of them.
pub(crate) async fn applied(
    client: &impl tokio_postgres::GenericClient,
) -> Result<Vec<migrate::Applied>> {
    const KNOWN: &str =
        "select to_regclass('migration') is not null, to_regclass('migration_mark') is not null";
    let failed = |error| explain("look at migrations", error);
    let known = client.query_one(KNOWN, &[]).await.map_err(failed)?;
    let text = match (known.get(0), known.get(1)) {
        (false, _) => return Ok(Vec::new()),
        (true, false) => migrate::LOAD_UNMARKED,
        (true, true) => migrate::LOAD_APPLIED,
    };
    let rows = client.query(text, &[]).await.map_err(failed)?;
    let applied = rows.iter().map(|row| migrate::Applied {
        number: row.get(0),
        name: row.get(1),
        works_from: row.get(2),
    });
    Ok(applied.collect())
}

/// Who is registered in a database that is only looked at.
pub(crate) async fn registered(url: &str) -> Result<Register> {
    let failed = |error| explain("load nodes", error);
    let client = connect_alone(url).await?;
    let now = client.query_one(NOW, &[]).await.map_err(failed)?;
    let now = Some(instant(now.get(0))?);
    let known = client.query_one("select to_regclass('node') is not null", &[]);
    let nodes = if known.await.map_err(failed)?.get(0) {
        let rows = client.query(register::LOAD_NODES, &[]).await;
        let rows = rows.map_err(failed)?;
        let nodes = rows.iter().map(|row| row::node(&row.into()));
        nodes
            .filter_map(|node| row::readable("node", node))
            .collect()
    } else {
        Vec::new()
    };
    Ok(Register { nodes, now })
}

async fn client(pool: &Pool) -> Result<Object> {
    let statement = "connect to PostgreSQL";
    let waiting = Stopwatch::start();
    let lent = pool.get().await;
    waiting.waited("connections");
    lent.map_err(|error| match error {
        // The pool's own words would only stand before the server's.
        PoolError::Backend(error) => unavailable(statement, bare(error)),
        other => unavailable(statement, other),
    })
}

/// What the server said, without the driver's "db error" before it.
fn bare(error: tokio_postgres::Error) -> Cause {
    if error.as_db_error().is_none() {
        return Box::new(error);
    }
    let text = error.to_string();
    error.into_source().unwrap_or_else(|| text.into())
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
                .map_or_else(|| error.to_string(), |cause| cause.message().to_owned()),
        },
        _ => unavailable(statement, bare(error)),
    }
}
