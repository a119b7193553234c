//! Channels and their messages, and what Telegram decides about them; no HTTP.
//!
//! The order of the checks is Telegram's: first the text is read, then the channel is looked up,
//! then whether the bot may write there, and only then whether the text is too long. A client that
//! probes lengths against a wrong channel learns nothing about lengths.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// Longest text of a message, in UTF-16 code units after parsing.
const TEXT_UNITS_MAX: usize = 4_096;
/// What messages are counted over.
const LIMIT_WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// Telegram's refusal, in its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) description: String,
    /// Seconds to wait before a retry.
    pub(super) retry_after_s: Option<u32>,
}

impl Refusal {
    pub(super) fn new(status: u16, description: impl Into<String>) -> Self {
        Self {
            status,
            description: description.into(),
            retry_after_s: None,
        }
    }

    /// An invalid request.
    pub(super) fn bad(why: impl std::fmt::Display) -> Self {
        Self::new(400, format!("Bad Request: {why}"))
    }

    /// One message too many.
    pub(super) fn limited(retry_after_s: u32) -> Self {
        let description = format!("Too Many Requests: retry after {retry_after_s}");
        Self {
            retry_after_s: Some(retry_after_s),
            ..Self::new(429, description)
        }
    }
}

/// The bot's membership in a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    Writer,
    Kicked,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// `-100…`.
    pub id: i64,
    /// Its public name, without `@`.
    pub username: String,
    /// The bot's membership in it.
    pub standing: Standing,
}

impl Chat {
    /// A channel that the bot may write to.
    pub fn channel(id: i64, username: &str) -> Self {
        Self {
            id,
            username: username.trim_start_matches('@').to_owned(),
            standing: Standing::Writer,
        }
    }

    fn is(&self, name: &str) -> bool {
        match name.strip_prefix('@') {
            Some(name) => self.username.eq_ignore_ascii_case(name),
            None => name.parse() == Ok(self.id),
        }
    }
}

/// A message that readers see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Counted in its channel, from 1.
    pub message_id: usize,
    /// When it was accepted.
    pub sent_at: Timestamp,
    /// What readers see, without markup.
    pub text: String,
}

#[derive(Debug)]
struct ChannelState {
    chat: Chat,
    messages: Vec<Message>,
}

#[derive(Debug)]
pub struct Telegram {
    channels: Vec<ChannelState>,
    pub(super) messages_per_minute: Option<u32>,
}

impl Telegram {
    pub(super) fn new(chats: Vec<Chat>, messages_per_minute: Option<u32>) -> Self {
        let mut telegram = Self {
            channels: Vec::new(),
            messages_per_minute,
        };
        for chat in chats {
            telegram.add(chat);
        }
        telegram
    }

    /// Adds or updates a channel; existing messages stay.
    pub(super) fn add(&mut self, chat: Chat) {
        match self.channels.iter_mut().find(|it| it.chat.id == chat.id) {
            Some(held) => held.chat = chat,
            None => self.channels.push(ChannelState {
                chat,
                messages: Vec::new(),
            }),
        }
    }

    /// What readers of a channel see, in order.
    pub(super) fn messages(&self, chat: &str) -> Vec<Message> {
        let held = self.channels.iter().find(|held| held.chat.is(chat));
        held.map(|held| held.messages.clone()).unwrap_or_default()
    }

    pub(super) fn send(
        &mut self,
        chat: &str,
        text: String,
        now: Timestamp,
    ) -> Result<(&Chat, &Message), Refusal> {
        let mut channels = self.channels.iter_mut();
        let held = channels.find(|held| held.chat.is(chat));
        let held = held.ok_or_else(|| Refusal::bad("chat not found"))?;
        if held.chat.standing == Standing::Kicked {
            let why = "Forbidden: bot was kicked from the channel chat";
            return Err(Refusal::new(403, why));
        }
        check_length(&text)?;
        held.check_limit(now, self.messages_per_minute)?;
        held.messages.push(Message {
            message_id: held.messages.len() + 1,
            sent_at: now,
            text,
        });
        let sent = held.messages.last();
        let sent = sent.ok_or_else(|| Refusal::new(500, "Internal Server Error"))?;
        Ok((&held.chat, sent))
    }
}

impl ChannelState {
    /// Refuses the message that would be one too many within a minute.
    fn check_limit(&self, now: Timestamp, per_minute: Option<u32>) -> Result<(), Refusal> {
        let Some(most) = per_minute.and_then(|most| usize::try_from(most).ok()) else {
            return Ok(());
        };
        // There is room once the message that many places before this one is a minute old.
        let blocking = self.messages.len().checked_sub(most);
        let blocking = blocking.and_then(|index| self.messages.get(index));
        let sent_at = blocking.map_or(now, |message| message.sent_at);
        let left = LIMIT_WINDOW - now.duration_since(sent_at);
        if (most > 0 && blocking.is_none()) || !left.is_positive() {
            return Ok(());
        }
        let whole = left.as_secs() + i64::from(left.subsec_nanos() > 0);
        Err(Refusal::limited(u32::try_from(whole).unwrap_or(1)))
    }
}

fn check_length(text: &str) -> Result<(), Refusal> {
    match text.encode_utf16().count() {
        0 => Err(Refusal::bad("text must be non-empty")),
        1..=TEXT_UNITS_MAX => Ok(()),
        _ => Err(Refusal::bad("message is too long")),
    }
}
