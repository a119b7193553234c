//! Kafka: a consumer in a group, its dead letters, and a publisher.
//!
//! The client is librdkafka (ADR 0020). It commits nothing by itself: `enable.auto.commit` and
//! `enable.auto.offset.store` are off, and an offset is stored and committed only after its batch
//! is settled. A rebalance may take partitions away in the middle of a batch; what had taken effect
//! is delivered again to their new node, and changes nothing there.

#[cfg(not(feature = "kafka"))]
mod absent;
#[cfg(feature = "kafka")]
mod connection;
#[cfg(feature = "kafka")]
mod consumer;
#[cfg(feature = "kafka")]
mod context;
#[cfg(feature = "kafka")]
mod dead_letters;
#[cfg(feature = "kafka")]
mod look;
#[cfg(feature = "kafka")]
mod publisher;
mod settings;
#[cfg(feature = "kafka")]
mod topic;

#[cfg(not(feature = "kafka"))]
pub use absent::{Consumer, KafkaEventPublisher, look};
#[cfg(feature = "kafka")]
pub use consumer::Consumer;
#[cfg(feature = "kafka")]
pub use look::look;
#[cfg(feature = "kafka")]
pub use publisher::KafkaEventPublisher;
/// The client, for tests that play the other side.
#[cfg(feature = "kafka")]
#[doc(hidden)]
pub use rdkafka;
pub use settings::{CONFIRM_WITHIN, Connection, Mechanism, SILENCE, Sasl, Settings};

/// Whether this build has a client.
pub const IS_BUILT: bool = cfg!(feature = "kafka");
