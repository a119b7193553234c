//! From a request to a response: carried out and recorded at once, under one lock.

use std::collections::BTreeMap;

use axum::{
    Form,
    body::Bytes,
    extract::{FromRequest, Request as HttpRequest},
    http::header,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{
    Handle, RequestFacts, RequestKind,
    fault::Effect,
    html::plain_text,
    state::{Chat, Message, Refusal, Telegram},
};
use crate::{
    fingerprint::fingerprint,
    reply::{Answer, Reply},
    stand::Inside,
};

/// Names to values; numbers and switches are texts here, as in a form.
type Parameters = BTreeMap<String, String>;

/// A request, as received.
pub(super) struct Call {
    token: String,
    method: String,
    parameters: Result<Parameters, Refusal>,
}

impl Call {
    /// Reads `/bot{token}/{method}`, with GET or POST, JSON or a form.
    pub(super) async fn read(request: HttpRequest) -> Self {
        let path = request.uri().path();
        let named = path.strip_prefix("/bot").and_then(|it| it.split_once('/'));
        let (token, method) = named.unwrap_or_default();
        Self {
            // Clients may write the colon of a token either way.
            token: token.replace("%3A", ":").replace("%3a", ":"),
            method: method.to_owned(),
            parameters: parameters(request).await,
        }
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let parameters = self.parameters.as_ref().ok()?;
        let value = parameters.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }
}

async fn parameters(request: HttpRequest) -> Result<Parameters, Refusal> {
    let bad = || Refusal::bad("can't parse JSON object");
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/json") {
        let form = Form::<Vec<(String, String)>>::from_request(request, &()).await;
        return Ok(form.map_or_else(|_| Parameters::new(), |Form(it)| it.into_iter().collect()));
    }
    let body = Bytes::from_request(request, &()).await;
    let fields: Map<String, Value> =
        serde_json::from_slice(&body.map_err(|_| bad())?).map_err(|_| bad())?;
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    Ok(fields.map(|(name, value)| (name, text(value))).collect())
}

/// Carries out a request and records it.
pub(super) fn decide(stand: &Handle, call: &Call) -> Answer {
    let now = stand.now();
    let inside = &mut *stand.lock();
    let (mut effect, mut message_id) = (None, None);
    let answer = admit(&stand.setup().tokens, call)
        .and_then(|()| take(inside, call, now, (&mut effect, &mut message_id)));
    let status = answer
        .as_ref()
        .map_or_else(|refusal| refusal.status, |_| 200);
    let reply = show(answer);
    let answer = match effect {
        Some(Effect::HangBefore | Effect::HangAfter) => Answer::Hang,
        Some(Effect::CutBefore | Effect::CutAfter) => Answer::Cut,
        Some(Effect::Slow { wait_ms }) => Answer::Reply(reply.after_ms(wait_ms)),
        _ => Answer::Reply(reply),
    };
    let kind = RequestKind {
        method: call.method.clone(),
        status,
    };
    let facts = RequestFacts {
        bot: match call.token.as_str() {
            "" => String::new(),
            token => fingerprint(token),
        },
        chat: call.parameter("chat_id").map(str::to_owned),
        message_id,
        effect,
        applied: message_id.is_some(),
        replied: matches!(answer, Answer::Reply(_)),
    };
    inside.journal.note(now, kind, facts);
    answer
}

/// A malformed token is not found; an unknown one is not authorised.
fn admit(tokens: &[String], call: &Call) -> Result<(), Refusal> {
    if tokens.contains(&call.token) {
        return Ok(());
    }
    let (id, secret) = call.token.split_once(':').unwrap_or_default();
    let looks_right = id.parse::<u64>().is_ok() && !secret.is_empty();
    Err(if looks_right {
        Refusal::new(401, "Unauthorized")
    } else {
        Refusal::new(404, "Not Found")
    })
}

fn take(
    inside: &mut Inside<Telegram>,
    call: &Call,
    now: Timestamp,
    (effect, message_id): (&mut Option<Effect>, &mut Option<i64>),
) -> Result<Value, Refusal> {
    call.parameters.as_ref().map_err(Clone::clone)?;
    let [chat, text] = ["chat_id", "text"].map(|it| call.parameter(it).unwrap_or_default());
    *effect = inside.faults.plan(|it| it.covers(&call.method, chat, text));
    match *effect {
        Some(Effect::FailBefore(status)) => return Err(broken(status)),
        Some(Effect::Limited { retry_after_s }) => return Err(Refusal::limited(retry_after_s)),
        // The response is never read.
        Some(Effect::HangBefore | Effect::CutBefore) => return Err(broken(500)),
        _ => {}
    }
    let answer = match call.method.to_ascii_lowercase().as_str() {
        "getme" => Ok(bot(&call.token)),
        "sendmessage" => send(&mut inside.state, call, now).map(|(sent, id)| {
            *message_id = i64::try_from(id).ok();
            sent
        }),
        _ => Err(Refusal::new(404, "Not Found: method not found")),
    };
    match *effect {
        Some(Effect::FailAfter(status)) => Err(broken(status)),
        _ => answer,
    }
}

fn send(telegram: &mut Telegram, call: &Call, now: Timestamp) -> Result<(Value, usize), Refusal> {
    let text = read_text(call)?;
    let chat = call.parameter("chat_id");
    let chat = chat.ok_or_else(|| Refusal::bad("chat_id is empty"))?;
    let (chat, message) = telegram.send(chat, text, now)?;
    Ok((show_message(chat, message), message.message_id))
}

fn read_text(call: &Call) -> Result<String, Refusal> {
    let text = call.parameter("text");
    let text = text.ok_or_else(|| Refusal::bad("message text is empty"))?;
    match call.parameter("parse_mode").unwrap_or_default() {
        "HTML" => {
            plain_text(text).map_err(|why| Refusal::bad(format!("can't parse entities: {why}")))
        }
        "" => Ok(text.trim().to_owned()),
        _ => {
            let why = "Not Implemented: the simulated Telegram supports only parse_mode HTML";
            Err(Refusal::new(501, why))
        }
    }
}

fn bot(token: &str) -> Value {
    let (id, _) = token.split_once(':').unwrap_or_default();
    let id: i64 = id.parse().unwrap_or_default();
    json!({ "id": id, "is_bot": true, "first_name": "Almanack", "username": "almanack_bot" })
}

fn show_message(chat: &Chat, message: &Message) -> Value {
    let name = &chat.username;
    let chat = json!({ "id": chat.id, "type": "channel", "title": name, "username": name });
    json!({
        "message_id": message.message_id,
        "sender_chat": chat,
        "chat": chat,
        "date": message.sent_at.as_second(),
        "text": message.text,
    })
}

fn show(answer: Result<Value, Refusal>) -> Reply {
    let refusal = match answer {
        Ok(result) => return Reply::json(200, &json!({ "ok": true, "result": result })),
        Err(refusal) => refusal,
    };
    let mut body = json!({
        "ok": false,
        "error_code": refusal.status,
        "description": refusal.description,
    });
    let Some(seconds) = refusal.retry_after_s else {
        return Reply::json(refusal.status, &body);
    };
    body["parameters"] = json!({ "retry_after": seconds });
    Reply::json(refusal.status, &body).with("retry-after", seconds.to_string())
}

fn broken(status: u16) -> Refusal {
    let description = match status {
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Internal Server Error",
    };
    Refusal::new(status, description)
}
