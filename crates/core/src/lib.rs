//! Almanack's vocabulary and decisions.
//!
//! Everything that happens at a time is a [`task::Task`]. This crate decides what happens to one:
//! which rule a change of time falls under ([`reschedule`]), what an attempt's outcome does to it
//! ([`finish`]), how long to wait before the next try ([`backoff`]), how long a lease is valid
//! ([`lease`]). It never learns the time, never rolls dice and never touches the outside: `now` and
//! `jitter` are arguments, and what the decisions need from a database or a network is stated as a
//! port trait ([`store`], [`handler`]) that other crates implement.

#[macro_use]
mod names;

pub mod address;
pub mod alert;
pub mod backoff;
pub mod backup;
pub mod budget;
pub mod bulk;
pub mod calendar;
pub mod callback;
pub mod chain;
pub mod clock;
pub mod dispatch;
pub mod duration;
pub mod edition;
pub mod event;
pub mod finish;
#[cfg(test)]
mod fixture;
pub mod follow;
pub mod handler;
pub mod headers;
pub mod history;
pub mod host_limit;
pub mod host_pace;
pub mod import;
pub mod inbox;
pub mod instant;
pub mod json;
pub mod lang;
pub mod lease;
pub mod lock;
pub mod newsletter;
pub mod pace;
pub mod percent;
pub mod place;
pub mod plan;
pub mod radar;
pub mod reschedule;
pub mod reserved;
pub mod run_log;
pub mod schedule;
pub mod secret;
pub mod share;
pub mod sign_in;
pub mod signature;
pub mod source;
pub mod store;
pub mod target;
pub mod task;
pub mod text;
pub mod time;
pub mod token;
pub mod work;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a mutex holds, also after a panic: nothing is left half changed while it is locked.
pub fn locked<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
