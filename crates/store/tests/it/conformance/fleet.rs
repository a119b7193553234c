//! The fleet's price of a check.

use std::sync::Arc;

use almanack_core::store::{Fleet, Store};
use almanack_testkit::fixture::{START, at};

/// There is no price until one is set, and nothing is counted before.
pub(crate) async fn ss_15_there_is_no_price_before_the_first(store: Arc<dyn Store>) {
    assert_eq!(store.load_fleet().await.unwrap(), None);
    store.count_checks(5).await.unwrap();
    assert_eq!(store.load_fleet().await.unwrap(), None);
    assert!(!store.set_price(Some(1), 1.0, START).await.unwrap());
    assert!(store.set_price(None, 0.1 + 0.2, START).await.unwrap());
    let fleet = store.load_fleet().await.unwrap().unwrap();
    let expected = Fleet {
        price: 0.1 + 0.2,
        counted_from: START,
        checks: 0,
        version: fleet.version,
    };
    assert_eq!(fleet, expected);
    assert!(!store.set_price(None, 9.0, at(1)).await.unwrap(), "taken");
    assert_eq!(store.load_fleet().await.unwrap(), Some(fleet));
}

/// Checks add up until the price is set anew, by a node that saw it as it is.
pub(crate) async fn ss_15_checks_are_counted_from_price_to_price(store: Arc<dyn Store>) {
    assert!(store.set_price(None, 1.5, START).await.unwrap());
    for checks in [3, 0, 4] {
        store.count_checks(checks).await.unwrap();
    }
    let seen = store.load_fleet().await.unwrap().unwrap();
    assert_eq!(seen.checks, 7);
    assert!(
        store
            .set_price(Some(seen.version), 1e-9, at(60))
            .await
            .unwrap()
    );
    let next = store.load_fleet().await.unwrap().unwrap();
    assert_eq!(
        (next.checks, next.counted_from, next.price),
        (0, at(60), 1e-9)
    );
    assert!(next.version > seen.version);
    assert!(
        !store
            .set_price(Some(seen.version), 7.0, at(61))
            .await
            .unwrap()
    );
    assert_eq!(store.load_fleet().await.unwrap(), Some(next));
}

/// Of nodes that set the price at once one does; none of their checks is lost.
pub(crate) async fn ss_15_of_many_who_set_the_price_one_does(store: Arc<dyn Store>) {
    let mut seen = None;
    for round in 0..4 {
        let mut setters = Vec::new();
        for node in 0..6 {
            let store = Arc::clone(&store);
            setters.push(tokio::spawn(async move {
                let price = f64::from(node) + 1.0;
                store.set_price(seen, price, at(round)).await.unwrap()
            }));
        }
        let mut set = 0;
        for setter in setters {
            set += usize::from(setter.await.expect("a setter"));
        }
        assert_eq!(set, 1);
        let counters = (0..6).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.count_checks(2).await.unwrap() })
        });
        for counter in counters.collect::<Vec<_>>() {
            counter.await.expect("a counter");
        }
        let fleet = store.load_fleet().await.unwrap().unwrap();
        assert_eq!(fleet.checks, 12);
        seen = Some(fleet.version);
    }
}
