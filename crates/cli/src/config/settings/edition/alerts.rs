//! `[alerts.webhook]` and `[alerts.telegram]`: who is told when something is wrong with an edition.

use almanack_adapters::{
    signature::SigningKey,
    telegram::{API_URL, BotToken},
};

use super::{
    super::{
        super::{key::KeyPath, reader::Reader, value},
        signing_key,
    },
    address,
    destination::{bot_token, half},
    is_given,
};

const WEBHOOK: &str = "alerts.webhook";
const TELEGRAM: &str = "alerts.telegram";

/// Who is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alerts {
    /// A program.
    pub(crate) webhook: Option<AlertHook>,
    /// People in a chat.
    pub(crate) telegram: Option<AlertChat>,
}

/// A program that is told.
#[derive(Debug, Clone)]
pub(crate) struct AlertHook {
    /// Where it listens.
    pub(crate) url: String,
    /// What calls are signed with.
    pub(crate) key: Option<SigningKey>,
}

/// A chat that is told.
#[derive(Debug, Clone)]
pub(crate) struct AlertChat {
    /// Who speaks.
    pub(crate) token: BotToken,
    /// Where.
    pub(crate) chat: String,
    /// Where the API answers.
    pub(crate) api_url: String,
}

impl Alerts {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            webhook: read_webhook(reader),
            telegram: read_telegram(reader),
        }
    }
}

fn read_webhook(reader: &mut Reader<'_>) -> Option<AlertHook> {
    let key = |name| KeyPath::plain(WEBHOOK, name);
    let url = reader.optional(&key("url"), "(none)", address);
    let signed = signing_key(reader, &key("secret"), "(calls are not signed)");
    if !is_given(reader, WEBHOOK, &["url"]) && is_given(reader, WEBHOOK, &["secret"]) {
        half(reader, WEBHOOK, "the address", "set alerts.webhook.url");
    }
    Some(AlertHook {
        url: url?,
        key: signed,
    })
}

fn read_telegram(reader: &mut Reader<'_>) -> Option<AlertChat> {
    let key = |name| KeyPath::plain(TELEGRAM, name);
    let token = bot_token(reader, &key("token"), "(none)");
    let chat = reader.optional(&key("chat"), "(none)", value::text);
    let api_url = reader.value(&key("api_url"), API_URL.to_owned(), address);
    let given = |name| is_given(reader, TELEGRAM, &[name]);
    match (given("token"), given("chat")) {
        (true, false) => half(
            reader,
            TELEGRAM,
            "the chat",
            "set alerts.telegram.chat to \"@channel\" or the chat's number",
        ),
        (false, true) => half(
            reader,
            TELEGRAM,
            "the bot's token",
            "set alerts.telegram.token to where it is kept",
        ),
        _ => {}
    }
    Some(AlertChat {
        token: token?,
        chat: chat?,
        api_url,
    })
}
