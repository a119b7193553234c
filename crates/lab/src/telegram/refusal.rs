//! Why Telegram says no, in its words.

use super::{
    entities,
    state::{ChatKind, Standing},
};

/// Why a request is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The path names no bot and method, or the token is none by its looks.
    #[error("Not Found")]
    NotFound,
    /// A token that was never given, or was revoked.
    #[error("Unauthorized")]
    Unauthorized,
    /// A method that does not exist here.
    #[error("Not Found: method not found")]
    NoMethod,
    /// The body is not what its type says.
    #[error("Bad Request: can't parse JSON object")]
    BadBody,
    /// A method or parameter of Telegram's that this server does not model.
    #[error("Not Implemented: the simulated Telegram knows no `{0}`")]
    NotModelled(&'static str),
    /// No chat is named.
    #[error("Bad Request: chat_id is empty")]
    NoChatId,
    /// No message is named.
    #[error("Bad Request: message identifier is not specified")]
    NoMessageId,
    /// No text at all.
    #[error("Bad Request: message text is empty")]
    NoText,
    /// Nothing is left of the text once markup and white space are gone.
    #[error("Bad Request: text must be non-empty")]
    EmptyText,
    /// More than 4,096 UTF-16 code units are left.
    #[error("Bad Request: message is too long")]
    TooLong,
    /// A way to parse that does not exist.
    #[error("Bad Request: unsupported parse_mode")]
    ParseMode,
    /// Markup that cannot be read.
    #[error("Bad Request: can't parse entities: {0}")]
    Entities(#[from] entities::Error),
    /// No such chat.
    #[error("Bad Request: chat not found")]
    NoChat,
    /// The bot may not write there.
    #[error("{}", excluded(*.standing, *.kind))]
    Excluded {
        /// How it stands.
        standing: Standing,
        /// In what kind of chat.
        kind: ChatKind,
    },
    /// No message to delete.
    #[error("Bad Request: message to delete not found")]
    NothingToDelete,
    /// No message to edit.
    #[error("Bad Request: message to edit not found")]
    NothingToEdit,
    /// An edit that changes nothing.
    #[error(
        "Bad Request: message is not modified: specified new message content and reply markup are \
         exactly the same as a current content and reply markup of the message"
    )]
    NotModified,
    /// Too many messages.
    #[error("Too Many Requests: retry after {retry_after_s}")]
    Limited {
        /// Seconds until the next may come.
        retry_after_s: u32,
    },
    /// A fault says so.
    #[error("{}", broken(*.0))]
    Broken(u16),
}

impl Refusal {
    /// The status of the answer, and its `error_code`.
    pub fn status(&self) -> u16 {
        match self {
            Self::NotFound | Self::NoMethod => 404,
            Self::Unauthorized => 401,
            Self::NotModelled(_) => 501,
            Self::Excluded {
                standing: Standing::NoRights,
                ..
            } => 400,
            Self::Excluded { .. } => 403,
            Self::Limited { .. } => 429,
            Self::Broken(status) => *status,
            _ => 400,
        }
    }

    /// Seconds until trying again makes sense.
    pub fn retry_after_s(&self) -> Option<u32> {
        match self {
            Self::Limited { retry_after_s } => Some(*retry_after_s),
            _ => None,
        }
    }
}

fn excluded(standing: Standing, kind: ChatKind) -> String {
    let chat = kind.as_str();
    match (standing, kind) {
        (Standing::Kicked, ChatKind::Private) => {
            "Forbidden: bot was blocked by the user".to_owned()
        }
        (Standing::Kicked, _) => format!("Forbidden: bot was kicked from the {chat} chat"),
        (Standing::NoRights, ChatKind::Channel) => {
            "Bad Request: need administrator rights in the channel chat".to_owned()
        }
        (Standing::NoRights, _) => {
            "Bad Request: not enough rights to send text messages to the chat".to_owned()
        }
        (_, ChatKind::Private) => {
            "Forbidden: bot can't initiate conversation with a user".to_owned()
        }
        _ => format!("Forbidden: bot is not a member of the {chat} chat"),
    }
}

fn broken(status: u16) -> &'static str {
    match status {
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Internal Server Error",
    }
}
