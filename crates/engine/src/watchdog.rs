//! The watchdog: notified after every round of the keeper, whether the database answered or not.
//!
//! A monitor outside (systemd's watchdog) must distinguish two things. A node whose database is
//! away waits for it and needs no help: started anew, it would wait again, and have lost what it
//! knew. A node whose threads all hang never gets to its next round, and only a new start helps.

use tokio::sync::watch;

/// Counts the rounds of a keeper.
#[derive(Debug)]
pub struct Watchdog(watch::Sender<u64>);

impl Default for Watchdog {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Watchdog {
    pub(crate) fn add(&self) {
        self.0.send_modify(|rounds| *rounds += 1);
    }

    /// Hears of every round from now on.
    pub fn hear(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
