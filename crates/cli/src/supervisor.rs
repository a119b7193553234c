//! What a service manager is told: that the node is ready, that it turns, that it reads its schedules again, that it leaves.
//!
//! By systemd's protocol (`Type=notify`, `WatchdogSec=`). Where nobody listens, nothing is sent. That nobody can be
//! told is never a reason to do anything else: a node that works is worth more than one that is watched.
//!
//! The watchdog hears of every round of the keeper, not of the database's answers: see [`almanack_engine::turns`].

use std::sync::Arc;

use almanack_engine::turns::Turns;
use jiff::SignedDuration;
use sd_notify::NotifyState;
use tokio_util::sync::CancellationToken;

/// A node is given up after it missed this many rounds.
const ROUNDS_MISSED: i32 = 4;

/// The node is admitted, and whoever asks it is answered.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The schedules are being read again. Newer managers want to know since when, by the clock that never jumps.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(since) => tell(&[NotifyState::Reloading, since]),
        Err(_) => tell(&[NotifyState::Reloading]),
    }
}

/// They have been read, or stay as they were.
pub(crate) fn reloaded() {
    tell(&[NotifyState::Ready]);
}

/// Tells when the node was told to stop.
pub(crate) async fn leave(stop: CancellationToken) {
    stop.cancelled().await;
    tell(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// Tells of every round, where somebody watches. A node with long leases makes few rounds: who would not wait for
/// them is asked to.
pub(crate) async fn watch(turns: Arc<Turns>, beat: SignedDuration) {
    let Some(patience) = sd_notify::watchdog_enabled() else {
        return;
    };
    let wanted = (beat * ROUNDS_MISSED).unsigned_abs();
    if patience < wanted {
        let wanted = u32::try_from(wanted.as_micros()).unwrap_or(u32::MAX);
        tell(&[NotifyState::WatchdogUsec(wanted)]);
    }
    let mut rounds = turns.hear();
    drop(turns);
    tell(&[NotifyState::Watchdog]);
    while rounds.changed().await.is_ok() {
        tell(&[NotifyState::Watchdog]);
    }
}

fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "the service manager could not be told");
    }
}
