//! NATS.
