//! Places of one node on a store that decides as stores must.

use almanack_core::{
    lane::shared::{SharedLane, settle},
    store::{Error, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::*;

/// Lanes in memory; a reply can get lost.
#[derive(Default)]
struct Rows {
    lanes: Mutex<BTreeMap<String, SharedLane>>,
    reply_lost: Mutex<bool>,
}

#[async_trait]
impl LaneStore for Rows {
    async fn enter_lanes(&self, visitor: &Visitor, asks: &[LaneAsk]) -> Result<Vec<LaneAnswer>> {
        let mut lanes = self.lanes.lock().unwrap();
        let answers = asks.iter().map(|ask| {
            let lane = lanes.entry(ask.lane.clone()).or_default();
            settle(lane, visitor, ask)
        });
        let answers = answers.collect();
        if *self.reply_lost.lock().unwrap() {
            return Err(Error::Unavailable {
                statement: "enter lanes",
                source: "test".into(),
            });
        }
        Ok(answers)
    }

    async fn prune_lanes(&self, _: Timestamp, _: Timestamp) -> Result<usize> {
        Ok(0)
    }
}

impl Rows {
    /// How many places the store believes in.
    fn believed(&self) -> usize {
        let lanes = self.lanes.lock().unwrap();
        let stays = lanes.values().flat_map(|lane| lane.visitors.values());
        stays.map(|stay| stay.places).sum()
    }
}

fn kind() -> Kind {
    Kind::parse("K").unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_600_000 + second).unwrap()
}

async fn take(places: &Places, rows: &Rows, session: &str, wanted: usize) -> Result<usize> {
    let lease = LeasePolicy::default();
    let lease = &lease;
    let wanted = [(kind(), wanted)].into();
    let granted = places.take(rows, Asker { session, lease }, &wanted, at(0));
    Ok(granted.await?[&kind()])
}

async fn keep(places: &Places, rows: &Rows, session: &str) {
    let lease = LeasePolicy::default();
    let lease = &lease;
    let kept = places.keep(rows, Asker { session, lease }, at(0)).await;
    kept.unwrap();
}

#[tokio::test]
async fn what_is_given_back_is_there_for_others_once_it_is_said() {
    let rows = Rows::default();
    let [a, b] = [0, 1].map(|_| Places::new([(kind(), 2)].into()));
    assert_eq!(take(&a, &rows, "a", 5).await.unwrap(), 2);
    assert_eq!(take(&b, &rows, "b", 1).await.unwrap(), 0);
    a.give_back(&kind(), 1);
    assert!(a.is_overstated());
    keep(&a, &rows, "a").await;
    assert!(!a.is_overstated());
    assert_eq!(take(&b, &rows, "b", 5).await.unwrap(), 1);
}

/// The node does not know that it was granted two. It never acts on them, and its next word returns them.
#[tokio::test]
async fn a_lost_reply_leaves_the_store_with_too_many_until_the_next_word() {
    let rows = Rows::default();
    let places = Places::new([(kind(), 2)].into());
    *rows.reply_lost.lock().unwrap() = true;
    assert!(take(&places, &rows, "a", 2).await.is_err());
    assert_eq!((rows.believed(), places.is_overstated()), (2, true));
    *rows.reply_lost.lock().unwrap() = false;
    keep(&places, &rows, "a").await;
    assert_eq!((rows.believed(), places.is_overstated()), (0, false));
}

#[tokio::test]
async fn a_kind_without_a_limit_has_no_places() {
    let (rows, places) = (Rows::default(), Places::default());
    places.give_back(&kind(), 1);
    keep(&places, &rows, "a").await;
    assert!(rows.lanes.lock().unwrap().is_empty(), "nothing is said");
}
