//! Alerts: what is wrong with an edition reaches people by every channel that the configuration names.
//!
//! A notice counts as told when all channels took it or will never take it. Where one may still, the caller comes again;
//! a channel that already has it is then left in peace, as long as this process remembers. After a restart it may hear
//! the same once more: a webhook's receiver knows it by its key, a chat shows it twice, which is better
//! than an alert that nobody read.
//!
//! INVARIANT: a channel that refuses for good (a wrong token, an address that is gone) keeps no other from hearing the next
//! notice, which comes only after this one was told. The log says what was not told, and by whom.

mod words;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use almanack_core::{
    edition::{
        alert::News,
        port::{Failure, FailureClass, Notice, Sent, Teller},
    },
    time::Clock,
};
use async_trait::async_trait;
use jiff::{Timestamp, civil::Date};
use serde::Serialize;

use crate::{
    call::Seal,
    http::Client,
    publish::{unsent, webhook::judge},
    signature::SigningKey,
    telegram::{Bot, Form, MESSAGE_UNITS_MAX, cut},
};
pub use words::Language;

/// Notices that wait for one of their channels; far more than there ever are. Past it the oldest are
/// forgotten, and told once more.
const WAITING_MAX: usize = 1_000;

/// A way to reach people.
pub enum Channel {
    /// A signed POST of JSON.
    Webhook {
        /// The name used in failures.
        name: String,
        /// The address.
        url: String,
        /// What calls are signed with.
        key: Option<SigningKey>,
        /// How long an answer may take, connection included.
        timeout: Duration,
    },
    /// A message in a chat.
    Telegram {
        /// The name used in failures.
        name: String,
        /// Who says it, and where.
        bot: Bot,
        /// In which language.
        language: Language,
    },
}

impl Channel {
    fn name(&self) -> &str {
        match self {
            Self::Webhook { name, .. } | Self::Telegram { name, .. } => name,
        }
    }
}

/// A notice at a channel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Told {
    opened_at: Timestamp,
    date: Date,
    rule: String,
    news: &'static str,
    channel: usize,
}

/// All channels.
pub struct Channels {
    client: Client,
    clock: Arc<dyn Clock>,
    all: Vec<Channel>,
    /// What some channels took, or refused for good, while others may still take it.
    told: Mutex<BTreeSet<Told>>,
}

impl Channels {
    /// Tells by all of `channels`; by none, everything is told at once.
    pub fn new(client: Client, clock: Arc<dyn Clock>, channels: Vec<Channel>) -> Self {
        Self {
            client,
            clock,
            all: channels,
            told: Mutex::default(),
        }
    }

    async fn tell_by(&self, channel: &Channel, notice: &Notice<'_>) -> Sent {
        match channel {
            Channel::Webhook {
                url, key, timeout, ..
            } => {
                let call = (url.as_str(), key.as_ref(), *timeout);
                self.post(call, notice).await
            }
            Channel::Telegram { bot, language, .. } => {
                let text = cut(&language.sentence(notice), MESSAGE_UNITS_MAX);
                bot.say(&text, Form::Plain, None).await
            }
        }
    }

    async fn post(
        &self,
        (url, key, timeout): (&str, Option<&SigningKey>, Duration),
        notice: &Notice<'_>,
    ) -> Sent {
        let id = id(notice);
        let seal = Seal {
            idempotency_key: &id,
            id: &id,
            at: self.clock.now(),
            key,
        };
        // Texts and instants can always be written as JSON.
        let body = serde_json::to_vec(&Body::of(notice)).unwrap_or_default();
        match self.client.open(seal.post(url, timeout, body)).await {
            Ok(answer) => judge(&answer.head, self.clock.now()),
            Err(error) => unsent(&error),
        }
    }

    fn knows(&self, told: &Told) -> bool {
        let known = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(told)
    }

    /// What all took is not asked for again; what some took is kept until the others do.
    fn remember(&self, notice: &Notice<'_>, taken: Vec<Told>) {
        let mut known = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.len() == self.all.len() {
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
}

#[async_trait]
impl Teller for Channels {
    async fn tell(&self, notice: &Notice<'_>) -> Result<(), Failure> {
        let mut taken = Vec::new();
        let mut failures = Vec::new();
        for (number, channel) in self.all.iter().enumerate() {
            let told = told(notice, number);
            if self.knows(&told) {
                taken.push(told);
                continue;
            }
            match self.tell_by(channel, notice).await {
                Sent::Confirmed { .. } => taken.push(told),
                Sent::Failed(failure) if is_final(failure.class) => {
                    tracing::error!(
                        channel = channel.name(),
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
                    failures.push((channel.name(), failure));
                }
            }
        }
        self.remember(notice, taken);
        joined(failures).map_or(Ok(()), Err)
    }
}

/// Whether waiting mends nothing.
fn is_final(class: FailureClass) -> bool {
    matches!(class, FailureClass::Refused | FailureClass::Credentials)
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

fn name(news: News) -> &'static str {
    match news {
        News::Opened => "opened",
        News::Closed => "closed",
    }
}

/// Names a notice for ever. Whatever a destination is called, a header can hold it.
fn id(notice: &Notice<'_>) -> String {
    let (rule, news) = (notice.alert.rule.name(), name(notice.news));
    let since = notice.alert.opened_at.as_microsecond();
    let id = format!("almanack-alert-{}-{rule}-{news}-{since}", notice.date);
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    id.chars().map(plain).collect()
}

/// What a webhook is sent.
#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    date: Date,
    rule: String,
    detail: &'a str,
    at: Timestamp,
}

impl<'a> Body<'a> {
    fn of(notice: &Notice<'a>) -> Self {
        let alert = notice.alert;
        let (r#type, at) = match notice.news {
            News::Opened => ("edition.alert.opened", alert.opened_at),
            News::Closed => (
                "edition.alert.closed",
                alert.closed_at.unwrap_or(alert.opened_at),
            ),
        };
        Self {
            r#type,
            date: notice.date,
            rule: alert.rule.name(),
            detail: &alert.detail,
            at,
        }
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
