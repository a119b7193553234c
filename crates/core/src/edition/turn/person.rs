//! What people do to an edition: take it up again, put failed stories back, begin again, publish
//! what there is.

use crate::{
    lang::{Lang, Say},
    say,
};
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
#[error("{}", self.say(Lang::English))]
pub enum NotNow {
    /// There is nothing to publish.
    NothingCompleted,
    /// It has no stories: none was listed yet, or the filter left none.
    NoStories,
    /// It is being published right now.
    Published,
    /// There is nothing of it to deliver: its document is not rendered yet, or is being rendered
    /// again.
    NoDocument,
    /// Nothing of it goes there.
    NoDelivery(Chosen),
    /// The destination has it: it would get it twice.
    Delivered(Chosen),
    /// A node is sending it.
    Sending(Timestamp),
    /// Nothing about it waits for a decision.
    NotHeld,
    /// The decision is about an earlier document.
    Replaced(u32),
    /// Somebody was faster, or it was decided before.
    Decided,
    /// It may have left already.
    Approved,
    /// Readers see that it was taken back.
    Retracted,
    /// There is nothing to restore.
    NotRetracted,
    /// There is nothing to take back.
    NothingSent,
    /// It was corrected too often.
    TooManyCorrections,
    /// It is in no document.
    NoStory(String),
    /// There are not so many.
    NoPlace(usize),
    /// It is so already.
    NoChange,
    /// An edition without a story is none.
    LastStory,
    EmptyTitle,
    TooLong {
        name: &'static str,
        most: usize,
    },
    /// Its stories were deleted by retention.
    Pruned,
}

impl Say for NotNow {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::NothingCompleted => say!(lang;
                "no story of the edition is completed, so there is nothing to publish",
                "日报没有任何已完成的文章，因此没有可发布的内容"),
            Self::NoStories => say!(lang; "the edition has no stories", "日报没有文章"),
            Self::Published => say!(lang;
                "the edition is published already; to publish it again, retry or reset it first",
                "日报已经发布；要再次发布，请先重试或重置"),
            Self::NoDocument => say!(lang;
                "the edition has no finished document; when it has one, it goes to every destination",
                "日报还没有完成的文档；完成后会发往每个目的地"),
            Self::NoDelivery(it) => say!(lang;
                "nothing of the edition goes to {it}; `almanack edition status` lists its deliveries",
                "该日报没有发往 {it} 的投递；`almanack edition status` 会列出其投递"),
            Self::Delivered(it) => say!(lang;
                "{it} has it already; nothing is sent twice",
                "{it} 已经收到；不会重复发送"),
            Self::Sending(it) => say!(lang;
                "it is being sent right now, until {it} at most; ask again then",
                "正在发送，最晚到 {it}；请届时再试"),
            Self::NotHeld => say!(lang;
                "the edition does not wait for approval",
                "日报没有在等待审批"),
            Self::Replaced(it) => say!(lang;
                "a newer revision replaced it: look at revision {it} and decide about that",
                "它已被更新的修订取代：请查看并处理修订 {it}"),
            Self::Decided => say!(lang; "it was decided already", "已经作出决定"),
            Self::Approved => say!(lang;
                "the edition was approved already; retract it to take it back",
                "日报已获批准；要撤销，请撤回它"),
            Self::Retracted => say!(lang;
                "the edition is retracted; restore it first",
                "日报已撤回；请先恢复"),
            Self::NotRetracted => say!(lang; "the edition is not retracted", "日报没有被撤回"),
            Self::NothingSent => say!(lang;
                "nothing of the edition was sent, so there is nothing to retract; reject it instead",
                "日报尚未发送任何内容，没有可撤回的；请改为拒绝"),
            Self::TooManyCorrections => say!(lang;
                "the edition has {CORRECTIONS_MAX} corrections, the most it can have",
                "日报已有 {CORRECTIONS_MAX} 处更正，已达上限"),
            Self::NoStory(it) => say!(lang;
                "the newest document has no story `{it}`; name it by its rank or its key",
                "最新的文档中没有文章 `{it}`；请用序号或键指定"),
            Self::NoPlace(it) => say!(lang;
                "the newest document has {it} stories; a place is 1 to {it}",
                "最新的文档有 {it} 篇文章；位置须为 1 到 {it}"),
            Self::NoChange => say!(lang; "that changes nothing", "这没有改变任何内容"),
            Self::LastStory => say!(lang;
                "it is the only story left; retract or reject the edition instead",
                "这是仅剩的一篇文章；请改为撤回或拒绝日报"),
            Self::EmptyTitle => say!(lang; "a title cannot be empty", "标题不能为空"),
            Self::TooLong { name, most } => say!(lang;
                "{name} must have at most {most} characters",
                "{name} 最多 {most} 个字符"),
            Self::Pruned => say!(lang;
                "the stories of this edition were deleted when they had been kept long enough",
                "这份日报的文章已超过保留时间并被删除"),
        }
    }
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
    change.edition.overview_prompt = None;
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
