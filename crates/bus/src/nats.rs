//! NATS `JetStream`: a durable consumer, its dead letters, and a publisher.
//!
//! The consumer pulls, so a node takes what it can carry, and acknowledges each message only after
//! its batch is settled. What is not acknowledged in time the server delivers again, which
//! revisions make harmless; for as long as a batch is worked on or waits for the store, its
//! messages are held by saying that work is in progress. So the time is short, and what a dead node
//! had comes soon.

mod connection;
mod consumer;
mod dead_letters;
mod durable;
mod look;
mod publisher;
mod pull;
mod trouble;

pub use connection::{Connection, Login, covers};
pub use consumer::{ACK_WITHIN, Consumer, Settings};
pub use look::look;
pub use publisher::NatsEventPublisher;
