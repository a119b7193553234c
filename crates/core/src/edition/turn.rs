//! Turns: every way in which an edition changes, as a pure function from what was read to what is
//! written.
//!
//! A turn that no longer applies, because another node was faster, returns `None`: there is nothing
//! to write, and the caller reads again. The store writes a [`Change`] only on the version it was
//! decided on.

mod delivering;
mod desk;
mod improving;
mod person;
mod redelivery;

use jiff::{SignedDuration, Timestamp};

use super::{
    Account, State,
    account::Change,
    batch::{self, Batch, NEVER_ENDED},
    delivery::Delivery,
    document::Document,
    rules::Rules,
    story::{ERROR_BYTES_MAX, Listed, Status, Story, StoryKey, Written},
};
use crate::budget::Spend;

pub use delivering::{
    DeliveryKey, end_delivery, extend_delivery, intend, settle_delivery, skip_delivery,
    start_delivery,
};
pub use desk::{
    KEEPS_IT, Meant, approve, check_correctable, check_retractable, check_revisable, correct,
    correct_again, end_hold, intend_retraction, note, reject, retract, revise,
};
pub use improving::{improve, judge_again, not_improved};
pub use person::{Day, NotNow, force, is_left_over, keep_open, let_out, reopen, reset, retry};
pub use redelivery::{Chosen, resend, skip};

/// Whoever wants to be asked again after longer than this is asked again after it.
const RETRY_AFTER_MAX: SignedDuration = SignedDuration::from_hours(1);

/// How a story came out of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It has what is published: everything, or what there was to be had.
    Completed(Written),
    /// It has less than it could, and whoever did not answer wants to be asked again after so long.
    Degraded(Written, Option<SignedDuration>),
    /// It has not what is published, because of this.
    Failed(String),
    /// The same, and whoever did not answer wants to be asked again after so long.
    Later(String, SignedDuration),
    /// It was not tried: the budget was spent. It waits for the next batch (ED-08).
    NotTried,
}

/// A node is about to fetch the list.
pub fn start_fetch(account: &Account, rules: &Rules, now: Timestamp) -> Change {
    let mut edition = account.touched(now);
    edition.fetching_until = Some(leased(rules, now));
    Change::of(edition)
}

/// A node still fetches the list, and reported it until `held` before. Nothing if the list has
/// come, or another node fetches it.
pub fn extend_fetch(
    account: &Account,
    held: Timestamp,
    rules: &Rules,
    now: Timestamp,
) -> Option<(Change, Timestamp)> {
    let mut edition = account.edition.clone();
    let own = edition.state == State::Init && edition.fetching_until == Some(held) && held > now;
    let until = leased(rules, now);
    edition.fetching_until = Some(until);
    own.then(|| (Change::of(edition), until))
}

/// The list could not be fetched: everything stays unchanged, and the reason is recorded (ED-29).
pub fn fetch_failed(
    account: &Account,
    error: &str,
    requests: u32,
    now: Timestamp,
) -> Option<Change> {
    let mut edition = account.touched(now);
    if edition.state != State::Init {
        return None;
    }
    edition.fetching_until = None;
    edition.list_requests = edition.list_requests.saturating_add(requests);
    edition.reason = Some(cut(error));
    Some(Change::of(edition))
}

/// The list is here: stories and state in one change (ED-03). Nothing if another list was faster
/// (ED-04).
pub fn fetched(
    account: &Account,
    source: &str,
    listed: Vec<Listed>,
    requests: u32,
    now: Timestamp,
) -> Option<Change> {
    let mut edition = account.touched(now);
    if edition.state != State::Init {
        return None;
    }
    edition.state = State::ListFetched;
    edition.story_source = Some(source.to_owned());
    edition.fetching_until = None;
    edition.list_requests = edition.list_requests.saturating_add(requests);
    edition.reason = None;
    let mut change = Change::of(edition);
    for story in listed {
        let known = change
            .stories
            .iter()
            .any(|known| known.listed.key == story.key);
        if !known {
            let rank = u32::try_from(change.stories.len() + 1).unwrap_or(u32::MAX);
            change.stories.push(Story::new(story, rank, now));
        }
    }
    Some(change)
}

/// Takes stories as one batch, under a lease. The batch's index is larger than any before it.
pub fn start_batch(
    account: &Account,
    keys: &[StoryKey],
    node: &str,
    rules: &Rules,
    now: Timestamp,
) -> Option<(Change, Batch)> {
    let (change, batches) = start_wave(account, &[keys], node, rules, now)?;
    Some((change, batches.into_iter().next()?))
}

/// Takes stories as several batches, all or none of them, each under its own lease.
pub fn start_wave(
    account: &Account,
    wave: &[impl AsRef<[StoryKey]>],
    node: &str,
    rules: &Rules,
    now: Timestamp,
) -> Option<(Change, Vec<Batch>)> {
    let mut edition = account.touched(now);
    let open = matches!(edition.state, State::ListFetched | State::Processing);
    if !open || wave.is_empty() {
        return None;
    }
    edition.state = State::Processing;
    let mut change = Change::of(edition);
    let last = account.batches.iter().map(|batch| batch.index).max();
    for (keys, number) in wave.iter().map(AsRef::as_ref).zip(1..) {
        let batch = Batch {
            index: last.unwrap_or(0).saturating_add(number),
            status: batch::Status::Running,
            story_count: u32::try_from(keys.len()).unwrap_or(u32::MAX),
            node: node.to_owned(),
            spend: Spend::default(),
            error_message: None,
            started_at: now,
            lease_until: leased(rules, now),
            ended_at: None,
        };
        let taken = taken(account, keys, &batch)?;
        let twice = |story: &Story| change.stories.iter().any(|it| it.rank == story.rank);
        if taken.iter().any(twice) {
            return None;
        }
        change.stories.extend(taken);
        change.batches.push(batch);
    }
    let batches = change.batches.clone();
    Some((change, batches))
}

/// Stories that a batch takes; nothing unless all of them wait.
fn taken(account: &Account, keys: &[StoryKey], batch: &Batch) -> Option<Vec<Story>> {
    let waiting =
        |story: &&Story| story.status == Status::Pending && keys.contains(&story.listed.key);
    let taken = account.stories.iter().filter(waiting).map(|story| Story {
        status: Status::Processing,
        batch: Some(batch.index),
        updated_at: batch.started_at,
        ..story.clone()
    });
    let taken: Vec<Story> = taken.collect();
    (taken.len() == keys.len() && !keys.is_empty()).then_some(taken)
}

/// A node still works on a batch. Nothing if it ended or was given up: its stories belong to
/// another batch.
pub fn extend_batch(
    account: &Account,
    index: u32,
    rules: &Rules,
    now: Timestamp,
) -> Option<(Change, Timestamp)> {
    let running = |batch: &&Batch| batch.index == index && batch.status == batch::Status::Running;
    let batch = account.batches.iter().find(running)?;
    let lease_until = leased(rules, now).max(batch.lease_until);
    let mut change = Change::of(account.edition.clone());
    change.batches.push(Batch {
        lease_until,
        ..batch.clone()
    });
    Some((change, lease_until))
}

fn leased(rules: &Rules, now: Timestamp) -> Timestamp {
    now.saturating_add(rules.lease()).unwrap_or(Timestamp::MAX)
}

/// Records how a batch ended. Nothing if it was given up meanwhile: its stories belong to another
/// batch.
pub fn end_batch(
    account: &Account,
    index: u32,
    endings: &[(StoryKey, Ending)],
    spend: Spend,
    rules: &Rules,
    now: Timestamp,
) -> Option<Change> {
    let running = |batch: &&Batch| batch.index == index && batch.status == batch::Status::Running;
    let batch = account.batches.iter().find(running)?;
    let mut change = Change::of(account.touched(now));
    let own = account
        .stories
        .iter()
        .filter(|story| story.status == Status::Processing && story.batch == Some(index));
    for story in own {
        let ending = endings.iter().find(|(key, _)| *key == story.listed.key);
        let ending = ending.map_or(&Ending::NotTried, |(_, ending)| ending);
        let ending = match ending {
            // No batch is smaller: waiting for another would be waiting for ever.
            Ending::NotTried if batch.story_count == 1 => &Ending::Failed(format!(
                "a budget of {} requests is too small for it",
                rules.budget
            )),
            ending => ending,
        };
        change.stories.push(ended(story, ending, rules, now));
    }
    change.batches.push(Batch {
        status: status_of(&change.stories),
        spend,
        error_message: first_error(&change.stories),
        ended_at: Some(now),
        ..batch.clone()
    });
    Some(change)
}

fn ended(story: &Story, ending: &Ending, rules: &Rules, now: Timestamp) -> Story {
    let mut story = story.clone();
    story.updated_at = now;
    let wanted = |wait: SignedDuration| now.saturating_add(wait.min(RETRY_AFTER_MAX)).ok();
    let failed = |error: &str, mut story: Story| {
        // What readers have stays as it is.
        if story.written.degraded_by.is_some() {
            story.status = Status::Completed;
            story.retry_at = Some(rules.improve_at(story.retry_count, now));
        } else {
            story.status = Status::Failed;
            story.error_message = Some(cut(error));
            story.retry_at = now.saturating_add(rules.retry_after).ok();
        }
        story
    };
    match ending {
        Ending::Completed(written) => completed(story, written),
        Ending::Degraded(written, retry_after) => {
            let improve_at = Some(rules.improve_at(story.retry_count, now));
            let mut story = completed(story, written);
            // A cap frees when it does; whoever asks for a wait is not believed for so long.
            let again = match story.written.degraded_by {
                Some(super::ladder::Cause::Cap) => {
                    retry_after.and_then(|wait| now.saturating_add(wait).ok())
                }
                _ => retry_after.and_then(wanted),
            };
            story.retry_at = improve_at.max(again);
            story
        }
        Ending::Failed(error) => failed(error, story),
        Ending::Later(error, retry_after) => {
            let mut story = failed(error, story);
            story.retry_at = story.retry_at.max(wanted(*retry_after));
            story
        }
        Ending::NotTried => {
            story.status = Status::Pending;
            story
        }
    }
}

fn completed(mut story: Story, written: &Written) -> Story {
    story.status = Status::Completed;
    story.written = written.clone().or_better(&story.written);
    story.error_message = None;
    story.retry_at = None;
    story
}

fn failed(batch: &Batch, why: &str, now: Timestamp) -> Batch {
    Batch {
        status: batch::Status::Failed,
        error_message: Some(why.to_owned()),
        ended_at: Some(now),
        ..batch.clone()
    }
}

fn status_of(stories: &[Story]) -> batch::Status {
    let completed = |story: &&Story| story.status == Status::Completed;
    match stories.iter().filter(completed).count() {
        0 => batch::Status::Failed,
        all if all == stories.len() => batch::Status::Success,
        _ => batch::Status::Partial,
    }
}

fn first_error(stories: &[Story]) -> Option<String> {
    stories.iter().find_map(|story| story.error_message.clone())
}

/// Gives back the stories of batches whose lease has passed, and of none (ED-15). They count as not
/// tried: a batch that never ended is followed by a smaller one, and a story that was alone in the
/// second of two such batches has failed, so that a story that kills every node working on it is
/// found and left out.
pub fn recover(account: &Account, rules: &Rules, now: Timestamp) -> Change {
    let mut change = Change::of(account.touched(now));
    let live: Vec<u32> = account
        .batches
        .iter()
        .filter(|batch| batch.is_live(now))
        .map(|batch| batch.index)
        .collect();
    let given_up = |batch: &&Batch| batch.status == batch::Status::Running && !batch.is_live(now);
    change.batches = account
        .batches
        .iter()
        .filter(given_up)
        .map(|batch| failed(batch, NEVER_ENDED, now))
        .collect();
    let left = |story: &&Story| {
        story.status == Status::Processing
            && !story.batch.is_some_and(|index| live.contains(&index))
    };
    let was_alone = |story: &Story| {
        let own = |batch: &&Batch| Some(batch.index) == story.batch && batch.story_count == 1;
        let last = change.batches.iter().find(own);
        last.is_some_and(|last| follows_one_that_never_ended(account, last))
    };
    let found = account.stories.iter().filter(left).map(|story| {
        let ending = if was_alone(story) {
            Ending::Failed("its node stopped responding while it worked on it alone".to_owned())
        } else {
            Ending::NotTried
        };
        ended(story, &ending, rules, now)
    });
    change.stories = found.collect();
    change
}

/// Whether the batch before one never ended either. One that was begun with it in a wave says
/// nothing: one node worked on both.
fn follows_one_that_never_ended(account: &Account, batch: &Batch) -> bool {
    let before = |known: &&Batch| known.index < batch.index && !known.began_with(batch);
    let before = account.batches.iter().rfind(before);
    before.is_some_and(Batch::never_ended)
}

/// Puts failed stories back by themselves; each counts as a retry.
pub fn put_back(account: &Account, keys: &[StoryKey], now: Timestamp) -> Change {
    let mut change = Change::of(account.touched(now));
    let failed =
        |story: &&Story| story.status == Status::Failed && keys.contains(&story.listed.key);
    change.stories = retried(account.stories.iter().filter(failed), now);
    change
}

fn retried<'a>(stories: impl Iterator<Item = &'a Story>, now: Timestamp) -> Vec<Story> {
    let mut stories = back_to_pending(stories, now);
    for story in &mut stories {
        story.retry_count = story.retry_count.saturating_add(1);
        story.retry_at = None;
    }
    stories
}

fn back_to_pending<'a>(stories: impl Iterator<Item = &'a Story>, now: Timestamp) -> Vec<Story> {
    let pending = |story: &Story| Story {
        status: Status::Pending,
        // Its last batch says nothing about the size of the next: only what was not tried does.
        batch: None,
        updated_at: now,
        ..story.clone()
    };
    stories.map(pending).collect()
}

/// The document is rendered, and every delivery of it is intended (ED-11).
pub fn aggregate(
    account: &Account,
    document: Document,
    deliveries: Vec<Delivery>,
    now: Timestamp,
) -> Change {
    let mut edition = account.touched(now);
    edition.state = State::Aggregating;
    edition.archived_from = None;
    edition.revision = document.inputs.revision;
    edition.reason = None;
    edition.hold = None;
    edition.improving_at = None;
    let mut change = Change::of(edition);
    change.document = Some(document);
    change.deliveries = deliveries;
    change
}

/// Nothing was completed: it ends, and says so (ED-32).
pub fn give_up(account: &Account, now: Timestamp) -> Change {
    let mut edition = account.touched(now);
    edition.state = State::Empty;
    edition.reason = Some(match account.counts().total {
        0 => "it has no stories".to_owned(),
        total => format!("none of its {total} stories could be completed"),
    });
    Change::of(edition)
}

/// Every destination has it.
pub fn publish(account: &Account, now: Timestamp) -> Change {
    let mut edition = account.touched(now);
    edition.state = State::Published;
    edition.published_at = Some(now);
    edition.ready_at.get_or_insert(now);
    edition.improving_at = None;
    edition.reopened_at = None;
    edition.reason = None;
    Change::of(edition)
}

/// Its day, or the week after it, is over.
pub fn archive(account: &Account, now: Timestamp) -> Option<Change> {
    let mut edition = account.touched(now);
    if edition.state == State::Archived {
        return None;
    }
    // One that was being improved is the published one that readers have.
    let improved = edition.improving_at.take().is_some() && account.was_published();
    edition.archived_from = Some(if improved {
        State::Published
    } else {
        edition.state
    });
    edition.state = State::Archived;
    edition.fetching_until = None;
    Some(Change::of(edition))
}

/// An error as it is kept: one line of bounded length.
fn cut(error: &str) -> String {
    let line = error.replace(|c: char| c.is_control(), " ");
    line[..line.floor_char_boundary(ERROR_BYTES_MAX)].to_owned()
}

#[cfg(test)]
mod tests;
