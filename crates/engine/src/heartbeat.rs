//! The outbound heartbeat: a scheduler cannot report its own death, so a monitor outside does when
//! beats stop.
//!
//! The keeper notes every round in which the store answered; this duty passes one of them on now
//! and then. A node without its database has no such rounds and goes silent, as one that is dead.
//! Nothing waits for it: a beat that fails is one that was not heard.

use std::sync::Arc;

use almanack_core::{alert::port::HeartbeatMonitor, time::Clock};
use jiff::SignedDuration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::wake::later;

/// The keeper's end: notes rounds that went well.
#[derive(Debug, Clone, Default)]
pub struct KeeperRounds(watch::Sender<u64>);

impl KeeperRounds {
    /// A round went well.
    pub fn note(&self) {
        self.0
            .send_modify(|rounds| *rounds = rounds.wrapping_add(1));
    }
}

/// Passes beats on.
pub struct Heartbeat {
    pub monitor: Arc<dyn HeartbeatMonitor>,
    /// No oftener than this.
    pub every: SignedDuration,
    pub clock: Arc<dyn Clock>,
}

impl Heartbeat {
    /// Beats with the keeper until `stop`.
    pub(crate) async fn run(self, rounds_noted: &KeeperRounds, stop: &CancellationToken) {
        let mut rounds = rounds_noted.0.subscribe();
        rounds.mark_unchanged();
        let mut next_at = self.clock.now();
        let mut is_heard = true;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                changed = rounds.changed() => if changed.is_err() { return },
            }
            let now = self.clock.now();
            if now < next_at {
                continue;
            }
            next_at = later(now, self.every);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                heard = self.monitor.beat() => is_heard = note(heard, is_heard),
            }
        }
    }
}

/// Counts a beat; logs once when beats stop arriving, and once when they arrive again.
fn note(heard: Result<(), String>, was_heard: bool) -> bool {
    let outcome = if heard.is_ok() { "heard" } else { "failed" };
    metrics::counter!("almanack_heartbeats_total", "outcome" => outcome).increment(1);
    match heard {
        Ok(()) if !was_heard => tracing::info!("the outbound heartbeat arrives again"),
        Err(error) if was_heard => {
            tracing::warn!(
                error,
                "the outbound heartbeat does not arrive; retrying without further log lines"
            );
            return false;
        }
        Ok(()) => {}
        Err(_) => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use almanack_testkit::{clock::ManualClock, fixture::START};
    use async_trait::async_trait;
    use tokio::sync::Notify;

    use super::*;

    #[derive(Default)]
    struct Ear {
        beats: AtomicUsize,
        heard: Notify,
    }

    #[async_trait]
    impl HeartbeatMonitor for Ear {
        async fn beat(&self) -> Result<(), String> {
            self.beats.fetch_add(1, Ordering::SeqCst);
            self.heard.notify_one();
            Err("HTTP 500".to_owned())
        }
    }

    /// Lets the other side see what was noted before the clock goes on; which of the two is polled
    /// first changes.
    async fn settle() {
        for _ in 0..4 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn it_beats_with_good_rounds_and_no_oftener_than_it_should() {
        let (ear, clock) = (Arc::new(Ear::default()), Arc::new(ManualClock::at(START)));
        let (rounds_noted, stop) = (KeeperRounds::default(), CancellationToken::new());
        let heartbeat = Heartbeat {
            monitor: ear.clone(),
            every: SignedDuration::from_secs(60),
            clock: clock.clone(),
        };
        let keeping = async {
            for expected in 1..4 {
                rounds_noted.note();
                ear.heard.notified().await;
                assert_eq!(ear.beats.load(Ordering::SeqCst), expected);
                for _ in 0..3 {
                    clock.advance(SignedDuration::from_secs(15));
                    rounds_noted.note();
                    settle().await;
                }
                // Rounds that failed are not noted: time alone beats nothing.
                clock.advance(SignedDuration::from_secs(15));
                settle().await;
                assert_eq!(ear.beats.load(Ordering::SeqCst), expected);
            }
            stop.cancel();
        };
        tokio::join!(heartbeat.run(&rounds_noted, &stop), keeping);
    }
}
