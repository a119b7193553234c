//! What becomes of a request: carried out and noted at once, under one lock.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::parameters::Parameters;
use crate::{
    fate::{Fate, Verdict},
    fingerprint::fingerprint,
    telegram::{
        Config,
        entities::{Ampersands, Formatted, parse_html},
        fault::{Effect, Sight},
        journal::Seen,
        refusal::Refusal,
        service::{Inside, Service},
        state::{Chat, ChatKind, Message},
    },
};

/// The bot, in the answers of all tokens.
const BOT_NAME: &str = "Almanack";
const BOT_USERNAME: &str = "almanack_bot";

/// A request, as it came.
pub(super) struct Called<'a> {
    pub(super) token: String,
    pub(super) method: &'a str,
    pub(super) parameters: Result<Parameters, Refusal>,
}

/// What a request did, for the journal.
#[derive(Default)]
struct Done {
    effect: Option<Effect>,
    applied: bool,
    message_id: Option<i64>,
    text_units: Option<usize>,
}

/// Carries a request out and notes it.
pub(super) fn judge(app: &Service, called: &Called<'_>) -> Verdict {
    let now = app.now();
    let mut inside = app.lock();
    let inside = &mut *inside;
    let mut done = Done::default();
    let answer = take(&app.config, inside, called, now, &mut done);
    let (fate, slow) = done.effect.map_or((Fate::Answer, Duration::ZERO), fate);
    let parameters = called.parameters.as_ref().ok();
    let chat = parameters.and_then(|parameters| parameters.get("chat_id"));
    inside.journal.note(Seen {
        sequence: 0,
        at: now,
        bot: match called.token.as_str() {
            "" => String::new(),
            token => fingerprint(token),
        },
        method: called.method.to_owned(),
        chat: chat.map(str::to_owned),
        message_id: done.message_id,
        text_units: done.text_units,
        effect: done.effect,
        applied: done.applied,
        status: answer.as_ref().map_or_else(Refusal::status, |_| 200),
        description: answer.as_ref().err().map(ToString::to_string),
        replied: fate == Fate::Answer,
    });
    Verdict {
        response: show(answer),
        wait: inside.latency + slow,
        fate,
    }
}

/// What a fault does to the answer.
fn fate(effect: Effect) -> (Fate, Duration) {
    match effect {
        Effect::HangBefore | Effect::HangAfter => (Fate::Hang, Duration::ZERO),
        Effect::CutBefore | Effect::CutAfter => (Fate::Cut, Duration::ZERO),
        Effect::Slow { wait_ms } => (Fate::Answer, Duration::from_millis(wait_ms)),
        _ => (Fate::Answer, Duration::ZERO),
    }
}

fn take(
    config: &Config,
    inside: &mut Inside,
    called: &Called<'_>,
    now: Timestamp,
    done: &mut Done,
) -> Result<Value, Refusal> {
    admit(config, called)?;
    let parameters = called.parameters.as_ref().map_err(Clone::clone)?;
    let sight = Sight {
        method: called.method,
        chat: parameters.get("chat_id").unwrap_or_default(),
        text: parameters.get("text").unwrap_or_default(),
    };
    done.effect = inside.faults.plan(sight);
    match done.effect {
        Some(Effect::FailBefore(status)) => return Err(Refusal::Broken(status)),
        Some(Effect::Limited { retry_after_s }) => return Err(Refusal::Limited { retry_after_s }),
        // Nobody will read the answer.
        Some(effect) if !effect.applies() => return Err(Refusal::Broken(500)),
        _ => {}
    }
    let mut call = Call {
        config,
        inside,
        parameters,
        now,
        done,
    };
    let answer = call.carry_out(&called.method.to_ascii_lowercase(), &called.token);
    match done.effect {
        Some(Effect::FailAfter(status)) => Err(Refusal::Broken(status)),
        _ => answer,
    }
}

/// A token that cannot be one is not found; one that could be is not authorised.
fn admit(config: &Config, called: &Called<'_>) -> Result<(), Refusal> {
    if config.tokens.contains(&called.token) {
        return Ok(());
    }
    let (id, secret) = called.token.split_once(':').unwrap_or_default();
    let number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let letter = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if number && !secret.is_empty() && secret.chars().all(letter) {
        Err(Refusal::Unauthorized)
    } else {
        Err(Refusal::NotFound)
    }
}

struct Call<'a> {
    config: &'a Config,
    inside: &'a mut Inside,
    parameters: &'a Parameters,
    now: Timestamp,
    done: &'a mut Done,
}

impl Call<'_> {
    /// `method` is in lower case: Telegram does not care.
    fn carry_out(&mut self, method: &str, token: &str) -> Result<Value, Refusal> {
        match method {
            "getme" => Ok(me(token)),
            "sendmessage" => self.send(token),
            "editmessagetext" => self.edit(token),
            "deletemessage" => self.delete(),
            _ => Err(Refusal::NoMethod),
        }
    }

    fn send(&mut self, token: &str) -> Result<Value, Refusal> {
        let text = self.text()?;
        let chat = self.parameters.chat()?;
        let limit = self.inside.messages_per_minute;
        let sent = self.inside.chats.send(chat, text, self.now, limit)?;
        self.done.message_id = Some(sent.1.message_id);
        self.done.applied = true;
        Ok(show_message(sent, token))
    }

    fn edit(&mut self, token: &str) -> Result<Value, Refusal> {
        let text = self.text()?;
        let chat = self.parameters.chat()?;
        let message_id = self.parameters.message_id()?;
        let chats = &mut self.inside.chats;
        let edited = chats.edit(chat, message_id, text, self.now)?;
        self.done.message_id = Some(message_id);
        self.done.applied = true;
        Ok(show_message(edited, token))
    }

    fn delete(&mut self) -> Result<Value, Refusal> {
        let chat = self.parameters.chat()?;
        let message_id = self.parameters.message_id()?;
        self.inside.chats.delete(chat, message_id)?;
        self.done.message_id = Some(message_id);
        self.done.applied = true;
        Ok(Value::Bool(true))
    }

    fn text(&mut self) -> Result<Formatted, Refusal> {
        let text = read_text(self.parameters, self.config.ampersands)?;
        self.done.text_units = Some(text.units());
        Ok(text)
    }
}

fn read_text(parameters: &Parameters, ampersands: Ampersands) -> Result<Formatted, Refusal> {
    let text = parameters.get("text").ok_or(Refusal::NoText)?;
    let mode = parameters.get("parse_mode").unwrap_or_default();
    match mode.to_ascii_lowercase().as_str() {
        "html" => Ok(parse_html(text, ampersands)?),
        "" if parameters.get("entities").is_some() => Err(Refusal::NotModelled("entities")),
        "" | "none" => Ok(Formatted::plain(text)),
        "markdown" | "markdownv2" => Err(Refusal::NotModelled("parse_mode other than HTML")),
        _ => Err(Refusal::ParseMode),
    }
}

fn me(token: &str) -> Value {
    let mut me = bot(token);
    me["can_join_groups"] = json!(true);
    me["can_read_all_group_messages"] = json!(false);
    me["supports_inline_queries"] = json!(false);
    me
}

fn bot(token: &str) -> Value {
    let (id, _) = token.split_once(':').unwrap_or_default();
    let id: i64 = id.parse().unwrap_or_default();
    json!({ "id": id, "is_bot": true, "first_name": BOT_NAME, "username": BOT_USERNAME })
}

fn show_message((chat, message): (&Chat, &Message), token: &str) -> Value {
    let mut shown_chat = json!({ "id": chat.id, "type": chat.kind.as_str() });
    let title = match chat.kind {
        ChatKind::Private => "first_name",
        _ => "title",
    };
    shown_chat[title] = json!(chat.title);
    if let Some(username) = &chat.username {
        shown_chat["username"] = json!(username);
    }
    let mut shown = json!({
        "message_id": message.message_id,
        "chat": shown_chat,
        "date": message.sent_at.as_second(),
        "text": message.text,
    });
    // A channel speaks for itself; elsewhere the bot does.
    match chat.kind {
        ChatKind::Channel => shown["sender_chat"] = shown["chat"].clone(),
        _ => shown["from"] = bot(token),
    }
    if let Some(edited_at) = message.edited_at {
        shown["edit_date"] = json!(edited_at.as_second());
    }
    if !message.entities.is_empty() {
        shown["entities"] = json!(message.entities);
    }
    shown
}

fn show(answer: Result<Value, Refusal>) -> Response {
    let refusal = match answer {
        Ok(result) => return Json(json!({ "ok": true, "result": result })).into_response(),
        Err(refusal) => refusal,
    };
    let status = refusal.status();
    let mut body = json!({
        "ok": false,
        "error_code": status,
        "description": refusal.to_string(),
    });
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let Some(seconds) = refusal.retry_after_s() else {
        return (status, Json(body)).into_response();
    };
    body["parameters"] = json!({ "retry_after": seconds });
    let retry_after = [(header::RETRY_AFTER, HeaderValue::from(seconds))];
    (status, retry_after, Json(body)).into_response()
}
