//! The adapters against real sockets on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod alert;
mod callback;
mod command;
mod feed;
mod fixture;
mod github;
mod herald;
mod http;
mod hub;
mod lock;
mod model;
mod news;
mod publish;
mod webhook;
