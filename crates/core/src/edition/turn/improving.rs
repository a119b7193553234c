//! What an edition does by itself once it is finished: improve what was degraded, and leave when it
//! has become good enough (ED-38, ED-39).

use jiff::{Timestamp, tz::TimeZone};

use super::retried;
use crate::edition::{
    Account, State,
    account::Change,
    hold::HoldReason,
    rules::Rules,
    story::{Story, StoryKey},
};

/// Takes up stories again that have less than they could, of an edition that readers have or that
/// is held (ED-38, ED-39). Nothing if it is neither any more.
pub fn improve(account: &Account, keys: &[StoryKey], now: Timestamp) -> Option<Change> {
    let mut edition = account.touched(now);
    let held = edition.waiting().is_some();
    let is_out = edition.state == State::Published && edition.retraction.is_none();
    if !is_out && !held {
        return None;
    }
    edition.state = State::Processing;
    edition.started_at = now;
    edition.improving_at = Some(now);
    let mut change = Change::of(edition);
    let chosen = |story: &&Story| story.is_improvable() && keys.contains(&story.listed.key);
    change.stories = retried(account.stories.iter().filter(chosen), now);
    (!change.stories.is_empty()).then_some(change)
}

/// The improvement changed nothing that readers would see, or not enough: the document stays what
/// it was, and so does its hold.
pub fn not_improved(account: &Account, now: Timestamp) -> Option<Change> {
    let mut edition = account.touched(now);
    edition.improving_at.take()?;
    let held = edition.hold.as_ref().is_some_and(|hold| !hold.lets_out());
    edition.state = if held {
        State::Aggregating
    } else {
        State::Published
    };
    Some(Change::of(edition))
}

/// What was held for its quality has become good enough, so that a person may approve it where one
/// has to; or it is looked at again later. Nothing if it is not held for that any more.
pub fn judge_again(
    account: &Account,
    reason: Option<String>,
    (rules, zone): (&Rules, &TimeZone),
    now: Timestamp,
) -> Option<Change> {
    let mut edition = account.touched(now);
    let mut hold = edition.waiting()?.clone();
    if hold.reason != HoldReason::Quality {
        return None;
    }
    hold.until = now.saturating_add(rules.improve_after).ok();
    edition.hold = match reason {
        Some(_) => Some(hold),
        None => rules.approval.map(|approval| approval.hold(zone, now)),
    };
    edition.reason = reason;
    Some(Change::of(edition))
}
