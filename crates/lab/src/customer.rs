//! A customer that creates tasks at a steady rate, receives their calls, and knows what was
//! promised.
//!
//! The oracle of a chaos run. Every acknowledged task must be called, however many nodes died in
//! between; a repeated call has no second effect, because it has the same key; and no call may come
//! early. Almanack's own reports are not used: only what was promised and what arrived here counts
//! ([`book`]).

pub mod book;

use std::time::Duration;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::book::{Book, Figures};
pub use crate::stand::start;
use crate::{
    chance::Chance,
    client, clock,
    stand::{self, Stand, Upstream},
};

/// The kind of the customer's tasks.
pub const KIND: &str = "CUSTOMER_CALL";
/// Time between two calls that create tasks.
const BREATH: Duration = Duration::from_millis(50);
/// Wait before a failed call is retried at the next node.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Most tasks per call.
const BATCH_MAX: u64 = 200;
/// More retries than a run can use up.
const MAX_RETRY: u32 = 100;

/// Configuration of the customer.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// Seed of the random times.
    pub seed: u64,
    pub rate: u32,
    /// How far ahead tasks are scheduled, at most.
    pub ahead: Duration,
}

pub type Config = stand::Config<Book>;
/// Handle to a customer that listens.
pub type Handle = Stand<Book>;

impl Upstream for Book {
    const NAME: &'static str = "calls";
    const WELCOME: &'static str = "POST /calls takes calls.\n";
    type Setup = Setup;
    type Matching = ();
    type Effect = ();
    type Kind = ();
    type Facts = ();

    fn open(_: &Setup, _: Timestamp) -> Self {
        Self::default()
    }

    fn routes(stand: Stand<Self>) -> Router {
        let routes = Router::new().route("/calls", post(take));
        routes.with_state(stand)
    }
}

impl Handle {
    /// The callback URL.
    pub fn calls_url(&self) -> String {
        format!("{}/calls", self.url())
    }

    /// The promises and results so far.
    pub fn figures(&self) -> Figures {
        self.lock().state.figures()
    }

    /// Creates tasks at the nodes in rotation until `stop`. A call without a response is retried at
    /// the next node with the same tasks and revision, so it does not matter which one took effect.
    pub async fn ask(
        &self,
        nodes: &[String],
        stop: &CancellationToken,
    ) -> Result<(), client::Error> {
        let http_client = client::build()?;
        let mut chance = Chance::new(self.setup().seed);
        let mut turn = 0_usize;
        let begun = self.now();
        let mut put = 0_u64;
        while !stop.is_cancelled() {
            let now = self.now();
            let wanted = owed(self.setup().rate, now.duration_since(begun)).saturating_sub(put);
            let requests = self.request(put, wanted.min(BATCH_MAX), now, &mut chance);
            put += requests.len() as u64;
            while !requests.is_empty() && !stop.is_cancelled() {
                turn = turn.wrapping_add(1);
                let Some(node) = nodes.get(turn % nodes.len().max(1)) else {
                    return Ok(());
                };
                if self.put(&http_client, node, &requests).await {
                    break;
                }
                clock::pause(AGAIN_AFTER).await;
            }
            clock::pause(BREATH).await;
        }
        Ok(())
    }

    fn request(
        &self,
        first: u64,
        count: u64,
        now: Timestamp,
        chance: &mut Chance,
    ) -> Vec<(u64, Timestamp)> {
        let ahead_ms = u64::try_from(self.setup().ahead.as_millis()).unwrap_or(u64::MAX);
        let mut draw = |number| {
            let ahead = i64::try_from(chance.below(ahead_ms.saturating_add(1))).unwrap_or(0);
            let at = now.saturating_add(SignedDuration::from_millis(ahead));
            (number, clock::to_micros(at.unwrap_or(now)))
        };
        (first..first + count).map(&mut draw).collect()
    }

    /// Whether all of them were acknowledged.
    async fn put(
        &self,
        http_client: &reqwest::Client,
        node: &str,
        requests: &[(u64, Timestamp)],
    ) -> bool {
        self.lock().state.asked(requests);
        let tasks: Vec<Value> = requests
            .iter()
            .map(|(number, at)| body(*number, *at))
            .collect();
        let request = http_client
            .post(format!("{node}/api/v1/tasks:batch"))
            .json(&json!({ "tasks": tasks }));
        let asking = async {
            let response = request.send().await.ok()?;
            let taken = response.status() == StatusCode::OK;
            response.json::<Value>().await.ok().filter(|_| taken)
        };
        let answer = asking.await.unwrap_or_default();
        let Some(receipts) = answer["receipts"].as_array() else {
            return false;
        };
        let refused = receipts
            .iter()
            .find_map(|it| it["error"]["detail"].as_str());
        if let Some(why) = refused {
            self.lock().state.refused(why);
        }
        let whole = refused.is_none() && receipts.len() == requests.len();
        if whole {
            self.lock().state.acknowledged(requests);
        }
        whole
    }
}

/// Tasks due to be created after some time at a rate.
fn owed(rate: u32, passed: SignedDuration) -> u64 {
    let ms = u64::try_from(passed.as_millis()).unwrap_or(0);
    ms.saturating_mul(u64::from(rate)) / 1_000
}

fn body(number: u64, at: Timestamp) -> Value {
    json!({
        "kind": KIND,
        "subject": subject(number),
        "execute_at": at,
        "revision": 1,
        "max_retry": MAX_RETRY,
    })
}

fn subject(number: u64) -> String {
    format!("call:{number}")
}

#[derive(Deserialize)]
struct CallBody {
    subject: String,
}

async fn take(
    State(stand): State<Handle>,
    headers: HeaderMap,
    Json(call): Json<CallBody>,
) -> StatusCode {
    let number = call.subject.strip_prefix("call:");
    let number = number.and_then(|number| number.parse().ok());
    let keyed = headers.contains_key("idempotency-key");
    let now = stand.now();
    match number.filter(|_| keyed) {
        Some(number) => {
            stand.lock().state.called(number, now);
            StatusCode::NO_CONTENT
        }
        None => StatusCode::BAD_REQUEST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_owes_what_it_says() {
        for (rate, ms, tasks) in [(20, 1_000, 20), (20, 50, 1), (1, 999, 0), (1_000, 90, 90)] {
            assert_eq!(owed(rate, SignedDuration::from_millis(ms)), tasks);
        }
        assert_eq!(
            owed(20, SignedDuration::from_secs(-1)),
            0,
            "a clock put back"
        );
    }
}
