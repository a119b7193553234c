//! From a request to a response: read, refused, answered and recorded, under one lock.

use std::fmt::Display;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Handle, Model, RequestFacts, RequestKind, Setup, TaskFacts,
    fault::{Effect, Rule},
    mind,
    spoil::{self, Completion},
    task::{Message, Task, language_asked, last_of_user},
};
use crate::{
    fingerprint::fingerprint,
    reply::{Answer, Reply},
    stand::Inside,
};

/// A page instead of a response.
const PAGE: &str = "<!doctype html><title>Just a moment...</title><p>Checking your browser.</p>";
/// The response of a gateway.
const GATEWAY_PAGE: &str = "<html><head><title>502 Bad Gateway</title></head></html>";
const HTML: &str = "text/html; charset=utf-8";
const BROKEN: &str = "The server had an error while processing your request. Sorry about that!";

/// A request, as received.
pub(super) struct Incoming<'a> {
    pub(super) path: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// Answers a request and records it.
pub(super) fn decide(stand: &Handle, incoming: &Incoming<'_>) -> Answer {
    let now = stand.now();
    let inside = &mut *stand.lock();
    let mut work = Work::default();
    let answered = work.take(stand.setup(), inside, incoming, now);
    let reply = answered.unwrap_or_else(|refused| refused);
    let effect = work.rule.as_ref().map(|rule| rule.effect);
    let status = reply.status;
    let answer = match effect {
        Some(Effect::Hang) => Answer::Hang,
        Some(Effect::DropReply) => Answer::Cut,
        Some(Effect::Slow { wait_ms }) => Answer::Reply(reply.after_ms(wait_ms)),
        _ => Answer::Reply(reply),
    };
    let kind = RequestKind {
        kind: work.asked.as_ref().map(|asked| asked.kind),
        status,
    };
    let facts = RequestFacts {
        path: incoming.path.to_owned(),
        key: incoming.key.map(fingerprint).unwrap_or_default(),
        asked: work.asked,
        effect,
        replied: matches!(answer, Answer::Reply(_)),
        in_flight: inside.in_flight,
    };
    inside.journal.note(now, kind, facts);
    answer
}

/// What is known about a request, for the journal, however far it got.
#[derive(Default)]
struct Work {
    asked: Option<TaskFacts>,
    rule: Option<Rule>,
}

impl Work {
    fn take(
        &mut self,
        setup: &Setup,
        inside: &mut Inside<Model>,
        incoming: &Incoming<'_>,
        now: Timestamp,
    ) -> Result<Reply, Reply> {
        admit(setup, incoming.key)?;
        let wanted = ChatRequest::read(incoming.body)?;
        let model = &wanted.model;
        if !setup.models.is_empty() && !setup.models.contains(model) {
            let message =
                format!("The model `{model}` does not exist or you do not have access to it.");
            return Err(refusal(404, Some("model_not_found"), &message));
        }
        let task = Task::recognise(&wanted.messages);
        self.asked = Some(asked(&wanted, &task));
        let most = setup.in_flight_max;
        if most.is_some_and(|most| inside.in_flight > most) {
            return Err(limited());
        }
        self.rule = inside.faults.hit(|it| it.matching.covers(&task, model));
        if let Some(refused) = self.rule.as_ref().and_then(|rule| refused_by(rule, now)) {
            return Err(refused);
        }
        let completion = spoil::answer(
            &task,
            (language_asked(&wanted.messages), &setup.sensitive_words),
            self.rule.as_ref(),
        );
        let completion = bounded(completion, wanted.max_tokens);
        let tokens = mind::tokens(completion.content.as_deref().unwrap_or_default());
        if let Some(asked) = &mut self.asked {
            asked.completion_tokens = tokens;
        }
        let number = inside.journal.total() + 1;
        Ok(self.show(&wanted, &completion, number, now))
    }

    fn show(
        &self,
        wanted: &ChatRequest,
        completion: &Completion,
        number: u64,
        now: Timestamp,
    ) -> Reply {
        let asked = self.asked.as_ref();
        let (prompt, written) = asked.map_or((0, 0), |it| (it.prompt_tokens, it.completion_tokens));
        let mut body = json!({
            "id": format!("chatcmpl-{number:08}"),
            "object": "chat.completion",
            "created": now.as_second(),
            "model": wanted.model,
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": completion.content },
                "logprobs": null,
                "finish_reason": if completion.cut { "length" } else { "stop" },
            }],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": written,
                "total_tokens": prompt + written,
            },
        });
        match self.rule.as_ref().map(|rule| rule.effect) {
            Some(Effect::NotJson) => return Reply::new(HTML, PAGE),
            Some(Effect::ErrorInside) => body = error(502, None, BROKEN),
            Some(Effect::NoChoices) => {
                body.as_object_mut().map(|body| body.remove("choices"));
            }
            _ => {}
        }
        Reply::json(200, &body)
    }
}

pub(super) fn admit(setup: &Setup, key: Option<&str>) -> Result<(), Reply> {
    let Some(key) = key.filter(|key| !key.is_empty()) else {
        return Err(refusal(401, None, "You didn't provide an API key."));
    };
    if setup.keys.iter().any(|known| known == key) {
        return Ok(());
    }
    // Services print the key's start and end; this must not reach a log.
    let begins: String = key.chars().take(3).collect();
    let message = format!("Incorrect API key provided: {begins}************.");
    Err(refusal(401, Some("invalid_api_key"), &message))
}

fn asked(wanted: &ChatRequest, task: &Task) -> TaskFacts {
    let prompt = wanted.prompt();
    TaskFacts {
        kind: task.kind(),
        model: wanted.model.clone(),
        input: fingerprint(last_of_user(&wanted.messages)),
        messages: wanted.messages.len(),
        prompt_chars: prompt.chars().count(),
        titles: task.titles().len(),
        temperature: wanted.temperature,
        max_tokens: wanted.max_tokens,
        prompt_tokens: mind::tokens(&prompt),
        completion_tokens: 0,
    }
}

/// Faults that answer instead of the model.
fn refused_by(rule: &Rule, now: Timestamp) -> Option<Reply> {
    match rule.effect {
        Effect::Status(502) => Some(Reply::new(HTML, GATEWAY_PAGE).at(502)),
        Effect::Status(status) => Some(refusal(status, None, BROKEN)),
        Effect::Limited {
            retry_after_s,
            as_date,
        } => Some(match retry_after_s {
            Some(seconds) => limited().retry_after(seconds.into(), as_date.then_some(now)),
            None => limited(),
        }),
        _ => None,
    }
}

/// At most as many tokens as the client allows.
fn bounded(mut completion: Completion, max_tokens: Option<u64>) -> Completion {
    let max = max_tokens.and_then(|max| usize::try_from(max).ok());
    if let (Some(content), Some(max)) = (&mut completion.content, max)
        && mind::tokens(content) > max
    {
        *content = mind::cut_to_tokens(content, max);
        completion.cut = true;
    }
    completion
}

fn limited() -> Reply {
    let message = "Rate limit reached for requests. Please try again later.";
    refusal(429, Some("rate_limit_exceeded"), message)
}

/// A refusal in the shape of such services.
pub(super) fn refusal(status: u16, code: Option<&str>, message: &str) -> Reply {
    Reply::json(status, &error(status, code, message))
}

fn error(status: u16, code: Option<&str>, message: &str) -> Value {
    let kind = match status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}

/// A client's request.
#[derive(Debug, Deserialize)]
struct ChatRequest {
    model: String,
    messages: Vec<Message>,
    temperature: Option<f64>,
    #[serde(alias = "max_completion_tokens")]
    max_tokens: Option<u64>,
    #[serde(default)]
    stream: bool,
}

impl ChatRequest {
    fn read(body: &[u8]) -> Result<Self, Reply> {
        let read = serde_json::from_slice::<Self>(body);
        let unclear = |why: &dyn Display| {
            let message = format!("We could not parse the JSON body of your request: {why}");
            refusal(400, None, &message)
        };
        match read.map_err(|error| unclear(&error))? {
            wanted if wanted.stream => {
                Err(refusal(501, None, "The simulated model does not stream."))
            }
            wanted if wanted.model.is_empty() => Err(unclear(&"`model` is empty")),
            wanted if wanted.messages.is_empty() => Err(unclear(&"`messages` is empty")),
            wanted => Ok(wanted),
        }
    }

    /// Characters and tokens are counted over this.
    fn prompt(&self) -> String {
        let contents = self.messages.iter().map(|message| message.content.as_str());
        contents.collect::<Vec<&str>>().join("\n")
    }
}
