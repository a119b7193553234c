//! Host paces: how often and by how many at once a host is asked (SS-14).
//!
//! A thousand sources may live on one host, and that host should not notice how many we have. No
//! check waits in a queue: one that may not enter now gets a time to come back, and makes room for
//! the others (SS-08). A different time for every deferred check is what keeps a thousand of them
//! from coming back together, again and again.
//!
//! ```text
//! enter(host, now) ── free, in pace, none before ──► Now, until leave
//!                  └─ otherwise ─────────────────────► At(turn): the next one after the last that was promised
//! ```
//!
//! What must stay true:
//!
//! - Of one host at most `at_once` are inside, and at most `requests` enter within any stretch of
//!   `per`.
//! - No turn is promised twice, and turns only go forward: the first sent away is the first to come
//!   back.
//! - While turns are promised, only a check whose turn has come may enter. Turns have no names on
//!   them: a check that is back later than promised takes the next turn that is due.
//! - A host pace that is not needed is forgotten, so there are never more of them than hosts of the
//!   last minutes.
//!
//! These paces live in one process. Nodes that share a database also share a pace behind them,
//! which admits only what the node's own has admitted ([`shared`]); what it defers goes through
//! [`HostPaces::turn_away`].

pub mod shared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};

/// Promised turns that are remembered per host. Beyond, turns are still apart, but any check may
/// take them.
const PROMISED_MAX: usize = 100_000;
/// How long a promised turn is kept.
const PROMISE_KEPT_FOR: SignedDuration = SignedDuration::from_mins(10);
/// The longest that a host can have itself left alone.
const HOLD_MAX: SignedDuration = SignedDuration::from_hours(24);
/// Host paces that are kept without checking which of them are needed.
const SWEEP_FROM: usize = 1_024;

/// How often and by how many at once a host is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// So many at once; at least 1 is allowed.
    pub at_once: usize,
    /// So many requests; at least 1 is allowed.
    pub requests: usize,
    /// Within any stretch of this length.
    pub per: SignedDuration,
}

impl Default for Pace {
    /// One after the other, and five within ten seconds.
    fn default() -> Self {
        Self {
            at_once: 1,
            requests: 5,
            per: SignedDuration::from_secs(10),
        }
    }
}

impl Pace {
    /// Between two requests that are spread evenly.
    pub fn gap(&self) -> SignedDuration {
        let requests = i32::try_from(self.requests.max(1)).unwrap_or(i32::MAX);
        self.per / requests
    }
}

/// Whether one may enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Yes; [`HostPaces::leave`] must follow.
    Now,
    /// Not now; come back then.
    At(Timestamp),
}

/// The paces of all hosts.
#[derive(Debug)]
pub struct HostPaces {
    pace: Pace,
    hosts: BTreeMap<String, HostPace>,
    sweep_from: usize,
}

impl HostPaces {
    /// Without any host.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            hosts: BTreeMap::new(),
            sweep_from: SWEEP_FROM,
        }
    }

    /// Asks to enter the pace of `host`.
    pub fn enter(&mut self, host: &str, now: Timestamp) -> Turn {
        self.sweep(now);
        let pace = self.pace;
        self.host_pace(host).enter(&pace, now)
    }

    /// The check that entered at `entered_at` is through.
    pub fn leave(&mut self, host: &str, entered_at: Timestamp, now: Timestamp) {
        if let Some(host_pace) = self.hosts.get_mut(host) {
            host_pace.leave(now.duration_since(entered_at));
        }
    }

    /// The check that entered was deferred by the pace that all nodes share, which admits none
    /// before `until`; returns when to come again.
    pub fn turn_away(&mut self, host: &str, until: Timestamp, now: Timestamp) -> Timestamp {
        let (pace, host_pace) = (self.pace, self.host_pace(host));
        host_pace.withdraw();
        host_pace.hold(until);
        host_pace.next_turn(&pace, now)
    }

    /// The host asked to be left alone until then; returns until when it is, at most a day.
    pub fn hold(&mut self, host: &str, until: Timestamp, now: Timestamp) -> Timestamp {
        let latest = now.saturating_add(HOLD_MAX).unwrap_or(Timestamp::MAX);
        let until = until.min(latest);
        self.host_pace(host).hold(until);
        until
    }

    /// How many hosts are remembered.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether no host is remembered.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    fn host_pace(&mut self, host: &str) -> &mut HostPace {
        self.hosts.entry(host.to_owned()).or_default()
    }

    /// Forgets host paces that are not needed, whenever their number has doubled since the last
    /// time.
    fn sweep(&mut self, now: Timestamp) {
        if self.hosts.len() < self.sweep_from {
            return;
        }
        let pace = self.pace;
        self.hosts
            .retain(|_, host_pace| host_pace.is_needed(&pace, now));
        self.sweep_from = SWEEP_FROM.max(self.hosts.len() * 2);
    }
}

/// The pace of one host.
#[derive(Debug, Default)]
struct HostPace {
    inside: usize,
    /// When the last `requests` entered, oldest first.
    entered: VecDeque<Timestamp>,
    /// Turns promised and not taken yet, in order.
    promised: VecDeque<Timestamp>,
    /// The last turn that was promised.
    last_turn: Option<Timestamp>,
    held_until: Option<Timestamp>,
    /// How long a stay takes lately.
    stay: SignedDuration,
}

impl HostPace {
    fn enter(&mut self, pace: &Pace, now: Timestamp) -> Turn {
        self.drop_before(later(now, -PROMISE_KEPT_FOR));
        let ripe = self.promised.front().is_some_and(|turn| *turn <= now);
        if ripe {
            self.promised.pop_front();
        }
        let first = ripe || self.promised.is_empty();
        let full = self.inside >= pace.at_once.max(1);
        let free_at = self.free_at(pace);
        if first && !full && free_at.is_none_or(|at| at <= now) {
            self.admit(pace, now);
            return Turn::Now;
        }
        Turn::At(self.next_turn(pace, now))
    }

    /// Promises the next turn after the last that was promised.
    fn next_turn(&mut self, pace: &Pace, now: Timestamp) -> Timestamp {
        let (gap, free_at) = (self.gap(pace), self.free_at(pace));
        let full = self.inside >= pace.at_once.max(1);
        let after_stay = full.then(|| later(now, gap));
        let after_last = self.last_turn.map(|turn| later(turn, gap));
        let soonest = later(now, SignedDuration::from_millis(1));
        let turn = [free_at, after_stay, after_last].into_iter().flatten();
        let turn = turn.fold(soonest, Timestamp::max);
        self.promise(turn);
        turn
    }

    /// Before when pace and host admit no check.
    fn free_at(&self, pace: &Pace) -> Option<Timestamp> {
        let oldest = self.entered.front();
        let oldest = oldest.filter(|_| self.entered.len() >= pace.requests.max(1));
        let in_pace = oldest.map(|at| later(*at, pace.per));
        in_pace.max(self.held_until)
    }

    fn admit(&mut self, pace: &Pace, now: Timestamp) {
        self.inside += 1;
        if self.entered.len() >= pace.requests.max(1) {
            self.entered.pop_front();
        }
        self.entered.push_back(now);
    }

    /// As if the last one had not entered.
    fn withdraw(&mut self) {
        self.inside = self.inside.saturating_sub(1);
        self.entered.pop_back();
    }

    fn promise(&mut self, turn: Timestamp) {
        self.last_turn = Some(turn);
        if self.promised.len() < PROMISED_MAX {
            self.promised.push_back(turn);
        }
    }

    fn leave(&mut self, stay: SignedDuration) {
        self.inside = self.inside.saturating_sub(1);
        self.stay = (self.stay * 3 + stay.max(SignedDuration::ZERO)) / 4;
    }

    /// Turns before the end of the hold cannot be kept; a check that comes then is promised a later
    /// one.
    fn hold(&mut self, until: Timestamp) {
        self.held_until = self.held_until.max(Some(until));
        self.drop_before(until);
    }

    fn drop_before(&mut self, at: Timestamp) {
        while self.promised.front().is_some_and(|turn| *turn < at) {
            self.promised.pop_front();
        }
    }

    /// Between two turns. Where stays are long, turns in the rhythm of the pace would find the host
    /// full.
    fn gap(&self, pace: &Pace) -> SignedDuration {
        let at_once = i32::try_from(pace.at_once.max(1)).unwrap_or(i32::MAX);
        pace.gap().max(self.stay / at_once)
    }

    fn is_needed(&self, pace: &Pace, now: Timestamp) -> bool {
        let pending = |at: &Timestamp| later(*at, PROMISE_KEPT_FOR) > now;
        let recent = |at: &Timestamp| later(*at, pace.per) > now;
        self.inside > 0
            || self.entered.back().is_some_and(recent)
            || self.promised.back().is_some_and(pending)
            || self.last_turn.is_some_and(|turn| turn > now)
            || self.held_until.is_some_and(|until| until > now)
    }
}

/// `at` and a wait; what no calendar holds is its last instant.
fn later(at: Timestamp, wait: SignedDuration) -> Timestamp {
    at.saturating_add(wait).unwrap_or(at)
}
