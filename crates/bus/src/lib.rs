//! Almanack's events over message buses: Kafka and NATS.
