//! RS-12: the reference article service, the simulated GitHub, the feeds and the news, over real HTTP on loopback.
#![cfg(test)]

mod authors;
mod faults;
mod feeds;
mod github;
mod news;
mod outbox;
mod publish;
mod support;
mod trust;
