//! Almanack's duties and the way in for changes of intent.
//!
//! Each duty is one file: the [`planner`] turns the slots of schedules into tasks, the [`runner`]
//! tries what is due, the [`keeper`] keeps leases and nodes honest, [`retention`] forgets what
//! ended long ago, [`backups`] copies the store, the [`mod@watch`] looks for what needs attention,
//! and [`heartbeat`] reports to a monitor outside that the node lives; [`node`] runs them side
//! by side and stops them in order. [`reschedule`] is how a request from outside becomes a change
//! of a task, [`inbox`] takes requests that were written in others' transactions, [`schedules`] is
//! the same for schedules; [`editions`] makes a day's digest, [`newsletter`] sends it by mail, [`dispatch`]
//! fires a slot at its target, [`run_log`] keeps what that prints, [`event_delivery`] delivers
//! events to subscribers, [`ping_delivery`] calls others about firings, [`work`] hands tasks to workers, [`chain`] keeps
//! schedules where there is no database, and [`tick`] is one pass of everything for a caller that
//! drives Almanack from outside. None of them sees SQL, reads a clock or rolls dice on its own;
//! what they need comes in as ports.

pub mod backups;
pub mod bulk;
pub mod calendars;
pub mod chain;
pub mod claims;
pub mod counters;
mod current;
pub mod dispatch;
pub mod editions;
mod endings;
pub mod event_delivery;
pub mod handlers;
pub mod health;
pub mod heartbeat;
pub mod inbox;
pub mod intake;
pub mod keeper;
pub mod kinds;
pub mod lease_validity;
pub mod lock;
pub mod newsletter;
pub mod node;
pub mod pace;
pub mod permits;
pub mod ping_delivery;
pub mod planner;
pub mod radar;
pub mod reloadable;
pub mod reports;
pub mod reschedule;
pub mod retention;
pub mod run_log;
pub mod runner;
pub mod schedules;
pub mod simulation;
pub mod sources;
pub mod tick;
mod wake;
pub mod watch;
pub mod watchdog;
pub mod work;
pub mod zones;
