//! What one source has shown so far, in at most two kilobytes.
//!
//! A check records what it revealed in the history ([`History::observe`]); the policies ask it. It
//! keeps the latest entries' times, the classic analysis and the rhythm, all bounded. The tables
//! derived from the rhythm are made again after a load and whenever entries arrive, so that a
//! decision finds them ready.

mod codec;

use jiff::{SignedDuration, Timestamp};

use super::{
    cadence::{Cadence, Frequency},
    classic::{self, Analysis, PublishHour},
    number::{hours, small},
    reason::Basis,
    rhythm::{Factors, Rhythm, Tables},
};

pub use codec::{Corrupt, ENCODED_MAX};

/// How many of the latest entries are kept one by one.
const RECENT: usize = 64;

/// Everything learned about one source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    checks: u32,
    hits: u32,
    /// The check that found the latest entries: until then the rhythm was watched.
    learned_at_s: i64,
    /// The latest entries, ascending, in seconds of the epoch.
    recent: Vec<i64>,
    /// How many of them the latest check revealed.
    fresh: usize,
    /// Whether the latest times are those at which entries were first seen, for want of others.
    by_first_seen: bool,
    analysis: Analysis,
    pub(super) rhythm: Rhythm,
    /// Derived from the above whenever entries arrive.
    pub(super) factors: Box<Factors>,
}

impl History {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A successful check at `at` revealed entries published at these instants: believable times,
    /// given by the publisher, of new entries only. The first check passes all of its document.
    pub fn observe(
        &mut self,
        at: Timestamp,
        published: &[Timestamp],
        cadence_by_hand: Option<Cadence>,
    ) {
        let mut new: Vec<i64> = published.iter().map(|time| time.as_second()).collect();
        new.sort_unstable();
        self.count(at, new.len());
        if new.is_empty() {
            self.rhythm.watch(at.as_second());
        } else {
            self.by_first_seen = false;
            self.learn(&new, Rhythm::count);
        }
        self.analyse(!new.is_empty(), cadence_by_hand);
    }

    /// A successful check at `at` revealed so many entries without times. They came after `since`,
    /// the successful check before; without one they are the source's past, and say nothing.
    pub fn observe_undated(
        &mut self,
        at: Timestamp,
        since: Option<Timestamp>,
        entries: usize,
        cadence_by_hand: Option<Cadence>,
    ) {
        let entries = if since.is_some() { entries } else { 0 };
        let (from_s, to_s) = (since.unwrap_or(at).as_second(), at.as_second());
        let new = evenly(from_s, to_s, entries.min(RECENT));
        self.count(at, new.len());
        self.rhythm.watch(to_s);
        if !new.is_empty() {
            self.by_first_seen = true;
            self.learn(&new, |rhythm, at_s| rhythm.count_within(at_s, from_s, to_s));
        }
        self.analyse(!new.is_empty(), cadence_by_hand);
    }

    fn count(&mut self, at: Timestamp, entries: usize) {
        self.checks = self.checks.saturating_add(1);
        self.hits = self.hits.saturating_add(u32::from(entries > 0));
        self.fresh = entries.min(RECENT);
        if entries > 0 {
            self.learned_at_s = at.as_second();
        }
    }

    fn analyse(&mut self, hit: bool, cadence_by_hand: Option<Cadence>) {
        if classic::is_due(self.checks, hit) {
            self.analysis = classic::analyse(&self.recent, cadence_by_hand);
        }
    }

    /// Moves everything learned by some quarters of an hour, because its times came from a clock
    /// that was wrong by so much.
    pub fn shift(&mut self, by_s: i64) {
        self.recent.iter_mut().for_each(|time| *time += by_s);
        self.rhythm.shift(by_s);
        self.analysis.hour = classic::publish_hour(&self.recent);
        self.derive();
    }

    fn learn(&mut self, new: &[i64], count: impl Fn(&mut Rhythm, i64)) {
        let first = self.rhythm.is_empty();
        let newest = self.recent.last().copied();
        for time in new {
            count(&mut self.rhythm, *time);
        }
        self.recent.extend_from_slice(new);
        self.recent.sort_unstable();
        if first {
            // The past is one whole: its gaps are measured by its own rhythm.
            self.derive();
        }
        let ahead = new.partition_point(|time| newest.is_some_and(|newest| *time <= newest));
        let mut before = newest;
        for time in &new[ahead..] {
            if let Some(before) = before {
                let gap_h = self.factors.operational_h(before, *time);
                self.rhythm.learn_gap(gap_h);
            }
            before = Some(*time);
        }
        let surplus = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..surplus);
        self.derive();
    }

    fn derive(&mut self) {
        *self.factors = Factors::new(&self.tables());
    }

    /// What can be believed of the rhythm.
    pub(super) fn tables(&self) -> Tables {
        // When entries were first seen lately is when we looked lately.
        let lately = if self.by_first_seen {
            &[]
        } else {
            self.recent.as_slice()
        };
        Tables::new(&self.rhythm, lately, self.learned_at_s)
    }

    /// What the times are that all this is learned from.
    pub fn basis(&self) -> Basis {
        match self.recent.as_slice() {
            [] => Basis::Nothing,
            _ if self.by_first_seen => Basis::FirstSeen,
            _ => Basis::Published,
        }
    }

    /// Whether anything can be said about when the source publishes.
    pub(in crate::source) fn is_blind(&self) -> bool {
        self.recent.is_empty() && !self.rhythm.is_watched()
    }

    /// How often the source publishes, by the classic rules.
    pub fn frequency(&self) -> Frequency {
        self.analysis.frequency
    }

    /// Its cadence, by the classic rules.
    pub fn cadence(&self) -> Cadence {
        self.analysis.cadence
    }

    /// Mean and spread of the publish hour; none when the hours point nowhere.
    pub fn publish_hour(&self) -> Option<PublishHour> {
        self.analysis.hour.filter(|hour| hour.is_pattern)
    }

    /// Successful checks.
    pub fn checks(&self) -> u32 {
        self.checks
    }

    /// Checks that revealed entries.
    pub fn hits(&self) -> u32 {
        self.hits
    }

    /// The newest entry's time of publication.
    pub fn newest_at(&self) -> Option<Timestamp> {
        let newest = self.recent.last()?;
        Timestamp::from_second(*newest).ok()
    }

    /// Entries expected on an average day, as of `now`.
    pub fn entries_per_day(&self, now: Timestamp) -> f64 {
        f64::from(super::intensity::level(self, now.as_second())) * 24.0
    }

    /// What is believed of the week: entries per hour for each hour from Monday 00:00 UTC. All are
    /// zero while nothing is known.
    pub fn week(&self, now: Timestamp) -> [f64; 168] {
        if self.recent.is_empty() {
            return [0.0; 168];
        }
        let level = f64::from(super::intensity::level(self, now.as_second()));
        let elapsed = &self.factors.elapsed;
        std::array::from_fn(|hour| level * f64::from(elapsed[hour + 1] - elapsed[hour]))
    }

    /// How long after its newest entry a silence is beyond the source's own habit: longer than 199
    /// silences in 200, counting hours as much as it usually publishes in them. None below ten
    /// entries: what is not known has no habits.
    pub fn silent_after(&self) -> Option<SignedDuration> {
        const ENTRIES_MIN: usize = 10;
        /// −ln(1/200): what chance alone makes of a steady source.
        const CHANCE: f64 = 5.3;
        /// Quantile of the normal distribution that 199 of 200 stay below.
        const QUANTILE: f32 = 2.576;
        if self.recent.len() < ENTRIES_MIN {
            return None;
        }
        let newest = *self.recent.last()?;
        let pairs = self.recent.windows(2);
        let longest = pairs.map(|pair| self.factors.operational_h(pair[0], pair[1]));
        let longest = longest.fold(0.0, f64::max);
        let rhythm = &self.rhythm;
        let usual = (rhythm.gap_mean + QUANTILE * rhythm.gap_variance.max(0.0).sqrt()).exp();
        let span = hours(newest - self.recent[0]).max(1.0);
        let mean = span / f64::from(super::number::real(self.recent.len() - 1));
        let habit = (mean * CHANCE).max(f64::from(usual)).max(longest * 1.25);
        Some(self.silence_of(newest, habit))
    }

    /// How long a silence after `newest` takes to amount to so many operational hours.
    fn silence_of(&self, newest: i64, operational_h: f64) -> SignedDuration {
        let weeks = (operational_h / 168.0).floor();
        let mut silence_h = weeks * 168.0;
        let begin =
            newest.saturating_add(SignedDuration::from_secs_f64(silence_h * 3_600.0).as_secs());
        for hour in 1..=168 {
            let reached = weeks * 168.0 + self.factors.operational_h(begin, begin + hour * 3_600);
            silence_h += 1.0;
            if reached >= operational_h {
                break;
            }
        }
        SignedDuration::from_secs_f64(silence_h.min(24.0 * 365.0 * 10.0) * 3_600.0)
    }

    pub(super) fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The entries known before the latest check, as far as they are kept.
    pub(super) fn known_before(&self) -> &[i64] {
        &self.recent[..self.recent.len() - self.fresh.min(self.recent.len())]
    }

    /// How many of the latest entries are known, up to [`RECENT`].
    pub(super) fn known(&self) -> usize {
        self.recent.len()
    }

    /// Operational hours since the newest entry, at `now_s`.
    pub(super) fn age_h(&self, now_s: i64) -> Option<f32> {
        let newest = *self.recent.last()?;
        Some(small(self.factors.operational_h(newest, now_s.max(newest))))
    }
}

/// So many instants at equal distances between two, the outer ones half as far from the ends; one
/// alone is in the middle.
fn evenly(from_s: i64, to_s: i64, count: usize) -> Vec<i64> {
    let count = i64::try_from(count).unwrap_or(0);
    let length_s = (to_s - from_s).max(0);
    let place = |number: i64| from_s + length_s * (2 * number + 1) / (2 * count);
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests;
