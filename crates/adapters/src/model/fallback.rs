//! Several models in order: where one cannot answer, the next one is asked (ED-44).
//!
//! A model is passed over for what it says about itself: nothing, a refusal, a key that it does not
//! accept, a reply that cannot be used. What is about the edition ends the question at once, since
//! no other model changes it: a spent budget, a cap that is reached.
//!
//! A model that may answer again soon rests until then, so that an outage costs one wait and not one
//! for every story. The last one never rests: after it there is nobody.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_core::{
    budget::Budget,
    edition::{
        document::Printed,
        port::{Failure, FailureClass, Length, Sensitivity, Text, Writer},
        prompts::Prompts,
    },
    time::Clock,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tracing::warn;

use super::ask::may_pass;

/// How long a model rests that did not say for how long.
const REST: SignedDuration = SignedDuration::from_mins(1);

type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Writes with the first of several models that can.
pub struct FallbackModels {
    clock: Arc<dyn Clock>,
    names: String,
    models: Vec<Model>,
}

struct Model {
    writer: Box<dyn Writer>,
    rests_until: Mutex<Option<Timestamp>>,
}

impl FallbackModels {
    /// Asks `writers` in their order.
    pub fn new(clock: Arc<dyn Clock>, writers: Vec<Box<dyn Writer>>) -> Self {
        let names: Vec<&str> = writers.iter().map(|writer| writer.name()).collect();
        Self {
            clock,
            names: names.join(", "),
            models: writers.into_iter().map(Model::new).collect(),
        }
    }

    /// The first answer, or the failure that says most about what to do.
    async fn first_of<'a, T>(
        &'a self,
        ask: impl Fn(&'a dyn Writer) -> Asked<'a, T> + Send + Sync,
    ) -> Result<T, Failure> {
        let mut failed: Option<Failure> = None;
        for (index, model) in self.models.iter().enumerate() {
            let is_last = index + 1 == self.models.len();
            let now = self.clock.now();
            if let Some(until) = model.rests_until(now).filter(|_| !is_last) {
                failed = Some(first_to_pass(failed, model.resting(until, now)));
                continue;
            }
            let failure = match ask(&*model.writer).await {
                Err(failure) if is_its_own(failure.class) => failure,
                answered => return answered,
            };
            if !is_last {
                let name = model.writer.name();
                warn!(
                    model = name,
                    class = failure.class.as_str(),
                    "asking the next model"
                );
            }
            model.rest_after(&failure, now);
            failed = Some(first_to_pass(failed, failure));
        }
        Err(failed.unwrap_or_else(Failure::spent))
    }
}

impl Model {
    fn new(writer: Box<dyn Writer>) -> Self {
        Self {
            writer,
            rests_until: Mutex::new(None),
        }
    }

    fn rests_until(&self, now: Timestamp) -> Option<Timestamp> {
        let until = *self
            .rests_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| *until > now)
    }

    /// A key that is not accepted is not asked with again for every story either.
    fn rest_after(&self, failure: &Failure, now: Timestamp) {
        if may_pass(failure) || failure.class == FailureClass::Credentials {
            let until = now.checked_add(failure.retry_after.unwrap_or(REST));
            let mut rests = self
                .rests_until
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *rests = until.ok();
        }
    }

    fn resting(&self, until: Timestamp, now: Timestamp) -> Failure {
        Failure {
            retry_after: Some(until.duration_since(now)),
            ..Failure::new(
                FailureClass::Transient,
                format!("the model `{}` rests after a failure", self.writer.name()),
            )
        }
    }
}

/// Whether another model may do better.
fn is_its_own(class: FailureClass) -> bool {
    !matches!(class, FailureClass::Spent | FailureClass::Capped)
}

/// Of two failures the one that may pass, because then the question is asked again; of two that may
/// pass, the one that does so first; else the earlier model's.
fn first_to_pass(earlier: Option<Failure>, later: Failure) -> Failure {
    let Some(earlier) = earlier else {
        return later;
    };
    let wait = |failure: &Failure| failure.retry_after.unwrap_or(REST);
    match (may_pass(&earlier), may_pass(&later)) {
        (false, true) => later,
        (true, true) if wait(&later) < wait(&earlier) => later,
        _ => earlier,
    }
}

#[async_trait]
impl Writer for FallbackModels {
    /// All of them: any may have written.
    fn name(&self) -> &str {
        &self.names
    }

    /// An edition has one set for all its models.
    fn prompts(&self) -> Option<&Prompts> {
        self.models.first()?.writer.prompts()
    }

    /// A model that translates none of the titles has not answered.
    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        let answered = self.first_of(|model| {
            Box::pin(async move {
                let places = model.titles(titles, budget).await?;
                let is_none = |places: &Vec<Option<String>>| places.iter().all(Option::is_none);
                if !titles.is_empty() && places.as_ref().is_some_and(is_none) {
                    let detail = "the model translated none of the titles";
                    return Err(Failure::new(FailureClass::Unusable, detail));
                }
                Ok(places)
            })
        });
        match answered.await {
            Err(failure) if failure.class == FailureClass::Unusable => {
                Ok(Some(vec![None; titles.len()]))
            }
            answered => answered,
        }
    }

    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        self.first_of(|model| model.summary(text, length, budget))
            .await
    }

    async fn overview(
        &self,
        stories: &[Printed],
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        self.first_of(|model| model.overview(stories, budget)).await
    }

    async fn judge(
        &self,
        titles: &[String],
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        self.first_of(|model| model.judge(titles, sensitivity, budget))
            .await
    }
}
