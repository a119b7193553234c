//! Permits of one node on a store that decides as stores must.

use almanack_core::{
    host_pace::shared::{SharedLimit, settle},
    store::{Error, Result},
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::*;

/// Limits in memory; a reply can get lost.
#[derive(Default)]
struct Rows {
    limits: Mutex<BTreeMap<String, SharedLimit>>,
    reply_lost: Mutex<bool>,
}

#[async_trait]
impl PermitStore for Rows {
    async fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        let mut limits = self.limits.lock().unwrap();
        let answers = asks.iter().map(|ask| {
            let limit = limits.entry(ask.limit.clone()).or_default();
            settle(limit, visitor, ask)
        });
        let answers = answers.collect();
        if *self.reply_lost.lock().unwrap() {
            return Err(Error::Unavailable {
                statement: "request permits",
                source: "test".into(),
            });
        }
        Ok(answers)
    }

    async fn prune_permits(&self, _: Timestamp, _: Timestamp) -> Result<usize> {
        Ok(0)
    }
}

impl Rows {
    /// How many permits the store counts.
    fn believed(&self) -> usize {
        let limits = self.limits.lock().unwrap();
        let stays = limits.values().flat_map(|limit| limit.visitors.values());
        stays.map(|stay| stay.permits).sum()
    }
}

fn kind() -> Kind {
    Kind::parse("K").unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_600_000 + second).unwrap()
}

async fn take(permits: &Permits, rows: &Rows, session: &str, wanted: usize) -> Result<usize> {
    let lease = LeasePolicy::default();
    let lease = &lease;
    let wanted = [(kind(), wanted)].into();
    let granted = permits.take(rows, Requester { session, lease }, &wanted, at(0));
    Ok(granted.await?[&kind()])
}

async fn keep(permits: &Permits, rows: &Rows, session: &str) {
    let lease = LeasePolicy::default();
    let lease = &lease;
    let kept = permits
        .keep(rows, Requester { session, lease }, at(0))
        .await;
    kept.unwrap();
}

#[tokio::test]
async fn what_is_given_back_is_there_for_others_once_it_is_said() {
    let rows = Rows::default();
    let [a, b] = [0, 1].map(|_| Permits::new([(kind(), 2)].into()));
    assert_eq!(take(&a, &rows, "a", 5).await.unwrap(), 2);
    assert_eq!(take(&b, &rows, "b", 1).await.unwrap(), 0);
    a.give_back(&kind(), 1);
    assert!(a.is_overstated());
    keep(&a, &rows, "a").await;
    assert!(!a.is_overstated());
    assert_eq!(take(&b, &rows, "b", 5).await.unwrap(), 1);
}

/// The node does not know that it was granted two. It never acts on them, and its next word returns
/// them.
#[tokio::test]
async fn a_lost_reply_leaves_the_store_with_too_many_until_the_next_word() {
    let rows = Rows::default();
    let permits = Permits::new([(kind(), 2)].into());
    *rows.reply_lost.lock().unwrap() = true;
    assert!(take(&permits, &rows, "a", 2).await.is_err());
    assert_eq!((rows.believed(), permits.is_overstated()), (2, true));
    *rows.reply_lost.lock().unwrap() = false;
    keep(&permits, &rows, "a").await;
    assert_eq!((rows.believed(), permits.is_overstated()), (0, false));
}

#[tokio::test]
async fn a_kind_without_a_limit_has_no_places() {
    let (rows, permits) = (Rows::default(), Permits::default());
    permits.give_back(&kind(), 1);
    keep(&permits, &rows, "a").await;
    assert!(rows.limits.lock().unwrap().is_empty(), "nothing is said");
}
