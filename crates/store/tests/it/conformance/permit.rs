//! Limits that all nodes share.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    host_pace::shared::{SharedLimit, settle},
    store::{PermitGrant, PermitRequest, Store, Visitor},
    time::Entropy,
};
use almanack_testkit::{entropy::SeededEntropy, fixture::at};
use jiff::SignedDuration;

const TTL: i64 = 30;

fn visitor(name: &str, second: i64) -> Visitor {
    Visitor {
        name: name.to_owned(),
        now: at(second),
        lease_until: at(second + TTL),
    }
}

fn ask(limit: &str, permits: usize, wanted: usize, at_once: usize) -> PermitRequest {
    PermitRequest {
        limit: limit.to_owned(),
        permits,
        wanted,
        at_once,
        gap: SignedDuration::ZERO,
        hold_until: None,
    }
}

fn paced(wanted: usize, gap_s: i64) -> PermitRequest {
    PermitRequest {
        gap: SignedDuration::from_secs(gap_s),
        ..ask("host:a", 0, wanted, 9)
    }
}

async fn enter(store: &dyn Store, visitor: Visitor, ask: PermitRequest) -> PermitGrant {
    let answers = store.request_permits(&visitor, &[ask]).await;
    let answers = answers.expect("request_permits");
    assert_eq!(answers.len(), 1, "one answer per ask");
    answers[0]
}

/// As many as there are, for every requester; what is left is granted, not refused.
pub(crate) async fn places_are_shared_by_all_visitors(store: Arc<dyn Store>) {
    let first = enter(&*store, visitor("a", 0), ask("kind:K", 0, 2, 3)).await;
    let second = enter(&*store, visitor("b", 1), ask("kind:K", 0, 2, 3)).await;
    let third = enter(&*store, visitor("c", 2), ask("kind:K", 0, 2, 3)).await;
    let granted = [first.granted, second.granted, third.granted];
    assert_eq!(granted, [2, 1, 0]);
    let elsewhere = enter(&*store, visitor("c", 2), ask("kind:L", 0, 2, 3)).await;
    assert_eq!(elsewhere.granted, 2, "limits are separate");
}

/// A visitor that says nothing more keeps its permits for as long as its lease, and no longer.
pub(crate) async fn places_pass_on_with_their_lease(store: Arc<dyn Store>) {
    enter(&*store, visitor("a", 0), ask("kind:K", 0, 1, 1)).await;
    enter(&*store, visitor("a", 10), ask("kind:K", 1, 0, 1)).await;
    for (second, granted) in [(30, 0), (39, 0), (40, 1)] {
        let answer = enter(&*store, visitor("b", second), ask("kind:K", 0, 1, 1)).await;
        assert_eq!(answer.granted, granted, "at {second}");
    }
}

/// What it says counts, not what it was granted: a reply may have been lost.
pub(crate) async fn a_visitor_says_how_many_it_has(store: Arc<dyn Store>) {
    enter(&*store, visitor("a", 0), ask("kind:K", 0, 3, 3)).await;
    let again = enter(&*store, visitor("a", 1), ask("kind:K", 1, 1, 3)).await;
    assert_eq!(again.granted, 1);
    let rest = enter(&*store, visitor("b", 1), ask("kind:K", 0, 3, 3)).await;
    assert_eq!(rest.granted, 1, "a has two");
    enter(&*store, visitor("a", 2), ask("kind:K", 0, 0, 3)).await;
    let rest = enter(&*store, visitor("b", 2), ask("kind:K", 1, 3, 3)).await;
    assert_eq!(rest.granted, 2, "a has none");
}

/// A call that hung while newer ones were answered.
pub(crate) async fn a_stuck_word_changes_nothing(store: Arc<dyn Store>) {
    enter(&*store, visitor("a", 5), ask("kind:K", 0, 1, 1)).await;
    enter(&*store, visitor("a", 4), ask("kind:K", 0, 0, 1)).await;
    let stuck = enter(&*store, visitor("a", 3), ask("kind:K", 0, 1, 2)).await;
    assert_eq!(stuck.granted, 0);
    let other = enter(&*store, visitor("b", 6), ask("kind:K", 0, 1, 1)).await;
    assert_eq!(other.granted, 0, "a is still inside");
}

/// One after the other, for every requester; a refusal says when.
pub(crate) async fn a_pace_holds_for_all_visitors(store: Arc<dyn Store>) {
    let first = enter(&*store, visitor("a", 0), paced(3, 2)).await;
    assert_eq!(
        (first.granted, first.free_at),
        (1, at(2)),
        "turns come one by one"
    );
    for (second, granted, free_at) in [(0, 0, 2), (1, 0, 2), (2, 1, 4), (3, 0, 4), (9, 1, 11)] {
        let answer = enter(&*store, visitor("b", second), paced(1, 2)).await;
        assert_eq!(
            (answer.granted, answer.free_at),
            (granted, at(free_at)),
            "at {second}"
        );
    }
}

/// Set by one, kept by all, and not shortened by a later request.
pub(crate) async fn a_limit_on_hold_grants_no_permit(store: Arc<dyn Store>) {
    for (second, hold) in [(0, 60), (1, 20)] {
        let request = PermitRequest {
            hold_until: Some(at(hold)),
            ..paced(1, 2)
        };
        let answer = enter(&*store, visitor("a", second), request).await;
        assert_eq!((answer.granted, answer.free_at), (0, at(60)));
    }
    for (second, granted) in [(59, 0), (60, 1)] {
        let answer = enter(&*store, visitor("b", second), paced(1, 2)).await;
        assert_eq!(answer.granted, granted, "at {second}");
    }
}

/// Several limits in one call, in any order.
pub(crate) async fn lanes_are_answered_in_the_order_asked(store: Arc<dyn Store>) {
    assert_eq!(
        store.request_permits(&visitor("a", 0), &[]).await.unwrap(),
        []
    );
    let asks = [ask("b", 0, 2, 9), ask("c", 0, 3, 9), ask("a", 0, 1, 9)];
    for _ in 0..2 {
        let answers = store
            .request_permits(&visitor("a", 0), &asks)
            .await
            .unwrap();
        let granted: Vec<usize> = answers.iter().map(|answer| answer.granted).collect();
        assert_eq!(granted, [2, 3, 1]);
    }
}

/// Truly at once, over several limits in different orders: no node waits for ever, and no limit
/// overflows.
pub(crate) async fn many_visitors_at_once_stay_within_the_limit(store: Arc<dyn Store>) {
    let entering = (0..24).map(|number: usize| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut asks: Vec<PermitRequest> =
                ["a", "b", "c"].map(|limit| ask(limit, 0, 2, 5)).into();
            asks.rotate_left(number % 3);
            let visitor = visitor(&format!("v{number}"), 0);
            let answers = store
                .request_permits(&visitor, &asks)
                .await
                .expect("request_permits");
            let named = asks.into_iter().zip(answers);
            named
                .map(|(ask, answer)| (ask.limit, answer.granted))
                .collect::<Vec<_>>()
        })
    });
    let mut granted: BTreeMap<String, usize> = BTreeMap::new();
    for entered in entering.collect::<Vec<_>>() {
        for (limit, permits) in entered.await.unwrap() {
            *granted.entry(limit).or_default() += permits;
        }
    }
    assert_eq!(granted.into_values().collect::<Vec<_>>(), [5, 5, 5]);
}

/// A few hundred drawn asks, held against the pure decision.
pub(crate) async fn lanes_decide_as_the_rules_say(store: Arc<dyn Store>) {
    let entropy = SeededEntropy::new(8);
    let below = |bound: u64| entropy.next_u64() % bound;
    let small = |bound: u64| usize::try_from(below(bound)).unwrap();
    let (mut second, mut expected) = (0, SharedLimit::default());
    for number in 0..300 {
        second += i64::try_from(below(9)).unwrap();
        let name = ["a", "b", "c"][small(3)];
        let hold = (below(8) == 0).then(|| at(second + i64::try_from(below(20)).unwrap()));
        let ask = PermitRequest {
            gap: SignedDuration::from_secs(i64::try_from(below(3)).unwrap()),
            hold_until: hold,
            ..ask("host:a", small(3), small(4), small(4) + 1)
        };
        // Now and then a word that was under way for longer than another.
        let requester = visitor(name, second - i64::from(below(10) == 0) * 5);
        let wanted = settle(&mut expected, &requester, &ask);
        let answer = enter(&*store, requester, ask.clone()).await;
        assert_eq!(
            answer, wanted,
            "ask {number} of {name} at {second}: {ask:?}"
        );
    }
}

/// Except where the other side wants to be left alone for longer than that.
pub(crate) async fn unused_limits_are_forgotten(store: Arc<dyn Store>) {
    let held = PermitRequest {
        hold_until: Some(at(9_000)),
        ..ask("host:held", 0, 0, 1)
    };
    store
        .request_permits(&visitor("a", 0), &[ask("old", 0, 1, 1), held])
        .await
        .unwrap();
    store
        .request_permits(&visitor("a", 5_000), &[ask("young", 0, 1, 1)])
        .await
        .unwrap();
    assert_eq!(store.prune_permits(at(1_000), at(8_000)).await.unwrap(), 1);
    assert_eq!(store.prune_permits(at(1_000), at(9_000)).await.unwrap(), 1);
    assert_eq!(store.prune_permits(at(1_000), at(9_000)).await.unwrap(), 0);
}
