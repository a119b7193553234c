//! Takes requests that services wrote into the inbox in their own transactions (WK-03).
//!
//! Every node does: the store hands each of them different requests, and of one identity only the
//! first that waits, so the order of an identity holds across nodes. A request is decided as if it
//! had come by the API, inside the transaction that also writes its answer: there is no moment in
//! which a request has taken effect and is not answered, or the other way round.
//!
//! A refusal is an answer too: it is in the inbox, in the log and in the metrics. Nobody waits for
//! it any more when it is made; whatever can be known earlier is refused by the function.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    event::incoming::intake::Answer,
    inbox::{InboxAnswer, InboxRequest},
    reschedule::Request,
    store::{self, InboxDecider, InboxTaken, InboxVerdict, Store},
    task::Task,
    time::{Clock, Sleeper},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::{
    intake::{count, refusal},
    reschedule::Rescheduler,
    wake::later,
};

/// Requests taken at once: their rows stay locked until all of them are written.
const BITE: usize = 500;
/// Before what could not be taken is tried again: another writer was faster.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_millis(10);
/// The same after the store failed.
const FAILED_AFTER: SignedDuration = SignedDuration::from_millis(500);

/// Takes from the inbox, as a duty of a node.
pub struct Inbox {
    store: Arc<dyn Store>,
    decider: Arc<Decider>,
}

impl Inbox {
    /// Takes from the inbox of a store by the rules of a rescheduler; `None` where the database has
    /// no inbox. Payloads have at most `payload_limit` bytes.
    pub fn new(
        store: Arc<dyn Store>,
        rescheduler: Arc<Rescheduler>,
        clock: Arc<dyn Clock>,
        payload_limit: usize,
    ) -> Option<Self> {
        store.inbox_hints()?;
        let decider = Arc::new(Decider {
            rescheduler,
            clock,
            payload_limit,
        });
        Some(Self { store, decider })
    }

    /// Takes until `stop`. A bite that has begun ends.
    pub async fn run(self, sleeper: &dyn Sleeper, stop: &CancellationToken) {
        let Some(mut hints) = self.store.inbox_hints() else {
            return;
        };
        let mut newer = 0;
        while !stop.is_cancelled() {
            let wait = match self.bite().await {
                Ok(taken) if taken.found > 0 && !taken.answered.is_empty() => continue,
                Ok(taken) if taken.found > 0 => AGAIN_AFTER,
                Ok(taken) => {
                    if taken.newer > newer {
                        warn_of_newer(taken.newer);
                    }
                    newer = taken.newer;
                    self.store.safety_poll()
                }
                Err(error) => {
                    let error = error.chain();
                    tracing::warn!(error, "could not take from the inbox; will retry");
                    FAILED_AFTER
                }
            };
            let next = later(self.decider.clock.now(), wait);
            tokio::select! {
                () = sleeper.until(next) => {}
                _ = hints.next() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    /// Takes what waits, up to a bound; of one identity one request.
    pub async fn bite(&self) -> Result<InboxTaken, store::Error> {
        let decider: Arc<dyn InboxDecider> = self.decider.clone();
        let taken = self.store.take_inbox(decider, BITE).await?;
        for (request, answer) in &taken.answered {
            report(request, answer);
        }
        Ok(taken)
    }
}

fn warn_of_newer(requests: usize) {
    tracing::warn!(
        requests,
        "requests in the inbox come from newer SQL functions and wait for a newer node; upgrade \
         this node"
    );
}

fn report(request: &InboxRequest, answer: &InboxAnswer) {
    let result = match answer {
        InboxAnswer::Receipt(receipt) => {
            count(receipt);
            "taken"
        }
        InboxAnswer::Refused(reason) => {
            let (number, kind) = (request.number.0, &request.kind);
            tracing::warn!(
                inbox.number = number,
                task.kind = kind,
                origin = request.origin(),
                reason,
                "refused a request in the inbox"
            );
            "refused"
        }
    };
    metrics::counter!("almanack_inbox_total", "result" => result).increment(1);
}

/// Decides by the rules that hold for everybody.
struct Decider {
    rescheduler: Arc<Rescheduler>,
    clock: Arc<dyn Clock>,
    payload_limit: usize,
}

/// A request that was understood, and where it stands in the list.
type Understood = (usize, Request, store::Result<Option<Task>>);

#[async_trait]
impl InboxDecider for Decider {
    async fn decide(
        &self,
        asked: Vec<(InboxRequest, store::Result<Option<Task>>)>,
    ) -> Vec<InboxVerdict> {
        let mut verdicts = vec![InboxVerdict::Leave; asked.len()];
        let mut by_origin: BTreeMap<String, Vec<Understood>> = BTreeMap::new();
        for (place, (request, row)) in asked.into_iter().enumerate() {
            match request.read(self.payload_limit) {
                Ok(understood) => {
                    let of_origin = by_origin.entry(request.origin()).or_default();
                    of_origin.push((place, understood, row));
                }
                Err(error) => verdicts[place] = InboxVerdict::Refuse(error.to_string()),
            }
        }
        for (origin, understood) in by_origin {
            for (place, verdict) in self.decide_run(&origin, understood).await {
                verdicts[place] = verdict;
            }
        }
        verdicts
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl Decider {
    /// Decides requests of one requester.
    async fn decide_run(
        &self,
        origin: &str,
        understood: Vec<Understood>,
    ) -> Vec<(usize, InboxVerdict)> {
        let (mut places, mut requests, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (place, request, row) in understood {
            places.push(place);
            requests.push(request);
            rows.push(row);
        }
        let asked: Vec<&Request> = requests.iter().collect();
        let decided = self.rescheduler.decide_outside(&asked, rows, origin).await;
        let decided = decided.unwrap_or_else(|error| {
            let error = error.chain();
            tracing::warn!(error, "could not decide about the inbox; will retry");
            Vec::new()
        });
        let verdict = |decided| match decided {
            Ok(change) => InboxVerdict::Apply(Box::new(change)),
            Err(error) => match refusal(&error) {
                Answer::Refused { reason } => InboxVerdict::Refuse(reason),
                Answer::Taken(_) | Answer::NotNow { .. } => InboxVerdict::Leave,
            },
        };
        places
            .into_iter()
            .zip(decided.into_iter().map(verdict))
            .collect()
    }
}
