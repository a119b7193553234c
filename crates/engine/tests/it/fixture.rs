//! A fixture for tests of schedules: a store, a clock that the test moves, a planner and the way in
//! for people.

use std::sync::Arc;

use almanack_core::{
    plan::{Definition, Edited, Origin, ScheduleName},
    store::Store,
    target::Target,
};
use almanack_engine::{
    planner::Planner,
    schedules::{Error, Schedules},
    zones::Zones,
};
use almanack_testkit::{clock::ManualClock, fixture::START};

pub(crate) const HOUR: i64 = 3_600;

/// Every rule becomes a test on each database.
macro_rules! on_both {
    ($($rule:ident),* $(,)?) => {
        mod sqlite {
            $(
                #[tokio::test]
                async fn $rule() {
                    let store = almanack_store::sqlite::SqliteStore::in_memory().unwrap();
                    super::$rule(crate::fixture::Fixture::on(std::sync::Arc::new(store))).await;
                }
            )*
        }
        mod postgres {
            $(
                #[tokio::test]
                async fn $rule() {
                    let schema = almanack_testkit::postgres::Schema::create().await;
                    let store = almanack_store::postgres::PostgresStore::connect(schema.url()).await.unwrap();
                    super::$rule(crate::fixture::Fixture::on(std::sync::Arc::new(store))).await;
                }
            )*
        }
    };
}
pub(crate) use on_both;

/// Everything on one store, at [`START`].
pub(crate) struct Fixture {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) planner: Planner,
    pub(crate) schedules: Schedules,
    pub(crate) nightly: ScheduleName,
}

/// Every hour, at a webhook.
pub(crate) fn hourly() -> Definition {
    let url = "https://example.org/hook".to_owned();
    Definition::new("0 * * * *", Target::webhook(url))
}

impl Fixture {
    pub(crate) fn on(store: Arc<dyn Store>) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let zones = Arc::new(Zones::default());
        Self {
            planner: Planner::new(store.clone(), clock.clone(), zones.clone()),
            schedules: Schedules::new(store.clone(), clock.clone(), zones),
            store,
            clock,
            nightly: ScheduleName::parse("nightly").unwrap(),
        }
    }

    /// Writes the schedule `nightly`.
    pub(crate) async fn put(&self, definition: Definition) -> Result<Option<Edited>, Error> {
        let put = self
            .schedules
            .put(&self.nightly, definition, Origin::Api, "ada");
        Ok(put.await?.edited)
    }
}
