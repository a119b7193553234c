//! A schedule's life as it really was: which rule was in force when, and when it was paused.

use std::collections::BTreeSet;

use almanack_core::plan::{Definition, Edited, Slot};
use jiff::{SignedDuration, Timestamp};

use super::super::{
    chronicle::{Pages, SeenEdit},
    rule::Rule,
};

/// A definition, while it was in force: after `from`, up to and including `to`.
#[derive(Debug)]
pub(super) struct Era {
    pub(super) rules: Vec<Rule>,
    pub(super) definition: Definition,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    /// Whether it is the first of a schedule that is new, or was removed.
    begins: bool,
    /// The slot of the last run, once all runs are used up; what comes after it is no slot.
    last_run: Option<Timestamp>,
}

impl Era {
    /// The slots after `from`, up to and including `to`, within the bounds and the number of runs.
    pub(super) fn slots(&self, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
        let to = self.last_run.map_or(to, |last| last.min(to));
        self.named(from, to)
    }

    /// What the rules name, however often it has run.
    pub(super) fn named(&self, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
        let to = self.definition.ends_at.map_or(to, |end| end.min(to));
        let first = self.definition.starts_at.map(before);
        let from = first.map_or(from, |first| first.max(from));
        let named = self.rules.iter().flat_map(|rule| {
            let moved = rule.moved_slots(&self.definition, (from, to));
            rule.slots(from, to).into_iter().chain(moved)
        });
        // A time that several rules name is one slot.
        let slots: BTreeSet<Timestamp> = named.collect();
        slots.into_iter().collect()
    }

    /// Ends it with the run that used up the last of its number. `done` runs came before it.
    fn limit(&mut self, slots: &[Timestamp], fired: &BTreeSet<Timestamp>, done: &mut usize) {
        let Some(runs) = self.definition.runs else {
            return;
        };
        let left = usize::try_from(runs).unwrap_or(usize::MAX);
        let left = left.saturating_sub(*done);
        let ran: Vec<&Timestamp> = slots.iter().filter(|slot| fired.contains(*slot)).collect();
        self.last_run = match left {
            0 => Some(self.from),
            left => ran.get(left - 1).map(|slot| **slot),
        };
        *done += ran.len().min(left);
    }
}

/// A pause: after `from`, up to and including `to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paused {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

/// Everything that befell one schedule.
#[derive(Debug, Default)]
pub(super) struct Life {
    pub(super) eras: Vec<Era>,
    pub(super) pauses: Vec<Paused>,
    /// Every expected slot, in order, with the number of its era.
    pub(super) slots: Vec<(Timestamp, usize)>,
    pub(super) edited_at: Vec<Timestamp>,
}

impl Life {
    pub(super) fn of(
        pages: &Pages,
        name: &str,
        (rows, end): (&[Slot], Timestamp),
        skew: SignedDuration,
    ) -> Result<Self, String> {
        let mut life = Self::default();
        let mut open = Open::default();
        for edit in pages.edits.get(name).into_iter().flatten() {
            if edit.seam.duration_since(edit.at) > skew * 2 {
                return Err(format!(
                    "{name}: at {} slots up to {} were decided",
                    edit.at, edit.seam
                ));
            }
            life.edited_at.push(edit.at);
            open.take(edit, &mut life);
            if matches!(edit.edited, Edited::Created | Edited::Changed) {
                let also = edit.definition.also.iter().map(|also| &also.expression);
                let expressions = [&edit.definition.expression].into_iter().chain(also);
                let rules = expressions.map(|expression| {
                    let key = (expression.clone(), edit.definition.tz.clone());
                    pages.rules.get(&key).cloned()
                });
                let rules: Option<Vec<Rule>> = rules.collect();
                open.era = Some(Era {
                    rules: rules.ok_or("an expression that was never written")?,
                    definition: edit.definition.clone(),
                    from: edit.seam,
                    to: edit.seam,
                    begins: edit.edited == Edited::Created,
                    last_run: None,
                });
            }
        }
        open.end_era(end, &mut life);
        open.end_pause(end, &mut life);
        let fired = rows.iter().filter(|row| row.verdict.is_fired());
        let fired: BTreeSet<Timestamp> = fired.map(|row| row.slot_at).collect();
        let mut done = 0;
        for (number, era) in life.eras.iter_mut().enumerate() {
            if era.begins {
                done = 0;
            }
            let named = era.named(era.from, era.to);
            era.limit(&named, &fired, &mut done);
            let last = era.last_run.unwrap_or(era.to);
            let slots = named.into_iter().filter(|slot| *slot <= last);
            life.slots.extend(slots.map(|slot| (slot, number)));
        }
        Ok(life)
    }

    /// The pause that a slot fell into.
    pub(super) fn pause_of(&self, slot: Timestamp) -> Option<Paused> {
        let mut pauses = self.pauses.iter().copied();
        pauses.find(|pause| pause.from < slot && slot <= pause.to)
    }

    pub(super) fn era_of(&self, slot: Timestamp) -> Option<&Era> {
        self.eras
            .iter()
            .find(|era| era.from < slot && slot <= era.to)
    }
}

/// What has begun and not ended.
#[derive(Default)]
struct Open {
    era: Option<Era>,
    pause: Option<(Timestamp, Option<Timestamp>)>,
}

impl Open {
    fn take(&mut self, edit: &SeenEdit, life: &mut Life) {
        // A pause that has ended by itself by then has ended, whether it was looked at or not.
        if let Some((_, Some(until))) = self.pause
            && until <= edit.at
        {
            self.end_pause(before(until), life);
        }
        match edit.edited {
            Edited::Created | Edited::Changed => self.end_era(edit.seam, life),
            Edited::Removed => {
                self.end_era(edit.seam, life);
                self.end_pause(edit.at, life);
            }
            Edited::Paused => {
                let since = self.pause.map_or(edit.seam, |(since, _)| since);
                let until = edit.pause.as_ref().and_then(|pause| pause.until);
                self.pause = Some((since, until));
            }
            Edited::Resumed => self.end_pause(edit.at, life),
            Edited::Parked | Edited::Unparked | Edited::Rewound | Edited::Done => {}
        }
    }

    fn end_era(&mut self, to: Timestamp, life: &mut Life) {
        if let Some(era) = self.era.take() {
            life.eras.push(Era { to, ..era });
        }
    }

    fn end_pause(&mut self, to: Timestamp, life: &mut Life) {
        if let Some((from, _)) = self.pause.take() {
            life.pauses.push(Paused { from, to });
        }
    }
}

fn before(at: Timestamp) -> Timestamp {
    at - SignedDuration::from_micros(1)
}
