//! Almanack's events over message buses: Kafka and NATS.
//!
//! Inward, a consumer passes messages from services to
//! [`almanack_core::event::incoming::intake::Intake`]. The one promise: a message is released (its
//! offset committed, its delivery acknowledged) only after the store has its effect or the dead
//! letters have the message. So nothing is lost, everything may come twice, and twice is harmless
//! because revisions decide (RS-10). A broker or store that does not answer is waited for and never
//! stops the node.
//!
//! ```text
//!   messages ─► batch ─► understand (core) ─► intake ─► taken ─► settled ─► commit or acknowledge
//!                             │                 ├─────► not now ─► wait, the same batch again
//!                             └── invalid ──────┴────► dead letter, confirmed ─► settled
//! ```
//!
//! Outward, a publisher hands Almanack's own events to a topic or a subject.
//!
//! [`batch`](self) and the wait backoff are shared; [`kafka`] and [`nats`] differ only in how
//! messages come and how they are released.

mod batch;
pub mod kafka;
mod logged;
mod measures;
pub mod nats;
mod settings;
mod wait_backoff;

use std::sync::Arc;

use almanack_core::{
    event::incoming::intake::{Intake, Links},
    time::{Clock, Entropy, Sleeper},
};

pub use settings::{Error, Tls};

/// What a consumer works with.
#[derive(Clone)]
pub struct Ports {
    pub intake: Arc<dyn Intake>,
    /// Learns whether buses are connected.
    pub links: Arc<dyn Links>,
    pub clock: Arc<dyn Clock>,
    pub sleeper: Arc<dyn Sleeper>,
    pub entropy: Arc<dyn Entropy>,
}
