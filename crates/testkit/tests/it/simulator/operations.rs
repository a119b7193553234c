//! What pauses and bulk changes ought to do, held against every claim and every step.
//!
//! A pause holds from the moment it is written. A bulk change looks at every row of its kind up to
//! where it began, once, and changes none of them twice: how many there are is counted here from the
//! rows themselves, without its filter.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    bulk::{Action, Bulk, BulkId, State},
    reschedule::Change,
    store::{Applied, PausedKind},
    task::{Kind, TaskId},
};
use jiff::Timestamp;

use super::model::{Checked, Row};

type Rows = BTreeMap<TaskId, Row>;

/// Pauses that hold, and bulk changes as far as they got.
#[derive(Debug, Default)]
pub(super) struct Operations {
    paused: BTreeMap<Kind, PausedKind>,
    bulks: BTreeMap<BulkId, Walked>,
}

/// A bulk change, and the rows it changed.
#[derive(Debug)]
struct Walked {
    bulk: Bulk,
    changed: BTreeSet<TaskId>,
}

impl Operations {
    pub(super) fn paused(&mut self, paused: &PausedKind) {
        self.paused.insert(paused.kind.clone(), paused.clone());
    }

    pub(super) fn resumed(&mut self, kind: &Kind) {
        self.paused.remove(kind);
    }

    /// WK-04: a claim that began after a pause was written took a task at `now`, which is at least
    /// the true time.
    pub(super) fn taken(&self, kind: &Kind, now: Timestamp) -> Checked {
        match self.paused.get(kind).filter(|paused| paused.holds(now)) {
            Some(paused) => Err(format!("a claim took a task of a paused kind: {paused:?}")),
            None => Ok(()),
        }
    }

    pub(super) fn begun(&mut self, id: BulkId, bulk: &Bulk) {
        let (bulk, changed) = (Bulk { id, ..bulk.clone() }, BTreeSet::new());
        self.bulks.insert(id, Walked { bulk, changed });
    }

    pub(super) fn stopped(&mut self, id: BulkId) {
        if let Some(walked) = self.bulks.get_mut(&id) {
            walked.bulk.state = State::Cancelled;
        }
    }

    /// A step that the store says it carried out; `rows` are as they are after it.
    pub(super) fn advanced(
        &mut self,
        after: &Bulk,
        (changes, applied): (&[Change], &[Applied]),
        rows: &Rows,
    ) -> Checked {
        let id = after.id;
        let walked = self.bulks.get_mut(&id).ok_or(format!("no bulk {id}"))?;
        let before = std::mem::replace(&mut walked.bulk, after.clone());
        let goes_on = after.step == before.step + 1 && after.before <= before.before;
        if before.state != State::Running || !goes_on {
            return Err(format!("a bulk change went from {before:?} to {after:?}"));
        }
        let mut lost = 0;
        for (change, applied) in changes.iter().zip(applied) {
            let row = change.amend.as_ref().map(|amend| amend.guard.task_id);
            let row = row.filter(|row| *row <= after.through_task_id);
            let row = row.ok_or(format!("bulk {id} went beyond its beginning: {change:?}"))?;
            if *applied == Applied::Lost {
                lost += 1;
            } else if !walked.changed.insert(row) {
                return Err(format!("bulk {id} changed task {row} twice"));
            }
        }
        let of_kind = |row: &&Row| after.request.filter.kind.as_ref() == Some(&row.identity.kind);
        let looked_at: Vec<&Row> = rows
            .range(after.before..before.before)
            .map(|(_, row)| row)
            .filter(of_kind)
            .collect();
        let missed = looked_at.iter().filter(|row| row.current && row.is_live());
        if after.request.action == Action::Cancel && missed.count() > lost {
            return Err(format!("bulk {id} left live tasks behind: {looked_at:?}"));
        }
        walked.counts_fit(before.matched + looked_at.len() as u64)
    }

    /// What was begun came to its end.
    pub(super) fn check(&self) -> Checked {
        let mut bulks = self.bulks.values().map(|walked| &walked.bulk);
        match bulks.find(|bulk| bulk.state == State::Running) {
            Some(bulk) => Err(format!("a bulk change never ended: {bulk:?}")),
            None => Ok(()),
        }
    }
}

impl Walked {
    /// WK-07: it counted what it looked at, and changed what it counted as changed.
    fn counts_fit(&self, matched: u64) -> Checked {
        let (bulk, changed) = (&self.bulk, self.changed.len() as u64);
        let left: u64 = bulk.skipped.values().sum();
        if (bulk.matched, bulk.changed, changed + left) == (matched, changed, matched) {
            return Ok(());
        }
        Err(format!(
            "a bulk change counted {bulk:?}, but there are {matched} rows, of which it changed {changed}"
        ))
    }
}
