//! RS-12: the reference article service, and the other simulated upstreams, over real HTTP on
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
