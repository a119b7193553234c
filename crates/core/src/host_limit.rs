//! Host limits: how many calls to one host are under way at once.
//!
//! A host that hangs holds every call until its timeout. Without a limit its calls fill all of a
//! node's slots, and all other tasks wait for them (SF-06). A limit that is low enough for a host
//! that hangs is too low for one that works, so it is learned, as TCP learns how much a line takes:
//!
//! ```text
//!   new host ──► a quarter ── answered ──► one more each time, up to all
//!                    ▲                          │ no answer
//!                    └────────── half ◄─────────┘       never below one
//! ```
//!
//! No task waits for a permit: a task that may not call now gets a time to come back, each a
//! different one, and leaves the slot to others. INVARIANT: being deferred is no attempt, so a task
//! is not given up because of a host that other tasks keep busy.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::host_pace::Turn;

/// How much of its calls' time is between two turns, at least; and at most.
const GAP_MIN: SignedDuration = SignedDuration::from_millis(10);
const GAP_MAX: SignedDuration = SignedDuration::from_secs(5);
/// The longest that a task is deferred: a host that is back should not be left alone for longer.
const AWAY_MAX: SignedDuration = SignedDuration::from_mins(2);
/// Hosts that are kept without looking which of them are needed.
const SWEEP_FROM: usize = 1_024;
/// How long a host is remembered that is not called.
const REMEMBERED_FOR: SignedDuration = SignedDuration::from_mins(10);

/// What a call came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// The host answered, whatever it said.
    Answered,
    /// No answer: it hangs, it is gone, or the call was stopped.
    Unanswered,
}

/// The limits of all hosts.
#[derive(Debug)]
pub struct HostLimits {
    calls_max: usize,
    hosts: BTreeMap<String, Host>,
    sweep_from: usize,
}

#[derive(Debug)]
struct Host {
    under_way: usize,
    /// So many may be.
    window: usize,
    /// How long a call takes lately.
    takes: SignedDuration,
    /// The last turn that was given out.
    last_turn: Timestamp,
    last_call_at: Timestamp,
}

impl HostLimits {
    /// At most `calls_max` calls to one host at once.
    pub fn new(calls_max: usize) -> Self {
        Self {
            calls_max: calls_max.max(1),
            hosts: BTreeMap::new(),
            sweep_from: SWEEP_FROM,
        }
    }

    /// Asks to call `host`; after [`Turn::Now`], [`Self::leave`] must follow.
    pub fn enter(&mut self, host: &str, now: Timestamp) -> Turn {
        self.sweep(now);
        let first = (self.calls_max / 4).max(1);
        let host = self.hosts.entry(host.to_owned()).or_insert(Host {
            under_way: 0,
            window: first,
            takes: SignedDuration::ZERO,
            last_turn: now,
            last_call_at: now,
        });
        host.last_call_at = now;
        if host.under_way < host.window {
            host.under_way += 1;
            Turn::Now
        } else {
            Turn::At(host.next_turn(now))
        }
    }

    /// A call that began at `began_at` is over.
    pub fn leave(&mut self, host: &str, began_at: Timestamp, now: Timestamp, called: Called) {
        let calls_max = self.calls_max;
        let Some(host) = self.hosts.get_mut(host) else {
            return;
        };
        host.under_way = host.under_way.saturating_sub(1);
        let took = now.duration_since(began_at).max(SignedDuration::ZERO);
        host.takes = (host.takes * 3 + took) / 4;
        host.window = match called {
            Called::Answered => (host.window + 1).min(calls_max),
            Called::Unanswered => (host.window / 2).max(1),
        };
    }

    /// How many calls to `host` are under way.
    pub fn under_way(&self, host: &str) -> usize {
        self.hosts.get(host).map_or(0, |host| host.under_way)
    }

    /// Forgets hosts that are not called, whenever their number has doubled since the last time.
    fn sweep(&mut self, now: Timestamp) {
        if self.hosts.len() < self.sweep_from {
            return;
        }
        let recent = |host: &Host| now.duration_since(host.last_call_at) < REMEMBERED_FOR;
        self.hosts
            .retain(|_, host| host.under_way > 0 || recent(host));
        self.sweep_from = SWEEP_FROM.max(self.hosts.len() * 2);
    }
}

impl Host {
    /// A turn after the last that was given out; turns are as far apart as calls end.
    fn next_turn(&mut self, now: Timestamp) -> Timestamp {
        let window = i32::try_from(self.window).unwrap_or(i32::MAX);
        let gap = (self.takes / window).clamp(GAP_MIN, GAP_MAX);
        let latest = later(now, AWAY_MAX);
        // Past the longest wait the turns begin again; a task that comes then may be deferred
        // again.
        let after = if self.last_turn >= latest {
            now
        } else {
            self.last_turn.max(now)
        };
        self.last_turn = later(after, gap);
        self.last_turn
    }
}

fn later(at: Timestamp, wait: SignedDuration) -> Timestamp {
    at.saturating_add(wait).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn let_in(limits: &mut HostLimits, host: &str, now: Timestamp) -> usize {
        (0..1_000)
            .take_while(|_| limits.enter(host, now) == Turn::Now)
            .count()
    }

    #[test]
    fn sf_06_a_host_that_never_answered_has_a_quarter_and_loses_half_each_time() {
        let mut limits = HostLimits::new(48);
        assert_eq!(let_in(&mut limits, "dead", at(0)), 12);
        assert_eq!(let_in(&mut limits, "other", at(0)), 12, "not the others'");
        for _ in 0..12 {
            limits.leave("dead", at(0), at(30), Called::Unanswered);
        }
        assert_eq!(let_in(&mut limits, "dead", at(30)), 1, "one to try with");
    }

    #[test]
    fn a_host_that_answers_soon_has_everything() {
        let mut limits = HostLimits::new(48);
        let mut calls = 0;
        while let_in(&mut limits, "quick", at(0)) > 0 {
            while limits.under_way("quick") > 0 {
                limits.leave("quick", at(0), at(0), Called::Answered);
                calls += 1;
            }
            if calls > 100 {
                break;
            }
        }
        assert_eq!(
            let_in(&mut limits, "quick", at(0)),
            48,
            "after {calls} calls"
        );
    }

    #[test]
    fn sf_06_every_deferred_task_has_its_own_turn_and_soon() {
        let mut limits = HostLimits::new(4);
        let_in(&mut limits, "dead", at(0));
        limits.leave("dead", at(0), at(30), Called::Unanswered);
        let_in(&mut limits, "dead", at(30));
        let mut turns: Vec<Timestamp> = (0..200)
            .map(|_| match limits.enter("dead", at(30)) {
                Turn::At(turn) => turn,
                Turn::Now => panic!("there is no room"),
            })
            .collect();
        let latest = at(30) + AWAY_MAX + GAP_MAX;
        assert!(turns.iter().all(|turn| *turn > at(30) && *turn <= latest));
        let soonest: Vec<_> = turns.iter().take(20).copied().collect();
        assert!(soonest.is_sorted());
        turns.truncate(20);
        turns.dedup();
        assert_eq!(turns.len(), 20, "one each");
    }

    #[test]
    fn hosts_that_are_not_called_are_forgotten() {
        let mut limits = HostLimits::new(4);
        for number in 0..5_000 {
            let now = at(number * 10);
            let host = format!("host-{number}");
            assert_eq!(limits.enter(&host, now), Turn::Now);
            limits.leave(&host, now, now, Called::Answered);
        }
        assert!(limits.hosts.len() <= 2 * SWEEP_FROM);
    }
}
