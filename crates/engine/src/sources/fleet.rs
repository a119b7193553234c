//! The fleet: what all sources together may cost, and the one price that keeps them to it.
//!
//! Every node counts the looks it makes and adds them to a common count; a node that finds the
//! count old enough compares it with what is wanted and moves the price a little (SS-15). A price
//! that cannot be read or moved stays what it was: it is never worth stopping for.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use almanack_core::{
    source::{
        courtesy::Courtesy,
        filter::Filters,
        policy::{Budget, Policy, steer},
        settle::Terms,
    },
    store::{self, Store},
};
use jiff::{SignedDuration, Timestamp};

use super::courtesy;

/// How long looks are counted before the price is moved, at least.
const STEER_EVERY: SignedDuration = SignedDuration::from_mins(10);
/// So many looks must have been wanted in that time: fewer are chance, and a few sources would have
/// their price swing with every look.
const LOOKS_MIN: f64 = 20.0;
/// A count that took so many times longer than needed spans a time without looks, and says nothing.
const OLD_AFTER: f64 = 3.0;
const DAY_S: f64 = 86_400.0;
/// Metrics are in base units.
const HOUR_S: f64 = 3_600.0;

/// What people want of the fleet.
#[derive(Debug, Clone)]
pub struct FleetSettings {
    /// The policy of sources that have none of their own.
    pub policy: Policy,
    /// The interval that takes over when learning is off or fails.
    pub fallback: SignedDuration,
    /// The shortest gap between two looks at a source.
    pub floor: SignedDuration,
    pub ceiling: SignedDuration,
    /// How many looks a source may cost a day, on average over all of them.
    pub checks_per_day: f64,
    /// What slow sources get at least of the checks of an even spread, from 0 to 1.
    pub slow_share: f64,
    /// Rules that drop entries of all sources.
    pub filters: Filters,
}

impl Default for FleetSettings {
    fn default() -> Self {
        let budget = Budget::default();
        Self {
            policy: Policy::Adaptive,
            fallback: SignedDuration::from_hours(1),
            floor: budget.floor,
            ceiling: budget.ceiling,
            checks_per_day: 24.0,
            slow_share: budget.slow_share,
            filters: Filters::default(),
        }
    }
}

impl FleetSettings {
    /// The interval at which every source would be checked if all had the same.
    fn even(&self) -> Option<SignedDuration> {
        SignedDuration::try_from_secs_f64(DAY_S / self.checks_per_day).ok()
    }
}

/// What a node knows of the fleet.
#[derive(Debug)]
pub struct Fleet {
    settings: FleetSettings,
    /// The price, as the bits of an `f64`.
    price: AtomicU64,
    /// Looks made here and not yet added to the common count.
    uncounted: AtomicU64,
    /// What was asked of hosts here and is not yet written.
    courtesy: Arc<Courtesy>,
}

impl Fleet {
    /// Knows no common price yet.
    pub fn new(settings: FleetSettings) -> Self {
        Self {
            settings,
            price: AtomicU64::new(Budget::default().price_h.to_bits()),
            uncounted: AtomicU64::new(0),
            courtesy: Arc::default(),
        }
    }

    /// What is wanted.
    pub fn settings(&self) -> &FleetSettings {
        &self.settings
    }

    /// Where requests to hosts are counted.
    pub fn courtesy(&self) -> &Arc<Courtesy> {
        &self.courtesy
    }

    /// The price, as last heard.
    pub fn price_h(&self) -> f64 {
        f64::from_bits(self.price.load(Ordering::Relaxed))
    }

    /// What decisions are made by.
    pub fn terms(&self) -> Terms {
        Terms {
            policy: self.settings.policy.clone(),
            fallback: self.settings.fallback,
            budget: Budget {
                price_h: self.price_h(),
                floor: self.settings.floor,
                ceiling: self.settings.ceiling,
                even: self.settings.even(),
                slow_share: self.settings.slow_share,
                ..Budget::default()
            },
        }
    }

    /// A look was made.
    pub fn count(&self) {
        self.uncounted.fetch_add(1, Ordering::Relaxed);
    }

    /// Hears the common price without counting or moving anything.
    pub async fn hear(&self, store: &dyn Store) -> Result<(), store::Error> {
        if let Some(fleet) = store.load_fleet().await? {
            self.price.store(fleet.price.to_bits(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Adds this node's looks to the common count, and moves the price when it is time.
    pub async fn step(&self, store: &dyn Store, now: Timestamp) -> Result<(), store::Error> {
        let Some(fleet) = store.load_fleet().await? else {
            store.set_price(None, self.price_h(), now).await?;
            return self.hear(store).await;
        };
        self.report(store).await?;
        if now.duration_since(fleet.counted_from) >= STEER_EVERY {
            self.steer(store, now).await?;
        }
        self.hear(store).await?;
        metrics::gauge!("almanack_source_price_seconds").set(self.price_h() * HOUR_S);
        Ok(())
    }

    /// Adds what was counted here to the common counts. Who leaves without a further step does this
    /// last.
    pub async fn report(&self, store: &dyn Store) -> Result<(), store::Error> {
        let looks = self.uncounted.swap(0, Ordering::Relaxed);
        if looks > 0
            && let Err(error) = store.count_checks(looks).await
        {
            // Perhaps counted after all; twice is better than never: it makes us ask less.
            self.uncounted.fetch_add(looks, Ordering::Relaxed);
            return Err(error);
        }
        courtesy::write(&self.courtesy, store).await
    }

    /// Moves the price by what was counted, once that is enough to say anything.
    async fn steer(&self, store: &dyn Store, now: Timestamp) -> Result<(), store::Error> {
        let Some(fleet) = store.load_fleet().await? else {
            return Ok(());
        };
        let numbers = store.count_sources(None, now).await?;
        let active = numbers.states.iter().find(|(state, _)| state == "active");
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let (looks, active) = (
            fleet.checks as f64,
            active.map_or(0, |(_, count)| *count) as f64,
        );
        let wanted_per_day = self.settings.checks_per_day * active;
        let days = now.duration_since(fleet.counted_from).as_secs_f64() / DAY_S;
        let needed_days = (LOOKS_MIN / wanted_per_day).max(STEER_EVERY.as_secs_f64() / DAY_S);
        if days < needed_days {
            return Ok(());
        }
        let says_something = active > 0.0 && days <= needed_days * OLD_AFTER;
        let price = if says_something {
            steer(fleet.price, looks / days, wanted_per_day)
        } else {
            fleet.price
        };
        store.set_price(Some(fleet.version), price, now).await?;
        Ok(())
    }
}
