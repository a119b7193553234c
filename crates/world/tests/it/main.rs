//! RS-12: the reference article service, the simulated GitHub and the feeds, over real HTTP on loopback.
#![cfg(test)]

mod authors;
mod faults;
mod feeds;
mod github;
mod model;
mod outbox;
mod publish;
mod support;
mod trust;
