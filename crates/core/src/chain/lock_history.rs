//! What the locks show: which slots were taken and never finished, and which locks may go.
//!
//! A lock without its receipt was taken by a chain that has not finished. That is normal while it
//! still may finish: the time for trying again begins when it took the lock, which was before we
//! first saw it. Only when that time is over, counted from then, is that chain gone.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::line::Line;
use crate::lock::{FORGOTTEN_LATENESS_MAX, LockKey, SKEW_MARGIN, expired, lateness_max};

/// Time beyond the window: for the last request under way, and for clocks that differ.
const SETTLE_MARGIN: SignedDuration = SignedDuration::from_mins(2);

/// Locks that were seen without their receipt, and since when.
#[derive(Debug, Default)]
pub struct LockHistory(BTreeMap<LockKey, Timestamp>);

impl LockHistory {
    /// Looks at all the locks: which of them are to be settled now.
    pub fn unsettled(&mut self, lines: &[Line], locks: &[LockKey], now: Timestamp) -> Vec<LockKey> {
        let there: BTreeSet<&LockKey> = locks.iter().collect();
        let open = |key: &&LockKey| {
            let line = line_of(lines, key);
            line.is_some_and(|line| line.is_marked(key.slot())) && !there.contains(&key.done())
        };
        let open: BTreeSet<LockKey> = locks.iter().filter(open).copied().collect();
        self.0.retain(|key, _| open.contains(key));
        for key in &open {
            self.0.entry(*key).or_insert(now);
        }
        let over = |(key, seen_at): (&LockKey, &Timestamp)| {
            let line = line_of(lines, key)?;
            is_over(line, *key, *seen_at, now).then_some(*key)
        };
        self.0.iter().filter_map(over).collect()
    }

    /// The locks that may go. One that is still to be settled stays.
    pub fn expired(&self, lines: &[Line], locks: &[LockKey], now: Timestamp) -> Vec<LockKey> {
        let lateness = |key: &LockKey| {
            let marks = |line: &&Line| line.content().done() == key.content();
            let line = line_of(lines, key).or_else(|| lines.iter().find(marks));
            line.map_or(FORGOTTEN_LATENESS_MAX, |line| {
                lateness_max(line.ready(), key.slot())
            })
        };
        let mut gone = expired(locks, now, lateness);
        gone.retain(|key| !self.0.contains_key(key));
        gone
    }
}

fn line_of<'a>(lines: &'a [Line], key: &LockKey) -> Option<&'a Line> {
    lines.iter().find(|line| line.content() == key.content())
}

/// Whether the chain that took the lock can no longer be working on it.
fn is_over(line: &Line, key: LockKey, seen_at: Timestamp, now: Timestamp) -> bool {
    let ready = line.ready();
    let tries = ready.retry_for(key.slot()) + SETTLE_MARGIN;
    let since_seen = now.duration_since(seen_at) >= tries;
    let since_slot = lateness_max(ready, key.slot()) + SETTLE_MARGIN + SKEW_MARGIN;
    since_seen || now.duration_since(key.slot()) >= since_slot
}
