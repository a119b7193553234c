//! What the administrator of a feed's server would see: who came how often, with what manners.
//!
//! Counts are kept for every feed and host; requests one by one only for the newest. Manners are
//! judged at arrival, against what earlier answers said: whoever comes before `Retry-After` has
//! passed, or ahead of `ttl` and `max-age`, or without the validators it was given, is counted.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp, civil::Weekday, tz::Offset};
use serde::{Deserialize, Serialize};

use super::feed::{Feed, Hints};

/// Requests kept one by one; the oldest go first.
const REQUESTS_KEPT: usize = 20_000;
/// User agents told apart; more are counted as one, so that nobody can fill the memory.
const AGENTS_MAX: usize = 1000;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// In order of the answers, from 1.
    pub sequence: u64,
    /// When it arrived, in the world's time.
    pub at: Timestamp,
    /// Which feed.
    pub feed: u32,
    /// The path, as called.
    pub path: String,
    /// Status of the answer; 0 where there was none.
    pub status: u16,
    /// Who called.
    pub user_agent: String,
    /// Whether it carried validators.
    pub conditional: bool,
    /// Whether it came before `Retry-After` had passed.
    pub too_early: bool,
}

/// Requests for one feed, or for all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// All requests.
    pub requests: u64,
    /// Answered 200.
    pub full: u64,
    /// Answered 304.
    pub not_modified: u64,
    /// Answered with a redirect.
    pub redirected: u64,
    /// Answered 4xx.
    pub refused: u64,
    /// Answered 5xx.
    pub failed: u64,
    /// Not answered: hung or cut.
    pub unanswered: u64,
    /// Bytes of bodies sent, as compressed.
    pub bytes: u64,
    /// Came before `Retry-After` of this feed or its host had passed.
    pub too_early: u64,
    /// Came before `ttl`, `max-age` or `sy:updatePeriod` had passed since the last answer.
    pub ahead_of_hints: u64,
    /// Came in an hour or on a day that the feed asks to skip.
    pub in_skipped_time: u64,
    /// Carried no validators although the last full answer gave some.
    pub forgetful: u64,
    /// When the last came.
    pub last_at: Option<Timestamp>,
    /// How often each user agent came.
    pub user_agents: BTreeMap<String, u64>,
}

/// Requests to one host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCount {
    /// All requests.
    pub requests: u64,
    /// Under way now.
    pub in_flight: u64,
    /// Most that were under way at once.
    pub in_flight_max: u64,
    /// Came before `Retry-After` had passed.
    pub too_early: u64,
    /// The shortest time between two arrivals.
    pub shortest_gap_ms: Option<i64>,
    /// The time between the last two arrivals.
    pub last_gap_ms: Option<i64>,
    /// When the last came.
    pub last_at: Option<Timestamp>,
}

/// What is remembered of a feed between requests.
#[derive(Debug, Default)]
struct Tally {
    count: Count,
    agents: Vec<(Arc<str>, u64)>,
    answered_at: Option<Timestamp>,
    gave_validators: bool,
    retry_until: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct HostTally {
    count: HostCount,
    retry_until: Option<Timestamp>,
}

/// A request as it arrives.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    pub(super) at: Timestamp,
    pub(super) path: String,
    pub(super) user_agent: String,
    pub(super) conditional: bool,
}

/// How a request was answered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answered {
    /// 0 where it was not.
    pub(super) status: u16,
    pub(super) bytes: usize,
    pub(super) gives_validators: bool,
}

/// All requests so far.
#[derive(Debug, Default)]
pub struct Journal {
    sequence: u64,
    newest: VecDeque<Seen>,
    total: Count,
    feeds: BTreeMap<u32, Tally>,
    hosts: BTreeMap<u32, HostTally>,
    agents: BTreeMap<Arc<str>, u64>,
}

impl Journal {
    /// Notes an arrival and judges its manners; says whether it is too early.
    pub(super) fn arrive(&mut self, feed: &Feed, arrival: &Arrival) -> bool {
        let agent = self.agent(&arrival.user_agent);
        let at = arrival.at;
        let host = self.hosts.entry(feed.host).or_default();
        let tally = self.feeds.entry(feed.number).or_default();
        let limits = [tally.retry_until, host.retry_until];
        let too_early = limits.into_iter().flatten().any(|until| at < until);
        let ahead = tally
            .answered_at
            .is_some_and(|last| at < last + floor(feed));
        let skipped = feed.document.is_rss2() && is_skipped(&feed.hints, at);
        let forgetful = tally.gave_validators && !arrival.conditional;
        host.arrive(at, too_early);
        match tally.agents.iter_mut().find(|(held, _)| *held == agent) {
            Some((_, times)) => *times += 1,
            None => tally.agents.push((agent, 1)),
        }
        for count in [&mut tally.count, &mut self.total] {
            count.requests += 1;
            count.too_early += u64::from(too_early);
            count.ahead_of_hints += u64::from(ahead);
            count.in_skipped_time += u64::from(skipped);
            count.forgetful += u64::from(forgetful);
            count.last_at = Some(at);
        }
        too_early
    }

    /// Notes how a request was answered.
    pub(super) fn answer(&mut self, feed: u32, arrival: Arrival, too_early: bool, how: Answered) {
        let tally = self.feeds.entry(feed).or_default();
        if matches!(how.status, 200 | 304) {
            tally.answered_at = Some(arrival.at);
        }
        if how.status == 200 {
            tally.gave_validators = how.gives_validators;
        }
        for count in [&mut tally.count, &mut self.total] {
            count.bytes += how.bytes as u64;
            *count.kind(how.status) += 1;
        }
        self.sequence += 1;
        if self.newest.len() == REQUESTS_KEPT {
            self.newest.pop_front();
        }
        self.newest.push_back(Seen {
            sequence: self.sequence,
            at: arrival.at,
            feed,
            path: arrival.path,
            status: how.status,
            user_agent: arrival.user_agent,
            conditional: arrival.conditional,
            too_early,
        });
    }

    /// More of a body was sent.
    pub(super) fn sent(&mut self, feed: u32, bytes: usize) {
        let tally = self.feeds.entry(feed).or_default();
        tally.count.bytes += bytes as u64;
        self.total.bytes += bytes as u64;
    }

    /// A request to a host is over, however it ended.
    pub(super) fn leave(&mut self, host: u32) {
        let tally = self.hosts.entry(host).or_default();
        tally.count.in_flight = tally.count.in_flight.saturating_sub(1);
    }

    /// From now until then, requests for a feed are too early.
    pub(super) fn limit_feed(&mut self, feed: u32, until: Timestamp) {
        self.feeds.entry(feed).or_default().retry_until = Some(until);
    }

    /// From now until then, requests to a host are too early.
    pub(super) fn limit_host(&mut self, host: u32, until: Timestamp) {
        self.hosts.entry(host).or_default().retry_until = Some(until);
    }

    /// Until when a host wants to be left alone.
    pub(super) fn host_limited_until(&self, host: u32) -> Option<Timestamp> {
        self.hosts.get(&host).and_then(|tally| tally.retry_until)
    }

    /// Forgets who came; what hosts asked for still holds.
    pub(super) fn forget(&mut self) {
        self.newest.clear();
        self.agents.clear();
        self.total = Count::default();
        for tally in self.feeds.values_mut() {
            tally.count = Count::default();
            tally.agents.clear();
        }
        for tally in self.hosts.values_mut() {
            tally.count = HostCount {
                in_flight: tally.count.in_flight,
                ..HostCount::default()
            };
        }
    }

    /// The newest requests, oldest first.
    pub fn newest(&self) -> impl Iterator<Item = &Seen> {
        self.newest.iter()
    }

    /// What came for one feed.
    pub fn feed(&self, number: u32) -> Count {
        let Some(tally) = self.feeds.get(&number) else {
            return Count::default();
        };
        let agents = tally.agents.iter();
        Count {
            user_agents: agents
                .map(|(agent, times)| (agent.to_string(), *times))
                .collect(),
            ..tally.count.clone()
        }
    }

    /// What came to one host.
    pub fn host(&self, host: u32) -> HostCount {
        self.hosts
            .get(&host)
            .map(|tally| tally.count.clone())
            .unwrap_or_default()
    }

    /// Everything that came.
    pub fn total(&self) -> Count {
        let agents = self.agents.iter();
        Count {
            user_agents: agents
                .map(|(agent, times)| (agent.to_string(), *times))
                .collect(),
            ..self.total.clone()
        }
    }

    /// The most requests that any host had under way at once.
    pub fn in_flight_max(&self) -> u64 {
        let hosts = self.hosts.values();
        hosts
            .map(|tally| tally.count.in_flight_max)
            .max()
            .unwrap_or(0)
    }

    /// One text per user agent, however many feeds it asks for.
    fn agent(&mut self, user_agent: &str) -> Arc<str> {
        let known = self.agents.len() < AGENTS_MAX || self.agents.contains_key(user_agent);
        let user_agent = if known { user_agent } else { "(others)" };
        if let Some((held, _)) = self.agents.get_key_value(user_agent) {
            let held = held.clone();
            self.agents
                .entry(held.clone())
                .and_modify(|times| *times += 1);
            return held;
        }
        let held: Arc<str> = Arc::from(user_agent);
        self.agents.insert(held.clone(), 1);
        held
    }
}

impl HostTally {
    fn arrive(&mut self, at: Timestamp, too_early: bool) {
        let count = &mut self.count;
        if let Some(last_at) = count.last_at {
            let gap = i64::try_from(at.duration_since(last_at).as_millis()).unwrap_or(i64::MAX);
            count.last_gap_ms = Some(gap);
            count.shortest_gap_ms = Some(count.shortest_gap_ms.map_or(gap, |it| it.min(gap)));
        }
        count.last_at = Some(at);
        count.requests += 1;
        count.in_flight += 1;
        count.in_flight_max = count.in_flight_max.max(count.in_flight);
        count.too_early += u64::from(too_early);
    }
}

impl Count {
    fn kind(&mut self, status: u16) -> &mut u64 {
        match status {
            0 => &mut self.unanswered,
            304 => &mut self.not_modified,
            300..400 => &mut self.redirected,
            400..500 => &mut self.refused,
            500.. => &mut self.failed,
            _ => &mut self.full,
        }
    }
}

/// The shortest time between two looks that the feed's hints allow. Only RSS says more than
/// `max-age`, and a period that is a generator's constant is still what the publisher says.
fn floor(feed: &Feed) -> SignedDuration {
    let hints = &feed.hints;
    let max_age_s = hints.max_age_s.unwrap_or(0).into();
    if !feed.document.is_rss2() {
        return SignedDuration::from_secs(max_age_s);
    }
    let ttl_s = i64::from(hints.ttl_min.unwrap_or(0)) * 60;
    let period_s = match hints.update_period {
        Some("hourly") => 3600,
        Some("daily") => 86_400,
        _ => 0,
    };
    SignedDuration::from_secs(ttl_s.max(period_s).max(max_age_s))
}

/// Hours and days are GMT, as RSS has it.
fn is_skipped(hints: &Hints, at: Timestamp) -> bool {
    let civil = Offset::UTC.to_datetime(at);
    let hour = u8::try_from(civil.hour()).unwrap_or(0);
    let weekend = match civil.weekday() {
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
        _ => "",
    };
    hints.skip_hours.contains(&hour) || hints.skip_days.contains(&weekend)
}
