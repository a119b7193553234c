//! A schema per test in the PostgreSQL cluster that the test command starts.
//!
//! A missing server is a failure, not a skip: a promise that was not tested on PostgreSQL is not
//! kept there.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::task::JoinHandle;
use tokio_postgres::{Client, Error, NoTls};

static COUNTER: AtomicU32 = AtomicU32::new(0);
/// How long to wait for a client that uses a schema while it is dropped.
const DROPPED_WITHIN: &str = "10s";

/// A schema of one test's own, dropped with it.
pub struct Schema {
    name: String,
    url: String,
}

impl Schema {
    /// Makes an empty schema.
    pub async fn create() -> Self {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        let drop = format!("drop schema if exists {name}, almanack_{name} cascade");
        run(&server_url(), &format!("{drop}; create schema {name}")).await;
        let separator = if server_url().contains('?') { '&' } else { '?' };
        let url = format!(
            "{}{separator}options=-c%20search_path%3D{name}",
            server_url()
        );
        Self { name, url }
    }

    /// A URL whose search path is this schema alone.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The schema of the SQL functions that belong to the tables in this one.
    pub fn functions(&self) -> String {
        format!("almanack_{}", self.name)
    }

    /// A connection of its own into this schema.
    pub async fn session(&self) -> Client {
        connect(&self.url).await.0
    }

    /// Runs statements in this schema.
    pub async fn run(&self, statements: &str) {
        run(&self.url, statements).await;
    }
}

impl Drop for Schema {
    /// On a separate thread: a test's runtime may be shutting down around us. A client that still
    /// holds something of the schema loses it: a test that fails inside a transaction must fail,
    /// not wait for itself.
    fn drop(&mut self) {
        let name = &self.name;
        let statement = format!(
            "set lock_timeout = '{DROPPED_WITHIN}'; \
             select pg_terminate_backend(l.pid) from pg_locks l \
             join pg_class c on c.oid = l.relation \
             where c.relnamespace = to_regnamespace('{name}') and l.pid <> pg_backend_pid(); \
             drop schema if exists {name}, almanack_{name} cascade"
        );
        let dropper = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            if let Ok(runtime) = runtime {
                runtime.block_on(run(&server_url(), &statement));
            }
        });
        // A schema left behind goes with the cluster.
        let _ = dropper.join();
    }
}

fn server_url() -> String {
    #[expect(clippy::disallowed_methods, reason = "the test command says where it started PostgreSQL")]
    std::env::var("ALMANACK_TEST_POSTGRES_URL").expect(
        "ALMANACK_TEST_POSTGRES_URL is not set: run `dev/check`, or `export ALMANACK_TEST_POSTGRES_URL=$(dev/postgres start)` once",
    )
}

/// Runs statements on any server.
///
/// # Panics
///
/// If the server does not take them: a test that cannot set itself up has failed.
pub async fn run(url: &str, statements: &str) {
    let (client, connection) = connect(url).await;
    let done = client.batch_execute(statements).await;
    done.expect("run statements");
    drop(client);
    let _ = connection.await;
}

/// The number that a statement answers, on any server.
///
/// # Panics
///
/// If the server does not answer with one.
pub async fn number(url: &str, statement: &str) -> i64 {
    let (client, connection) = connect(url).await;
    let row = client.query_one(statement, &[]).await.expect("a row");
    let number = row.get(0);
    drop(client);
    let _ = connection.await;
    number
}

async fn connect(url: &str) -> (Client, JoinHandle<Result<(), Error>>) {
    let connected = tokio_postgres::connect(url, NoTls).await;
    let (client, connection) = connected.expect("connect to the test cluster");
    (client, tokio::spawn(connection))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_schema_goes_although_a_client_is_in_the_middle_of_something() {
        let schema = Schema::create().await;
        schema.run("create table kept (id bigint)").await;
        let (client, connection) = tokio_postgres::connect(schema.url(), NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let begun = client.batch_execute("begin; insert into kept values (1)");
        begun.await.unwrap();
        let gone = format!(
            "select count(*) from pg_namespace where nspname = '{}'",
            schema.name
        );
        drop(schema);
        assert_eq!(number(&server_url(), &gone).await, 0);
        assert!(connection.await.unwrap().is_err(), "it was thrown out");
    }
}
