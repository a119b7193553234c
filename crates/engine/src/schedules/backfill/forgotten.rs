//! Slots that may have fired, though no record says so any more.
//!
//! Retention forgets firings and the ledger at the same age. A slot that the cursor has passed and
//! that neither of them records is unknown, and unknown is not "did not fire": firing it could be
//! the second time. So a backfill that reaches back to such a slot is refused as a whole, with a
//! hint where the known part begins. Slots that cannot have been decided are not unknown: those
//! from before the schedule, from a time when it was removed, and those that the rule of their time
//! did not name.

use almanack_core::both;
use almanack_core::plan::{Edit, Edited, Schedule};
use jiff::Timestamp;

use super::super::{
    Error, Schedules,
    why::{EDITS_MAX, in_force},
};

impl Schedules {
    /// Refuses slots, in order and each with whether its firing was found, if what became of one of
    /// them is forgotten.
    pub(super) async fn refuse_forgotten(
        &self,
        schedule: &Schedule,
        slots: &[(Timestamp, bool)],
    ) -> Result<(), Error> {
        let passed = |(slot, found): &(Timestamp, bool)| !found && is_passed(schedule, *slot);
        if !slots.iter().any(passed) {
            return Ok(());
        }
        let edits = self.store.load_edits(schedule.id, EDITS_MAX).await?;
        let first = slots
            .iter()
            .position(|slot| passed(slot) && self.may_have_been_decided(schedule, &edits, slot.0));
        let Some(from_first) = first.and_then(|first| slots.get(first..)) else {
            return Ok(());
        };
        match self.first_known(schedule, from_first).await? {
            0 => Ok(()),
            known => Err(refusal(from_first, known)),
        }
    }

    fn may_have_been_decided(&self, schedule: &Schedule, edits: &[Edit], slot: Timestamp) -> bool {
        match in_force(edits, None, slot) {
            Some(edit) if edit.edited == Edited::Removed => false,
            // What cannot be computed any more may have been computed then.
            Some(edit) => {
                let rule = self.rule_of(schedule, Some(edit));
                rule.map_or(true, |rule| rule.matches(slot))
            }
            None => true,
        }
    }

    /// Which of the slots is the first that the ledger still reaches back to. Once it does, it does
    /// for all later ones, so halving finds it.
    async fn first_known(
        &self,
        schedule: &Schedule,
        slots: &[(Timestamp, bool)],
    ) -> Result<usize, Error> {
        let (mut rest, mut unknown) = (slots, 0);
        while let Some((slot, _)) = rest.get(rest.len() / 2) {
            let (before, after) = rest.split_at(rest.len() / 2);
            if self.row_before(schedule, *slot).await?.is_some() {
                rest = before;
            } else {
                unknown += before.len() + 1;
                rest = after.get(1..).unwrap_or_default();
            }
        }
        Ok(unknown)
    }
}

/// Says which slot is forgotten, the first of them, and where what is known begins.
fn refusal(slots: &[(Timestamp, bool)], known: usize) -> Error {
    let forgotten = slots.first().map(|(slot, _)| slot.to_string());
    let known = match slots.get(known) {
        Some((slot, _)) => both!(
            "the oldest slot still on record in this range is {slot}",
            "该范围内仍有记录的最早时点是 {slot}"
        ),
        None => both!(
            "no slot of this range is still on record",
            "该范围内的时点都已没有记录"
        ),
    };
    let forgotten = forgotten.unwrap_or_default();
    let why = both!(
        "the outcome of the slot at {forgotten} is no longer on record, so it may have fired; ",
        "{forgotten} 的时点结果已没有记录，因此它可能触发过；"
    );
    Error::Range {
        why: why.joined(&known),
    }
}

/// Whether the cursor has passed a slot that is not older than the schedule.
fn is_passed(schedule: &Schedule, slot: Timestamp) -> bool {
    slot > schedule.created_at && schedule.next_at.is_none_or(|next| slot < next)
}
