//! People, who have requests at the worst moments.

use std::time::Duration;

use almanack_core::edition::EditionId;
use jiff::ToSpan;

use super::{super::dice::Dice, deeds::Deed, nodes::World};

/// A request comes within so long after a moment began: while nodes are at work.
const WITHIN_MS: u64 = 120_000;

/// What a person wants at this moment, if anything, and when: mostly of the present day, sometimes
/// of one whose stories are gone. A person who skipped a destination wants it sent after all.
pub(super) fn request(
    world: &World,
    today: EditionId,
    skipped: Option<EditionId>,
    dice: &Dice,
) -> Option<(Deed, Duration)> {
    if !dice.hits(world.cast.requests) {
        return None;
    }
    let back = match dice.below(10) {
        0..6 => 0,
        6..9 => dice.between(1, 8),
        _ => dice.between(1, 45),
    };
    let date = today.date.checked_sub(back.days()).ok()?;
    let names = &world.cast.names;
    // One alone is not chosen: its stories stay what they were.
    let name = if names.len() > 1 {
        *dice.pick(names)
    } else {
        today.name
    };
    let id = EditionId::new(name, date);
    let deed = match dice.below(10) {
        0 | 1 => Deed::Reset(id),
        2 | 3 => Deed::Retry(id),
        4 | 5 => Deed::Force(id),
        6 => Deed::Request(id),
        7 => Deed::Resend(id),
        8 => Deed::Skip(id),
        _ => Deed::Run(id),
    };
    let deed = skipped.map_or(deed, Deed::Resend);
    Some((deed, dice.millis(0, WITHIN_MS)))
}

/// What a person at the desk does at this moment, if anything: decides about what waits, corrects
/// what is finished, takes it back or restores it.
pub(super) fn at_desk(world: &World, today: EditionId, dice: &Dice) -> Option<(Deed, Duration)> {
    let after = dice.millis(0, WITHIN_MS);
    let waiting = world.witness.waiting();
    if !waiting.is_empty() && dice.hits(350) {
        let date = *dice.pick(&waiting);
        let deed = match dice.below(10) {
            0 | 1 => Deed::Reject(date),
            2 => Deed::Correct(date, dice.below(30)),
            _ => Deed::Approve(date),
        };
        return Some((deed, after));
    }
    if !dice.hits(world.cast.corrections) {
        return None;
    }
    let date = today.date.checked_sub(dice.between(0, 9).days()).ok()?;
    let date = EditionId { date, ..today };
    let deed = match dice.below(8) {
        0 => Deed::Retract(date),
        1 => Deed::Restore(world.witness.retracted().unwrap_or(date)),
        2 => Deed::Approve(date),
        _ => Deed::Correct(date, dice.below(30)),
    };
    Some((deed, after))
}

/// The day that a request queues, if it does: nodes step it on until nothing is left to do.
pub(super) fn queues(world: &World, deed: Deed) -> Option<EditionId> {
    match deed {
        Deed::Reset(id)
        | Deed::Retry(id)
        | Deed::Request(id)
        | Deed::Resend(id)
        | Deed::Skip(id)
        | Deed::Approve(id)
        | Deed::Correct(id, _)
        | Deed::Retract(id)
        | Deed::Restore(id) => world.witness.edition(id).map(|_| id),
        _ => None,
    }
}
