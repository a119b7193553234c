//! What stands between a process and the harness, as in the product: a list that changes from day to
//! day, texts that editions share, and a count of what the model costs.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, StorySource, Wanted},
        quote::Comment,
        story::{Listed, StoryKey},
    },
    store::Store,
    time::Clock,
};
use almanack_engine::editions::{Outside, Settings, meter::StoreMeter, shared::SharedTexts};
use almanack_testkit::edition_harness::{listed, metered::Metered};
use async_trait::async_trait;
use jiff::civil::Date;

use super::nodes::World;

/// New stories on every day: the others were there the day before.
pub(super) const NEW_PER_DAY: u32 = 2;
/// Days are counted from here.
const FIRST: Date = Date::constant(2020, 1, 1);

/// The number of the best story of a day.
pub(super) fn best_of(date: Date) -> u32 {
    let days = date.duration_since(FIRST).as_hours() / 24;
    1 + NEW_PER_DAY * u32::try_from(days).unwrap_or(0)
}

/// The outside of one edition of a process.
pub(super) fn around(
    world: &World,
    (store, clock): (&Arc<dyn Store>, &Arc<dyn Clock>),
    texts: Option<&Arc<SharedTexts>>,
    (outside, settings): (Outside, &Settings),
) -> Outside {
    let means = (Arc::clone(store), Arc::clone(clock));
    let meter = StoreMeter::new(means, settings.name, settings.zone.clone(), settings.caps);
    let leaves = world.witness.clone();
    let outside = Outside {
        source: Arc::new(Daily(outside.source)),
        writer: Arc::new(Metered {
            writer: outside.writer,
            meter: Arc::new(meter),
            opens: true,
            leaves: Arc::new(move |more| leaves.requests_leave(more)),
        }),
        ..outside
    };
    let Some(texts) = texts else {
        return outside;
    };
    outside.sharing(texts, "reader".to_owned(), "writer".to_owned())
}

/// Lists as many stories as the harness does, but those of the day.
struct Daily(Arc<dyn StorySource>);

#[async_trait]
impl StorySource for Daily {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn list(&self, wanted: &Wanted, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let count = self.0.list(wanted, budget).await?.len();
        let first = best_of(wanted.date);
        Ok((first..).take(count).map(listed).collect())
    }

    async fn comments(
        &self,
        key: &StoryKey,
        budget: &Arc<Budget>,
    ) -> Result<Vec<Comment>, Failure> {
        self.0.comments(key, budget).await
    }
}
