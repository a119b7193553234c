//! Almanack inside a Rust program: durable tasks at a time, with handlers in the same process.
//!
//! The program is a node like any other: it claims what is due under a lease, hands it to a
//! handler, and writes what came of it. What it was asked to do survives its death, and a task that
//! it was trying comes back when the lease has passed. There is no HTTP in it: neither an API nor
//! callbacks.
//!
//! ```
//! use almanack_embed::{
//!     Almanack, Attempt, Error, Expires, Identity, Outcome, Put, Request, SignedDuration,
//! };
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Welcome {
//!     name: String,
//! }
//!
//! async fn greet(task: Attempt<Welcome>) -> Result<Outcome, std::io::Error> {
//!     println!("Welcome, {}!", task.payload.name); // an error here would be tried again
//!     Ok(Outcome::done("greeted"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let url = format!("sqlite:{}", folder.path().join("app.db").display());
//! let almanack = Almanack::builder()
//!     .database(&url) // or postgres://…
//!     .handler("WELCOME", greet)
//!     .start()
//!     .await?;
//! let tomorrow = almanack.now() + SignedDuration::from_hours(24);
//! let ada = Welcome { name: "Ada".to_owned() };
//! almanack.put("WELCOME", "user:9", tomorrow, &ada).await?;
//! almanack.put("WELCOME", "user:9", almanack.now(), &ada).await?; // sooner, instead
//! almanack.cancel("WELCOME", "user:7").await.unwrap_err(); // nothing is there
//! let put = Put {
//!     expires: Some(Expires::After(3_600)), // everything that a request can say
//!     ..Put::at(Identity::parse("user:9", "WELCOME")?, tomorrow)
//! };
//! almanack.ask(Request::Put(put)).await?;
//! almanack.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! A handler may be called again for the same task: after a failure, or because its process died
//! before the answer was written. It is idempotent, or passes [`Attempt::task_id`] on.

mod builder;
mod error;
mod handler;

use std::sync::Arc;

use almanack_core::{
    store::Store,
    task::PAYLOAD_BYTES_MAX,
    time::{Clock, CorrectedClock},
};
use almanack_engine::reschedule::Rescheduler;
use almanack_store::sqlite::NodeLock;
use serde::Serialize;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use almanack_core::{
    finish::Outcome,
    reschedule::{Cancel, Put, Receipt, Request, Rule},
    task::{Expires, Identity, Payload, Priority, Revision, Status, Tags, Task},
};
pub use builder::Builder;
pub use error::Error;
pub use handler::Attempt;
pub use jiff::{SignedDuration, Timestamp};

/// Who asked, in the history.
const ORIGIN: &str = "embedded";

/// A running node inside this process. Dropping it stops the node without waiting for its handlers;
/// their tasks come back when the lease has passed.
pub struct Almanack {
    store: Arc<dyn Store>,
    clock: Arc<CorrectedClock>,
    rescheduler: Arc<Rescheduler>,
    working: JoinHandle<()>,
    stop: CancellationToken,
    _stop_when_dropped: DropGuard,
    /// Held as long as the node works.
    _node_lock: Option<NodeLock>,
}

impl Almanack {
    /// Says what to start.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Tries `(subject, kind)` at a time, by the rules that hold everywhere: a task that waits is
    /// moved, one that is done stays done, one that runs is cancelled and tried anew.
    pub async fn put(
        &self,
        kind: &str,
        subject: &str,
        execute_at: Timestamp,
        payload: &impl Serialize,
    ) -> Result<Receipt, Error> {
        let payload = serde_json::to_string(payload).map_err(Error::Payload)?;
        let put = Put {
            payload: Some(Payload::parse(&payload, PAYLOAD_BYTES_MAX)?),
            ..Put::at(Identity::parse(subject, kind)?, execute_at)
        };
        self.ask(Request::Put(put)).await
    }

    /// Withdraws `(subject, kind)`.
    pub async fn cancel(&self, kind: &str, subject: &str) -> Result<Receipt, Error> {
        let identity = Identity::parse(subject, kind)?;
        let cancel = Cancel {
            identity,
            revision: None,
        };
        self.ask(Request::Cancel(cancel)).await
    }

    /// Asks for a change with everything that one can say: revision, priority, retries, expiry,
    /// tags.
    pub async fn ask(&self, request: Request) -> Result<Receipt, Error> {
        Ok(self.rescheduler.ask(request, ORIGIN).await?)
    }

    /// What is kept about `(subject, kind)`.
    pub async fn get(&self, kind: &str, subject: &str) -> Result<Option<Task>, Error> {
        let identity = Identity::parse(subject, kind)?;
        let found = self.store.load_current(&[identity]).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// The time that tasks are due by: the database's, where it has a clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Takes no more work, lets handlers end or hands their tasks back, and ends.
    pub async fn stop(self) {
        self.stop.cancel();
        if let Err(error) = self.working.await {
            tracing::error!(%error, "the node ended by itself");
        }
    }
}
