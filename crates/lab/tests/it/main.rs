//! RS-12: the reference article service, and the rest of the simulated outside, over real HTTP on
//! loopback.
#![cfg(test)]

mod authors;
#[cfg(feature = "kafka")]
mod bus;
mod faults;
mod feeds;
mod github;
mod model;
mod news;
mod outbox;
mod publish;
mod support;
mod telegram;
mod trust;
