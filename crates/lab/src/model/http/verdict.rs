//! What becomes of a request: decided and noted at once, under one lock.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::body::Wanted;
use crate::{
    fate::{Fate, Verdict},
    fingerprint::fingerprint,
    model::{
        Config,
        fault::{Effect, Rule, Sight},
        journal::{Asked, Seen},
        mind,
        refusal::{Refusal, RetryAfter},
        service::{Inside, Service},
        spoil::{self, Said},
        task::Task,
    },
};

/// What stands where an answer should be.
const PAGE: &str = "<!doctype html><title>Just a moment...</title><p>Checking your browser.</p>";
/// What a gateway says.
const GATEWAY_PAGE: &str = "<html><head><title>502 Bad Gateway</title></head></html>";

/// A request, as it came.
pub(super) struct Came<'a> {
    pub(super) path: &'a str,
    pub(super) key: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// Judges a request and notes it.
pub(super) fn judge(app: &Service, came: &Came<'_>) -> Verdict {
    let now = app.now();
    let mut inside = app.lock();
    let inside = &mut *inside;
    let mut work = Work::default();
    let answered = work.take(&app.config, inside, came, now);
    let response = answered.unwrap_or_else(|refusal| refuse(&refusal));
    let effect = work.rule.as_ref().map(|rule| rule.effect);
    let (fate, slow) = effect.map_or((Fate::Answer, Duration::ZERO), fate);
    inside.journal.note(Seen {
        sequence: 0,
        at: now,
        path: came.path.to_owned(),
        key: came.key.map(fingerprint).unwrap_or_default(),
        asked: work.asked,
        effect,
        status: response.status().as_u16(),
        replied: fate == Fate::Answer,
        in_flight: inside.in_flight,
    });
    Verdict {
        response,
        wait: inside.latency + slow,
        fate,
    }
}

/// What a fault does to the answer.
fn fate(effect: Effect) -> (Fate, Duration) {
    match effect {
        Effect::Hang => (Fate::Hang, Duration::ZERO),
        Effect::DropReply => (Fate::Cut, Duration::ZERO),
        Effect::Slow { wait_ms } => (Fate::Answer, Duration::from_millis(wait_ms)),
        _ => (Fate::Answer, Duration::ZERO),
    }
}

/// What was found out about a request, for the journal, however far it came.
#[derive(Default)]
struct Work {
    asked: Option<Asked>,
    rule: Option<Rule>,
}

impl Work {
    fn take(
        &mut self,
        config: &Config,
        inside: &mut Inside,
        came: &Came<'_>,
        now: Timestamp,
    ) -> Result<Response, Refusal> {
        admit(config, came.key)?;
        let wanted = Wanted::read(came.body)?;
        let model = &wanted.model;
        if !config.models.is_empty() && !config.models.contains(model) {
            let model = model.clone();
            return Err(Refusal::NoModel { model });
        }
        let task = Task::recognise(&wanted.messages);
        self.asked = Some(asked(&wanted, &task));
        if config
            .in_flight_max
            .is_some_and(|max| inside.in_flight > max)
        {
            return Err(Refusal::Limited { retry_after: None });
        }
        let sight = Sight { task: &task, model };
        self.rule = inside.faults.hit(sight);
        if let Some(refusal) = self.rule.as_ref().and_then(|rule| refusal(rule, now)) {
            return Err(refusal);
        }
        let said = spoil::answer(&task, &config.sensitive_words, self.rule.as_ref());
        let said = bounded(said, wanted.max_tokens);
        let said_tokens = mind::tokens(said.content.as_deref().unwrap_or_default());
        if let Some(asked) = &mut self.asked {
            asked.completion_tokens = said_tokens;
        }
        let number = inside.journal.total() + 1;
        Ok(self.show(&wanted, &said, number, now))
    }

    fn show(&self, wanted: &Wanted, said: &Said, number: u64, now: Timestamp) -> Response {
        let mut body = json!({
            "id": format!("chatcmpl-{number:08}"),
            "object": "chat.completion",
            "created": now.as_second(),
            "model": wanted.model,
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": said.content },
                "logprobs": null,
                "finish_reason": if said.cut { "length" } else { "stop" },
            }],
            "usage": self.usage(),
        });
        match self.rule.as_ref().map(|rule| rule.effect) {
            Some(Effect::NotJson) => return Html(PAGE).into_response(),
            Some(Effect::ErrorInside) => body = Refusal::Broken(502).body(),
            Some(Effect::NoChoices) => {
                body.as_object_mut().map(|body| body.remove("choices"));
            }
            _ => {}
        }
        Json(body).into_response()
    }

    fn usage(&self) -> Value {
        let asked = self.asked.as_ref();
        let (prompt, completion) =
            asked.map_or((0, 0), |it| (it.prompt_tokens, it.completion_tokens));
        json!({
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        })
    }
}

pub(super) fn admit(config: &Config, key: Option<&str>) -> Result<(), Refusal> {
    let key = key.filter(|key| !key.is_empty()).ok_or(Refusal::NoKey)?;
    let known = config.keys.iter().any(|known| known == key);
    known.then_some(()).ok_or_else(|| Refusal::wrong_key(key))
}

fn asked(wanted: &Wanted, task: &Task) -> Asked {
    let prompt = wanted.prompt();
    Asked {
        kind: task.kind(),
        model: wanted.model.clone(),
        input: fingerprint(wanted.input()),
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
fn refusal(rule: &Rule, now: Timestamp) -> Option<Refusal> {
    match rule.effect {
        Effect::Status(status) => Some(Refusal::Broken(status)),
        Effect::Limited {
            retry_after_s,
            as_date,
        } => {
            let date = |seconds: u32| now + SignedDuration::from_secs(seconds.into());
            let retry_after = retry_after_s.map(|seconds| {
                if as_date {
                    RetryAfter::At(date(seconds))
                } else {
                    RetryAfter::Seconds(seconds)
                }
            });
            Some(Refusal::Limited { retry_after })
        }
        _ => None,
    }
}

/// No more than the caller allows.
fn bounded(said: Said, max_tokens: Option<u64>) -> Said {
    let max = max_tokens.and_then(|max| usize::try_from(max).ok());
    match (said.content, max) {
        (Some(content), Some(max)) if mind::tokens(&content) > max => Said {
            content: Some(mind::cut_to_tokens(&content, max)),
            cut: true,
        },
        (content, _) => Said { content, ..said },
    }
}

/// The refusal as an answer.
pub(super) fn refuse(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if *refusal == Refusal::Broken(502) {
        return (status, Html(GATEWAY_PAGE)).into_response();
    }
    let mut response = (status, Json(refusal.body())).into_response();
    if let Refusal::Limited {
        retry_after: Some(again),
    } = refusal
        && let Ok(value) = HeaderValue::from_str(&again.header())
    {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}
