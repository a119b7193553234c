//! Asking: one question, as many tries as it may take.
//!
//! An answer that says "later" is waited for and asked for again, so often and so long as the
//! settings allow. Every try counts against the request budget. With a spent budget there is no
//! wait, and the result is the last try's error: it was answered, so it is a failure and not a lack
//! of budget. Every try is counted by the meter, too, with what it costs (ED-44).
//!
//! A request that is never answered may have cost all it could, so a model that is silent is left
//! alone for a while: an outage must not use up a cap.

use std::sync::{Arc, Mutex};

use almanack_core::{
    budget::Budget,
    edition::{
        allowance::{Usage, tokens_of},
        port::{Failure, FailureClass, Meter},
    },
    locked,
    time::{Clock, Sleeper},
};
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::sync::Semaphore;
use tracing::debug;

use super::{
    completion::{self, Answer, Completion},
    prompt::Prompt,
    settings::{BadSettings, Settings},
};
use crate::http::{Client, Limits, Request};

/// The first wait where the service names none; each further one is twice as long.
const WAIT_FIRST: SignedDuration = SignedDuration::from_secs(1);
/// Requests in a row without an answer after which a model rests.
const SILENT_MAX: u32 = 3;
/// How long it rests.
const REST: SignedDuration = SignedDuration::from_mins(1);
/// How much of an answer is read.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

pub(super) struct Requester {
    client: Client,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
    /// Over all questions: the service's limit of concurrent requests.
    permits: Semaphore,
    headers: HeaderMap,
    address: String,
    meter: Arc<dyn Meter>,
    silence: Mutex<Silence>,
    settings: Settings,
}

/// How often in a row a model did not answer.
#[derive(Default)]
struct Silence {
    times: u32,
    /// It is left alone until then.
    until: Option<Timestamp>,
}

impl Silence {
    /// How much longer it rests, if it does.
    fn rests_for(&self, now: Timestamp) -> Option<SignedDuration> {
        let left = self.until?.duration_since(now);
        left.is_positive().then_some(left)
    }

    /// A request was answered, with whatever it was, or not at all.
    fn heard(&mut self, is_answered: bool, now: Timestamp) {
        if is_answered {
            *self = Self::default();
            return;
        }
        self.times = self.times.saturating_add(1);
        if self.times >= SILENT_MAX {
            self.until = now.checked_add(REST).ok();
        }
    }
}

impl Requester {
    pub(super) fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        sleeper: Arc<dyn Sleeper>,
        (settings, meter): (Settings, Arc<dyn Meter>),
    ) -> Result<Self, BadSettings> {
        settings.check()?;
        let address = settings.address();
        almanack_core::address::parse(&address).map_err(BadSettings::BaseUrl)?;
        Ok(Self {
            client,
            clock,
            sleeper,
            permits: Semaphore::new(settings.concurrency.min(Semaphore::MAX_PERMITS)),
            headers: settings.header_map()?,
            address,
            meter,
            silence: Mutex::default(),
            settings,
        })
    }

    /// What the model replies; never empty.
    pub(super) async fn ask(
        &self,
        prompt: &Prompt,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        let mut wait = WAIT_FIRST;
        let mut failure = match self.ask_once(prompt, budget).await {
            Err(failure) if may_pass(&failure) => failure,
            ended => return ended,
        };
        for left in (0..self.settings.tries_more).rev() {
            let pause = failure.retry_after.unwrap_or(wait);
            if pause > self.settings.wait_max || budget.left() == 0 {
                break;
            }
            debug!(model = %self.settings.model, class = failure.class.as_str(), left, "asking the model again");
            let until = self.clock.now().saturating_add(pause);
            self.sleeper
                .until(until.unwrap_or(jiff::Timestamp::MAX))
                .await;
            wait = wait.saturating_add(wait);
            match self.ask_once(prompt, budget).await {
                Err(again) if again.is_spent() => break,
                Err(again) if may_pass(&again) => failure = again,
                ended => return ended,
            }
        }
        Err(failure)
    }

    /// The same in one try.
    pub(super) async fn ask_once(
        &self,
        prompt: &Prompt,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        let completion = self.metered(prompt, budget).await?;
        if completion.text.trim().is_empty() {
            return Err(Failure::new(
                FailureClass::Unusable,
                "the model's answer is empty",
            ));
        }
        Ok(completion.text)
    }

    /// The answer to one request, counted before it leaves and corrected by what it cost.
    async fn metered(&self, prompt: &Prompt, budget: &Arc<Budget>) -> Result<Completion, Failure> {
        // It is never closed; without a permit the request would only be one too many.
        let _permit = self.permits.acquire().await.ok();
        if budget.left() == 0 {
            return Err(Failure::spent());
        }
        self.check_silence()?;
        let price = self.settings.price.unwrap_or_default();
        let most = price.usage(prompt.bytes(), prompt.tokens_max as u64);
        let reserved = self.meter.reserve(most).await?;
        let (answer, actual) = match self.complete(prompt, budget).await {
            Ok(completion) => {
                let (tokens_in, tokens_out) = counted(prompt, &completion);
                budget.charge(tokens_in, tokens_out);
                self.heard(true);
                let actual = price.usage(tokens_in, tokens_out);
                (Ok(completion), actual)
            }
            Err(unanswered) => {
                self.heard(!unanswered.is_silence());
                let actual = if unanswered.may_cost {
                    most
                } else {
                    Usage::default()
                };
                (Err(unanswered.failure), actual)
            }
        };
        self.meter.settle(reserved, actual).await;
        answer
    }

    /// Refuses to ask a model that rests.
    fn check_silence(&self) -> Result<(), Failure> {
        let Some(left) = locked(&self.silence).rests_for(self.clock.now()) else {
            return Ok(());
        };
        let name = &self.settings.model;
        let detail = format!("the model `{name}` rests: it left {SILENT_MAX} requests unanswered");
        Err(Failure {
            retry_after: Some(left),
            ..Failure::new(FailureClass::Transient, detail)
        })
    }

    fn heard(&self, is_answered: bool) {
        locked(&self.silence).heard(is_answered, self.clock.now());
    }

    async fn complete(
        &self,
        prompt: &Prompt,
        budget: &Arc<Budget>,
    ) -> Result<Completion, Unanswered> {
        let request = self.request(prompt).paid_by(Arc::clone(budget));
        let response = self.client.send(request).await;
        let response = response.map_err(|error| Unanswered {
            may_cost: completion::may_cost(&error),
            failure: completion::unanswered(&error),
        })?;
        let answer = Answer {
            status: response.head.status,
            retry_after: response.head.header(&RETRY_AFTER),
            body: &response.body,
        };
        let secret = self
            .settings
            .key
            .as_ref()
            .map_or("", |key| key.expose().trim());
        let read = completion::read(answer, secret, self.clock.now());
        // What it refuses, a service does not charge for; what we cannot read, it may.
        read.map_err(|failure| Unanswered {
            may_cost: failure.class == FailureClass::Unusable,
            failure,
        })
    }

    fn request(&self, prompt: &Prompt) -> Request {
        let body = completion::body(&self.settings.model, prompt);
        let mut request = Request::post_json(&self.address, body)
            .limits(Limits::within(self.settings.timeout, ANSWER_BYTES_MAX));
        request.headers.extend(self.headers.clone());
        request
    }
}

/// Why there is no completion.
struct Unanswered {
    failure: Failure,
    /// Whether the service may have worked on it all the same.
    may_cost: bool,
}

impl Unanswered {
    /// Whether it left and nothing came back.
    fn is_silence(&self) -> bool {
        self.may_cost && self.failure.class == FailureClass::Transient
    }
}

/// The tokens of an answer; estimated where the service does not count them.
fn counted(prompt: &Prompt, completion: &Completion) -> (u64, u64) {
    let read = completion
        .tokens_in
        .unwrap_or_else(|| tokens_of(&prompt.system).saturating_add(tokens_of(&prompt.user)));
    let written = completion.tokens_out;
    (read, written.unwrap_or_else(|| tokens_of(&completion.text)))
}

/// Whether the same question may be answered a moment later.
pub(super) fn may_pass(failure: &Failure) -> bool {
    matches!(
        failure.class,
        FailureClass::RateLimited | FailureClass::Transient
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_44_three_silences_in_a_row_make_a_model_rest_for_a_minute() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut silence = Silence::default();
        for answered in [false, false, true, false, false] {
            silence.heard(answered, at(0));
            assert_eq!(silence.rests_for(at(0)), None);
        }
        silence.heard(false, at(10));
        assert_eq!(
            silence.rests_for(at(40)),
            Some(SignedDuration::from_secs(30))
        );
        assert_eq!(silence.rests_for(at(70)), None, "one may ask again");
        silence.heard(false, at(80));
        assert!(
            silence.rests_for(at(81)).is_some(),
            "and if that is silence, too"
        );
        silence.heard(true, at(82));
        assert_eq!(silence.rests_for(at(82)), None);
    }
}
