//! What a service manager is told: that the node is ready, that it watchdog, that it reads its schedules again, that it leaves.
//!
//! By systemd's protocol (`Type=notify`, `WatchdogSec=`). Where nobody listens, nothing is sent. That nobody can be
//! told is never a reason to do anything else: a node that works is worth more than one that is watched.
//!
//! The watchdog hears of every round of the keeper, not of the database's answers: see [`almanack_engine::watchdog`].

use std::sync::Arc;

use almanack_engine::watchdog::Watchdog;
use jiff::SignedDuration;
use sd_notify::NotifyState;
use tokio_util::sync::CancellationToken;

/// A node is given up after it missed this many rounds.
const ROUNDS_MISSED: i32 = 4;

/// The node is admitted, and whoever asks it is answered.
pub(crate) fn ready(status: &str) {
    report(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The schedules are being read again. Newer managers want to know since when, by the clock that never jumps.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(since) => report(&[NotifyState::Reloading, since]),
        Err(_) => report(&[NotifyState::Reloading]),
    }
}

/// They have been read, or stay as they were.
pub(crate) fn reloaded() {
    report(&[NotifyState::Ready]);
}

/// Tells when the node was told to stop.
pub(crate) async fn leave(stop: CancellationToken) {
    stop.cancelled().await;
    report(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// Tells of every round, where somebody watches. A node with long leases makes few rounds: who would not wait for
/// them is asked to.
pub(crate) async fn watch(watchdog: Arc<Watchdog>, beat: SignedDuration) {
    let Some(wait_max) = sd_notify::watchdog_enabled() else {
        return;
    };
    let wanted = (beat * ROUNDS_MISSED).unsigned_abs();
    if wait_max < wanted {
        let wanted = u32::try_from(wanted.as_micros()).unwrap_or(u32::MAX);
        report(&[NotifyState::WatchdogUsec(wanted)]);
    }
    let mut rounds = watchdog.hear();
    drop(watchdog);
    report(&[NotifyState::Watchdog]);
    while rounds.changed().await.is_ok() {
        report(&[NotifyState::Watchdog]);
    }
}

fn report(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "could not notify the service manager");
    }
}
