//! Lanes on that way: entering meets what every other call meets.

use almanack_core::store::{LaneAnswer, LaneAsk, LaneStore, Result, Visitor};
use async_trait::async_trait;
use jiff::Timestamp;

use super::FaultyStore;

#[async_trait]
impl LaneStore for FaultyStore {
    async fn enter_lanes(&self, visitor: &Visitor, asks: &[LaneAsk]) -> Result<Vec<LaneAnswer>> {
        let (visitor, asks) = (visitor.clone(), asks.to_vec());
        self.call("enter_lanes", |store| {
            Box::pin(async move { store.enter_lanes(&visitor, &asks).await })
        })
        .await
    }
    async fn prune_lanes(&self, before: Timestamp, now: Timestamp) -> Result<usize> {
        self.below.prune_lanes(before, now).await
    }
}
