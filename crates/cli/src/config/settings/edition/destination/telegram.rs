//! `[edition.telegram]`: a chat.

use almanack_adapters::{
    publish::telegram::{PerMessage, STORIES_PER_MESSAGE, STORIES_PER_MESSAGE_MAX},
    telegram::{API_URL, BotToken},
};
use almanack_core::edition::delivery::{OnRevision, OnUnknown};

use super::{
    super::{
        super::super::{
            key::KeyPath,
            reader::{Reader, Show},
            value::{self, Complaint},
        },
        address, founding_variable, is_given,
    },
    half, switch,
};

const TELEGRAM: &str = "edition.telegram";

/// A chat.
#[derive(Debug, Clone)]
pub(crate) struct ToTelegram {
    /// Who speaks.
    pub(crate) token: BotToken,
    /// Where.
    pub(crate) chat: String,
    /// How many stories stand in one message.
    pub(crate) per_message: PerMessage,
    /// What becomes of a doubtful message.
    pub(crate) on_unknown: OnUnknown,
    /// What becomes of a second document.
    pub(crate) on_revision: OnRevision,
    /// Where the API answers.
    pub(crate) api_url: String,
}

impl Show for OnUnknown {
    fn show(&self) -> String {
        match self {
            Self::Skip => "\"skip\"".to_owned(),
            Self::Repeat => "\"repeat\"".to_owned(),
        }
    }
}

impl Show for OnRevision {
    fn show(&self) -> String {
        match self {
            Self::Replace => "\"send\"".to_owned(),
            Self::Skip => "\"skip\"".to_owned(),
        }
    }
}

pub(super) fn read(reader: &mut Reader<'_>) -> Option<ToTelegram> {
    let key = |name| KeyPath::plain(TELEGRAM, name);
    // Who configures it in our own way wants it; the founding setup has a switch that is off.
    let own_way = reader
        .layer
        .iter()
        .any(|(path, given)| path.section == TELEGRAM && founding_variable(&given.place).is_none());
    let enabled = switch(reader, TELEGRAM, own_way, |text| text == "true");
    let token = bot_token(reader, &key("token"), "(none)");
    let chat = reader.optional(&key("chat"), "(none)", value::text);
    let stories = value::count(1..=STORIES_PER_MESSAGE_MAX);
    let stories = reader.value(&key("batch_size"), STORIES_PER_MESSAGE, stories);
    let unknown = &[("skip", OnUnknown::Skip), ("repeat", OnUnknown::Repeat)];
    let revision = &[("send", OnRevision::Replace), ("skip", OnRevision::Skip)];
    let on_unknown = reader.value(&key("on_unknown"), OnUnknown::Skip, value::choice(unknown));
    let on_revision = value::choice(revision);
    let on_revision = reader.value(&key("on_revision"), OnRevision::Skip, on_revision);
    let api_url = reader.value(&key("api_url"), API_URL.to_owned(), address);
    if !enabled {
        return None;
    }
    if !is_given(reader, TELEGRAM, &["token"]) {
        let hint = "set TELEGRAM_BOT_TOKEN, or edition.telegram.token to where it is kept";
        half(reader, TELEGRAM, "the bot's token", hint);
    } else if !is_given(reader, TELEGRAM, &["chat"]) {
        let hint =
            "set edition.telegram.chat or TELEGRAM_CHANNEL_ID to \"@channel\" or the chat's number";
        half(reader, TELEGRAM, "the chat", hint);
    }
    Some(ToTelegram {
        token: token?,
        chat: chat?,
        per_message: PerMessage::new(stories)?,
        on_unknown,
        on_revision,
        api_url,
    })
}

/// A bot's token, if it looks like one.
pub(in super::super::super) fn bot_token(
    reader: &mut Reader<'_>,
    path: &KeyPath,
    unset: &str,
) -> Option<BotToken> {
    let secret = reader.secret(path, unset)?;
    match BotToken::parse(secret.expose()) {
        Ok(token) => Some(token),
        Err(error) => {
            let hint = "BotFather gives it out: digits, a colon, letters";
            reader.complain(path, Complaint::new(error.to_string(), hint))
        }
    }
}
