//! What paces promise to hosts, and to deferred checks.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const START: Timestamp = Timestamp::constant(1_767_600_000, 0);

fn at(ms: i64) -> Timestamp {
    later(START, SignedDuration::from_millis(ms))
}

fn seconds(turn: Turn) -> Option<i64> {
    match turn {
        Turn::Now => None,
        Turn::At(turn) => Some(turn.duration_since(START).as_secs()),
    }
}

#[test]
fn ss_14_a_deferred_check_gets_its_own_time() {
    let mut host_paces = HostPaces::new(Pace::default());
    assert_eq!(host_paces.enter("a.test", START), Turn::Now);
    let sent_away: Vec<_> = (0..4)
        .map(|_| seconds(host_paces.enter("a.test", START)))
        .collect();
    assert_eq!(sent_away, [Some(2), Some(4), Some(6), Some(8)]);
    assert_eq!(host_paces.enter("b.test", START), Turn::Now, "another host");
    host_paces.leave("a.test", START, at(100));
    let newcomer = host_paces.enter("a.test", at(200));
    assert_eq!(seconds(newcomer), Some(10), "others were there before");
    assert_eq!(
        host_paces.enter("a.test", at(2_000)),
        Turn::Now,
        "as promised"
    );
}

#[test]
fn ss_14_five_within_ten_seconds() {
    let mut host_paces = HostPaces::new(Pace::default());
    for n in 0..5 {
        assert_eq!(host_paces.enter("a.test", at(n)), Turn::Now);
        host_paces.leave("a.test", at(n), at(n));
    }
    assert_eq!(host_paces.enter("a.test", at(5)), Turn::At(at(10_000)));
    assert_eq!(host_paces.enter("a.test", at(5)), Turn::At(at(12_000)));
    assert_eq!(host_paces.enter("a.test", at(10_000)), Turn::Now);
}

#[test]
fn ss_14_a_host_can_have_itself_left_alone() {
    let mut host_paces = HostPaces::new(Pace::default());
    assert_eq!(host_paces.enter("a.test", START), Turn::Now);
    assert_eq!(seconds(host_paces.enter("a.test", START)), Some(2));
    host_paces.hold("a.test", at(60_000), START);
    host_paces.hold("a.test", at(30_000), START);
    host_paces.leave("a.test", START, START);
    for (now, expected) in [(2_000, Some(60)), (3_000, Some(62)), (60_000, None)] {
        assert_eq!(
            seconds(host_paces.enter("a.test", at(now))),
            expected,
            "{now}"
        );
    }
    host_paces.hold("b.test", Timestamp::MAX, START);
    let day = 86_400;
    assert_eq!(
        seconds(host_paces.enter("b.test", START)),
        Some(day),
        "not for ever"
    );
}

#[test]
fn ss_14_turns_follow_how_long_a_host_takes() {
    let mut host_paces = HostPaces::new(Pace::default());
    let mut now = 0;
    for _ in 0..20 {
        assert_eq!(host_paces.enter("slow.test", at(now)), Turn::Now);
        host_paces.leave("slow.test", at(now), at(now + 20_000));
        now += 20_000;
    }
    assert_eq!(host_paces.enter("slow.test", at(now)), Turn::Now);
    let Turn::At(first) = host_paces.enter("slow.test", at(now)) else {
        panic!("one at once");
    };
    let wait = first.duration_since(at(now)).as_secs();
    assert!((15..=20).contains(&wait), "{wait} s");
}

#[test]
fn ss_14_host_paces_that_are_not_needed_are_forgotten() {
    let mut host_paces = HostPaces::new(Pace::default());
    for n in 0..50_000_i64 {
        let host = format!("{n}.test");
        assert_eq!(host_paces.enter(&host, at(n * 10)), Turn::Now);
        host_paces.leave(&host, at(n * 10), at(n * 10));
        // Ten seconds of pace are a thousand hosts, and the number may double before we look.
        assert!(
            host_paces.len() <= 2 * SWEEP_FROM + 2,
            "{}",
            host_paces.len()
        );
    }
}

/// Sources of one host that come back at the time they are given, until each has been admitted.
fn crowd(sources: usize, stay_ms: i64) -> (usize, i64) {
    let mut host_paces = HostPaces::new(Pace::default());
    // When, which leaves first, and a number to distinguish them.
    let mut comes: BTreeSet<(i64, bool, usize)> = (0..sources).map(|n| (0, true, n)).collect();
    let (mut asked, mut last) = (0, 0);
    while let Some((ms, arrives, n)) = comes.pop_first() {
        last = ms;
        if !arrives {
            host_paces.leave("a.test", at(ms - stay_ms), at(ms));
            continue;
        }
        asked += 1;
        match host_paces.enter("a.test", at(ms)) {
            Turn::Now => comes.insert((ms + stay_ms, false, n)),
            Turn::At(turn) => {
                let turn = turn.duration_since(START).as_millis();
                comes.insert((i64::try_from(turn).unwrap(), true, n))
            }
        };
    }
    (asked, last)
}

#[test]
fn ss_14_a_thousand_sources_of_one_host_come_back_once_each() {
    let (asked, last) = crowd(1_000, 50);
    assert!(asked <= 2_000, "each asks at most twice: {asked}");
    assert!(
        last <= 2_000 * 1_000 + 50,
        "in the rhythm of the pace: {last} ms"
    );
    let (asked, _) = crowd(1_000, 8_000);
    assert!(asked <= 4_000, "a slow host costs a few more: {asked}");
}

proptest! {
    /// However checks come: hosts are never asked too often, and no turn is promised twice.
    #[test]
    fn ss_14_no_crowd_breaks_the_pace(
        pace in (1_usize..4, 1_usize..6, 1_i64..20),
        steps in prop::collection::vec((0_i64..4_000, 0_u8..8), 1..200),
    ) {
        let (at_once, requests, per_s) = pace;
        let per = SignedDuration::from_secs(per_s);
        let mut host_paces = HostPaces::new(Pace { at_once, requests, per });
        let (mut now, mut inside, mut entered, mut turns) = (0, Vec::new(), Vec::new(), Vec::new());
        let mut held_until = START;
        for (wait, what) in steps {
            now += wait;
            match what {
                0 => if let Some(since) = inside.pop() {
                    host_paces.leave("a.test", since, at(now));
                },
                1 => {
                    held_until = held_until.max(at(now + 3_000));
                    host_paces.hold("a.test", at(now + 3_000), at(now));
                },
                _ => match host_paces.enter("a.test", at(now)) {
                    Turn::Now => {
                        prop_assert!(held_until <= at(now), "held");
                        inside.push(at(now));
                        entered.push(at(now));
                    }
                    Turn::At(turn) => {
                        prop_assert!(turn > at(now) && turn >= held_until, "in the future");
                        prop_assert!(turns.last().is_none_or(|last| *last < turn), "forward");
                        turns.push(turn);
                    }
                },
            }
            prop_assert!(inside.len() <= at_once);
        }
        for window in entered.windows(requests + 1) {
            prop_assert!(window[requests].duration_since(window[0]) >= per, "{:?}", window);
        }
    }
}
