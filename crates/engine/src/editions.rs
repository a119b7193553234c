//! Editions: reads an account, lets `core` decide, carries it out, writes down what became of it.
//!
//! ```text
//!   a firing ─────► tick ─┐                        ┌─ free: recover, put back, aggregate, publish
//!   EDITION_RUN ──► step ─┼─► load ─► plan ─► act ─┤
//!   people ───────► run ──┘     ▲                  └─ spending: fetch, batch, deliver, out of one budget
//!                               └── again, until nothing is left that this call may do
//! ```
//!
//! What must stay true: nothing here remembers anything between two calls. A process that dies at
//! any point leaves an account from which the next tick goes on; a run that was overtaken meanwhile
//! writes nothing (ED-14…ED-16).

mod batch;
mod book;
mod deadline;
mod deliver;
mod desk;
pub mod entries;
mod error;
mod fetch;
pub mod handler;
mod hold;
pub mod judged;
mod ladder;
pub mod merged;
pub mod meter;
mod overview;
mod quality;
mod render;
mod requests;
mod run;
pub mod selected;
mod set;
pub mod shared;
mod status;
mod tick;

use std::sync::Arc;

use almanack_core::{
    edition::{
        EditionName,
        allowance::Caps,
        port::{Publisher, Reader, Renderer, Sensitivity, StorySource, Writer},
        rules::Rules,
    },
    event::outgoing::Subscriptions,
    schedule::{Timetable, Zone},
    store::Store,
    time::{Clock, Sleeper},
};
use jiff::{civil::Time, tz::TimeZone};

use crate::{reloadable::Reloadable, reschedule::Rescheduler};

pub use desk::Decided;
pub use error::Error;
pub use render::Rebuilt;
pub use requests::{Forced, Redelivered, Requested, Retried};
pub use run::{End, Observer, Ran, Stepped, Unwatched};
pub use set::EditionSet;
pub use status::Status;
pub use tick::Ticked;

/// What an edition is made from and goes to.
#[derive(Clone)]
pub struct Outside {
    pub source: Arc<dyn StorySource>,
    pub reader: Arc<dyn Reader>,
    /// Writes titles and summaries.
    pub writer: Arc<dyn Writer>,
    /// Writes summaries where the writer does not, without a request (ED-38).
    pub fallback: Arc<dyn Writer>,
    pub renderer: Arc<dyn Renderer>,
    /// Deliver documents, each to its destination; no two to one of the same name.
    pub publishers: Vec<Arc<dyn Publisher>>,
}

/// What an operator decided about editions.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which of the editions that are made side by side these are.
    pub name: EditionName,
    /// How they are made.
    pub rules: Rules,
    /// Whose days they are of.
    pub zone: TimeZone,
    /// What they are called.
    pub title: String,
    /// The language they are written in.
    pub language: String,
    /// How much models may cost (ED-44).
    pub caps: Caps,
    /// How much the content filter lets through; none without one.
    pub filter: Option<Sensitivity>,
    /// At what time of their day readers expect editions, in their zone; none: whenever they are
    /// finished (ED-38).
    pub ready_by: Option<Time>,
    /// When ticks come, to estimate when an edition will be finished; none where nothing ticks.
    pub ticks: Option<Ticks>,
    /// This node's name, for people.
    pub node: String,
}

/// When ticks come.
#[derive(Debug, Clone)]
pub struct Ticks {
    /// The schedule of the ticks.
    pub timetable: Timetable,
    pub zone: Arc<Zone>,
}

/// Makes editions.
pub struct Editions {
    pub store: Arc<dyn Store>,
    /// The same store for readers: they never delay the work on an edition (SF-01).
    pub shown: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub sleeper: Arc<dyn Sleeper>,
    pub rescheduler: Arc<Rescheduler>,
    pub outside: Outside,
    pub settings: Settings,
    /// Whom to notify of what was published.
    pub subscriptions: Reloadable<Subscriptions>,
}
