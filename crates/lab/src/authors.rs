//! Simulated authors: they write articles, reschedule and withdraw them.
//!
//! The next action is a pure function of their [`Manuscripts`] and the time; the same seed and the
//! same clock give the same actions. [`run`] carries them out against an article service and
//! reports the results.

mod driver;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

pub use driver::{AuthorActivity, Config, Editor, Outcome, run};

use crate::{article::state::FORBIDDEN, chance::Chance};

/// Most open articles; at this number, authors reschedule and withdraw rather than write.
const OPEN_MAX: usize = 40;

const WHO: [&str; 8] = [
    "The lighthouse keeper",
    "A retired pilot",
    "The night baker",
    "My grandmother",
    "The village choir",
    "A map maker",
    "The last tram driver",
    "An honest auctioneer",
];
const WHAT: [&str; 8] = [
    "explains the tides",
    "repairs a radio",
    "counts the swallows",
    "opens a bookshop",
    "forgives the weather",
    "crosses the river twice",
    "learns to whistle",
    "keeps a diary of doors",
];

/// How far ahead authors plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Habits {
    /// The shortest time from writing to publication.
    pub ahead_min: Duration,
    pub ahead_max: Duration,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            ahead_min: Duration::from_secs(3),
            ahead_max: Duration::from_secs(20),
        }
    }
}

/// What an author does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Writes an article and submits it.
    Write {
        title: String,
        /// Its text; occasionally one that the audit rejects.
        body: String,
        /// When it should be published.
        publish_at: Timestamp,
    },
    /// Reschedules it, to an earlier or a later time.
    Move(Move),
    /// Withdraws it.
    Withdraw { article_id: i64 },
}

/// A change of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    pub article_id: i64,
    /// The previous time.
    pub from: Timestamp,
    /// The new time.
    pub publish_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Planned {
    article_id: i64,
    publish_at: Timestamp,
}

/// The authors' state: their random generator and the open articles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manuscripts {
    chance: Chance,
    habits: Habits,
    written: u64,
    open: Vec<Planned>,
}

impl Manuscripts {
    pub fn new(seed: u64, habits: Habits) -> Self {
        Self {
            chance: Chance::new(seed),
            habits,
            written: 0,
            open: Vec::new(),
        }
    }

    /// Adds an article that the service has accepted.
    pub fn wrote(&mut self, article_id: i64, publish_at: Timestamp) {
        self.open.push(Planned {
            article_id,
            publish_at,
        });
    }

    /// Some time ahead of `now`, within the habits.
    fn ahead(&mut self, now: Timestamp) -> Timestamp {
        let span = self.habits.ahead_max.saturating_sub(self.habits.ahead_min);
        let span_ms = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let part = Duration::from_millis(self.chance.below(span_ms.saturating_add(1)));
        later(now, self.habits.ahead_min.saturating_add(part))
    }
}

/// Decides what the authors do at `now`, and records it.
pub fn next_action(manuscripts: &mut Manuscripts, now: Timestamp) -> Action {
    // Due articles can no longer be changed.
    manuscripts.open.retain(|planned| planned.publish_at > now);
    let drawn = manuscripts.chance.below(100);
    let open = u64::try_from(manuscripts.open.len()).unwrap_or(u64::MAX);
    let index = usize::try_from(manuscripts.chance.below(open)).unwrap_or_default();
    let Some(Planned {
        article_id,
        publish_at: from,
    }) = manuscripts.open.get(index).copied()
    else {
        return write(manuscripts, now);
    };
    let publish_at = match drawn {
        0..50 if manuscripts.open.len() < OPEN_MAX => return write(manuscripts, now),
        0..70 => manuscripts.ahead(from),
        // Half-way between now and then, so that "earlier" is never in the past.
        70..88 => later(now, from.duration_since(now).unsigned_abs() / 2),
        _ => {
            manuscripts.open.swap_remove(index);
            return Action::Withdraw { article_id };
        }
    };
    if let Some(planned) = manuscripts.open.get_mut(index) {
        planned.publish_at = publish_at;
    }
    Action::Move(Move {
        article_id,
        from,
        publish_at,
    })
}

fn write(manuscripts: &mut Manuscripts, now: Timestamp) -> Action {
    manuscripts.written += 1;
    let who = manuscripts.chance.pick(&WHO).copied().unwrap_or_default();
    let what = manuscripts.chance.pick(&WHAT).copied().unwrap_or_default();
    let title = format!("{who} {what}");
    let refused = manuscripts.chance.below(12) == 0;
    let word = if refused { FORBIDDEN } else { "allowed" };
    let body = format!(
        "Story number {}. Every word of it is {word}.",
        manuscripts.written
    );
    Action::Write {
        title,
        body,
        publish_at: manuscripts.ahead(now),
    }
}

fn later(at: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    at.checked_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
