//! The picture of `core::edition::delivery`, held against every write.

use std::collections::BTreeSet;

use almanack_core::edition::{
    State as Edition,
    delivery::{Delivery, OnRevision, OnUnknown, State},
};

use super::Write;

pub(super) fn check(write: &Write<'_>) -> Result<(), String> {
    let keys = write.after.deliveries.iter();
    let keys: BTreeSet<_> = keys.map(|d| (d.revision, &d.destination, d.part)).collect();
    if keys.len() != write.after.deliveries.len() {
        return Err("a delivery is in the ledger twice".to_owned());
    }
    for delivery in &write.change.deliveries {
        check_one(write, delivery)?;
    }
    if write.change.document.is_some() {
        check_complete(write)?;
    }
    Ok(())
}

/// A new document goes to every destination, in all its parts.
fn check_complete(write: &Write<'_>) -> Result<(), String> {
    let new = &write.after.deliveries;
    for place in &write.cast.places {
        let own = new.iter().filter(|d| d.destination == place.name);
        let document = write.change.document.as_ref();
        let is_note = document.is_some_and(|it| it.retracted().is_some());
        let parts = if is_note { 1 } else { place.parts as usize };
        if own.count() != parts {
            return Err(format!("{} does not get all its parts", place.name));
        }
    }
    Ok(())
}

fn check_one(write: &Write<'_>, delivery: &Delivery) -> Result<(), String> {
    let (to, part, revision) = (&delivery.destination, delivery.part, delivery.revision);
    let name = format!("{revision}/{to}/{part}");
    let same = |known: &&Delivery| {
        known.revision == revision && known.destination == *to && known.part == part
    };
    let before = write.before.deliveries.iter().find(same);
    if before.is_some_and(|before| is_extended(before, delivery)) {
        return Ok(());
    }
    let was = before.map(|known| known.state);
    let decided = write.is_resent(delivery) || is_skipped_by_a_person(delivery);
    if decided && was == Some(State::Confirmed) {
        return Err(format!("{name}: a person decided about what had arrived"));
    }
    if !decided && !may_follow(was, delivery.state) {
        let now = delivery.state;
        return Err(format!("{name}: {was:?} -> {now:?} is in no picture"));
    }
    if revision != write.after.edition.revision {
        return Err(format!("{name}: an older document is written to"));
    }
    if delivery.state == State::Sent && write.after.edition.state != Edition::Aggregating {
        let state = write.after.edition.state;
        return Err(format!("{name}: it is sent while the edition is {state}"));
    }
    let key = format!("edition:{}/{name}", write.after.edition.id);
    if delivery.state == State::Confirmed && !write.room.has(to, &key) {
        return Err(format!(
            "{name}: confirmed, but the destination has nothing"
        ));
    }
    if delivery.state == State::Skipped && !decided && !may_skip(write, was, to) {
        return Err(format!("{name}: skipped without a reason"));
    }
    Ok(())
}

/// Whether a write only says that it is still being sent.
fn is_extended(before: &Delivery, after: &Delivery) -> bool {
    let extended = Delivery {
        lease_until: after.lease_until,
        ..before.clone()
    };
    after.state == State::Sent && before.lease_until < after.lease_until && extended == *after
}

fn is_skipped_by_a_person(delivery: &Delivery) -> bool {
    let detail = delivery.detail.as_deref().unwrap_or_default();
    delivery.state == State::Skipped && detail.starts_with("skipped by ")
}

fn may_follow(was: Option<State>, now: State) -> bool {
    use State::{Confirmed, Failed, Intended, Sent, Skipped, Unknown};
    match was {
        None => matches!(now, Intended | Skipped),
        Some(Intended | Failed) => now == Sent,
        Some(Sent) => now != Sent,
        // Failed: it is not there, and had its last try.
        Some(Unknown) => matches!(now, Unknown | Confirmed | Intended | Skipped | Failed),
        Some(Confirmed | Skipped) => false,
    }
}

/// Its arrival is unknown and it must not arrive twice; or an earlier one arrived, or may
/// have.
fn may_skip(write: &Write<'_>, was: Option<State>, destination: &str) -> bool {
    let Some(place) = write.cast.place(destination) else {
        return false;
    };
    if was.is_some() {
        return place.on_unknown == OnUnknown::Skip && !place.can_look;
    }
    let document = write.change.document.as_ref();
    if document.is_some_and(|it| it.retracted().is_some()) {
        // It cannot take back what it has.
        return place.on_revision == OnRevision::Skip;
    }
    let left = |known: &Delivery| known.destination == destination && known.attempts > 0;
    place.on_revision == OnRevision::Skip && write.before.deliveries.iter().any(left)
}
