//! Counts what models cost an edition, in the store, and keeps it within its caps (ED-44).
//!
//! With caps, a request is counted before it leaves, with the most that it can cost: its answer is
//! usually far smaller. So near a cap, a request that does not fit beside those of this node that
//! are under way waits until one of them is settled, and is refused once none is. Those of other
//! nodes are not waited for: they may have died.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use almanack_core::{
    edition::{
        EditionName,
        allowance::{Caps, Period, Usage},
        day::day_of,
        port::{Failure, FailureClass, Meter, Reserved},
    },
    store::Store,
    time::Clock,
};
use async_trait::async_trait;
use jiff::{civil::Date, tz::TimeZone};
use tokio::sync::{Mutex, Notify};

/// Counts for the editions of a name.
pub struct StoreMeter {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    name: EditionName,
    zone: TimeZone,
    caps: Caps,
    /// Held by the one that is counted next, so that one alone waits for those under way.
    turn: Mutex<()>,
    under_way: Arc<UnderWay>,
}

/// The requests of this node that are counted and not settled.
#[derive(Debug, Default)]
struct UnderWay {
    count: AtomicUsize,
    one_ended: Notify,
}

/// One of them.
struct Ticket(Arc<UnderWay>);

impl Ticket {
    fn of(under_way: &Arc<UnderWay>) -> Self {
        under_way.count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(under_way))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::SeqCst);
        self.0.one_ended.notify_one();
    }
}

impl StoreMeter {
    /// Counts in `store`, by the days of `zone`.
    pub fn new(
        (store, clock): (Arc<dyn Store>, Arc<dyn Clock>),
        name: EditionName,
        zone: TimeZone,
        caps: Caps,
    ) -> Self {
        Self {
            store,
            clock,
            name,
            zone,
            caps,
            turn: Mutex::default(),
            under_way: Arc::default(),
        }
    }

    /// Counts a request if a cap allows it; otherwise which does not.
    async fn count(&self, on: Date, most: Usage) -> Result<Option<Period>, Failure> {
        let (caps, now) = (self.caps, self.clock.now());
        let counted = self.store.reserve_spend(self.name, on, most, caps, now);
        // A cap that cannot be checked is not risked.
        counted.await.map_err(|error| {
            let detail = format!("could not count what the model costs: {}", error.chain());
            Failure::new(FailureClass::Transient, detail)
        })
    }

    fn capped(&self, on: Date, period: Period) -> Failure {
        let frees_at = period.ends_at(on, &self.zone);
        Failure {
            retry_after: Some(frees_at.duration_since(self.clock.now())),
            ..Failure::new(
                FailureClass::Capped,
                format!("the cap on what models may cost in a {period} is reached"),
            )
        }
    }
}

#[async_trait]
impl Meter for StoreMeter {
    async fn reserve(&self, most: Usage) -> Result<Reserved, Failure> {
        let on = day_of(self.clock.now(), &self.zone);
        if self.caps.is_none() {
            return Ok(Reserved {
                on,
                usage: Usage::default(),
                under_way: None,
            });
        }
        let _turn = self.turn.lock().await;
        loop {
            // Looked at before it is counted: whoever ends meanwhile leaves a permit to wait with.
            let others = self.under_way.count.load(Ordering::SeqCst);
            match self.count(on, most).await? {
                None => {
                    return Ok(Reserved {
                        on,
                        usage: most,
                        under_way: Some(Box::new(Ticket::of(&self.under_way))),
                    });
                }
                Some(period) if others == 0 => return Err(self.capped(on, period)),
                Some(_) => self.under_way.one_ended.notified().await,
            }
        }
    }

    async fn settle(&self, reserved: Reserved, actual: Usage) {
        let Reserved { on, usage, .. } = reserved;
        let now = self.clock.now();
        let settled = self.store.settle_spend(self.name, on, usage, actual, now);
        if let Err(error) = settled.await {
            tracing::warn!(edition.name = %self.name, error = error.chain(), "could not record what a request to the model cost; it stays counted with the most it could cost");
        }
    }
}
