//! A typed client of Almanack, the durable scheduler: put, move and withdraw tasks, write
//! schedules, take work as a pull worker, verify callbacks.
//!
//! ```no_run
//! use almanack_client::{Change, Client, Put};
//!
//! # async fn example() -> Result<(), almanack_client::Error> {
//! let almanack = Client::new("http://127.0.0.1:8080")?.token("alm_…");
//! let at = "2027-01-04T08:00:00Z".parse().unwrap_or_default();
//! let receipt = almanack
//!     .put(Put::new("ARTICLE_PUBLISH", "article:42", at).revision(3))
//!     .await?;
//! println!("{}: {}", receipt.identity, receipt.receipt.rule);
//! almanack.cancel("ARTICLE_PUBLISH", "article:42", Change::default()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! What is safe to repeat is repeated while the node is away: reads, changes with a revision, and
//! changes with an idempotency key, which every other change of a single task gets. The types of
//! the wire are those of `almanack-core`; a type of this crate exists only where the wire has less
//! than the store (a task) or where a person writes it (a [`Put`]).

#[cfg(feature = "axum")]
pub mod axum;
mod bulk;
mod error;
mod events;
mod http;
mod kinds;
mod put;
mod schedules;
mod signature;
mod tasks;
mod work;
mod worker;

pub use almanack_core::{
    history::{Attempt, Decision, HistoryEvent, Kept},
    plan::{Definition, Origin, Pause, ScheduleName, State},
    reschedule::{DecisionId, Receipt, Rule},
    target::Target,
    task::{Identity, Kind, Payload, Priority, Revision, Status, Subject, TaskId, Term},
    work::{
        ExtendedTask, HeldTask, LeaseResult, ReportResult, ReportedTask, WorkClaim, WorkOutcome,
        WorkReport, WorkTask,
    },
};
pub use bulk::{Bulk, BulkAction, BulkPlan, Filter};
pub use error::{Error, Problem};
pub use events::Event;
pub use http::Client;
pub use jiff::{SignedDuration, Timestamp};
pub use kinds::{KindStatus, KindsPage};
pub use put::{Callback, Change, Put};
pub use schedules::{Fired, Schedule, ScheduleFilter, SchedulesPage, Warning};
pub use signature::{Call, Forged, WebhookKey};
pub use tasks::{BatchItem, HistoryPage, KeptReceipt, Receipted, Task, TasksPage};
pub use work::Outcome;
pub use worker::{IntoOutcome, Worker};
