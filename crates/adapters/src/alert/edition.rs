//! Alerts of editions, by the same channels.
//!
//! An edition keeps its own alerts, and tells them one by one while it is made. A notice counts as told when all channels that want it took
//! it or will never take it. Where one may still, the caller comes again; a channel that already has it is then left in peace, as
//! long as this process remembers. After a restart it may hear the same once more: a webhook's receiver knows it by its key, a chat
//! shows it twice, which is better than an alert that nobody read.

use std::sync::PoisonError;

use almanack_core::edition::{
    alert::News,
    port::{Failure, FailureClass, Notice, Sent, Teller},
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};

use super::{Channel, Channels, is_final, message::Message};

/// Notices that wait for one of their channels; far more than there ever are. Past it the oldest are
/// forgotten, and told once more.
const WAITING_MAX: usize = 1_000;

/// A notice at a channel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    opened_at: Timestamp,
    date: Date,
    rule: String,
    news: &'static str,
    channel: usize,
}

impl Channels {
    fn knows(&self, told: &Told) -> bool {
        let known = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(told)
    }

    /// What all took is not asked for again; what some took is kept until the others do.
    fn remember(&self, notice: &Notice<'_>, taken: Vec<Told>, wanted: usize) {
        let mut known = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() == wanted {
            for channel in 0..self.all.len() {
                known.remove(&told(notice, channel));
            }
            return;
        }
        known.extend(taken);
        while known.len() > WAITING_MAX {
            known.pop_first();
        }
    }

    fn wanting(&self, notice: &Notice<'_>) -> Vec<(usize, &Channel)> {
        let rule = &notice.alert.rule;
        let all = self.all.iter().enumerate();
        all.filter(|(_, channel)| channel.wants.takes(rule.label(), rule.severity()))
            .collect()
    }
}

#[async_trait]
impl Teller for Channels {
    async fn tell(&self, notice: &Notice<'_>) -> Result<(), Failure> {
        let (mut taken, mut failures) = (Vec::new(), Vec::new());
        let message = Message::of_edition(notice, self.telling.language);
        let wanting = self.wanting(notice);
        for (number, channel) in &wanting {
            let told = told(notice, *number);
            if self.knows(&told) {
                taken.push(told);
                continue;
            }
            match self.send(channel, &message).await {
                Sent::Confirmed { .. } => taken.push(told),
                Sent::Failed(failure) if is_final(failure.class) => {
                    tracing::error!(
                        channel = channel.name,
                        edition.date = %notice.date,
                        alert = told.rule,
                        news = told.news,
                        error = failure.detail,
                        class = failure.class.as_str(),
                        "an alert was refused and is not told here again; correct [alerts]"
                    );
                    taken.push(told);
                }
                Sent::Failed(failure) | Sent::Unknown(failure) => {
                    failures.push((channel.name.as_str(), failure));
                }
            }
        }
        self.remember(notice, taken, wanting.len());
        joined(failures).map_or(Ok(()), Err)
    }
}

fn told(notice: &Notice<'_>, channel: usize) -> Told {
    Told {
        opened_at: notice.alert.opened_at,
        date: notice.date,
        rule: notice.alert.rule.name(),
        news: name(notice.news),
        channel,
    }
}

/// One failure that names every channel. What waiting can mend comes first: then the caller comes again soon.
fn joined(failures: Vec<(&str, Failure)>) -> Option<Failure> {
    let told = failures
        .iter()
        .map(|(name, failure)| format!("`{name}` did not take it: {failure}"));
    let detail = told.collect::<Vec<_>>().join("; ");
    let passing = [FailureClass::Transient, FailureClass::RateLimited];
    let first = failures
        .into_iter()
        .map(|(_, failure)| failure)
        .max_by_key(|failure| passing.contains(&failure.class))?;
    Some(Failure { detail, ..first })
}

pub(super) fn name(news: News) -> &'static str {
    match news {
        News::Opened => "opened",
        News::Closed => "closed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_name_their_channels_and_what_can_pass_decides() {
        let odd = Failure::new(FailureClass::Unusable, "HTTP 200: no message");
        let late = Failure {
            retry_after: Some(jiff::SignedDuration::from_secs(7)),
            ..Failure::new(FailureClass::RateLimited, "HTTP 429")
        };
        let both = joined(vec![("chat", odd), ("pager", late)]).unwrap();
        assert_eq!(both.class, FailureClass::RateLimited);
        assert_eq!(both.retry_after, Some(jiff::SignedDuration::from_secs(7)));
        assert_eq!(
            both.detail,
            "`chat` did not take it: HTTP 200: no message; `pager` did not take it: HTTP 429"
        );
        assert_eq!(joined(Vec::new()), None);
    }
}
