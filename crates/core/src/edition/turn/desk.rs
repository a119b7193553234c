//! What people decide about a finished edition: whether it leaves, and what it says (ED-42).
//!
//! Each is written on the version that was seen, as everything about an edition is. So of two
//! people who decide at once one is first, and the other decides about what they see then; and a
//! decision about a revision that was replaced meanwhile changes nothing.

use jiff::Timestamp;

use super::{
    cut,
    person::{Day, NotNow, at_work},
};
use crate::edition::{
    Account, State,
    account::Change,
    delivery::{self, Delivery, OnRevision},
    document::{Document, Inputs, Printed},
    hold::{Hold, OnSilence, SILENCE, Verdict},
    overview,
    port::Publisher,
    revision::{
        CORRECTIONS_MAX, Correction, NOTE_CHARS_MAX, Retraction, Revision, TEXT_CHARS_MAX,
        TITLE_CHARS_MAX,
    },
};

/// Which wait is meant by a decision. What is given must be so, or nothing is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Meant {
    /// The revision that was looked at.
    pub revision: Option<u32>,
    /// Since when it waits. One that was decided about once is not decided about again.
    pub since: Option<Timestamp>,
}

/// Lets a held edition out. `None` if it was approved before.
pub fn approve(
    account: &Account,
    meant: Meant,
    by: &str,
    day: Day,
    now: Timestamp,
) -> Result<Option<Change>, NotNow> {
    let hold = held(account, meant)?;
    if hold.lets_out() {
        return Ok(None);
    }
    let mut edition = at_work(account, State::Aggregating, day, now);
    edition.hold = Some(hold.decided(Verdict::Approved, by, now));
    Ok(Some(Change::of(edition)))
}

/// Decides that a held edition does not leave. `None` if that was decided before.
pub fn reject(
    account: &Account,
    meant: Meant,
    by: &str,
    now: Timestamp,
) -> Result<Option<Change>, NotNow> {
    let hold = held(account, meant)?;
    if hold.lets_out() {
        return Err(NotNow::Approved);
    }
    if hold.is_rejected() {
        return Ok(None);
    }
    let why = format!("rejected by {by}");
    Ok(Some(put_aside(account, hold, (by, &why), now)))
}

/// Nobody has decided by the time set for it. Nothing if somebody has, or it is not that time.
pub fn end_hold(account: &Account, day: Day, now: Timestamp) -> Option<Change> {
    let hold = account.edition.hold.clone()?;
    if account.edition.state != State::Aggregating || !hold.is_over(now) {
        return None;
    }
    Some(match hold.on_silence {
        OnSilence::Publish => {
            let mut edition = at_work(account, State::Aggregating, day, now);
            edition.hold = Some(hold.decided(Verdict::Approved, SILENCE, now));
            Change::of(edition)
        }
        OnSilence::Drop => {
            let why = "nobody approved it in time";
            put_aside(account, hold, (SILENCE, why), now)
        }
    })
}

/// The edition without a chance to leave, unless a person takes it up again.
fn put_aside(account: &Account, hold: Hold, (by, why): (&str, &str), now: Timestamp) -> Change {
    let mut edition = account.touched(now);
    edition.hold = Some(hold.decided(Verdict::Rejected, by, now));
    edition.archived_from = Some(State::Aggregating);
    edition.state = State::Archived;
    edition.reason = Some(cut(why));
    Change::of(edition)
}

/// The hold that is meant, if something can be decided about it.
fn held(account: &Account, meant: Meant) -> Result<Hold, NotNow> {
    let edition = &account.edition;
    let state = edition.archived_from.unwrap_or(edition.state);
    let hold = edition.hold.as_ref();
    if meant.revision.is_some_and(|it| it != edition.revision) {
        return Err(NotNow::Replaced(edition.revision));
    }
    let hold = hold.filter(|_| matches!(state, State::Aggregating | State::Published));
    let hold = hold.ok_or(NotNow::NotHeld)?;
    match meant.since {
        // A link holds microseconds.
        Some(since) if since.as_microsecond() != hold.since.as_microsecond() => {
            Err(NotNow::Decided)
        }
        Some(_) if !hold.is_waiting() => Err(NotNow::Decided),
        _ => Ok(hold.clone()),
    }
}

/// Whether the newest document can be replaced now by one that a person corrected.
pub fn check_revisable(account: &Account, now: Timestamp) -> Result<(), NotNow> {
    let edition = &account.edition;
    let state = edition.archived_from.unwrap_or(edition.state);
    let finished = matches!(state, State::Aggregating | State::Published);
    if edition.revision == 0 || !finished {
        return Err(NotNow::NoDocument);
    }
    // A node that still sends the earlier document must not write over the new one.
    if let Some(until) = account.sending_until(now) {
        return Err(NotNow::Sending(until));
    }
    Ok(())
}

/// Whether the edition can be corrected now.
pub fn check_correctable(account: &Account, now: Timestamp) -> Result<(), NotNow> {
    check_revisable(account, now)?;
    if account.edition.retraction.is_some() {
        return Err(NotNow::Retracted);
    }
    if account.edition.corrections.len() >= CORRECTIONS_MAX {
        return Err(NotNow::TooManyCorrections);
    }
    Ok(())
}

/// Whether there is something to take back.
pub fn check_retractable(account: &Account, now: Timestamp) -> Result<(), NotNow> {
    check_revisable(account, now)?;
    if account.edition.retraction.is_some() {
        return Err(NotNow::Retracted);
    }
    let left = |delivery: &Delivery| delivery.attempts > 0;
    if !account.was_published() && !account.deliveries.iter().any(left) {
        return Err(NotNow::NothingSent);
    }
    Ok(())
}

/// Changes the inputs of a document as a person wants; what was changed, and the correction by the
/// story's key.
pub fn correct(inputs: &mut Inputs, wanted: &Correction) -> Result<(Revision, Correction), NotNow> {
    let place = find(&inputs.stories, wanted.story())?;
    let (story, title) = (
        inputs.stories[place].key.clone(),
        inputs.stories[place].title.clone(),
    );
    let kept = wanted.clone().by_key(&story);
    let is_extract = inputs.overview == overview::extract(&inputs.stories);
    let change = match wanted {
        Correction::Drop { .. } => {
            if inputs.stories.len() == 1 {
                return Err(NotNow::LastStory);
            }
            inputs.stories.remove(place);
            Revision::Dropped { story, title }
        }
        Correction::Move { to, .. } => {
            let (from, to) = move_story(&mut inputs.stories, place, *to)?;
            Revision::Moved {
                story,
                title,
                from,
                to,
            }
        }
        Correction::Edit {
            title: new,
            summary,
            comments,
            ..
        } => {
            let printed = &mut inputs.stories[place];
            let fields = edit(printed, [new.as_ref(), summary.as_ref(), comments.as_ref()])?;
            Revision::Edited {
                story,
                title,
                fields,
            }
        }
    };
    // What opens the edition must not say what a person took out of it.
    let is_outdated = match wanted {
        Correction::Drop { .. } => true,
        Correction::Edit { title, summary, .. } => title.is_some() || summary.is_some(),
        Correction::Move { .. } => is_extract,
    };
    if is_outdated && inputs.overview.is_some() {
        inputs.overview = overview::extract(&inputs.stories);
    }
    Ok((change, kept))
}

/// Applies corrections that were made before. Those of stories that are not there any more have
/// nothing to change.
pub fn correct_again(inputs: &mut Inputs, corrections: &[Correction]) {
    for correction in corrections {
        let _ = correct(inputs, correction);
    }
}

fn find(stories: &[Printed], named: &str) -> Result<usize, NotNow> {
    let by_key = stories.iter().position(|story| story.key.0 == named);
    let by_rank = || {
        let rank = named.parse::<u32>().ok()?;
        stories.iter().position(|story| story.rank == rank)
    };
    by_key
        .or_else(by_rank)
        .ok_or_else(|| NotNow::NoStory(cut(named)))
}

/// Moves a story to a place, from 1. Ranks stay where they are: stories that were left out leave
/// gaps in them.
fn move_story(stories: &mut Vec<Printed>, place: usize, to: u32) -> Result<(u32, u32), NotNow> {
    let count = stories.len();
    let target = usize::try_from(to).unwrap_or(usize::MAX);
    if !(1..=count).contains(&target) {
        return Err(NotNow::NoPlace(count));
    }
    if target == place + 1 {
        return Err(NotNow::NoChange);
    }
    let ranks: Vec<u32> = stories.iter().map(|story| story.rank).collect();
    let moved = stories.remove(place);
    stories.insert(target - 1, moved);
    for (story, rank) in stories.iter_mut().zip(ranks) {
        story.rank = rank;
    }
    Ok((u32::try_from(place + 1).unwrap_or(u32::MAX), to))
}

/// Writes title, summary and summary of the discussion, where given; which of them changed.
fn edit(story: &mut Printed, given: [Option<&String>; 3]) -> Result<Vec<String>, NotNow> {
    let [title, summary, comments] = given;
    let before = story.clone();
    if let Some(title) = title {
        story.title = text("title", title, TITLE_CHARS_MAX)?.ok_or(NotNow::EmptyTitle)?;
    }
    if let Some(summary) = summary {
        story.content_summary = text("summary", summary, TEXT_CHARS_MAX)?;
        // It says why there is no summary.
        story.note = story.note.filter(|_| story.content_summary.is_none());
    }
    if let Some(comments) = comments {
        story.comment_summary = text("comments", comments, TEXT_CHARS_MAX)?;
    }
    let changed = [
        ("title", story.title != before.title),
        ("summary", story.content_summary != before.content_summary),
        ("comments", story.comment_summary != before.comment_summary),
    ];
    let changed = changed.into_iter().filter(|(_, is)| *is);
    let changed: Vec<String> = changed.map(|(name, _)| name.to_owned()).collect();
    if changed.is_empty() {
        return Err(NotNow::NoChange);
    }
    Ok(changed)
}

/// A text as it is kept: none if it is empty.
fn text(name: &'static str, given: &str, most: usize) -> Result<Option<String>, NotNow> {
    let given = given.replace("\r\n", "\n");
    let given = given.trim();
    if given.chars().count() > most {
        return Err(NotNow::TooLong { name, most });
    }
    let control = |c: char| c.is_control() && c != '\n';
    Ok((!given.is_empty()).then(|| given.replace(control, " ")))
}

/// A note about a retraction, as it is kept: one line.
pub fn note(given: Option<&str>) -> Result<Option<String>, NotNow> {
    let note = given.map(|given| text("note", given, NOTE_CHARS_MAX));
    let note = note.transpose()?.flatten();
    Ok(note.map(|note| note.replace('\n', " ")))
}

/// Replaces the newest document by one that a person made: of a correction, which is kept.
pub fn revise(
    account: &Account,
    document: Document,
    deliveries: Vec<Delivery>,
    kept: Option<Correction>,
    day: Day,
    now: Timestamp,
) -> Change {
    let by = author(&document);
    let mut edition = at_work(account, State::Aggregating, day, now);
    edition.hold.clone_from(&account.edition.hold);
    edition.hold = edition.hold.map(|hold| hold.of_next(&by, now));
    edition.revision = document.inputs.revision;
    edition.retraction = None;
    edition.corrections.extend(kept);
    let mut change = Change::of(edition);
    change.document = Some(document);
    change.deliveries = deliveries;
    change
}

/// Takes an edition back: readers see so at once, and every destination that can replace what it
/// has gets the note.
pub fn retract(
    account: &Account,
    document: Document,
    deliveries: Vec<Delivery>,
    note: Option<String>,
    day: Day,
    now: Timestamp,
) -> Change {
    let by = author(&document);
    let revision = account.edition.revision;
    let mut change = revise(account, document, deliveries, None, day, now);
    // A note that something is not so any more needs nobody's approval.
    let hold = change.edition.hold.take();
    change.edition.hold = hold.map(|hold| hold.decided(Verdict::Approved, &by, now));
    change.edition.retraction = Some(Retraction {
        by,
        at: now,
        note,
        revision,
    });
    change
}

fn author(document: &Document) -> String {
    let revised = document.revised.as_ref();
    revised.map_or_else(String::new, |revised| revised.by.clone())
}

/// The deliveries of a retraction: to those that can replace what they have. The others are listed
/// as skipped, and say why.
pub fn intend_retraction(
    account: &Account,
    document: &Document,
    publisher: &dyn Publisher,
    now: Timestamp,
) -> Vec<Delivery> {
    let name = publisher.destination();
    let revision = document.inputs.revision;
    let mut part = Delivery::new(revision, name, 1, None, now);
    if publisher.on_revision() == OnRevision::Replace {
        return vec![part];
    }
    let has_it = |delivery: &Delivery| {
        let own = delivery.destination == name && delivery.attempts > 0;
        own && delivery.state != delivery::State::Failed
    };
    let has_it = account.deliveries.iter().any(has_it);
    part.state = delivery::State::Skipped;
    part.attempts = u32::from(has_it);
    part.detail = Some(if has_it { KEEPS_IT } else { NEVER_HAD_IT }.to_owned());
    vec![part]
}

/// The detail of a destination whose readers keep a retracted edition.
pub const KEEPS_IT: &str = "it cannot take back what was sent here";
const NEVER_HAD_IT: &str = "nothing was sent here";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::{
        fixture::{account, document},
        story::Status,
    };

    fn opened(overview: Option<&str>) -> Inputs {
        let mut inputs = document(&account(&[Status::Completed; 3])).inputs;
        for story in &mut inputs.stories {
            story.title = format!("Title {}", story.rank);
            story.content_summary = Some(format!("Sentence {}.", story.rank));
        }
        inputs.overview = match overview {
            Some(written) => Some(written.to_owned()),
            None => overview::extract(&inputs.stories),
        };
        inputs
    }

    #[test]
    fn what_a_person_took_out_does_not_open_the_edition() {
        let story = || "1".to_owned();
        let dropped = Correction::Drop { story: story() };
        let moved = Correction::Move {
            story: story(),
            to: 3,
        };
        let edited = |title: Option<&str>, comments: Option<&str>| Correction::Edit {
            story: story(),
            title: title.map(str::to_owned),
            summary: None,
            comments: comments.map(str::to_owned),
        };
        for (wanted, written_stays) in [
            (dropped, false),
            (edited(Some("Another"), None), false),
            (edited(None, Some("They agree.")), true),
            (moved, true),
        ] {
            let mut inputs = opened(Some("A model wrote this."));
            correct(&mut inputs, &wanted).unwrap();
            let is_written = inputs.overview.as_deref() == Some("A model wrote this.");
            assert_eq!(is_written, written_stays, "{wanted:?}");
            let mut inputs = opened(None);
            correct(&mut inputs, &wanted).unwrap();
            let extract = overview::extract(&inputs.stories);
            assert_eq!(inputs.overview, extract, "{wanted:?}");
        }
    }
}
