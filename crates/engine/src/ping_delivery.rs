//! The handler of `PING_DELIVERY` tasks: calls the addresses that a schedule names about a firing.
//!
//! A monitor elsewhere takes the last thing it hears for the truth, so calls keep their order: the
//! end waits for the start, and a start whose firing has ended meanwhile is not sent any more.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    handler::Handler,
    plan::{
        Firing,
        pings::{Phase, PingCall, PingSender, start_call},
    },
    reschedule::{Put, Request, decide},
    store::Store,
    task::{ClaimedTask, Identity, Task},
    time::Clock,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use crate::wake::later;

/// How soon an end whose start is still on its way is looked at again.
const ORDER_WAIT: SignedDuration = SignedDuration::from_secs(1);

/// Calls.
pub struct PingDeliveryHandler {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub sender: Arc<dyn PingSender>,
}

impl PingDeliveryHandler {
    /// Whether a task of this identity is still to be tried. One that cannot be read is not.
    async fn is_live(&self, identity: Option<Identity>) -> Result<bool, Outcome> {
        let Some(identity) = identity else {
            return Ok(false);
        };
        let found = self.store.load_current(&[identity]).await;
        let found = found.map_err(|error| Outcome::retry(error.chain()))?;
        Ok(found.iter().flatten().any(Task::is_live))
    }

    async fn call(&self, call: &PingCall) -> Result<Outcome, Outcome> {
        if call.phase == Phase::Start && !self.is_live(call.firing()).await? {
            return Ok(Outcome::done("not sent: the firing has ended"));
        }
        if self.is_live(call.before()).await? {
            return Ok(Outcome::again(later(self.clock.now(), ORDER_WAIT)));
        }
        match call.pings.address(call.phase) {
            Some(address) => Ok(self.sender.send(address).await),
            None => Ok(Outcome::give_up("the payload has no such address")),
        }
    }
}

#[async_trait]
impl Handler for PingDeliveryHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(call) = PingCall::read(&task.payload) else {
            return Outcome::give_up("the payload is not a ping");
        };
        self.call(&call).await.unwrap_or_else(|outcome| outcome)
    }
}

/// Puts the call of a firing's start, with its first attempt. Whatever goes wrong here, the firing
/// goes on; one that is there already was put by the same attempt.
pub(crate) async fn put_start(
    store: &dyn Store,
    task: &ClaimedTask,
    firing: &Firing,
    now: Timestamp,
) {
    let first = task.attempt <= 1;
    let Some(new) = start_call(task, firing, now).filter(|_| first) else {
        return;
    };
    let put = Put {
        payload: Some(new.payload),
        max_retry: Some(new.max_retry),
        priority: Some(new.priority),
        ..Put::at(new.identity, new.execute_at)
    };
    let Ok(change) = decide(None, &Request::Put(put), &new.origin, now) else {
        return;
    };
    if let Err(error) = store.apply(vec![change]).await {
        tracing::warn!(
            schedule.name = firing.schedule,
            error = error.chain(),
            "the start of a firing is not reported"
        );
    }
}
