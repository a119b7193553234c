//! Whether a source is looked at: what starts it, what stops it, and who may change that.
//!
//! A pause holds until somebody resumes the source (SS-22). Two pauses have another end, because
//! they were made by something else than a person: that of cadence P7 ends with another cadence,
//! that of a source which left the configuration file ends when it comes back. Both are known by
//! their note.

use almanack_core::source::{
    Attention, Definition, Source, State, entry::canonical_address, policy::cadence::Cadence,
};
use jiff::{SignedDuration, Timestamp};

use crate::wake::later;

/// Sources that are added together are first looked at so far apart: a list of thousands is no
/// reason to ask thousands of servers in one second.
const FIRST_LOOKS_APART: SignedDuration = SignedDuration::from_millis(100);
/// The note of a pause that P7 made.
const BY_CADENCE: &str = "cadence P7";
/// The note of a pause that began when the configuration file no longer named a source.
const BY_FILE: &str = "no longer in the configuration file";

/// A source that is first looked at in its turn, or never if its cadence says so.
pub(super) fn new_source(mut definition: Definition, index: usize, now: Timestamp) -> Source {
    definition.address = canonical_address(&definition.address);
    let mut source = Source::new(definition, now);
    if is_disabled(&source.definition) {
        rest_by_cadence(&mut source, now);
    } else {
        let apart = FIRST_LOOKS_APART.saturating_mul(i32::try_from(index).unwrap_or(i32::MAX));
        source.stats.next_due_at = Some(later(now, apart));
    }
    source
}

/// P7 is how a person says "do not check". INVARIANT: an active source never has it.
pub(super) fn is_disabled(definition: &Definition) -> bool {
    definition.cadence == Some(Cadence::P7)
}

/// Whether another cadence ends its pause.
pub(super) fn rests_by_cadence(source: &Source) -> bool {
    rests_with(source, BY_CADENCE)
}

/// Whether coming back to the file ends its pause.
pub(super) fn rests_by_file(source: &Source) -> bool {
    rests_with(source, BY_FILE)
}

fn rests_with(source: &Source, by: &str) -> bool {
    matches!(&source.state, State::Paused { note: Some(note), .. } if note == by)
}

/// Leaves a source alone, because its cadence says so.
pub(super) fn rest_by_cadence(source: &mut Source, now: Timestamp) {
    if source.state == State::Active {
        pause(source, Some(BY_CADENCE.to_owned()), now);
    }
}

/// Leaves a source alone, because the file no longer names it.
pub(super) fn rest_by_file(source: &mut Source, now: Timestamp) {
    if source.state == State::Active {
        pause(source, Some(BY_FILE.to_owned()), now);
    }
}

/// Leaves a source alone, because a person says so. A second pause keeps the first one's note,
/// unless it has another or the first was no person's.
pub(super) fn rest_by_hand(source: &mut Source, note: Option<String>, now: Timestamp) {
    let by_hand = matches!(source.state, State::Paused { .. })
        && !rests_by_cadence(source)
        && !rests_by_file(source);
    if !by_hand || note.is_some() {
        pause(source, note, now);
    }
}

fn pause(source: &mut Source, note: Option<String>, since: Timestamp) {
    source.state = State::Paused { since, note };
    source.stats.next_due_at = None;
    source.reason = None;
    // Whoever pauses a source that has ended knows of it.
    source.attention = source.attention.filter(|why| *why != Attention::Gone);
}

/// Looks at a source again, whatever kept it from being looked at: a pause, its end, or what
/// failures made it wait. What an end was decided by is forgotten, or the next look would repeat it.
pub(super) fn wake(source: &mut Source, now: Timestamp) {
    if matches!(source.state, State::Ended { .. }) {
        forget_failures(source);
    }
    source.state = State::Active;
    source.stats.next_due_at = Some(now);
    source.stats.backoff_until = None;
    if is_disabled(&source.definition) {
        source.definition.cadence = None;
    }
}

/// Begins without what failures left behind.
pub(super) fn forget_failures(source: &mut Source) {
    let stats = &mut source.stats;
    stats.fail_count = 0;
    stats.backoff_until = None;
    stats.last_error = None;
    stats.last_error_class = None;
    source.attention = None;
}
