//! A pull worker: takes due tasks, runs a handler for each, reports how they ended.
//!
//! One loop keeps the books; everything that waits (a claim, a handler, a report, a timer) runs
//! beside it and comes back as an [`Arrival`]. What must stay true:
//!
//! - A task is *held* from its claim until its ending is acknowledged, and what is held is extended
//!   every third of its lease. A slow handler keeps its task, a dead process does not.
//! - A handler whose lease is lost is stopped: another worker has its task.
//! - Endings wait for the report before them, so many small ones become few large ones.
//! - While the node is away, nothing is dropped: claims and reports are tried again with growing
//!   waits. A refusal that waiting cannot change ends the worker with that error.

mod book;

use std::{collections::BTreeMap, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use tokio::task::JoinSet;

use almanack_core::work::{
    ExtendedTask, HeldTask, ReportedTask, TASKS_MAX, WAIT_MAX_S, WorkClaim, WorkReport, WorkTask,
};

use crate::{
    error::Error,
    http::{Client, backoff, pause},
    work::Outcome,
};

use book::Book;

type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;
type Handler = Arc<dyn Fn(WorkTask) -> Running + Send + Sync>;

/// A pull worker.
///
/// ```no_run
/// use almanack_client::{WorkTask, Client, Outcome, Worker};
///
/// # async fn example() -> Result<(), almanack_client::Error> {
/// let almanack = Client::new("http://127.0.0.1:8080")?.token("alm_…");
/// Worker::new(almanack)
///     .handle("MAIL_SEND", async |task: WorkTask| {
///         println!("mail to {}", task.identity.subject);
///         Outcome::done()
///     })
///     .slots(8)
///     .run(async { /* until the process is stopped */ })
///     .await
/// # }
/// ```
pub struct Worker {
    client: Client,
    handlers: BTreeMap<String, Handler>,
    name: Option<String>,
    slots: usize,
    lease: Duration,
    drain: Duration,
}

/// What a handler may answer: an [`Outcome`], nothing (done), or a result whose error is retried.
pub trait IntoOutcome {
    /// As an outcome.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Outcome::done()
    }
}

impl<T: IntoOutcome, E: fmt::Display> IntoOutcome for Result<T, E> {
    fn into_outcome(self) -> Outcome {
        match self {
            Ok(answer) => answer.into_outcome(),
            Err(error) => Outcome::retry(error.to_string()),
        }
    }
}

/// Something that the loop waited for.
enum Arrival {
    Claimed(Result<Vec<WorkTask>, Error>),
    Ended(HeldTask, Option<Outcome>),
    Reported(Vec<WorkReport>, Result<Vec<ReportedTask>, Error>),
    /// A third of the lease has passed.
    Aged,
    Extended(Result<Vec<ExtendedTask>, Error>),
    /// The drain is over.
    Overdue,
}

impl Worker {
    /// A worker without handlers, with 4 slots and leases of 60 s.
    pub fn new(client: Client) -> Self {
        Self {
            client,
            handlers: BTreeMap::new(),
            name: None,
            slots: 4,
            lease: Duration::from_mins(1),
            drain: Duration::from_secs(10),
        }
    }

    /// Handles the tasks of a kind. May be called again for the same task, so it is idempotent or
    /// passes the task id on.
    #[must_use]
    pub fn handle<F, R>(
        mut self,
        kind: impl Into<String>,
        handler: impl Fn(WorkTask) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoOutcome,
    {
        let handler: Handler = Arc::new(move |task| {
            let running = handler(task);
            Box::pin(async { running.await.into_outcome() })
        });
        self.handlers.insert(kind.into(), handler);
        self
    }

    /// The name that people see where a node's stands.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How many tasks run at once. Default: 4.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots.clamp(1, TASKS_MAX);
        self
    }

    /// How long a task stays with a worker that has died, 5 s to 1 h. Default: 60 s.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.clamp(Duration::from_secs(5), Duration::from_hours(1));
        self
    }

    /// How long running handlers may go on after the shutdown began. Default: 10 s.
    #[must_use]
    pub fn drain(mut self, drain: Duration) -> Self {
        self.drain = drain;
        self
    }

    /// Works until `shutdown` is ready: then it claims no more, lets handlers end for as long as
    /// the drain allows, and gives back the rest. Ends earlier only with a refusal that waiting
    /// cannot change: a wrong token, a kind that is not pulled.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send) -> Result<(), Error> {
        let mut shutdown = std::pin::pin!(shutdown);
        let mut book = Book::new(self);
        loop {
            book.proceed();
            let stopping = book.is_stopping();
            tokio::select! {
                () = &mut shutdown, if !stopping => book.stop(None),
                arrival = book.next() => match arrival {
                    Some(arrival) => book.take(arrival),
                    None => return book.close().await,
                },
            }
        }
    }

    fn claim(&self, max: usize) -> WorkClaim {
        WorkClaim {
            kinds: self.handlers.keys().cloned().collect(),
            max: i64::try_from(max).ok(),
            wait_s: Some(WAIT_MAX_S),
            lease_s: i64::try_from(self.lease.as_secs()).ok(),
            worker: self.name.clone(),
        }
    }
}

/// What runs beside the loop.
type Beside = JoinSet<Arrival>;
