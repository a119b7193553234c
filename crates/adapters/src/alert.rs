//! Alerts: what is wrong reaches people by every channel that the configuration names.
//!
//! A channel gets the alerts it asks for, several of them in one message. What channels share is a
//! `Message`; each kind of channel has its own file: signed webhooks and other HTTP channels
//! (`http`), `mail`, Telegram by its bot, a local program ([`exec`]).
//!
//! INVARIANT: a channel that refuses for good (a wrong token, an address that is gone) does not
//! keep alerts from the other channels. The log names the channel and the alerts that it did not
//! take; neither log nor answer holds a token, a password or an address.

pub mod exec;
mod http;
pub mod mail;
mod message;
mod review;
mod words;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use almanack_core::{
    alert::{
        Key, Severity,
        port::{Answer, Notice, Notifier, Outcome},
    },
    edition::port::{Failure, FailureClass, Sent},
    secret::Secret,
    time::Clock,
};
use async_trait::async_trait;
use futures_util::future::join_all;

pub use self::review::ReviewLinks;
pub use crate::language::Language;
use crate::{
    bearer::Bearer,
    http::Client,
    signature::SigningKey,
    telegram::{Bot, BotSettings, Form, MESSAGE_UNITS_MAX, cut},
};
use exec::Program;
use mail::{MailSettings, Mailer};
use message::Message;

/// A way to reach people.
#[derive(Debug, Clone)]
pub enum Way {
    /// A signed POST of JSON.
    Webhook {
        url: String,
        /// What calls are signed with.
        key: Option<SigningKey>,
    },
    /// A message in a chat.
    Telegram(BotSettings),
    Mail(MailSettings),
    /// A notification of ntfy.
    Ntfy {
        /// The server and its topic: `https://ntfy.sh/topic`.
        url: String,
        /// For topics that require a sign-in.
        token: Option<Bearer>,
    },
    /// A message by an incoming webhook of Slack or a compatible service.
    Slack {
        /// The address, which is the secret.
        url: Secret,
    },
    Exec(Program),
}

/// Which alerts a channel gets.
#[derive(Debug, Clone, Default)]
pub struct Wants {
    /// Only of these rules; all when empty.
    pub rules: BTreeSet<String>,
    /// Only of this severity or above.
    pub severity: Option<Severity>,
}

impl Wants {
    fn takes(&self, rule: &str, severity: Severity) -> bool {
        let named = self.rules.is_empty() || self.rules.contains(rule);
        named && self.severity.is_none_or(|least| severity >= least)
    }
}

/// A named way to reach people.
#[derive(Debug, Clone)]
pub struct Channel {
    /// The name used in the store, in answers and in metrics.
    pub name: String,
    /// How people are reached.
    pub way: Way,
    /// Which alerts it gets.
    pub wants: Wants,
}

/// What all channels share.
#[derive(Debug, Clone, Copy)]
pub struct Reporting {
    pub language: Language,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
}

pub struct Channels {
    client: Client,
    clock: Arc<dyn Clock>,
    reporting: Reporting,
    all: Vec<Channel>,
    links: Option<ReviewLinks>,
}

impl Channels {
    /// Notifies by all of `channels`; with none, every alert counts as delivered at once. What can
    /// be checked of mail without a server is checked here.
    pub fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        reporting: Reporting,
        channels: Vec<Channel>,
    ) -> Result<Self, mail::Error> {
        for channel in &channels {
            if let Way::Mail(settings) = &channel.way {
                Mailer::new(settings)?;
            }
        }
        Ok(Self {
            client,
            clock,
            reporting,
            all: channels,
            links: None,
        })
    }

    /// Lets people decide about editions by links, where a channel is private.
    #[must_use]
    pub fn with_links(mut self, links: Option<ReviewLinks>) -> Self {
        self.links = links;
        self
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|channel| channel.name.as_str())
    }

    async fn send(&self, channel: &Channel, message: &Message) -> Sent {
        match &channel.way {
            Way::Webhook { url, key } => self.post(url, key.as_ref(), message).await,
            Way::Ntfy { url, token } => self.notify(url, token.as_ref(), message).await,
            Way::Slack { url } => self.slack(url.expose(), message).await,
            Way::Telegram(settings) => {
                let (client, clock) = (self.client.clone(), self.clock.clone());
                let text = cut(message.private_text.expose(), MESSAGE_UNITS_MAX);
                let bot = Bot::new(client, clock, settings.clone());
                bot.say(&text, Form::Plain, None).await
            }
            Way::Mail(settings) => match Mailer::new(settings) {
                Ok(mailer) => {
                    let at = self.clock.now();
                    mailer.send(message, at, self.reporting.timeout).await
                }
                Err(error) => Sent::Failed(Failure::new(FailureClass::Refused, error.to_string())),
            },
            Way::Exec(program) => program.run(message).await,
        }
    }

    /// Whether a notice goes to this channel. If none of the channels that its schedule names is
    /// configured, all are asked: a name that is gone must not silence an alert.
    fn is_route(&self, notice: &Notice, channel: &str) -> bool {
        let Some(named) = &notice.channels else {
            return true;
        };
        let is_known = named.iter().any(|name| self.names().any(|it| it == name));
        named.iter().any(|name| name == channel) || (!named.is_empty() && !is_known)
    }

    async fn report_one(&self, channel: &Channel, notices: &[Notice]) -> Option<Answer> {
        let wanted = notices.iter().filter(|notice| {
            let alert = &notice.alert;
            let wants = &channel.wants;
            wants.takes(alert.key.rule.as_str(), alert.severity)
                && !alert.taken_by.contains(&channel.name)
                && self.is_route(notice, &channel.name)
        });
        let wanted: Vec<&Notice> = wanted.collect();
        let language = self.reporting.language;
        let message = Message::of_alerts(&wanted, language, self.links.as_ref())?;
        let keys = wanted.iter().map(|it| it.alert.key.clone()).collect();
        let answer = answer(channel, keys, self.send(channel, &message).await);
        if !matches!(answer.outcome, Outcome::Taken(_)) {
            tracing::error!(
                channel = channel.name,
                alerts = wanted.len(),
                error = answer.outcome.detail(),
                outcome = answer.outcome.as_str(),
                "the channel did not take the alerts"
            );
        }
        Some(answer)
    }
}

#[async_trait]
impl Notifier for Channels {
    /// All channels at once: the slowest bounds how long it takes.
    async fn notify(&self, notices: &[Notice]) -> Vec<Answer> {
        let reporting = self.all.iter();
        let reporting = reporting.map(|channel| self.report_one(channel, notices));
        join_all(reporting).await.into_iter().flatten().collect()
    }

    fn channels(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    async fn test(&self, only: Option<&str>) -> Vec<Answer> {
        let message = Message::test(self.reporting.language, self.clock.now());
        let asked = self.all.iter();
        let asked = asked.filter(|channel| only.is_none_or(|only| channel.name == only));
        let reporting = asked.map(|channel| async {
            let sent = self.send(channel, &message).await;
            answer(channel, Vec::new(), sent)
        });
        join_all(reporting).await
    }
}

/// Whether a retry cannot help.
fn is_final(class: FailureClass) -> bool {
    matches!(class, FailureClass::Refused | FailureClass::Credentials)
}

fn answer(channel: &Channel, keys: Vec<Key>, sent: Sent) -> Answer {
    let outcome = match sent {
        Sent::Confirmed { receipt } => Outcome::Taken(receipt.unwrap_or_default()),
        Sent::Failed(failure) if is_final(failure.class) => Outcome::Refused(failure.detail),
        Sent::Failed(failure) | Sent::Unknown(failure) => Outcome::Failed(failure.detail),
    };
    Answer {
        channel: channel.name.clone(),
        keys,
        outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_gets_the_alerts_it_asks_for() {
        let wants = |rules: &[&str], severity| Wants {
            rules: rules.iter().map(|&rule| rule.to_owned()).collect(),
            severity,
        };
        let critical = Some(Severity::Critical);
        for (wants, rule, severity, takes) in [
            (wants(&[], None), "late", Severity::Warning, true),
            (wants(&["late"], None), "late", Severity::Warning, true),
            (wants(&["stuck"], None), "late", Severity::Critical, false),
            (wants(&[], critical), "late", Severity::Warning, false),
            (wants(&["late"], critical), "late", Severity::Critical, true),
        ] {
            assert_eq!(wants.takes(rule, severity), takes, "{wants:?}");
        }
    }
}
