//! Lanes under a layer: what is said and asked may be meddled with, what is forgotten passes untouched.

use almanack_core::store::{LaneAnswer, LaneAsk, LaneStore, Result, Visitor};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{Layer, Layered};

#[async_trait]
impl<L: Layer> LaneStore for Layered<L> {
    async fn enter_lanes(&self, visitor: &Visitor, asks: &[LaneAsk]) -> Result<Vec<LaneAnswer>> {
        self.layer.enter_lanes(&*self.below, visitor, asks).await
    }
    async fn prune_lanes(&self, before: Timestamp, now: Timestamp) -> Result<usize> {
        self.below.prune_lanes(before, now).await
    }
}
