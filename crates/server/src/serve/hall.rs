//! The open connections, and which one is closed to make room.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// All connections of a node.
pub(super) struct Hall {
    room: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

/// Connections without a request, by when they became idle.
#[derive(Default)]
struct Idle {
    count: u64,
    waiting: BTreeMap<u64, CancellationToken>,
    /// Whether an accept is waiting for the next idle connection.
    wanted: bool,
}

pub(super) struct Seat {
    hall: Arc<Hall>,
    gives_way: CancellationToken,
    /// Its number among the idle ones, while it is idle.
    number: Mutex<Option<u64>>,
    rested: Notify,
    asked: AtomicBool,
    _room: OwnedSemaphorePermit,
}

impl Hall {
    pub(super) fn of(max: usize) -> Arc<Self> {
        Arc::new(Self {
            room: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
            idle: Mutex::default(),
        })
    }

    /// Waits for room for another connection. If all are in use, the one that has been idle the
    /// longest is closed; if none is idle, the first one to become idle.
    pub(super) async fn seat(self: &Arc<Self>) -> Option<Arc<Seat>> {
        let free = Arc::clone(&self.room).try_acquire_owned().ok();
        let room = match free {
            Some(room) => room,
            None => self.wait().await?,
        };
        let seat = Seat {
            hall: Arc::clone(self),
            gives_way: CancellationToken::new(),
            number: Mutex::default(),
            rested: Notify::new(),
            asked: AtomicBool::new(false),
            _room: room,
        };
        seat.rests();
        Some(Arc::new(seat))
    }

    /// Only one waits at a time.
    async fn wait(&self) -> Option<OwnedSemaphorePermit> {
        self.ask_for_a_place();
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        locked(&self.idle).wanted = false;
        room
    }

    fn ask_for_a_place(&self) {
        let mut idle = locked(&self.idle);
        // Removed, so that it is not asked to close twice.
        match idle.waiting.pop_first() {
            Some((_, gives_way)) => gives_way.cancel(),
            None => idle.wanted = true,
        }
    }
}

impl Seat {
    /// Returns when this connection must close to make room.
    pub(super) async fn gives_way(&self) {
        self.gives_way.cancelled().await;
    }

    /// No request is in flight.
    fn rests(&self) {
        let number = {
            let mut idle = locked(&self.hall.idle);
            idle.count += 1;
            let number = idle.count;
            if std::mem::take(&mut idle.wanted) {
                self.gives_way.cancel();
            } else {
                idle.waiting.insert(number, self.gives_way.clone());
            }
            number
        };
        *locked(&self.number) = Some(number);
        self.rested.notify_one();
    }

    /// Returns when a request has ended.
    pub(super) async fn comes_to_rest(&self) {
        self.rested.notified().await;
    }

    /// Whether it ever had a request.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether no request is in flight.
    pub(super) fn is_idle(&self) -> bool {
        locked(&self.number).is_some()
    }

    /// A request is in flight, or the connection is ending.
    fn stops_resting(&self) {
        let number = locked(&self.number).take();
        if let Some(number) = number {
            locked(&self.hall.idle).waiting.remove(&number);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.stops_resting();
    }
}

/// While this is held, a request is in flight.
pub(super) struct Busy(Arc<Seat>);

impl Busy {
    pub(super) fn on(seat: &Arc<Seat>) -> Self {
        seat.stops_resting();
        seat.asked.store(true, Ordering::Relaxed);
        Self(Arc::clone(seat))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.rests();
    }
}

/// The state is consistent after every step, so a panic elsewhere is harmless.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long that takes: it is awaited, and not cut off.
    #[tokio::test]
    async fn sf_01_whoever_has_a_request_is_asked_for_the_place_when_it_is_done() {
        let hall = Hall::of(1);
        let seat = hall.seat().await.unwrap();
        let busy = Busy::on(&seat);
        hall.ask_for_a_place();
        assert!(!seat.is_idle() && !seat.gives_way.is_cancelled());
        drop(busy);
        assert!(seat.is_idle() && seat.gives_way.is_cancelled());
    }
}
