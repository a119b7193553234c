//! The way in for message queues: requests in batches, carried out like any other change of intent.
//!
//! Redelivery and reordering are the [`Rescheduler`]'s business, which compares revisions. Here is
//! only what a queue has to know afterwards. A request is refused for good only if the request
//! itself breaks a rule; whatever others can put right, the store that does not answer or a schema
//! that is still too new, leaves the message in its queue.

use std::sync::Arc;

use almanack_core::{
    event::incoming::intake::{Answer, ChangeRequest, Intake},
    reschedule::{Receipt, Request},
    store,
};
use async_trait::async_trait;

use crate::reschedule::{Error, Rescheduler};

/// Carries out requests that come from queues.
pub struct Events(pub Arc<Rescheduler>);

impl Events {
    /// Carries out requests of one requester.
    async fn take_run(&self, run: Run) -> Vec<Answer> {
        let many = run.requests.len();
        match self.0.ask_all(run.requests, &run.origin).await {
            Ok(answers) => answers.into_iter().map(answer).collect(),
            // Some may have taken effect all the same; asking again finds out.
            Err(error) => {
                let reason = reason(&error);
                vec![Answer::NotNow { reason }; many]
            }
        }
    }
}

#[async_trait]
impl Intake for Events {
    async fn take(&self, requests: Vec<ChangeRequest>) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(requests.len());
        for run in runs(requests) {
            answers.extend(self.take_run(run).await);
        }
        answers
    }
}

/// Neighbours with the same origin: one call to the store has one requester.
struct Run {
    origin: String,
    requests: Vec<Request>,
}

fn runs(requests: Vec<ChangeRequest>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for request in requests {
        match runs.last_mut() {
            Some(run) if run.origin == request.origin => run.requests.push(request.request),
            _ => runs.push(Run {
                origin: request.origin,
                requests: vec![request.request],
            }),
        }
    }
    runs
}

fn answer(decided: Result<Receipt, Error>) -> Answer {
    match decided {
        Ok(receipt) => {
            count(&receipt);
            Answer::Taken(receipt)
        }
        Err(error) => refusal(&error),
    }
}

/// Counts a decision that was carried out.
pub(crate) fn count(receipt: &Receipt) {
    metrics::counter!("almanack_reschedule_total", "rule" => receipt.rule.as_str()).increment(1);
}

/// Whether a request that failed is refused for good.
pub(crate) fn refusal(error: &Error) -> Answer {
    let reason = reason(error);
    match error {
        Error::NothingThere(_)
        | Error::Expired(_)
        | Error::UnknownKind { .. }
        | Error::Reserved { .. }
        | Error::Callback(_)
        | Error::Pulled { .. }
        | Error::TooManyKinds { .. }
        | Error::KeyReused
        // That task alone, and until its row is put right: the others must not wait for that.
        | Error::Store(store::Error::Unreadable { .. }) => Answer::Refused { reason },
        Error::Contended { .. } | Error::Store(_) => Answer::NotNow { reason },
    }
}

fn reason(error: &Error) -> String {
    match error {
        Error::Store(error) => error.chain(),
        other => other.to_string(),
    }
}
