//! Events over real clients: librdkafka's own mock cluster, and a NATS server that the test command
//! starts.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod fixture;
mod heard;
#[cfg(feature = "kafka")]
mod kafka;
mod nats;
