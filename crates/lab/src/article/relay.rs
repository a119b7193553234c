//! The relay: delivers events from the outbox to Almanack, at least once, in the order written.
//!
//! An event leaves the outbox only when Almanack has answered for it. If the relay dies between the
//! response and recording it, the event is sent again; its revision makes that harmless. An event
//! that Almanack refuses is set aside with the reason, so that it does not block the others. The
//! relay sleeps while there is nothing to do and is woken by every new event.
//!
//! The log reports what is not delivered: a refused event with its reason, and an outage once at
//! its start, once when the reason changes and once at its end.

mod bus;

use std::{sync::Arc, time::Duration};

use reqwest::{StatusCode, header};
use serde_json::Value;
use tokio::sync::{Notify, broadcast};

use super::{
    activity::Activity,
    store::{Error, Settlement, Store, Waiting},
};
use crate::{
    chance::Chance,
    clock::{self, Clock},
};

pub use bus::Bus;
pub(super) use bus::Sender;

/// Most events in one request.
const BATCH_MAX: u32 = 100;
/// Longest reason kept for a rejected event, in characters.
const REASON_CHARS_MAX: usize = 300;

/// What to do about a refused event.
const RETRY: &str = "fix the reason, then send it again with POST /outbox/retry";

/// The relay's backoff while Almanack does not accept events: doubled each time, up to `max`, with
/// a random part, so that several services do not retry in step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The first wait, at most.
    pub first: Duration,
    /// The longest wait.
    pub max: Duration,
    /// Seed of the random part.
    pub seed: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(200),
            max: Duration::from_secs(5),
            seed: 0,
        }
    }
}

impl Pace {
    /// The wait after `failures` in a row: between half and all of the full wait.
    fn wait(&self, failures: u32, chance: &mut Chance) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let full = self.first.saturating_mul(doubled).min(self.max);
        let half = full / 2;
        let half_us = u64::try_from(half.as_micros()).unwrap_or(u64::MAX);
        half + Duration::from_micros(chance.below(half_us.saturating_add(1)))
    }
}

pub(super) struct Relay {
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) client: reqwest::Client,
    pub(super) events_url: String,
    pub(super) token: Option<String>,
    /// Replaces HTTP, if configured.
    pub(super) bus: Option<Sender>,
    pub(super) pace: Pace,
    pub(super) outbox_changed: Arc<Notify>,
    pub(super) events: broadcast::Sender<Activity>,
}

/// The result of one round.
enum Round {
    /// The outbox is empty.
    Idle,
    /// Everything taken from the outbox is settled; there may be more.
    Settled,
    /// Some events stay in the outbox for later.
    Later(String),
}

/// What a response means for one event.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Taken,
    Rejected(String),
    /// Not now, or not with this configuration: it stays in the outbox, and so does everything
    /// without a result.
    Later(String),
}

/// The results of the first events; or why the whole request was refused, for which one of its
/// events may be the reason.
type Sent = Result<Vec<Item>, String>;

/// The reason logged last why Almanack accepts no events. Every round fails again; only a change is
/// logged.
#[derive(Debug, Default)]
struct Trouble(Option<String>);

impl Trouble {
    fn is_news(&mut self, reason: &str) -> bool {
        let news = self.0.as_deref() != Some(reason);
        self.0 = Some(reason.to_owned());
        news
    }

    fn ends(&mut self) -> bool {
        self.0.take().is_some()
    }
}

impl Relay {
    /// Runs until dropped; an interrupted batch is sent again.
    pub(super) async fn run(self) {
        let mut chance = Chance::new(self.pace.seed);
        let mut failures = 0_u32;
        let mut trouble = Trouble::default();
        loop {
            match self.round().await {
                Ok(Round::Idle) => {
                    self.outbox_changed.notified().await;
                    continue;
                }
                Ok(Round::Settled) => {
                    failures = 0;
                    if trouble.ends() {
                        tracing::info!("Almanack accepts events again");
                    }
                    continue;
                }
                Ok(Round::Later(reason)) => {
                    if trouble.is_news(&reason) {
                        let url = &self.events_url;
                        tracing::warn!(reason, url, "Almanack does not accept events; will retry");
                    }
                    self.report(Activity::AlmanackAway { reason });
                }
                Err(error) => {
                    let cause: &dyn std::error::Error = &error;
                    tracing::error!(cause, "outbox cannot be read or written");
                }
            }
            failures = failures.saturating_add(1);
            clock::pause(self.pace.wait(failures, &mut chance)).await;
        }
    }

    async fn round(&self) -> Result<Round, Error> {
        let waiting = self.store.load_waiting(BATCH_MAX).await?;
        if waiting.is_empty() {
            return Ok(Round::Idle);
        }
        let items = match self.send(&waiting).await {
            Ok(items) => items,
            Err(_) => self.send_singly(&waiting).await,
        };
        self.settle(&waiting, items).await
    }

    /// Finds the events that caused a batch to be refused. Stops at the first "later", so that an
    /// overloaded Almanack is not called a hundred times.
    async fn send_singly(&self, waiting: &[Waiting]) -> Vec<Item> {
        let mut items = Vec::with_capacity(waiting.len());
        for one in waiting {
            let sent = self.send(std::slice::from_ref(one)).await;
            items.extend(sent.unwrap_or_else(|reason| vec![Item::Rejected(reason)]));
            if let Some(Item::Later(_)) = items.last() {
                break;
            }
        }
        items
    }

    async fn settle(&self, waiting: &[Waiting], items: Vec<Item>) -> Result<Round, Error> {
        let mut round = Round::Settled;
        let mut settled = Vec::with_capacity(items.len());
        for (row, item) in waiting.iter().zip(items) {
            let rejected = match item {
                Item::Taken => None,
                Item::Rejected(reason) => Some(reason),
                Item::Later(reason) => {
                    round = Round::Later(reason);
                    continue;
                }
            };
            if let Some(reason) = &rejected {
                let id = &row.event_id;
                tracing::warn!(event.id = id, reason, "Almanack refused an event; {RETRY}");
            }
            settled.push(Settlement {
                outbox_id: row.outbox_id,
                rejected,
            });
        }
        if settled.is_empty() {
            return Ok(round);
        }
        let rejected = settled.iter().filter(|it| it.rejected.is_some()).count();
        let sent = settled.len() - rejected;
        self.store.settle(settled, (self.clock)()).await?;
        self.report(Activity::EventsSettled { sent, rejected });
        Ok(round)
    }

    async fn send(&self, waiting: &[Waiting]) -> Sent {
        if let Some(bus) = &self.bus {
            return Ok(bus.send(waiting).await);
        }
        let events: Vec<&str> = waiting.iter().map(|row| row.event.as_str()).collect();
        let mut request = self
            .client
            .post(&self.events_url)
            .header(header::CONTENT_TYPE, "application/cloudevents-batch+json")
            .body(format!("[{}]", events.join(",")));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let answer = async {
            let response = request.send().await?;
            let status = response.status();
            Ok::<_, reqwest::Error>((status, response.text().await?))
        };
        match answer.await {
            Ok((status, body)) => interpret(status, &body, waiting.len()),
            Err(error) => Ok(vec![Item::Later(chain(&error.without_url()))]),
        }
    }

    fn report(&self, activity: Activity) {
        // Nobody watching is the usual case, not a failure.
        let _ = self.events.send(activity);
    }
}

/// An error with its causes: the HTTP client itself only says "error sending request".
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

/// Reads Almanack's answer to `count` events.
fn interpret(status: StatusCode, body: &str, count: usize) -> Sent {
    if status.is_success() {
        return Ok(interpret_items(body, count));
    }
    let reason = shorten(&format!("{status}: {body}"));
    // A wrong token or address says nothing about the events. Setting them aside would lose changes
    // of time, so they wait until the configuration is fixed.
    let about_us = matches!(status.as_u16(), 401 | 403 | 404 | 405 | 415 | 421);
    if status.is_client_error() && !about_us && !passes(status.as_u16()) {
        Err(reason)
    } else {
        Ok(vec![Item::Later(reason)])
    }
}

/// Whether the same request can succeed later. 409 means that other clients change the same task
/// faster than Almanack can decide.
fn passes(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..)
}

/// One receipt or one error per event, in the order sent. A success without receipts covers all.
fn interpret_items(body: &str, count: usize) -> Vec<Item> {
    let answer: Option<Value> = serde_json::from_str(body).ok();
    let receipts = answer
        .as_ref()
        .and_then(|answer| answer.get("receipts")?.as_array());
    let Some(receipts) = receipts else {
        return vec![Item::Taken; count];
    };
    let item = |index: usize| match receipts.get(index) {
        None => Item::Later("Almanack answered for fewer events than it received".to_owned()),
        Some(receipt) => receipt.get("error").map_or(Item::Taken, interpret_error),
    };
    (0..count).map(item).collect()
}

/// The error is a problem document (RFC 9457), or any other reason.
fn interpret_error(error: &Value) -> Item {
    let status = error.get("status").and_then(Value::as_u64);
    let status = status.and_then(|status| u16::try_from(status).ok());
    let text = error.get("detail").unwrap_or(error);
    let reason = shorten(
        &text
            .as_str()
            .map_or_else(|| text.to_string(), str::to_owned),
    );
    if status.is_some_and(passes) {
        Item::Later(reason)
    } else {
        Item::Rejected(reason)
    }
}

fn shorten(reason: &str) -> String {
    reason.chars().take(REASON_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
