//! Telegram: the edition as a few messages in a chat.
//!
//! Telegram takes no file and no long text, so the edition is rendered separately for it
//! (`telegram/message.rs`) and cut at the borders of stories. A chat shows a message twice if it is
//! sent twice, and a bot cannot read the chat. So the operator chooses what happens to a message
//! with an unknown result, and so is whether readers get a second document of an edition after the
//! first.

mod html;
mod message;
mod words;

use std::{num::NonZeroU8, sync::Arc};

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        document::Document,
        port::{Failure, Message, Presence, Publisher, Sent},
    },
};
use async_trait::async_trait;
use jiff::SignedDuration;

use crate::telegram::{Bot, Form};

/// The default number of stories in one message.
pub const STORIES_PER_MESSAGE: u8 = 2;
/// Most stories in one message.
pub const STORIES_PER_MESSAGE_MAX: u8 = 10;
/// Between two messages; Telegram takes about one a second of a bot in one chat, and short bursts.
const PAUSE: SignedDuration = SignedDuration::from_millis(500);

/// How many stories are in one message: 1 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerMessage(NonZeroU8);

impl PerMessage {
    /// None if it is not 1 to 10.
    pub fn new(stories: u8) -> Option<Self> {
        let stories = NonZeroU8::new(stories)?;
        (stories.get() <= STORIES_PER_MESSAGE_MAX).then_some(Self(stories))
    }

    fn get(self) -> usize {
        self.0.get().into()
    }
}

/// How a chat gets its editions.
#[derive(Debug, Clone)]
pub struct TelegramPublisherSettings {
    /// The destination's name in the configuration.
    pub destination: String,
    /// How many stories are in one message.
    pub per_message: PerMessage,
    /// What to do when it is unknown whether a message arrived.
    pub on_unknown: OnUnknown,
    /// What to do with a second document. The messages of the first stay either way.
    pub on_revision: OnRevision,
    /// One message with a link to the edition's page, below this address, instead of all stories.
    pub link: Option<String>,
}

/// Delivers to a chat.
pub struct TelegramPublisher {
    bot: Bot,
    settings: TelegramPublisherSettings,
}

impl TelegramPublisher {
    /// Delivers by `bot`.
    pub fn new(bot: Bot, settings: TelegramPublisherSettings) -> Self {
        Self { bot, settings }
    }
}

#[async_trait]
impl Publisher for TelegramPublisher {
    fn destination(&self) -> &str {
        &self.settings.destination
    }

    fn parts(&self, document: &Document) -> Vec<Option<String>> {
        if let Some(pages_url) = &self.settings.link {
            return vec![Some(message::link(&document.inputs, pages_url))];
        }
        let messages = message::messages(&document.inputs, self.settings.per_message.get());
        messages.into_iter().map(Some).collect()
    }

    fn on_unknown(&self) -> OnUnknown {
        self.settings.on_unknown
    }

    fn on_revision(&self) -> OnRevision {
        self.settings.on_revision
    }

    fn requests_per_part(&self) -> u32 {
        1
    }

    fn pause(&self) -> SignedDuration {
        PAUSE
    }

    /// Whether the bot is answered at all, with its token.
    async fn ready(&self, budget: &Arc<Budget>) -> Result<(), Failure> {
        self.bot.reach(Some(budget)).await.map(drop)
    }

    async fn send(&self, message: &Message<'_>, budget: &Arc<Budget>) -> Sent {
        self.bot.say(message.body, Form::Html, Some(budget)).await
    }

    /// A bot cannot read a chat. But no answer at all means an outage, and nothing is decided about
    /// a message during one.
    async fn look(&self, _: &Message<'_>, budget: &Arc<Budget>) -> Presence {
        match self.bot.reach(Some(budget)).await {
            Ok(_) => Presence::CannotVerify,
            Err(failure) => Presence::Failed(failure),
        }
    }
}
