//! Which other firings may have started the runs that a chain sees at a target.
//!
//! Several lines may fire at one workflow, and slots of one line may be tried late, so a run that
//! is found after a lost reply may be another slot's. A chain remembers what its own firings came
//! to. Slots that another chain may have fired count as doubtful: nothing says what became of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    chain::Line,
    lock::LockKey,
    locked,
    target::runs::{CameTo, Kinship, OtherFiring},
};
use jiff::{SignedDuration, Timestamp};

/// How much before a stretch of time a slot may lie that was fired within it, late or by another
/// clock.
const FIRED_LATE: SignedDuration = SignedDuration::from_secs(15);
/// How long it is remembered what a slot came to: no window for trying again is longer.
const REMEMBERED_FOR: SignedDuration = SignedDuration::from_hours(24);
/// Slots of one line that are looked at; with more, all of them are in doubt anyway.
const SLOTS_MAX: usize = 200;

/// What this chain's firings came to, and the lines there are.
#[derive(Clone, Default)]
pub(super) struct Beside {
    lines: Arc<Vec<Line>>,
    fired: Arc<Mutex<BTreeMap<LockKey, Fired>>>,
}

#[derive(Debug, Clone, Copy)]
struct Fired {
    came_to: CameTo,
    last_at: Timestamp,
}

impl Beside {
    pub(super) fn new(lines: Vec<Line>) -> Self {
        Self {
            lines: Arc::new(lines),
            fired: Arc::default(),
        }
    }

    /// What a slot has come to, as far as is known at `now`.
    pub(super) fn note(&self, key: LockKey, came_to: CameTo, now: Timestamp) {
        let mut fired = locked(&self.fired);
        fired.retain(|_, fired| now.duration_since(fired.last_at) < REMEMBERED_FOR);
        let last_at = now;
        fired.insert(key, Fired { came_to, last_at });
    }

    /// A slot has started nothing for certain.
    pub(super) fn forget(&self, key: &LockKey) {
        locked(&self.fired).remove(key);
    }

    /// Who else may have started a run at the target of `line` from `from` until before `until`,
    /// besides the slot of `key`.
    pub(super) fn others(
        &self,
        line: &Line,
        key: &LockKey,
        (from, until): (Timestamp, Timestamp),
    ) -> Vec<OtherFiring> {
        let earliest = from.saturating_sub(FIRED_LATE).unwrap_or(from);
        let target = &line.ready().definition.target;
        let mut others = Vec::new();
        for other in self.lines.iter() {
            let theirs = &other.ready().definition.target;
            if !target.shares_runs_with(theirs) {
                continue;
            }
            // Of the own line, what lies before is known if this chain fired it, and was settled if
            // not.
            let begin = if other.content() == line.content() {
                from
            } else {
                earliest
            };
            for (slot, came_to) in self.slots(other, (begin, until), from) {
                let earlier = (slot.slot(), other.number) < (key.slot(), line.number);
                let kinship = match (theirs == target, earlier) {
                    (false, _) => Kinship::Different,
                    (true, true) => Kinship::Earlier,
                    (true, false) => Kinship::Later,
                };
                if slot != *key {
                    others.push(OtherFiring { came_to, kinship });
                }
            }
        }
        others
    }

    /// The slots of a line within a stretch, and those that this chain tried after `from`.
    fn slots(
        &self,
        line: &Line,
        (begin, until): (Timestamp, Timestamp),
        from: Timestamp,
    ) -> BTreeMap<LockKey, CameTo> {
        let before = begin.saturating_sub(SignedDuration::from_nanos(1));
        let mut next = line.ready().next_after(before.unwrap_or(begin));
        let mut slots = BTreeMap::new();
        while let Some(slot) = next.filter(|slot| *slot < until && slots.len() < SLOTS_MAX) {
            slots.insert(LockKey::new(line.content(), slot), CameTo::Doubt);
            next = line.ready().next_after(slot);
        }
        let fired = locked(&self.fired);
        let own = fired.iter().filter(|(key, fired)| {
            let within = fired.last_at >= from || slots.contains_key(key);
            key.content() == line.content() && within
        });
        let own: Vec<_> = own.map(|(key, fired)| (*key, fired.came_to)).collect();
        slots.extend(own);
        slots
    }
}
