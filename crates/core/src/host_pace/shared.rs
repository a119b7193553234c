//! What a pace that all nodes share decides: the meaning of [`crate::store::PermitStore`].
//!
//! The database holds one row per pace, and each request changes that row alone, so that every
//! decision is made on its newest state. SQLite, which has one writer, calls this function;
//! PostgreSQL has it as a statement, because a row that is locked while a node thinks would stop
//! all the others when that node is halted. The conformance suite proves them equal.
//!
//! What must stay true:
//!
//! - Permits of visitors whose lease has not passed are never more than `at_once`.
//! - Two entries with a pace are at least `gap` apart, so within any stretch of `per` there are at
//!   most as many as [`super::Pace`] allows. A node's own pace admits several together; here they
//!   are spread evenly, because the nodes do not know what the others are about to do.
//! - No node enters before the other side's request has passed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::store::{PermitGrant, PermitRequest, Visitor};

/// What the database knows about a shared pace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedLimit {
    /// When the pace lets the next one in.
    pub free_at: Timestamp,
    /// Before when the other side wants no request.
    pub held_until: Timestamp,
    /// When a node last asked.
    pub asked_at: Timestamp,
    pub visitors: BTreeMap<String, Stay>,
}

/// The permits of one visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    pub permits: usize,
    pub lease_until: Timestamp,
}

impl Default for SharedLimit {
    /// No node has ever asked.
    fn default() -> Self {
        Self {
            free_at: Timestamp::UNIX_EPOCH,
            held_until: Timestamp::UNIX_EPOCH,
            asked_at: Timestamp::UNIX_EPOCH,
            visitors: BTreeMap::new(),
        }
    }
}

/// Lets `visitor` report and ask, and answers it. A report that is older than the visitor's last
/// one got stuck on its way: it changes nothing, and no node waits for its answer any more.
pub fn settle(limit: &mut SharedLimit, visitor: &Visitor, ask: &PermitRequest) -> PermitGrant {
    let now = visitor.now;
    let mine = limit.visitors.remove(&visitor.name);
    let stale = mine.filter(|stay| stay.lease_until > visitor.lease_until);
    limit.visitors.retain(|_, stay| stay.lease_until > now);
    let others: usize = limit.visitors.values().map(|stay| stay.permits).sum();
    limit.held_until = limit
        .held_until
        .max(ask.hold_until.unwrap_or(Timestamp::MIN));
    limit.asked_at = limit.asked_at.max(now);
    let waits = stale.is_some() || limit.free_at.max(limit.held_until) > now;
    let room = ask.at_once.saturating_sub(ask.permits + others);
    let granted = if waits { 0 } else { wanted(ask).min(room) };
    if granted > 0 && !ask.gap.is_zero() {
        limit.free_at = now.saturating_add(ask.gap).unwrap_or(Timestamp::MAX);
    }
    let stay = stale.unwrap_or(Stay {
        permits: ask.permits + granted,
        lease_until: visitor.lease_until,
    });
    limit.visitors.insert(visitor.name.clone(), stay);
    PermitGrant {
        granted,
        free_at: limit.free_at.max(limit.held_until),
    }
}

/// Where there is a pace, turns come one by one.
fn wanted(ask: &PermitRequest) -> usize {
    if ask.gap.is_zero() {
        ask.wanted
    } else {
        ask.wanted.min(1)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    const TTL: SignedDuration = SignedDuration::from_secs(30);

    fn visitor(name: &str, second: i64) -> Visitor {
        let now = Timestamp::from_second(1_767_600_000 + second).unwrap();
        Visitor {
            name: name.to_owned(),
            now,
            lease_until: now + TTL,
        }
    }

    fn ask(permits: usize, wanted: usize, at_once: usize, gap_s: i64) -> PermitRequest {
        PermitRequest {
            limit: "host:a.test".to_owned(),
            permits,
            wanted,
            at_once,
            gap: SignedDuration::from_secs(gap_s),
            hold_until: None,
        }
    }

    #[test]
    fn the_last_place_goes_to_one_node_and_passes_on_with_its_lease() {
        let mut limit = SharedLimit::default();
        let mut enter = |who, second| settle(&mut limit, &visitor(who, second), &ask(0, 1, 1, 0));
        assert_eq!(enter("a", 0).granted, 1);
        assert_eq!(enter("b", 29).granted, 0, "its lease holds");
        assert_eq!(enter("b", 30).granted, 1, "its lease has passed");
    }

    #[test]
    fn a_word_about_no_places_gives_them_back() {
        let mut limit = SharedLimit::default();
        settle(&mut limit, &visitor("a", 0), &ask(0, 2, 2, 0));
        settle(&mut limit, &visitor("a", 1), &ask(1, 0, 2, 0));
        assert_eq!(
            settle(&mut limit, &visitor("b", 1), &ask(0, 2, 2, 0)).granted,
            1
        );
        settle(&mut limit, &visitor("a", 2), &ask(0, 0, 2, 0));
        assert_eq!(limit.visitors["a"].permits, 0);
    }

    #[test]
    fn a_word_that_was_stuck_on_its_way_changes_nothing() {
        let mut limit = SharedLimit::default();
        settle(&mut limit, &visitor("a", 5), &ask(0, 1, 1, 0));
        let before = limit.clone();
        let stuck = settle(&mut limit, &visitor("a", 4), &ask(0, 0, 1, 0));
        assert_eq!(
            (stuck.granted, limit),
            (0, before),
            "it has its place by now"
        );
    }

    #[test]
    fn ss_14_a_request_to_be_left_alone_holds_for_every_node() {
        let mut limit = SharedLimit::default();
        let report = PermitRequest {
            hold_until: Some(visitor("a", 60).now),
            ..ask(0, 0, 1, 2)
        };
        settle(&mut limit, &visitor("a", 0), &report);
        let sent_away = settle(&mut limit, &visitor("b", 1), &ask(0, 1, 1, 2));
        let expected = (0, visitor("a", 60).now);
        assert_eq!((sent_away.granted, sent_away.free_at), expected);
        assert_eq!(
            settle(&mut limit, &visitor("b", 60), &ask(0, 1, 1, 2)).granted,
            1
        );
    }

    proptest! {
        /// Nodes that come, go and die in any order: their permits never exceed the limit, and two
        /// entries are never closer than the gap.
        #[test]
        fn ss_14_permits_and_pace_hold_for_all_nodes(
            at_once in 1_usize..4,
            gap in 0_i64..4,
            steps in prop::collection::vec((0_usize..3, 0_usize..4, 0_i64..20, any::<bool>()), 1..60),
        ) {
            let mut limit = SharedLimit::default();
            // What each node really has, and until when it may act on it.
            let mut held = [(0_usize, i64::MIN); 3];
            let (mut second, mut entered) = (0, None);
            for (node, wanted, pause, leaves) in steps {
                second += pause;
                let name = ["a", "b", "c"][node];
                if leaves || held[node].1 <= second {
                    held[node].0 = 0;
                }
                let asked = ask(held[node].0, wanted, at_once, gap);
                let answer = settle(&mut limit, &visitor(name, second), &asked);
                prop_assert!(answer.granted <= wanted);
                held[node] = (held[node].0 + answer.granted, second + TTL.as_secs());
                let inside = held.iter().filter(|(_, until)| *until > second);
                prop_assert!(inside.map(|(permits, _)| permits).sum::<usize>() <= at_once);
                if answer.granted > 0 {
                    prop_assert!(entered.is_none_or(|last| second >= last + gap));
                    entered = Some(second);
                }
            }
        }
    }
}
