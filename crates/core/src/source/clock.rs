//! How far a publisher's clock is off, learned from when its entries were first seen (SS-25).
//!
//! Many feeds write local time and name no offset, so that every time they give is hours off. An
//! entry that one check shows and the successful check before it did not appeared between the two:
//! the entry's time minus those two instants are `Bounds` on what the clock is ahead by. The
//! bounds of several checks together leave little room, and what is off by a zone is off by a
//! multiple of a quarter of an hour.
//!
//! A wrong correction is worse than none, so an offset is believed only if several checks agree,
//! zero is ruled out, and one round number alone is left. Stamps ahead of the clock are certain;
//! those behind may be entries that were dated back, and must agree more often. Two checks in a row
//! that contradict what was believed end it: the feed was repaired, or its clocks have changed.
//!
//! What must stay true: bounds are those of the publisher's own times, never of corrected ones; the
//! newest `BOUNDS_MAX` are kept.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Source, entry::FoundEntry, options::Publisher, policy::History, recent::CheckOutcome};

/// So many checks are remembered.
const BOUNDS_MAX: usize = 12;
/// Offsets are multiples of this, as those of all time zones are.
const STEP_S: i32 = 900;
const HOUR_S: i32 = 3_600;
/// No zone is farther from UTC.
const FARTHEST_S: i32 = 14 * HOUR_S;
/// No zone but UTC itself is nearer; what is less is a slow server, not a wrong clock.
const NEAREST_S: i32 = HOUR_S;
/// Clocks differ by so much without being wrong.
const EARLY_S: i32 = 120;
/// Entries are stamped when they are written and appear when caches let them.
const LATE_S: i32 = 600;
/// Checks that must agree before a clock is held to be ahead.
const AHEAD_MIN: usize = 3;
/// And behind: entries that were dated back look the same.
const BEHIND_MIN: usize = 5;
/// A clock that has moved by an hour at most is the known one in summer or winter.
const MOVED_MIN: usize = 2;

/// What one check says of a publisher's clock: it is ahead by so many seconds at least and at most;
/// below zero it is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Bounds(i32, i32);

/// What is known of a publisher's clock, beside the offset that is believed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// The latest checks, newest last.
    bounds: Vec<Bounds>,
    /// What the learned rhythm is corrected by.
    rhythm_s: i32,
}

/// Between which two checks entries appeared.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// The last successful check before; none before the first.
    since: Option<Timestamp>,
    until: Timestamp,
}

/// The last successful look at a source: what it did not show appeared later.
pub(super) fn last_seen_at(source: &Source) -> Option<Timestamp> {
    let looks = source.recent.looks().iter().rev();
    let mut successes = looks.filter(|look| !matches!(look.outcome, CheckOutcome::Failed(_)));
    successes.next().map(|look| look.at)
}

/// Learns from the entries that a check at `now` found, and corrects their times. The source that
/// comes back is the one to settle the check on; `source` stays, for a check that is settled again.
pub fn correct(source: &Source, fresh: &mut [(String, FoundEntry)], now: Timestamp) -> Source {
    let mut source = source.clone();
    let window = Window {
        since: last_seen_at(&source),
        until: now,
    };
    let stamps = fresh.iter().filter_map(|(_, found)| found.published_at);
    if let Some(bounds) = stamps.max().and_then(|newest| window.bounds(newest)) {
        hear(&mut source, bounds);
    }
    let publisher = &source.memory.publisher;
    if publisher.clock_ahead_s.is_some() {
        for (_, found) in fresh {
            let stamp = found.published_at;
            found.published_at = stamp.map(|stamp| window.correct(publisher, stamp));
        }
    }
    source
}

impl Publisher {
    /// A time that this publisher gave, by a clock that is right.
    pub fn corrected(&self, stamp: Timestamp) -> Timestamp {
        let ahead = i64::from(self.clock_ahead_s.unwrap_or(0));
        let corrected = stamp.saturating_sub(SignedDuration::from_secs(ahead));
        corrected.unwrap_or(stamp)
    }
}

impl Window {
    /// What the newest of the entries says, if anything: an older one may have been dated back.
    fn bounds(self, newest: Timestamp) -> Option<Bounds> {
        let ahead_of = |at: Timestamp| {
            let far = i64::from(2 * FARTHEST_S);
            let ahead_s = newest.duration_since(at).as_secs().clamp(-far, far);
            i32::try_from(ahead_s).unwrap_or(0)
        };
        let least = ahead_of(self.until);
        let most = match self.since {
            Some(since) => ahead_of(since),
            // The first look shows all of the past, but nothing of the future.
            None if least > EARLY_S => FARTHEST_S,
            None => return None,
        };
        let possible = least <= FARTHEST_S && most >= -FARTHEST_S;
        possible.then_some(Bounds(least, most))
    }

    /// Corrects one time. One that fits as it is, and would not once corrected, is left: the feed
    /// has just been repaired.
    fn correct(self, publisher: &Publisher, stamp: Timestamp) -> Timestamp {
        let corrected = publisher.corrected(stamp);
        let fits = |at| self.bounds(at).is_some_and(|bounds| bounds.allow(0));
        let is_right = self.since.is_some() && fits(stamp) && !fits(corrected);
        if is_right { stamp } else { corrected }
    }
}

impl Bounds {
    fn allow(self, offset_s: i32) -> bool {
        (self.0 - EARLY_S..=self.1 + LATE_S).contains(&offset_s)
    }
}

impl Evidence {
    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, bounds: Bounds, believed: Option<i32>) {
        self.bounds.push(bounds);
        let surplus = self.bounds.len().saturating_sub(BOUNDS_MAX);
        self.bounds.drain(..surplus);
        if believed.is_some_and(|offset| self.is_contradicted(offset)) {
            let old = self.bounds.len() - 2;
            self.bounds.drain(..old);
        }
    }

    /// Whether the last two checks both rule an offset out; one alone may be an accident.
    fn is_contradicted(&self, offset_s: i32) -> bool {
        match self.bounds.as_slice() {
            [.., before, last] => !before.allow(offset_s) && !last.allow(offset_s),
            _ => false,
        }
    }

    fn votes(&self, offset_s: i32) -> usize {
        let allowing = self.bounds.iter().filter(|bounds| bounds.allow(offset_s));
        allowing.count()
    }

    /// The offset that the checks agree on.
    fn offset(&self) -> Option<i32> {
        let most = candidates().map(|offset| self.votes(offset)).max()?;
        let known = self.bounds.len();
        let agreed = most * 4 >= known * 3 && self.votes(0) * 4 <= known;
        let fitting: Vec<i32> = candidates()
            .filter(|offset| self.votes(*offset) == most)
            .collect();
        let offset = roundest(&fitting)?;
        let has_moved = self.rhythm_s != 0 && (offset - self.rhythm_s).abs() <= HOUR_S;
        let needed = match offset {
            _ if has_moved => MOVED_MIN,
            1.. => AHEAD_MIN,
            _ => BEHIND_MIN,
        };
        (agreed && most >= needed).then_some(offset)
    }
}

/// Offsets that a clock can have.
fn candidates() -> impl Iterator<Item = i32> {
    let steps = FARTHEST_S / STEP_S;
    let all = (-steps..=steps).map(|step| step * STEP_S);
    all.filter(|offset| offset.abs() >= NEAREST_S)
}

/// The one full hour among offsets, else the one half hour, else the one quarter. Several of them
/// are too many to choose from.
fn roundest(offsets: &[i32]) -> Option<i32> {
    for step in [HOUR_S, HOUR_S / 2, STEP_S] {
        let mut round = offsets.iter().filter(|offset| *offset % step == 0);
        if let Some(first) = round.next() {
            return round.next().is_none().then_some(*first);
        }
    }
    None
}

/// Takes a check's bounds in, and moves the learned rhythm when another offset is believed.
fn hear(source: &mut Source, bounds: Bounds) {
    let publisher = &mut source.memory.publisher;
    let before = publisher.clock_ahead_s;
    publisher.clock.add(bounds, before);
    let kept = before.filter(|offset| !publisher.clock.is_contradicted(*offset));
    publisher.clock_ahead_s = publisher.clock.offset().or(kept);
    let Some(offset) = publisher.clock_ahead_s else {
        return;
    };
    // What was learned under an offset that has ended is right: it was the publisher's then. So
    // the rhythm moves by what the new one differs, which is what its clock change does to it.
    let by_s = publisher.clock.rhythm_s - offset;
    publisher.clock.rhythm_s = offset;
    if by_s != 0
        && let Ok(mut history) = History::decode(&source.learned)
    {
        history.shift(i64::from(by_s));
        source.learned = history.encode();
    }
}

#[cfg(test)]
mod tests;
