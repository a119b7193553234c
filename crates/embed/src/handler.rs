//! Handlers: functions of this process that try tasks of one kind.

use std::{fmt::Display, marker::PhantomData, sync::Arc};

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    task::{ClaimedTask, TaskId},
    time::{Clock, CorrectedClock},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;

/// When a task without a handler here is looked at again: another process may have one.
const ELSEWHERE_AFTER: SignedDuration = SignedDuration::from_mins(1);

/// One try at a task.
#[derive(Debug, Clone)]
pub struct Attempt<P> {
    /// The task's number: the same in every try, so that others can recognise a repetition.
    pub task_id: TaskId,
    pub kind: String,
    pub subject: String,
    /// Which try this is, from 1.
    pub attempt: u32,
    /// Tries that may follow a failed first one.
    pub max_retry: u32,
    /// When it was due.
    pub execute_at: Timestamp,
    pub payload: P,
}

/// A function as a handler.
pub(crate) struct Function<F, P> {
    function: F,
    payload: PhantomData<fn() -> P>,
}

impl<F, P> Function<F, P> {
    pub(crate) fn new(function: F) -> Self {
        let payload = PhantomData;
        Self { function, payload }
    }
}

#[async_trait]
impl<F, P, Trying, E> Handler for Function<F, P>
where
    F: Fn(Attempt<P>) -> Trying + Send + Sync,
    Trying: Future<Output = Result<Outcome, E>> + Send,
    P: DeserializeOwned + Send,
    E: Display + Send,
{
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let payload = match serde_json::from_str(task.payload.as_str()) {
            Ok(payload) => payload,
            // The same payload does not fit the next time either.
            Err(error) => {
                let error = format!("payload does not fit its handler: {error}");
                return Outcome::GiveUp { error };
            }
        };
        let trying = (self.function)(Attempt {
            task_id: task.id,
            kind: task.identity.kind.as_str().to_owned(),
            subject: task.identity.subject.as_str().to_owned(),
            attempt: task.attempt,
            max_retry: task.max_retry,
            execute_at: task.execute_at,
            payload,
        });
        match trying.await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Retry {
                error: error.to_string(),
                retry_after: None,
            },
        }
    }
}

/// Leaves a task to whoever has a handler for its kind.
pub(crate) struct Elsewhere(pub(crate) Arc<CorrectedClock>);

#[async_trait]
impl Handler for Elsewhere {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        let at = self.0.now().saturating_add(ELSEWHERE_AFTER);
        Outcome::NotNow {
            at: at.unwrap_or(Timestamp::MAX),
            why: "this process has no handler for its kind",
        }
    }
}
