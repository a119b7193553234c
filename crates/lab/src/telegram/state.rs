//! Chats and their messages, and what Telegram decides about them; no HTTP.
//!
//! The order of the checks is Telegram's: first the text is read, then the chat is looked up, then
//! whether the bot may write there, and only then whether the text is too long. A client that probes
//! lengths against a wrong chat learns nothing about lengths.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    entities::{Entity, Formatted},
    refusal::Refusal,
};

/// Longest text of a message, in UTF-16 code units after parsing.
pub const TEXT_UNITS_MAX: usize = 4_096;
/// What messages are counted over.
const LIMIT_WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// The kinds of chats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// Only administrators write.
    Channel,
    /// Everybody writes.
    Supergroup,
    /// With one person.
    Private,
}

impl ChatKind {
    /// Telegram's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Channel => "channel",
            Self::Supergroup => "supergroup",
            Self::Private => "private",
        }
    }
}

/// How the bot stands in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// May write.
    Writer,
    /// Is there, but may not write.
    NoRights,
    /// Was never let in.
    NotMember,
    /// Was thrown out.
    Kicked,
}

/// A chat to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chat {
    /// `-100…` for channels and supergroups.
    pub id: i64,
    /// Its public name, without `@`.
    #[serde(default)]
    pub username: Option<String>,
    /// What readers see above it.
    pub title: String,
    /// What it is.
    pub kind: ChatKind,
    /// How the bot stands in it.
    pub standing: Standing,
}

impl Chat {
    /// A channel that the bot may write to.
    pub fn channel(id: i64, username: &str) -> Self {
        Self {
            id,
            username: Some(username.trim_start_matches('@').to_owned()),
            title: username.trim_start_matches('@').to_owned(),
            kind: ChatKind::Channel,
            standing: Standing::Writer,
        }
    }

    fn is(&self, name: &str) -> bool {
        let own = self.username.as_deref().unwrap_or_default();
        match name.strip_prefix('@') {
            Some(name) => !own.is_empty() && own.eq_ignore_ascii_case(name),
            None => name.parse() == Ok(self.id),
        }
    }
}

/// A message that readers see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Counted in its chat, from 1.
    pub message_id: i64,
    /// When it was taken.
    pub sent_at: Timestamp,
    /// When it was last changed.
    pub edited_at: Option<Timestamp>,
    /// What readers see, without markup.
    pub text: String,
    /// How it is formatted.
    pub entities: Vec<Entity>,
}

#[derive(Debug)]
struct Held {
    chat: Chat,
    messages: BTreeMap<i64, Message>,
    /// Every message ever taken, also those deleted since.
    sent_at: Vec<Timestamp>,
}

/// All chats.
#[derive(Debug, Default)]
pub struct Chats(Vec<Held>);

impl Chats {
    /// Adds a chat; one of that id keeps its messages and takes what else is new.
    pub fn add(&mut self, chat: Chat) {
        match self.0.iter_mut().find(|held| held.chat.id == chat.id) {
            Some(held) => held.chat = chat,
            None => self.0.push(Held {
                chat,
                messages: BTreeMap::new(),
                sent_at: Vec::new(),
            }),
        }
    }

    /// What readers of a chat see, in order. A chat is named by its id or its `@name`.
    pub fn messages(&self, chat: &str) -> Vec<Message> {
        let held = self.0.iter().find(|held| held.chat.is(chat));
        held.map(|held| held.messages.values().cloned().collect())
            .unwrap_or_default()
    }

    /// How many messages a chat ever took, those deleted since included.
    pub fn sent(&self, chat: &str) -> usize {
        let held = self.0.iter().find(|held| held.chat.is(chat));
        held.map_or(0, |held| held.sent_at.len())
    }

    /// Takes a message.
    pub fn send(
        &mut self,
        chat: &str,
        text: Formatted,
        now: Timestamp,
        per_minute: Option<u32>,
    ) -> Result<(&Chat, &Message), Refusal> {
        let held = self.writable(chat)?;
        check_length(&text)?;
        held.limit(now, per_minute)?;
        held.sent_at.push(now);
        let message_id = i64::try_from(held.sent_at.len()).unwrap_or(i64::MAX);
        let message = Message {
            message_id,
            sent_at: now,
            edited_at: None,
            text: text.text,
            entities: text.entities,
        };
        let message = held.messages.entry(message_id).or_insert(message);
        Ok((&held.chat, message))
    }

    /// Changes the text of a message.
    pub fn edit(
        &mut self,
        chat: &str,
        message_id: i64,
        text: Formatted,
        now: Timestamp,
    ) -> Result<(&Chat, &Message), Refusal> {
        let held = self.writable(chat)?;
        let message = held.messages.get_mut(&message_id);
        let message = message.ok_or(Refusal::NothingToEdit)?;
        check_length(&text)?;
        if (&message.text, &message.entities) == (&text.text, &text.entities) {
            return Err(Refusal::NotModified);
        }
        message.text = text.text;
        message.entities = text.entities;
        message.edited_at = Some(now);
        Ok((&held.chat, message))
    }

    /// Removes a message.
    pub fn delete(&mut self, chat: &str, message_id: i64) -> Result<(), Refusal> {
        let held = self.writable(chat)?;
        let deleted = held.messages.remove(&message_id);
        deleted.map(|_| ()).ok_or(Refusal::NothingToDelete)
    }

    fn writable(&mut self, chat: &str) -> Result<&mut Held, Refusal> {
        let mut all = self.0.iter_mut();
        let held = all.find(|held| held.chat.is(chat)).ok_or(Refusal::NoChat)?;
        let Chat { standing, kind, .. } = held.chat;
        match standing {
            Standing::Writer => Ok(held),
            _ => Err(Refusal::Excluded { standing, kind }),
        }
    }
}

impl Held {
    /// Refuses the message that would be one too many within a minute.
    fn limit(&self, now: Timestamp, per_minute: Option<u32>) -> Result<(), Refusal> {
        let Some(most) = per_minute.and_then(|most| usize::try_from(most).ok()) else {
            return Ok(());
        };
        let recent = |at: &&Timestamp| now.duration_since(**at) < LIMIT_WINDOW;
        let recent: Vec<Timestamp> = self.sent_at.iter().filter(recent).copied().collect();
        let excess = (recent.len() + 1).checked_sub(most);
        let Some(over) = excess.filter(|over| *over > 0) else {
            return Ok(());
        };
        // Once this one is a minute old, there is room.
        let blocking = recent.get(over - 1).copied().unwrap_or(now);
        let wait = LIMIT_WINDOW - now.duration_since(blocking);
        let whole = wait.as_secs() + i64::from(wait.subsec_nanos() > 0);
        let retry_after_s = u32::try_from(whole).unwrap_or(1).max(1);
        Err(Refusal::Limited { retry_after_s })
    }
}

fn check_length(text: &Formatted) -> Result<(), Refusal> {
    match text.units() {
        0 => Err(Refusal::EmptyText),
        1..=TEXT_UNITS_MAX => Ok(()),
        _ => Err(Refusal::TooLong),
    }
}

#[cfg(test)]
mod tests;
