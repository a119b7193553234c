//! Notifications to a service manager: ready, watchdog, reloading, stopping.
//!
//! Uses systemd's protocol (`Type=notify`, `WatchdogSec=`). Without a service manager, nothing is
//! sent. A failed notification changes nothing: a node that works matters more than one that is
//! watched.
//!
//! The watchdog is notified of every round of the keeper, not of the database's answers: see
//! [`almanack_engine::watchdog`].

use std::sync::Arc;

use almanack_engine::watchdog::Watchdog;
use jiff::SignedDuration;
use sd_notify::NotifyState;
use tokio_util::sync::CancellationToken;

/// The service manager gives up on a node after this many missed rounds.
const ROUNDS_MISSED: i32 = 4;

/// The node is admitted and serves requests.
pub(crate) fn ready(status: &str) {
    report(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The schedules are being read again. Newer managers need the start time by the monotonic clock.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(since) => report(&[NotifyState::Reloading, since]),
        Err(_) => report(&[NotifyState::Reloading]),
    }
}

/// They have been read, or stay unchanged.
pub(crate) fn reloaded() {
    report(&[NotifyState::Ready]);
}

/// Notifies once the node is asked to stop.
pub(crate) async fn leave(stop: CancellationToken) {
    stop.cancelled().await;
    report(&[NotifyState::Stopping, NotifyState::Status("draining")]);
}

/// Notifies of every round, if a watchdog is set. A node with long leases makes few rounds: a
/// manager with a shorter timeout is asked to wait longer.
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
