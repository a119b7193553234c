//! The picture of `core::edition::hold`, held against every write: nothing leaves that waits for a
//! person, nobody's answer is made up, and a new document is approved by nobody who has not seen it
//! (ED-42).

use almanack_core::edition::{
    State as Edition,
    delivery::State,
    hold::{Hold, HoldReason, OnSilence, SILENCE},
};

use super::Write;

pub(super) fn check(write: &Write<'_>) -> Result<(), String> {
    let (before, after) = (&write.before.edition, &write.after.edition);
    let approval = write.cast.settings.rules.approval;
    let held = after.hold.as_ref();
    let lets_out = held.map_or(approval.is_none(), Hold::lets_out);
    let sends = |part: &&almanack_core::edition::delivery::Delivery| part.state == State::Sent;
    let began = write.change.deliveries.iter().filter(sends).any(|part| {
        let known = write.before.deliveries.iter();
        let mut same =
            known.filter(|it| it.destination == part.destination && it.part == part.part);
        same.all(|it| it.attempts < part.attempts)
    });
    if began && !lets_out {
        return Err(format!("a part is sent although it is held: {held:?}"));
    }
    if after.state == Edition::Published && !lets_out {
        return Err(format!("it is published although it is held: {held:?}"));
    }
    if write.change.document.is_some() {
        return check_new(write);
    }
    match (&before.hold, held) {
        (Some(before), Some(after)) if before != after => check_decision(write, before, after),
        (None, Some(_)) => Err("it is held without a new document".to_owned()),
        _ => Ok(()),
    }
}

/// A document that was built waits; one that a person made waits if the one before did.
fn check_new(write: &Write<'_>) -> Result<(), String> {
    let Some(document) = &write.change.document else {
        return Ok(());
    };
    let approval = write.cast.settings.rules.approval;
    let hold = write.after.edition.hold.as_ref();
    if !hold.is_some_and(is_for_quality) && hold.is_some() != approval.is_some() {
        return Err(format!("a new document is held by {hold:?}"));
    }
    let before = write.before.edition.hold.as_ref();
    let was_out = before.map_or(approval.is_none(), Hold::lets_out);
    let by_person = document.revised.is_some();
    let is_note = document.retracted().is_some();
    let lets_out = hold.is_some_and(Hold::lets_out);
    if lets_out && !(by_person && (was_out || is_note)) {
        return Err("a new document is approved by nobody".to_owned());
    }
    Ok(())
}

fn is_for_quality(hold: &Hold) -> bool {
    hold.reason == HoldReason::Quality
}

fn check_decision(write: &Write<'_>, before: &Hold, after: &Hold) -> Result<(), String> {
    if before.lets_out() {
        return Err(format!("{before:?} became {after:?}: it may have left"));
    }
    let Some(decision) = &after.decision else {
        // Taken up again by a person, it waits again; held against its standard again, it may.
        let again = before.is_rejected() && after.since > before.since || is_for_quality(before);
        let what = || format!("{before:?} became {after:?}");
        return again.then_some(()).ok_or_else(what);
    };
    if decision.by == SILENCE {
        let late = before.until.is_some_and(|until| until <= write.now);
        let wanted = (before.on_silence == OnSilence::Publish) == after.lets_out();
        if !late || !wanted || !before.is_waiting() {
            return Err(format!("nobody answered, and {before:?} became {after:?}"));
        }
    }
    Ok(())
}
