//! What models cost, and the caps that all nodes keep together.

use std::sync::Arc;

use almanack_core::{
    edition::{
        EditionName,
        allowance::{Caps, Money, Period, Spending, Usage},
    },
    store::Store,
};
use almanack_testkit::fixture::START;
use jiff::civil::{Date, date};

const FIRST: Date = date(2026, 1, 30);
const LAST: Date = date(2026, 1, 31);
const NEXT: Date = date(2026, 2, 1);

fn usage(tokens: u64) -> Usage {
    Usage {
        requests: 1,
        tokens_in: tokens,
        tokens_out: 2 * tokens,
        cost: Money(5 * tokens),
    }
}

fn tokens(per_day: u64, per_month: u64) -> Caps {
    Caps {
        tokens_per_day: Some(per_day),
        tokens_per_month: Some(per_month),
        ..Caps::default()
    }
}

async fn reserve(store: &dyn Store, on: Date, most: Usage, caps: Caps) -> Option<Period> {
    let name = EditionName::default();
    let reserved = store.reserve_spend(name, on, most, caps, START).await;
    reserved.expect("reserve_spend")
}

async fn settle(store: &dyn Store, on: Date, reserved: Usage, actual: Usage) {
    let name = EditionName::default();
    let settled = store.settle_spend(name, on, reserved, actual, START).await;
    settled.expect("settle_spend");
}

async fn spending(store: &dyn Store, month_of: Date) -> Spending {
    let loaded = store.load_spending(EditionName::default(), month_of).await;
    loaded.expect("load_spending")
}

/// Per day and month, by name; what was reserved is replaced by what it cost, whichever is more.
pub(crate) async fn ed_44_what_models_cost_is_counted_per_day_and_month(store: Arc<dyn Store>) {
    assert_eq!(spending(&*store, FIRST).await, Spending::default());
    for (on, most, cost) in [
        (FIRST, 100, 10),
        (FIRST, 5, 7),
        (LAST, 100, 1),
        (NEXT, 9, 3),
    ] {
        let refused = reserve(&*store, on, usage(most), Caps::default()).await;
        assert_eq!(refused, None);
        let counted = spending(&*store, on).await.day(on);
        assert!(counted.tokens_in >= most, "counted before it leaves");
        settle(&*store, on, usage(most), usage(cost)).await;
    }
    let both = |tokens: u64| Usage {
        requests: 2,
        ..usage(tokens)
    };
    let january = spending(&*store, date(2026, 1, 1)).await;
    assert_eq!(january.days, [(FIRST, both(17)), (LAST, usage(1))]);
    assert_eq!(
        january.month,
        Usage {
            requests: 3,
            ..usage(18)
        }
    );
    assert_eq!(spending(&*store, NEXT).await.month, usage(3));
    let other = EditionName::parse("weekly").unwrap();
    let others = store.load_spending(other, FIRST).await.unwrap();
    assert_eq!(others, Spending::default(), "each name has its own");
}

/// The cap of a day frees with the next day, that of the month does not; what is refused is not
/// counted.
pub(crate) async fn ed_44_a_cap_refuses_what_would_exceed_it(store: Arc<dyn Store>) {
    let caps = tokens(60, 90);
    assert_eq!(reserve(&*store, FIRST, usage(20), caps).await, None);
    let refused = reserve(&*store, FIRST, usage(1), caps).await;
    assert_eq!(refused, Some(Period::Day));
    assert_eq!(reserve(&*store, LAST, usage(10), caps).await, None);
    let refused = reserve(&*store, LAST, usage(1), caps).await;
    assert_eq!(refused, Some(Period::Month));
    assert_eq!(reserve(&*store, NEXT, usage(20), caps).await, None);
    assert_eq!(spending(&*store, FIRST).await.month.tokens(), 90);
    settle(&*store, LAST, usage(10), usage(1)).await;
    assert_eq!(
        reserve(&*store, LAST, usage(9), caps).await,
        None,
        "it cost less"
    );
    let money = Caps {
        money_per_day: Some(Money(104)),
        ..Caps::default()
    };
    let refused = reserve(&*store, NEXT, usage(1), money).await;
    assert_eq!(refused, Some(Period::Day), "105 millionths");
}

/// However many nodes count at once, also for two days, together they stay within the caps and
/// leave nothing of them unused.
pub(crate) async fn ed_44_of_many_who_race_for_a_cap_none_exceeds_it(store: Arc<dyn Store>) {
    let caps = tokens(30, 45);
    let mut nodes = Vec::new();
    for node in 0..24 {
        let store = Arc::clone(&store);
        let on = if node % 2 == 0 { FIRST } else { LAST };
        nodes.push(tokio::spawn(async move {
            reserve(&*store, on, usage(1), caps).await.is_none()
        }));
    }
    let mut granted = 0;
    for node in nodes {
        granted += usize::from(node.await.expect("a node"));
    }
    let counted = spending(&*store, FIRST).await;
    assert_eq!((granted, counted.month.tokens()), (15, 45));
    assert!(counted.days.iter().all(|(_, day)| day.tokens() <= 30));
}
