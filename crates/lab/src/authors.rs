//! Authors: people who write articles, change their minds about the time, and withdraw them.
//!
//! What they do next is a pure function of what they have on their [`Manuscripts`] and of the time; the
//! same seed and the same clock give the same story. [`run`] carries the story out against an
//! article service and tells what came of it.

mod driver;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

pub use driver::{AuthorActivity, Config, Editor, Error, Outcome, run};

use crate::{article::state::FORBIDDEN, chance::Chance};

/// Articles on the desk at once; with so many, authors move and withdraw rather than write.
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
    /// Writes an article and hands it in.
    Write {
        title: String,
        /// Its text; now and then one that the audit refuses.
        body: String,
        /// When it should be published.
        publish_at: Timestamp,
    },
    /// Wants it published sooner.
    MoveEarlier(Move),
    /// Wants it published later.
    MoveLater(Move),
    /// No longer wants it published.
    Withdraw { article_id: i64 },
}

/// A change of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    pub article_id: i64,
    /// When it was to be published.
    pub from: Timestamp,
    /// When it is to be published now.
    pub publish_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Planned {
    article_id: i64,
    publish_at: Timestamp,
}

/// What the authors remember: their chance and the articles still to come.
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

    /// Puts an article on the desk that the service has accepted.
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

/// Decides what the authors do at `now`, and notes it on the desk.
pub fn next_action(manuscripts: &mut Manuscripts, now: Timestamp) -> Action {
    // Articles whose time has come are out of the authors' hands.
    manuscripts.open.retain(|planned| planned.publish_at > now);
    let drawn = manuscripts.chance.below(100);
    let open = u64::try_from(manuscripts.open.len()).unwrap_or(u64::MAX);
    let index = usize::try_from(manuscripts.chance.below(open)).unwrap_or_default();
    let Some(planned) = manuscripts.open.get(index).copied() else {
        return write(manuscripts, now);
    };
    match drawn {
        0..50 if manuscripts.open.len() < OPEN_MAX => write(manuscripts, now),
        0..70 => move_later(manuscripts, index, planned),
        70..88 => move_earlier(manuscripts, index, planned, now),
        _ => {
            manuscripts.open.swap_remove(index);
            Action::Withdraw {
                article_id: planned.article_id,
            }
        }
    }
}

fn write(manuscripts: &mut Manuscripts, now: Timestamp) -> Action {
    manuscripts.written += 1;
    let who = manuscripts.chance.pick(&WHO).copied().unwrap_or_default();
    let what = manuscripts.chance.pick(&WHAT).copied().unwrap_or_default();
    let title = format!("{who} {what}");
    let refused = manuscripts.chance.below(12) == 0;
    let word = if refused { FORBIDDEN } else { "allowed" };
    let body = format!(
        "Story {} of the desk. Every word of it is {word}.",
        manuscripts.written
    );
    Action::Write {
        title,
        body,
        publish_at: manuscripts.ahead(now),
    }
}

fn move_later(manuscripts: &mut Manuscripts, index: usize, planned: Planned) -> Action {
    let publish_at = manuscripts.ahead(planned.publish_at);
    Action::MoveLater(note(manuscripts, index, planned, publish_at))
}

/// Half-way between now and then, so that "earlier" is never in the past.
fn move_earlier(
    manuscripts: &mut Manuscripts,
    index: usize,
    planned: Planned,
    now: Timestamp,
) -> Action {
    let left = Duration::try_from(planned.publish_at.duration_since(now)).unwrap_or_default();
    let publish_at = later(now, left / 2);
    Action::MoveEarlier(note(manuscripts, index, planned, publish_at))
}

fn note(
    manuscripts: &mut Manuscripts,
    index: usize,
    planned: Planned,
    publish_at: Timestamp,
) -> Move {
    if let Some(on_manuscripts) = manuscripts.open.get_mut(index) {
        on_manuscripts.publish_at = publish_at;
    }
    Move {
        article_id: planned.article_id,
        from: planned.publish_at,
        publish_at,
    }
}

fn later(at: Timestamp, wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    at.checked_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
