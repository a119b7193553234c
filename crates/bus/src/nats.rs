//! NATS `JetStream`: a durable consumer, its dead letters, and a herald.
//!
//! The consumer pulls, so a node takes what it can carry, and acknowledges each message only after its batch is settled. What is not
//! acknowledged in time the server delivers again, which revisions make harmless; while a batch waits for the store, its messages are
//! held by saying that work is in progress.

mod connection;
mod consumer;
mod herald;
mod letters;
mod trouble;

pub use connection::{Connection, Login, covers};
pub use consumer::{Consumer, Settings};
pub use herald::NatsHerald;
