//! What a source learns from a look that succeeded, and when it therefore comes again.

use jiff::{SignedDuration, Timestamp};

use super::{Notice, Settling, Terms, chance};
use crate::{
    both,
    lang::{Lang, Say, Sentence},
    source::{
        Attention, Source,
        check::Document,
        clock::last_seen_at,
        entry::FoundEntry,
        policy::{Basis, History, Next, Policy, cadence::Cadence, next_check},
    },
    time::to_micros,
};

impl Settling<'_> {
    /// Adds what was published to what is known, and chooses the next time by it. Where publishers
    /// give no times, what counts is when entries were first seen (SS-25).
    pub(super) fn learn(&mut self, document: &Document, fresh: &[(String, FoundEntry)]) {
        let known = read(&self.source.learned);
        let lost = known.is_none();
        let mut history = known.unwrap_or_default();
        let published: Vec<Timestamp> = if lost {
            self.notices.push(Notice::LearningLost);
            let publisher = &self.source.memory.publisher;
            let shown = document.entries.iter().map(|found| found.published_at);
            let familiar = document.familiar.iter().map(|shown| shown.published_at);
            let stamps = shown.chain(familiar).flatten();
            stamps.map(|stamp| publisher.corrected(stamp)).collect()
        } else {
            let new = fresh.iter();
            new.filter_map(|(_, found)| found.published_at).collect()
        };
        let by_hand = self.source.definition.cadence;
        if published.is_empty() && !fresh.is_empty() {
            let since = last_seen_at(self.before);
            history.observe_undated(self.now, since, fresh.len(), by_hand);
        } else {
            history.observe(self.now, &published, by_hand);
        }
        self.describe(&history);
        self.source.learned = history.encode();
        if silent_since(&self.source, &history, self.now).is_some() {
            self.source.attention = self.source.attention.max(Some(Attention::Silent));
        }
        let next = self.choose(lost, &history);
        self.source.stats.next_due_at = Some(next.at);
        self.source.reason = Some(next.reason);
    }

    fn describe(&mut self, history: &History) {
        let hour = history.publish_hour();
        let by_hand = self.source.definition.cadence;
        let stats = &mut self.source.stats;
        stats.frequency_type = Some(history.frequency());
        stats.cadence = Some(by_hand.unwrap_or_else(|| history.cadence()));
        stats.avg_publish_hour = hour.map(|hour| hour.mean);
        stats.std_publish_hour = hour.map(|hour| hour.spread);
    }

    /// What was damaged decides nothing; the fixed interval takes over (SS-10). So does the node's
    /// policy for one that cannot be read, and the reason says so: by that it is known to have been
    /// reported before.
    fn choose(&mut self, lost: bool, history: &History) -> Choice {
        let (source, terms, now) = (&self.source, self.terms, self.now);
        if lost {
            let fixed = Policy::Fixed(terms.fallback);
            return choose(source, &fixed, history, terms, now);
        }
        let why = match policy_of(source, terms) {
            Ok(policy) => return choose(source, &policy, history, terms, now),
            Err(why) => why,
        };
        let next = choose(source, &terms.policy, history, terms, now);
        let earlier = self.before.reason.as_ref();
        let earlier = earlier.map(|reason| reason.for_reader(Lang::English).0);
        if !earlier.is_some_and(|reason| reason.starts_with(UNREADABLE)) {
            self.notices.push(Notice::PolicyUnreadable(why));
        }
        Choice {
            reason: both!("{UNREADABLE}; ", "无法读取其策略；").joined(&next.reason),
            ..next
        }
    }
}

/// How the reason of a source begins whose own policy cannot be read.
const UNREADABLE: &str = "its policy cannot be read";

/// What was learned; `None` when that is damaged.
pub(super) fn read(learned: &[u8]) -> Option<History> {
    if learned.is_empty() {
        return Some(History::new());
    }
    History::decode(learned).ok()
}

/// A source's own policy, or the node's. A cadence set by hand is a fixed interval.
fn policy_of(source: &Source, terms: &Terms) -> Result<Policy, String> {
    let by_hand = source.definition.cadence.and_then(Cadence::interval);
    match (&source.definition.policy, by_hand) {
        (_, Some(interval)) => Ok(Policy::Fixed(interval)),
        (Some(text), None) => text
            .parse()
            .map_err(|why: crate::source::policy::UnknownPolicy| why.to_string()),
        (None, None) => Ok(terms.policy.clone()),
    }
}

/// The next time and why, after the publisher's requests.
struct Choice {
    at: Timestamp,
    reason: Sentence,
}

fn choose(
    source: &Source,
    policy: &Policy,
    history: &History,
    terms: &Terms,
    now: Timestamp,
) -> Choice {
    // What a person set is kept, whatever a hub pushes.
    let learns = policy.learns();
    // Where nothing was learned or watched, nothing is known, and that is not "hardly ever".
    let blind = matches!(policy, Policy::Adaptive) && history.is_blind();
    let fixed = Policy::Fixed(terms.fallback);
    let policy = if blind { &fixed } else { policy };
    let Next { at, reason } = next_check(policy, history, now, &terms.budget, chance(source.id));
    let reason = if blind {
        both!("no times to learn from: ", "没有可供学习的时间：").joined(&reason.both())
    } else {
        reason.both()
    };
    let hub = source.memory.publisher.hub.as_ref().filter(|_| learns);
    let safety = hub.and_then(|hub| hub.safety_check(now, at, terms.budget.ceiling));
    let (at, reason) = match safety {
        Some(later) => (
            later,
            reason.joined(&both!(
                "; its hub pushes, so checks are only for safety",
                "；其 hub 会推送，检查只是为了保险"
            )),
        ),
        None => (at, reason),
    };
    let open_at = to_micros(source.memory.hints.not_before(now, at));
    let reason = if open_at > at {
        reason.joined(&both!(
            "; its publisher asks for no earlier check",
            "；发布者要求不要更早检查"
        ))
    } else {
        reason
    };
    Choice {
        at: open_at,
        reason,
    }
}

/// Chooses a source's next time again, from what is known: after a person changed how it is to be
/// checked.
pub fn replan(source: &Source, terms: &Terms, now: Timestamp) -> Source {
    let now = to_micros(now);
    let mut source = source.clone();
    // No look was made yet, or failures decide: neither is changed by another policy.
    if source.stats.last_check_at.is_none() || source.stats.fail_count > 0 {
        return source;
    }
    let history = read(&source.learned).unwrap_or_default();
    let policy = policy_of(&source, terms).unwrap_or_else(|_| terms.policy.clone());
    let looked_at = source.stats.last_check_at.unwrap_or(now);
    let chosen = choose(&source, &policy, &history, terms, looked_at);
    source.stats.next_due_at = Some(chosen.at.max(now));
    source.reason = Some(chosen.reason);
    if let Some(by_hand) = source.definition.cadence {
        source.stats.cadence = Some(by_hand);
    } else if source.stats.cadence.is_some() {
        source.stats.cadence = Some(history.cadence());
    }
    source
}

/// Since when a source is quiet beyond its habit, if it is.
fn silent_since(source: &Source, history: &History, now: Timestamp) -> Option<Timestamp> {
    let newest = source.stats.last_article_at?.max(history.newest_at()?);
    let alarm_at = newest.saturating_add(history.silent_after()?).ok()?;
    (now > alarm_at).then_some(newest)
}

/// What is believed of a source's rhythm, to be shown to people.
#[derive(Debug, Clone, PartialEq)]
pub struct Believed {
    /// The policy in force, as it is written.
    pub policy: String,
    /// Entries expected on an average day; none while nothing is known.
    pub entries_per_day: Option<f64>,
    /// Entries expected in each hour of the week, from Monday 00:00 UTC; all zero while nothing is
    /// known.
    pub week: [f64; 168],
    /// How long after its newest entry it counts as silent, if its habits are known.
    pub silent_after: Option<SignedDuration>,
    /// Whether what was learned is damaged.
    pub damaged: bool,
}

/// What is believed of a source at `now`.
pub fn believed(source: &Source, terms: &Terms, now: Timestamp) -> Believed {
    let known = read(&source.learned);
    let damaged = known.is_none();
    let history = known.unwrap_or_default();
    let policy = policy_of(source, terms).unwrap_or_else(|_| terms.policy.clone());
    Believed {
        policy: policy.to_string(),
        entries_per_day: (history.basis() != Basis::Nothing).then(|| history.entries_per_day(now)),
        week: history.week(now),
        silent_after: history.silent_after(),
        damaged,
    }
}
