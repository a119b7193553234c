//! A store that refuses: one schedule alone, everything for a moment, or because another node was
//! faster (DP-18).

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use almanack_core::{
    plan::{Definition, Origin, ScheduleName, ScheduleWrite, State},
    store::{Applied, Error, Result, Store},
    target::Target,
};
use almanack_engine::{
    planner::Planner,
    schedules::{Schedules, Wanted},
    zones::Zones,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    fixture::{START, at},
    layer::{Layer, Layered},
};
use async_trait::async_trait;

/// What the store below is kept from writing.
#[derive(Clone, Default)]
struct Refusals {
    /// Everything: a disk that is full.
    all: Arc<AtomicBool>,
    /// Whatever has to do with the schedule `bad`.
    bad: Arc<AtomicBool>,
}

#[async_trait]
impl Layer for Refusals {
    async fn write_schedules(
        &self,
        below: &dyn Store,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Applied>> {
        let (statement, source) = ("write schedules", "refused by the test".into());
        if self.all.load(Ordering::Relaxed) {
            return Err(Error::Unwritable { statement, source });
        }
        let is_bad = |write: &ScheduleWrite| write.schedule.name.as_str() == "bad";
        if self.bad.load(Ordering::Relaxed) && writes.iter().any(is_bad) {
            return Err(Error::Refused { statement, source });
        }
        below.write_schedules(writes).await
    }
}

struct Fixture {
    clock: Arc<ManualClock>,
    planner: Planner,
    refusals: Refusals,
}

impl Fixture {
    /// A few schedules that all fire every ten seconds, one of them called `bad`.
    async fn new() -> Self {
        let refusals = Refusals::default();
        let below = Arc::new(SqliteStore::in_memory().unwrap());
        let store = Layered::over(below, refusals.clone());
        let clock = Arc::new(ManualClock::at(START));
        let zones = Arc::new(Zones::default());
        let schedules = Schedules::new(store.clone(), clock.clone(), zones.clone());
        for name in ["a", "bad", "c"] {
            let url = "https://example.org/hook".to_owned();
            let definition = Definition {
                overlap: almanack_core::plan::Overlap::Allow,
                ..Definition::new("@10s", Target::webhook(url))
            };
            let name = ScheduleName::parse(name).unwrap();
            let put = schedules.put(&name, definition, Origin::Api, "ada");
            put.await.unwrap();
        }
        Self {
            planner: Planner::new(store, clock.clone(), zones),
            clock,
            refusals,
        }
    }

    async fn fired_at(&self, seconds: i64) -> Result<u64> {
        self.clock.set(at(seconds));
        Ok(self.planner.pass().await?.fired)
    }
}

#[tokio::test]
async fn dp_18_a_database_that_cannot_be_written_for_a_moment_sets_no_schedule_aside() {
    let fixture = Fixture::new().await;
    fixture.refusals.all.store(true, Ordering::Relaxed);
    let refused = fixture.fired_at(10).await;
    assert!(
        matches!(refused, Err(Error::Unwritable { .. })),
        "{refused:?}"
    );
    fixture.refusals.all.store(false, Ordering::Relaxed);
    assert_eq!(
        fixture.fired_at(11).await.unwrap(),
        3,
        "all of them, at once"
    );
}

#[tokio::test]
async fn dp_18_a_schedule_that_the_store_refuses_is_set_aside_alone() {
    let fixture = Fixture::new().await;
    fixture.refusals.bad.store(true, Ordering::Relaxed);
    assert_eq!(fixture.fired_at(10).await.unwrap(), 2);
    fixture.refusals.bad.store(false, Ordering::Relaxed);
    assert_eq!(
        fixture.fired_at(20).await.unwrap(),
        2,
        "left alone for a while"
    );
    assert!(
        fixture.fired_at(71).await.unwrap() > 2,
        "and then looked at again"
    );
}

/// Another node removes whatever this one is about to remove.
struct FasterRemover;

#[async_trait]
impl Layer for FasterRemover {
    async fn write_schedules(
        &self,
        below: &dyn Store,
        writes: Vec<ScheduleWrite>,
    ) -> Result<Vec<Applied>> {
        let removes = |write: &ScheduleWrite| matches!(write.schedule.state, State::Removed { .. });
        if writes.iter().any(removes) {
            below.write_schedules(writes.clone()).await?;
        }
        below.write_schedules(writes).await
    }
}

#[tokio::test]
async fn a_schedule_that_another_node_removes_first_is_no_trouble() {
    let below = Arc::new(SqliteStore::in_memory().unwrap());
    let store = Layered::over(below, FasterRemover);
    let clock = Arc::new(ManualClock::at(START));
    let schedules = Schedules::new(store, clock, Arc::new(Zones::default()));
    let wanted = Wanted {
        name: ScheduleName::parse("a").unwrap(),
        definition: crate::fixture::hourly(),
    };
    let none = BTreeSet::new();
    let sync = |wanted| schedules.sync(Origin::File, wanted, &none, "file");
    assert_eq!(sync(vec![wanted]).await.unwrap().created.len(), 1);
    let synced = sync(Vec::new()).await.unwrap();
    assert_eq!(
        synced.removed,
        [],
        "the other one did it, and nothing fails"
    );
}
