//! What is wrong with a newsletter: the mail server does not take it, or it does not end (ED-43).
//!
//! The edition's delivery to `mail` is confirmed when its mailing begins, so nothing else says that
//! nobody gets it.

use jiff::{SignedDuration, Timestamp};

use super::Finding;
use crate::{
    alert::{About, Rule, Severity},
    both,
    newsletter::{
        MAIL, Mailing,
        mailing::{FAILURES_MAX, State},
    },
};

/// Failures of the mail server in a row before people hear of it: about a quarter of an hour.
const FAILURES_MIN: u32 = 5;
/// A mailing that takes so long meets the next day's.
const LONG_AFTER: SignedDuration = SignedDuration::from_hours(24);

pub(super) fn find(mailing: &Mailing, now: Timestamp) -> Option<Finding> {
    let (failures, age) = (mailing.failures, now.duration_since(mailing.created_at));
    let error = mailing.error.as_deref().unwrap_or_default();
    let detail = match mailing.state {
        State::Held => both!(
            "after {failures} failures in a row the newsletter needs a person: {error}; retry its task to go on",
            "连续失败 {failures} 次后，邮件发送需要人工处理：{error}；重试其任务即可继续"
        ),
        State::Running if failures >= FAILURES_MIN => {
            let until = FAILURES_MAX - failures % FAILURES_MAX;
            both!(
                "{failures} failures in a row, {until} more until it is held: {error}",
                "连续失败 {failures} 次，再失败 {until} 次将暂停：{error}"
            )
        }
        State::Running if age > LONG_AFTER => {
            let hours = age.as_hours();
            both!(
                "the newsletter is still being sent after {hours} hours",
                "{hours} 小时后邮件仍在发送"
            )
        }
        State::Running | State::Done => return None,
    };
    let about = About::Delivery {
        edition: mailing.id,
        destination: MAIL.to_owned(),
    };
    let found = Finding::new(Rule::Destination, about, Severity::Critical, detail);
    Some(found)
}
