//! What people do to an edition: take it up again, put failed stories back, begin again, publish
//! what there is.

use jiff::{SignedDuration, Timestamp};

use super::{back_to_pending, failed, redelivery::Chosen, retried};
use crate::edition::{
    Account, Edition, State,
    account::Change,
    batch::{self, Batch},
    hold::{Hold, HoldReason, Verdict},
    revision::CORRECTIONS_MAX,
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
    /// Nothing about it waits for a decision.
    #[error("the edition does not wait for approval")]
    NotHeld,
    /// The decision is about an earlier document.
    #[error("a newer revision replaced it: look at revision {0} and decide about that")]
    Replaced(u32),
    /// Somebody was faster, or it was decided before.
    #[error("it was decided already")]
    Decided,
    /// It may have left already.
    #[error("the edition was approved already; retract it to take it back")]
    Approved,
    /// Readers see that it was taken back.
    #[error("the edition is retracted; restore it first")]
    Retracted,
    /// There is nothing to restore.
    #[error("the edition is not retracted")]
    NotRetracted,
    /// There is nothing to take back.
    #[error("nothing of the edition was sent, so there is nothing to retract; reject it instead")]
    NothingSent,
    /// It was corrected too often.
    #[error("the edition has {CORRECTIONS_MAX} corrections, the most it can have")]
    TooManyCorrections,
    /// It is in no document.
    #[error("the newest document has no story `{0}`; name it by its rank or its key")]
    NoStory(String),
    /// There are not so many.
    #[error("the newest document has {0} stories; a place is 1 to {0}")]
    NoPlace(usize),
    /// It is so already.
    #[error("that changes nothing")]
    NoChange,
    /// An edition without a story is none.
    #[error("it is the only story left; retract or reject the edition instead")]
    LastStory,
    #[error("a title cannot be empty")]
    EmptyTitle,
    #[error("{name} must have at most {most} characters")]
    TooLong { name: &'static str, most: usize },
    /// Its stories were deleted by retention.
    #[error("the stories of this edition were deleted when they had been kept long enough")]
    Pruned,
}

impl NotNow {
    /// The part of the request that cannot be so whatever the edition is, if one is to blame.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::NoStory(_) | Self::LastStory => Some("story"),
            Self::NoPlace(_) => Some("to"),
            Self::EmptyTitle => Some("title"),
            Self::TooLong { name, .. } => Some(name),
            _ => None,
        }
    }
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
    edition.due_at = None;
    edition.reopened_at = Some(now);
    edition.hold = edition.hold.map(|hold| hold.taken_up(now));
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
    change.edition.overview = None;
    change.stories = back_to_pending(account.stories.iter(), now);
    for story in &mut change.stories {
        story.retry_count = 0;
        story.retry_at = None;
        story.error_message = None;
        // As if never tried: what was degraded must not stand in for what is written now.
        story.written.degraded_by = None;
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

/// A person publishes what is held for its quality (ED-39); nothing if it is not.
pub fn let_out(account: &Account, by: &str, now: Timestamp) -> Option<Change> {
    let mut edition = account.touched(now);
    let hold = edition.waiting()?.clone();
    // What waits for approval is let out by approving it, and by nothing else.
    if hold.reason != HoldReason::Quality {
        return None;
    }
    edition.hold = Some(hold.decided(Verdict::Approved, by, now));
    edition.reason = None;
    Some(Change::of(edition))
}

fn check_stories(account: &Account) -> Result<(), NotNow> {
    let state = account
        .edition
        .archived_from
        .unwrap_or(account.edition.state);
    if account.edition.retraction.is_some() {
        return Err(NotNow::Retracted);
    }
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
    // Who asks for it again wants all of it, and not in a hurry.
    edition.due_at = None;
    edition.improving_at = None;
    // What is made anew is looked at anew.
    edition.hold = edition.hold.filter(|_| state == State::Aggregating);
    edition
}

/// Whether a tick of another day should archive this edition. One that a person took up again has a
/// day's time.
pub fn is_left_over(edition: &Edition, now: Timestamp) -> bool {
    let kept = edition.reopened_at.is_some_and(|at| {
        at.saturating_add(REOPENED_FOR)
            .is_ok_and(|until| until > now)
    });
    // Its hold ends by itself, and then it leaves or not.
    let kept = kept || edition.waiting().is_some_and(Hold::ends_by_itself);
    !kept && (edition.state.is_open() || edition.state == State::Empty)
}
