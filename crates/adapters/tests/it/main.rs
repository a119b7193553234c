//! The adapters against real sockets on loopback.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod alert;
mod callback;
mod command;
mod event_publisher;
mod fake_github;
mod feed;
mod fixture;
mod github;
mod http;
mod lock;
mod model;
mod news;
mod newsletter;
mod publish;
mod webhook;
