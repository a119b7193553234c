//! One post with a link: Slack, Discord, Mastodon and Bluesky (ED-34).
//!
//! All four are one request with a short text, so one table says what they differ in: how long a
//! text may be, how a story is written, where it is sent and what its answer means. The edition
//! itself is on its page; the post names it, lists as many titles as fit, and links there.
//!
//! | | limit | repeated safely? |
//! | --- | --- | --- |
//! | Slack | 3,000 characters | no: by preference |
//! | Discord | 2,000 characters | no: by preference |
//! | Mastodon | 500 characters, a link counts as 23 | yes, by `Idempotency-Key` |
//! | Bluesky | 300 characters, 3,000 bytes | yes: its record has a key made of the edition's, and a look finds it |
//!
//! INVARIANT: no detail of any failure holds a token, a password or a webhook's address.

mod bluesky;
mod text;

use std::{sync::Arc, time::Duration};

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        document::Document,
        port::{Failure, FailureClass, Message, Presence, Publisher, Sent},
    },
    secret::Secret,
    time::Clock,
};
use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{unsent, webhook::result_of};
use crate::http::{Client, Limits, Request};

/// How much of an answer is read.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Recognises a repetition at Mastodon.
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Who sees a post at Mastodon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visibility {
    #[default]
    Public,
    /// By those who look, but in no timeline.
    Unlisted,
    /// By followers.
    Private,
}

impl Visibility {
    fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unlisted => "unlisted",
            Self::Private => "private",
        }
    }
}

/// Where a post goes.
#[derive(Debug, Clone)]
pub enum Service {
    /// An incoming webhook.
    Slack { url: Secret },
    /// A channel's webhook.
    Discord { url: Secret },
    Mastodon {
        /// The instance: `https://mastodon.example`.
        server: String,
        token: Secret,
        visibility: Visibility,
    },
    Bluesky {
        /// The personal data server: `https://bsky.social`.
        server: String,
        handle: String,
        /// An app password.
        password: Secret,
    },
}

impl Service {
    /// The destination's name in the configuration.
    fn name(&self) -> &'static str {
        match self {
            Self::Slack { .. } => "slack",
            Self::Discord { .. } => "discord",
            Self::Mastodon { .. } => "mastodon",
            Self::Bluesky { .. } => "bluesky",
        }
    }

    /// The address it is called at, which may hold a secret.
    pub fn address(&self) -> &str {
        match self {
            Self::Slack { url } | Self::Discord { url } => url.expose(),
            Self::Mastodon { server, .. } | Self::Bluesky { server, .. } => server,
        }
    }

    /// What its texts may be.
    fn form(&self) -> text::Form {
        match self {
            Self::Slack { .. } => text::Form::SLACK,
            Self::Discord { .. } => text::Form::DISCORD,
            Self::Mastodon { .. } => text::Form::MASTODON,
            Self::Bluesky { .. } => text::Form::BLUESKY,
        }
    }
}

/// How posts are made.
#[derive(Debug, Clone)]
pub struct PostSettings {
    pub service: Service,
    /// Where editions are on the web, without a slash at the end; posts have no link without it.
    pub pages_url: Option<String>,
    /// What to do with a post that may have arrived, where the service cannot know.
    pub on_unknown: OnUnknown,
    /// How long an answer may take, connection included.
    pub timeout: Duration,
}

/// Posts to one service.
pub struct PostPublisher {
    client: Client,
    clock: Arc<dyn Clock>,
    settings: PostSettings,
}

impl PostPublisher {
    /// Posts as `settings` say.
    pub fn new(client: Client, clock: Arc<dyn Clock>, settings: PostSettings) -> Self {
        Self {
            client,
            clock,
            settings,
        }
    }

    fn json(&self, url: &str, body: &Value, budget: &Arc<Budget>) -> Request {
        let limits = Limits::within(self.settings.timeout, ANSWER_BYTES_MAX);
        Request::post_json(url, body.to_string().into_bytes())
            .limits(limits)
            .paid_by(Arc::clone(budget))
    }

    /// Sends, and reads what the service knows the post by.
    async fn ask(&self, request: Request, receipt: fn(&Value) -> Option<String>) -> Sent {
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(error) => return unsent(&error),
        };
        match result_of(&response.head, self.clock.now()) {
            Sent::Confirmed { .. } => {
                let answer = serde_json::from_slice::<Value>(&response.body);
                let receipt = answer.ok().as_ref().and_then(receipt);
                Sent::Confirmed { receipt }
            }
            other => other,
        }
    }
}

fn text_at(answer: &Value, name: &str) -> Option<String> {
    answer[name].as_str().map(str::to_owned)
}

#[async_trait]
impl Publisher for PostPublisher {
    fn destination(&self) -> &str {
        self.settings.service.name()
    }

    fn parts(&self, document: &Document) -> Vec<Option<String>> {
        let pages_url = self.settings.pages_url.as_deref();
        let form = self.settings.service.form();
        vec![Some(form.write(&document.inputs, pages_url))]
    }

    fn on_unknown(&self) -> OnUnknown {
        match self.settings.service {
            Service::Slack { .. } | Service::Discord { .. } => self.settings.on_unknown,
            Service::Mastodon { .. } | Service::Bluesky { .. } => OnUnknown::Repeat,
        }
    }

    /// Readers saw the first post; a second one would be the same link.
    fn on_revision(&self) -> OnRevision {
        OnRevision::Skip
    }

    fn requests_per_part(&self) -> u32 {
        match self.settings.service {
            Service::Bluesky { .. } => 2,
            _ => 1,
        }
    }

    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent {
        match &self.settings.service {
            Service::Slack { url } => {
                let body = json!({ "text": message.body, "unfurl_links": false });
                self.ask(self.json(url.expose(), &body, budget), |_| None)
                    .await
            }
            Service::Discord { url } => {
                // The answer names the message only if it is waited for; nobody is mentioned.
                let address = format!("{}?wait=true", url.expose());
                let body = json!({ "content": message.body, "allowed_mentions": { "parse": [] } });
                let request = self.json(&address, &body, budget);
                self.ask(request, |answer| text_at(answer, "id")).await
            }
            Service::Mastodon {
                server,
                token,
                visibility,
            } => {
                let address = format!("{}/api/v1/statuses", server.trim_end_matches('/'));
                let language = main_language(&message.document.inputs.language);
                let body = json!({
                    "status": message.body,
                    "visibility": visibility.as_str(),
                    "language": language,
                });
                let key = format!("{:x}", Sha256::digest(&message.key));
                let request = self
                    .json(&address, &body, budget)
                    .header(IDEMPOTENCY_KEY, &key)
                    .header(AUTHORIZATION, &format!("Bearer {}", token.expose()));
                self.ask(request, |answer| text_at(answer, "url")).await
            }
            Service::Bluesky { .. } => self.send_to_bluesky(message, budget).await,
        }
    }

    async fn look(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Presence {
        match &self.settings.service {
            Service::Bluesky { .. } => self.look_at_bluesky(message, budget).await,
            _ => Presence::CannotVerify,
        }
    }
}

/// `zh` of `zh-CN`.
fn main_language(tag: &str) -> &str {
    tag.split(['-', '_']).next().unwrap_or(tag)
}

fn unusable(detail: &str) -> Failure {
    Failure::new(FailureClass::Unusable, detail)
}
