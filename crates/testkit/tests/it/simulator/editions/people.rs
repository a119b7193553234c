//! People, who have requests at the worst moments.

use std::time::Duration;

use jiff::{ToSpan, civil::Date};

use super::{super::dice::Dice, deeds::Deed, nodes::World};

/// A request comes within so long after a moment began: while nodes are at work.
const WITHIN_MS: u64 = 120_000;

/// What a person wants at this moment, if anything, and when: mostly of the present day, sometimes
/// of one whose stories are gone. A person who skipped a destination wants it sent after all.
pub(super) fn request(
    world: &World,
    today: Date,
    skipped: Option<Date>,
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
    let date = today.checked_sub(back.days()).ok()?;
    let deed = match dice.below(10) {
        0 | 1 => Deed::Reset(date),
        2 | 3 => Deed::Retry(date),
        4 | 5 => Deed::Force(date),
        6 => Deed::Request(date),
        7 => Deed::Resend(date),
        8 => Deed::Skip(date),
        _ => Deed::Run(date),
    };
    let deed = skipped.map_or(deed, Deed::Resend);
    Some((deed, dice.millis(0, WITHIN_MS)))
}

/// The day that a request queues, if it does: nodes step it on until nothing is left to do.
pub(super) fn queues(world: &World, deed: Deed) -> Option<Date> {
    match deed {
        Deed::Reset(date)
        | Deed::Retry(date)
        | Deed::Request(date)
        | Deed::Resend(date)
        | Deed::Skip(date) => world.witness.edition(date).map(|_| date),
        _ => None,
    }
}
