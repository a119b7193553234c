//! Kafka: a consumer in a group, its dead letters, and a herald.
//!
//! The client is librdkafka (ADR 0020). It commits nothing by itself: `enable.auto.commit` and `enable.auto.offset.store` are off, and
//! an offset is stored and committed only after its batch is settled. A rebalance may take partitions away in the middle of a batch; what
//! had taken effect is delivered again to whoever has them now, and changes nothing there.

mod connection;
mod consumer;
mod context;
mod herald;
mod letters;
mod look;

pub use connection::{CONFIRM_WITHIN, Connection, Mechanism, Sasl};
pub use consumer::{Consumer, SILENCE, Settings};
pub use herald::KafkaHerald;
pub use look::look;
