//! RS-12: the reference article service, over real HTTP on loopback.
#![cfg(test)]

mod authors;
mod faults;
mod outbox;
mod publish;
mod support;
mod trust;
