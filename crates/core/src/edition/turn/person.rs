//! What people do to an edition: take it up again, put failed stories back, begin again, publish
//! what there is.

use jiff::{SignedDuration, Timestamp};

use super::{back_to_pending, failed, redelivery::Chosen, retried};
use crate::edition::{
    Account, Edition, State,
    account::Change,
    batch::{self, Batch},
    story::{Status, Story},
};

/// How long an edition of an earlier day may be worked on before ticks archive it again.
const REOPENED_FOR: SignedDuration = SignedDuration::from_hours(24);

/// Why a request cannot be granted; nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// There is nothing to publish.
    #[error("no story of the edition is completed, so there is nothing to publish")]
    NothingCompleted,
    /// It has no stories: none was listed yet, or the filter left none.
    #[error("the edition has no stories")]
    NoStories,
    /// It is being published right now.
    #[error("the edition is published already; to publish it again, retry or reset it first")]
    Published,
    /// There is nothing of it to deliver: its document is not rendered yet, or is being rendered
    /// again.
    #[error("the edition has no finished document; when it has one, it goes to every destination")]
    NoDocument,
    /// Nothing of it goes there.
    #[error("nothing of the edition goes to {0}; `almanack edition status` lists its deliveries")]
    NoDelivery(Chosen),
    /// The destination has it: it would get it twice.
    #[error("{0} has it already; nothing is sent twice")]
    Delivered(Chosen),
    /// A node is sending it.
    #[error("it is being sent right now, until {0} at most; ask again then")]
    Sending(Timestamp),
    /// Its stories were deleted by retention.
    #[error("the stories of this edition were deleted when they had been kept long enough")]
    Pruned,
}

/// Whether an edition's day is over: what is done to it then, ticks would undo at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Day {
    Present,
    /// It is an earlier one's.
    Over,
}

/// Takes up an edition whose day is over, where it was left (ED-20).
pub fn reopen(account: &Account, now: Timestamp) -> Option<Change> {
    let mut edition = account.touched(now);
    let was = edition.archived_from.filter(|was| was.is_open())?;
    edition.state = was;
    edition.archived_from = None;
    edition.started_at = now;
    edition.reopened_at = Some(now);
    Some(Change::of(edition))
}

/// Keeps ticks from archiving an edition that is requested although its day is over.
pub fn keep_open(account: &Account, now: Timestamp) -> Option<Change> {
    let mut edition = account.touched(now);
    if !is_left_over(&edition, now) {
        return None;
    }
    edition.reopened_at = Some(now);
    Some(Change::of(edition))
}

/// Puts failed stories with fewer than `retries_max` retries back, and the edition to work on them
/// (ED-24). Returns how many; with none, nothing is written.
pub fn retry(
    account: &Account,
    retries_max: u32,
    day: Day,
    now: Timestamp,
) -> Result<(Option<Change>, u32), NotNow> {
    let failed = |story: &&Story| story.status == Status::Failed && story.retry_count < retries_max;
    check_stories(account)?;
    let stories = retried(account.stories.iter().filter(failed), now);
    let count = u32::try_from(stories.len()).unwrap_or(u32::MAX);
    if stories.is_empty() {
        return Ok((None, 0));
    }
    let mut change = Change::of(at_work(account, State::Processing, day, now));
    change.stories = stories;
    Ok((Some(change), count))
}

/// Begins again with the stories it has: all of them wait again, as if never tried.
pub fn reset(account: &Account, day: Day, now: Timestamp) -> Result<Change, NotNow> {
    check_stories(account)?;
    let mut change = Change::of(at_work(account, State::ListFetched, day, now));
    change.stories = back_to_pending(account.stories.iter(), now);
    for story in &mut change.stories {
        story.retry_count = 0;
        story.retry_at = None;
        story.error_message = None;
    }
    let running = |batch: &&Batch| batch.status == batch::Status::Running;
    change.batches = account
        .batches
        .iter()
        .filter(running)
        .map(|batch| failed(batch, "the edition was reset meanwhile", now))
        .collect();
    Ok(change)
}

/// Whether what is completed can be published now, and how many stories are left out (ED-23).
pub fn force(account: &Account) -> Result<u32, NotNow> {
    let counts = account.counts();
    if account.edition.is_published() {
        return Err(NotNow::Published);
    }
    check_stories(account)?;
    if counts.completed == 0 {
        return Err(NotNow::NothingCompleted);
    }
    Ok(counts.total - counts.completed)
}

fn check_stories(account: &Account) -> Result<(), NotNow> {
    let state = account
        .edition
        .archived_from
        .unwrap_or(account.edition.state);
    match (account.stories.is_empty(), state) {
        (false, _) => Ok(()),
        (true, State::Init | State::Empty) => Err(NotNow::NoStories),
        (true, _) => Err(NotNow::Pruned),
    }
}

/// The edition, worked on again. It stays the published one that it was, until it is published
/// again.
pub(super) fn at_work(account: &Account, state: State, day: Day, now: Timestamp) -> Edition {
    let mut edition = account.touched(now);
    edition.reopened_at = (day == Day::Over).then_some(now);
    edition.state = state;
    edition.archived_from = None;
    edition.started_at = now;
    edition.reason = None;
    edition
}

/// Whether a tick of another day should archive this edition. One that a person took up again has a
/// day's time.
pub fn is_left_over(edition: &Edition, now: Timestamp) -> bool {
    let kept = edition.reopened_at.is_some_and(|at| {
        at.saturating_add(REOPENED_FOR)
            .is_ok_and(|until| until > now)
    });
    !kept && (edition.state.is_open() || edition.state == State::Empty)
}
