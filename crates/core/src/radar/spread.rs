//! The spread that dissolves a herd.
//!
//! Where a schedule lands is known exactly, by its name. Waiting tasks were only counted, so for
//! them it is what is hardly ever exceeded: throwing `n` tasks into `s` seconds at random fills the
//! fullest second with more than the average, and much shorter windows would be proposed, and would
//! leave herds, if that were ignored.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{Planned, SECOND, herd::Seconds, whole_second};
use crate::{schedule::hash_of, task::Identity};

/// Splays that are proposed, in seconds.
pub const SPLAYS_S: [u32; 8] = [10, 30, 60, 120, 300, 600, 1_800, 3_600];
/// What starts in any second afterwards is at most this part of a herd. A smaller part takes far
/// longer windows, because chance alone puts several tasks into one second.
const PART_LEFT: u64 = 4;
/// How often more tasks may meet in one second than was said.
const ODDS: f64 = 0.01;

/// A proposed spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = HerdSpread))]
pub struct Spread {
    /// Over how many seconds.
    pub splay_s: u32,
    /// Most starts in one second afterwards; with waiting tasks, an estimate.
    pub peak: u64,
}

/// The parts of a herd.
#[derive(Debug, Default)]
pub(super) struct Movable<'a> {
    pub(super) at: Timestamp,
    /// Tasks that may not be moved.
    pub(super) fixed: u64,
    pub(super) tasks: u64,
    pub(super) slots: Vec<(&'a Planned, Timestamp)>,
}

/// The shortest splay that is enough, or else the one that leaves the lowest peak; `None` if none
/// helps.
pub(super) fn propose(movable: &Movable<'_>, seconds: &Seconds, herd_min: u64) -> Option<Spread> {
    let enough = (herd_min / PART_LEFT).max(1);
    let all = SPLAYS_S.map(|splay_s| Spread {
        splay_s,
        peak: peak_after(movable, seconds, splay_s, herd_min),
    });
    let found = all.iter().find(|spread| spread.peak <= enough);
    let lowest = || all.iter().min_by_key(|spread| spread.peak);
    let now = seconds.get(&movable.at).copied().unwrap_or(0);
    let found = found.or_else(lowest).copied();
    found.filter(|spread| spread.peak < now)
}

/// Most starts in one second of the window, once the herd is spread over it. A second that is
/// another herd is dissolved for itself and says nothing about this one.
fn peak_after(movable: &Movable<'_>, seconds: &Seconds, splay_s: u32, herd_min: u64) -> u64 {
    let splay = SignedDuration::from_secs(i64::from(splay_s));
    let mut landed: BTreeMap<Timestamp, u64> = BTreeMap::from([(movable.at, movable.fixed)]);
    for (schedule, slot) in &movable.slots {
        let due_at = schedule.ready.due_by(&schedule.name, splay, *slot);
        *landed.entry(whole_second(due_at)).or_default() += 1;
    }
    let after = movable.at.saturating_add(SECOND).unwrap_or(movable.at);
    let until = movable.at.saturating_add(splay).unwrap_or(after).max(after);
    for (at, others) in seconds.range(after..=until) {
        if *others < herd_min {
            *landed.entry(*at).or_default() += others;
        }
    }
    let stays = landed.remove(&movable.at).unwrap_or(0);
    let most = landed.values().copied().max().unwrap_or(0);
    stays.max(most + fullest(movable.tasks, splay_s))
}

/// How many of `tasks` meet in the fullest of `seconds` seconds, hardly ever more: the sum of
/// Poisson's probabilities up to it leaves less than [`ODDS`] for all seconds together.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate of a count that is far below 2^52 and above zero"
)]
fn fullest(tasks: u64, seconds: u32) -> u64 {
    if tasks == 0 {
        return 0;
    }
    let mean = tasks as f64 / f64::from(seconds);
    let odds = ODDS / f64::from(seconds);
    if mean > 100.0 {
        // Beyond this the tail is the bell curve's: five deviations are one in three million.
        return (5.0f64.mul_add(mean.sqrt(), mean).ceil() as u64).min(tasks);
    }
    let mut exactly = (-mean).exp();
    let (mut most, mut rest) = (0_u64, 1.0 - exactly);
    while rest > odds && most < tasks {
        most += 1;
        exactly *= mean / most as f64;
        rest -= exactly;
    }
    most.max(1)
}

/// By how much a spread over `splay_s` seconds moves a task: at least a second and at most all of
/// them, always the same for one identity.
pub fn offset_of(identity: &Identity, splay_s: u32) -> SignedDuration {
    let hash = hash_of(identity.subject.as_str(), identity.kind.as_str());
    let seconds = 1 + hash % u64::from(splay_s.max(1));
    SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(1))
}
