//! A whole node on a real store, in virtual time.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed"
)]

mod chain;
mod clock;
mod desk;
mod dispatch;
mod editions;
mod endings;
mod entries;
mod forgotten;
mod happenings;
mod kinds;
mod lock;
mod node;
mod places;
mod planner;
mod refusals;
mod rehearsal;
mod reserved;
mod retention;
mod shares;
mod sources;
mod unreadable;
mod virtual_time;
mod watch;
