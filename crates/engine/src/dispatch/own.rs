//! Firing at Almanack's own work.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    finish::Outcome,
    follow::{Followed, HandedOver, Seen, Work, seen_task},
    handler::Handler,
    history::DECISIONS_KEPT,
    plan::Firing,
    reschedule::{Cancel, Put, Receipt, Request, Rule},
    reserved::may_fire,
    source::SOURCE_CHECK,
    store::{self, OnceKey, Store},
    target::{Launcher, Target, Unusable, task_identity},
    task::{ClaimedTask, PAYLOAD_BYTES_MAX, Payload, Status, TaskId},
    time::Clock,
};
use async_trait::async_trait;

use crate::reschedule::{Error, Rescheduler};

/// Fires at Almanack's own work: does it in the firing itself, which then ends when the work does,
/// or puts a task, due at once, and follows it.
///
/// INVARIANT: a firing puts its task once. The put and a key of the firing's own are one write, so
/// a node that dies right after it finds its own put again, by its receipt.
pub struct TaskLauncher {
    pub rescheduler: Arc<Rescheduler>,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// Handlers of work that only its slot distinguishes from the next, by kind.
    pub done_here: BTreeMap<&'static str, Arc<dyn Handler>>,
}

impl TaskLauncher {
    fn request(&self, firing: &Firing) -> Result<Request, String> {
        let Target::Task {
            kind,
            subject,
            payload,
        } = &firing.target
        else {
            return Err("the target is not a task".to_owned());
        };
        let identity = task_identity(kind, subject, firing.nominal_at);
        let identity = identity.map_err(|invalid| invalid.to_string())?;
        if !may_fire(&identity) {
            return Err(Unusable::Reserved.to_string());
        }
        let payload = payload.as_ref().map(ToString::to_string);
        let payload = payload.map(|text| Payload::parse(&text, PAYLOAD_BYTES_MAX));
        let payload = payload.transpose().map_err(|invalid| invalid.to_string())?;
        Ok(Request::Put(Put {
            payload,
            ..Put::at(identity, self.clock.now())
        }))
    }

    async fn put(&self, firing: &Firing, task: &ClaimedTask) -> Result<Receipt, HandedOver> {
        let give_up = |error: String| HandedOver::Ended(Outcome::give_up(error));
        let request = self.request(firing).map_err(give_up)?;
        let asked = self
            .rescheduler
            .ask_once_own(key_of(task), request, &origin(firing))
            .await;
        asked.map_err(|error| match error {
            Error::Store(_) => HandedOver::Unanswered,
            error => give_up(error.to_string()),
        })
    }

    async fn look_at(&self, id: TaskId) -> store::Result<Seen> {
        let row = self.store.load_task(id).await?;
        let mut decided = Vec::new();
        if row
            .as_ref()
            .is_some_and(|row| row.status == Status::Cancelled)
        {
            let all = usize::try_from(DECISIONS_KEPT).unwrap_or(usize::MAX);
            decided = self.store.load_decisions(id, 0, all).await?;
        }
        Ok(seen_task(id, row.as_ref(), &decided, self.clock.now()))
    }
}

/// The key under which a firing puts its task, once.
fn key_of(task: &ClaimedTask) -> OnceKey {
    OnceKey {
        key: format!("firing:{}", task.id),
        digest: String::new(),
    }
}

/// What a put came to.
fn handed_over(firing: &Firing, receipt: &Receipt) -> HandedOver {
    let recurs = matches!(&firing.target, Target::Task { kind, .. } if kind == SOURCE_CHECK);
    match receipt.rule {
        Rule::IgnoredDone => HandedOver::Ended(Outcome::give_up(
            "this task is already done and is not repeated; add {slot} to the target's subject",
        )),
        // A source is checked for ever: its task has no end that could be waited for.
        rule if recurs => HandedOver::Ended(Outcome::done(rule.as_str())),
        _ => HandedOver::Works(Work::Task {
            task_id: receipt.task_id,
        }),
    }
}

/// Who a firing's requests come from.
fn origin(firing: &Firing) -> String {
    format!("schedule {}", firing.schedule)
}

#[async_trait]
impl Launcher for TaskLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        match self.hand_over(firing, task).await {
            HandedOver::Ended(outcome) => outcome,
            HandedOver::Works(_) => Outcome::done("put"),
            HandedOver::Unanswered => Outcome::retry("the store did not answer"),
        }
    }

    async fn hand_over(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        let Target::Task { kind, .. } = &firing.target else {
            return HandedOver::Ended(Outcome::give_up("the target is not a task"));
        };
        if let Some(handler) = self.done_here.get(kind.as_str()) {
            return HandedOver::Ended(handler.attempt(task).await);
        }
        match self.put(firing, task).await {
            Ok(receipt) => handed_over(firing, &receipt),
            Err(handed_over) => handed_over,
        }
    }

    async fn recall(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        match self.store.load_once(&key_of(task).key).await {
            Ok(Some(record)) => match record.receipts.first() {
                Some(receipt) => handed_over(firing, receipt),
                None => HandedOver::Unanswered,
            },
            Ok(None) => HandedOver::Ended(Outcome::give_up("nothing was put")),
            Err(_) => HandedOver::Unanswered,
        }
    }

    async fn look(&self, _: &Firing, _: &ClaimedTask, followed: &Followed) -> Seen {
        let Work::Task { task_id } = followed.work else {
            return Seen::UNCHANGED;
        };
        self.look_at(task_id).await.unwrap_or_else(|error| {
            let why = error.chain();
            let retry_after = None;
            Seen::Unseen { why, retry_after }
        })
    }

    /// Only the very row that was followed: what has taken its name since is somebody else's.
    async fn withdraw(&self, firing: &Firing, followed: &Followed) -> Result<(), String> {
        let Work::Task { task_id } = followed.work else {
            return Ok(());
        };
        let row = self.store.load_task(task_id).await;
        let row = row.map_err(|error| error.chain())?;
        let Some(row) = row.filter(|row| row.current && row.is_live()) else {
            return Ok(());
        };
        let request = Request::Cancel(Cancel {
            identity: row.identity,
            revision: None,
        });
        match self.rescheduler.ask_own(request, &origin(firing)).await {
            Ok(_) | Err(Error::NothingThere(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
