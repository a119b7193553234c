//! A whole node on a real store, in virtual time.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up has failed"
)]

mod bulk;
mod calendars;
mod chain;
mod clock;
mod dispatch;
mod editions;
mod endings;
mod entries;
mod event_delivery;
mod expiry;
mod fixture;
mod follow;
mod forgotten;
mod inbox;
mod kinds;
mod lock;
mod monitors;
mod newsletter;
mod node;
mod operators;
mod permits;
mod ping_delivery;
mod planner;
mod radar;
mod refusals;
mod reserved;
mod retention;
mod run_log;
mod shares;
mod simulation;
mod sources;
mod unreadable;
mod virtual_time;
mod watch;
mod work;
