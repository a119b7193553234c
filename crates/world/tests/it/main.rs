//! RS-12: the reference article service, and the simulated GitHub, over real HTTP on loopback.
#![cfg(test)]

mod authors;
mod faults;
mod github;
mod outbox;
mod publish;
mod support;
mod trust;
