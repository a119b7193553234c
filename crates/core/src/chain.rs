//! Chains: schedules kept by processes that share no database, and watch each other.
//!
//! A chain is one workflow on GitHub Actions whose runs follow each other: each run looks at the
//! schedules in rounds, and two chains run side by side, so that one is there while the other is
//! replaced (DP-09).
//!
//! ```text
//!   tick-a  ├──────── 5 h ────────┤├──────── 5 h ────────┤├─
//!   tick-b  ├───────── 5.5 h ───────┤├───────── 5.5 h ───────┤
//!            │ round │ round │      └ guard starts the next run
//! ```
//!
//! What must stay true:
//!
//! - Nothing is known between runs but the locks. The newest lock of a content is how far its
//!   schedule had come; what was due since is caught up by the schedule's policy, or skipped and
//!   reported (DP-08). So the locks of a content are taken in the order of its slots.
//! - What is due is decided by [`crate::plan`], as everywhere (DP-14).
//! - A round with nothing due makes no request. Besides locks, a round makes at most one look, and
//!   the looks come every so many rounds (DP-13).
//! - A firing that was locked and then lost by a crash is found by its missing receipt and settled
//!   by looking at the target.
//! - Notes name a line by its number and expression, never its repository or workflow (DP-15).

mod budget;
mod guard;
mod line;
mod lock_history;
mod note;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

pub use budget::{LOCK_CALLS_MAX, calls_an_hour};
pub use guard::{ChainHealth, FAILURES_MAX, RunStatus, judge};
pub use line::{Due, Line, Looked, MARKED_GAP_MIN};
pub use lock_history::LockHistory;
pub use note::{ChainEvent, LineRef, Note, Settled};

/// How often a chain looks, by default.
pub const ROUND_DEFAULT: SignedDuration = SignedDuration::from_secs(10);
/// Longest round: with a longer one, slots would count as missed merely by waiting for it.
pub const ROUND_MAX: SignedDuration = SignedDuration::from_secs(10);
/// Shortest round.
pub const ROUND_MIN: SignedDuration = SignedDuration::from_millis(100);
/// How long the first chain's runs last.
const LENGTH: SignedDuration = SignedDuration::from_hours(5);
/// How much longer those of each further one: so that they never end together.
const LENGTH_STEP: SignedDuration = SignedDuration::from_mins(30);
/// Longest run: GitHub ends a job after six hours, and the end must be our own.
const LENGTH_MAX: SignedDuration = SignedDuration::from_mins(5 * 60 + 50);
/// Rounds between two looks at the runs of the own workflow: a minute of rounds of ten seconds.
const RUNS_EVERY: i32 = 6;
/// Rounds between two looks at the locks: ten minutes. Often enough to keep them on one or two
/// pages, which is what a look costs.
const LOCKS_EVERY: i32 = 60;

/// The name of a chain: of its workflow, without `.yml`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChainName(Box<str>);

/// Not a name of a chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a chain is named after its workflow's file, like tick-a")]
pub struct NotAChain;

impl ChainName {
    /// Reads `tick-a`, or `tick-a.yml`.
    pub fn parse(text: &str) -> Result<Self, NotAChain> {
        let stem = text.strip_suffix(".yml").unwrap_or(text);
        let shaped = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let fits = (1..=50).contains(&stem.len()) && stem.chars().all(shaped);
        if fits {
            Ok(Self(stem.into()))
        } else {
            Err(NotAChain)
        }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file of its workflow.
    pub fn workflow(&self) -> String {
        format!("{}.yml", self.0)
    }

    /// Which of several chains this is, from its last letter: 0 for `tick-a`.
    fn place(&self) -> i32 {
        let last = self.0.bytes().last().unwrap_or(b'a').to_ascii_lowercase();
        if last.is_ascii_lowercase() {
            i32::from(last - b'a')
        } else {
            0
        }
    }

    /// How long its runs last: five hours, and half an hour more for each further letter (DP-09).
    pub fn length(&self) -> SignedDuration {
        (LENGTH + LENGTH_STEP * self.place()).min(LENGTH_MAX)
    }
}

/// The next round: the next multiple of `round` since the epoch (DP-03).
pub fn next_round(now: Timestamp, round: SignedDuration) -> Timestamp {
    let round_us = i64::try_from(round.as_micros()).unwrap_or(i64::MAX).max(1);
    let now_us = now.as_microsecond();
    let next_us = (now_us.div_euclid(round_us) + 1).checked_mul(round_us);
    let next = next_us.and_then(|us| Timestamp::from_microsecond(us).ok());
    next.unwrap_or(crate::time::LATEST)
}

/// Why a run leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Leave {
    /// A newer run of the same workflow exists (DP-10).
    Newer { run_id: u64 },
    /// Its time limit is reached; the next run takes over.
    Over,
    /// It received a signal to stop.
    Stopped,
    /// Only one round was requested.
    Once,
}

/// Whether a run leaves by what it knows.
pub fn leaves(
    own_run_id: u64,
    newest_run_id: Option<u64>,
    ends_at: Timestamp,
    now: Timestamp,
) -> Option<Leave> {
    let newer = newest_run_id.filter(|newest| *newest > own_run_id);
    let newer = newer.map(|run_id| Leave::Newer { run_id });
    newer.or_else(|| (now >= ends_at).then_some(Leave::Over))
}

/// Something to look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// The runs of the own workflow.
    Runs,
    /// The locks: which are to be settled, and which cleaned.
    Locks,
}

/// What is to be looked up when. INVARIANT: at most one look in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks {
    round: SignedDuration,
    runs_at: Timestamp,
    locks_at: Timestamp,
}

impl Looks {
    /// From the start on, at which the locks have just been listed. Chains look at the locks in
    /// turns: two that clean the same at once get into each other's way.
    pub fn start(now: Timestamp, round: SignedDuration, chain: &ChainName) -> Self {
        let turn = round * LOCKS_EVERY / 2 * (chain.place() % 2);
        let period = round * LOCKS_EVERY;
        let mut locks_at = next_round(now, period);
        locks_at = locks_at.saturating_add(turn).unwrap_or(locks_at);
        Self {
            round,
            // The list of the locks was this round's look.
            runs_at: next_round(now, round),
            locks_at,
        }
    }

    /// What is to be looked up in the round at `now`.
    pub fn take(&mut self, now: Timestamp) -> Option<Look> {
        let later = |rounds| {
            let at = now.saturating_add(self.round * rounds);
            at.unwrap_or(now)
        };
        if now >= self.runs_at {
            self.runs_at = later(RUNS_EVERY);
            Some(Look::Runs)
        } else if now >= self.locks_at {
            self.locks_at = later(LOCKS_EVERY);
            Some(Look::Locks)
        } else {
            None
        }
    }
}

/// Why a look failed. Texts never name a repository or a workflow (DP-15).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotSeen {
    pub why: String,
    /// How long the other side asked to be left alone.
    pub retry_after: Option<SignedDuration>,
}

/// The runs of the chain's own workflow.
#[async_trait]
pub trait OwnRuns: Send + Sync {
    /// The newest run's id. Asked once a minute: an unchanged answer should cost nothing.
    async fn load_newest(&self) -> Result<Option<u64>, NotSeen>;
}

/// How long a target is given to show what was started there.
pub const SHOWS_AFTER: SignedDuration = SignedDuration::from_secs(3);

#[cfg(test)]
mod tests;
