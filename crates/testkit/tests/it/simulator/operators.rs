//! Those who operate: they pause kinds and resume them, change all tasks of a kind at once, and stop
//! such a change in the middle. Replies get lost on them, too.

use almanack_core::{
    bulk::{Action, BulkId, BulkRequest},
    store::TaskFilter,
    task::Kind,
};
use almanack_engine::{
    bulk::{self, Bulks},
    kinds::{self, Pausing},
    reschedule::{Error, Rescheduler},
};
use almanack_testkit::fixture::{PUBLISH, kind};
use jiff::{SignedDuration, Timestamp};

use super::{
    authors::Requester,
    node::{ChangeRequest, NARROW, Reply},
    time::pass,
};

/// What is requested.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Pause(Kind, Option<Timestamp>),
    Resume(Kind),
    Change(Box<BulkRequest>),
    Stop(BulkId),
}

impl Requester {
    /// Operates until `until`; then resumes what is paused, so that the world can come to rest. A
    /// pause may still be on its way when its operator has long given up on it.
    pub(super) async fn operate(self, until: Timestamp) {
        let mut asked = 0;
        while self.world.truth.now() < until {
            pass(self.dice.millis(500, 6_000)).await;
            asked += 1;
            let operation = self.operation();
            let stops = matches!(operation, Operation::Change(_)) && self.dice.hits(200);
            let origin = format!("{}#{asked}", self.name);
            self.ask(&ChangeRequest::Operate(operation), &origin, None)
                .await;
            if stops {
                self.stop_newest(&origin).await;
            }
        }
        loop {
            pass(self.dice.millis(100, 3_000)).await;
            let paused = self.world.store.load_paused_kinds(self.world.truth.now());
            for paused in paused.await.unwrap_or_default() {
                let request = ChangeRequest::Operate(Operation::Resume(paused.kind));
                self.ask(&request, &self.name, None).await;
            }
        }
    }

    /// Stops the newest bulk change, which may be this operator's.
    async fn stop_newest(&self, origin: &str) {
        let newest = self.world.store.list_bulks(None, 1).await;
        if let Some(bulk) = newest.ok().and_then(|mut page| page.rows.pop()) {
            let stop = ChangeRequest::Operate(Operation::Stop(bulk.id));
            self.ask(&stop, origin, None).await;
        }
    }

    fn length(&self) -> SignedDuration {
        SignedDuration::from_millis(self.dice.between(500, 20_000))
    }

    fn operation(&self) -> Operation {
        let kind = self.dice.pick(&kinds()).clone();
        let now = self.world.truth.now();
        match self.dice.below(10) {
            0 => Operation::Pause(kind, None),
            1 => Operation::Pause(kind, Some(now + self.length())),
            2 | 3 => Operation::Resume(kind),
            4 => Operation::Change(change(kind, Action::Cancel, None)),
            5 => Operation::Change(change(kind, Action::Retry, None)),
            _ => {
                let by = self.dice.between(-20, 20);
                Operation::Change(change(kind, Action::Move, Some(by)))
            }
        }
    }
}

fn kinds() -> [Kind; 3] {
    [PUBLISH, "AUDIT", NARROW].map(kind)
}

fn change(kind: Kind, action: Action, by_s: Option<i64>) -> Box<BulkRequest> {
    let filter = TaskFilter {
        kind: Some(kind),
        ..TaskFilter::default()
    };
    Box::new(BulkRequest {
        action,
        by_s,
        to: None,
        filter,
    })
}

/// Carries out what was requested, as the API of a process does. What is refused changes nothing.
pub(super) async fn operate(
    (rescheduler, bulks): (&Rescheduler, &Bulks),
    operation: Operation,
    origin: &str,
) -> Reply {
    let (store, known) = (&*bulks.store, rescheduler.kinds());
    let now = bulks.clock.now();
    let failed = match operation {
        Operation::Pause(kind, until) => {
            let pausing = Pausing {
                until,
                note: None,
                by: origin.to_owned(),
            };
            of_kinds(kinds::pause(store, &known, &kind, pausing, now).await)
        }
        Operation::Resume(kind) => of_kinds(kinds::resume(store, &known, &kind, origin, now).await),
        Operation::Change(request) => of_bulks(bulks.start(*request, None, origin).await),
        Operation::Stop(id) => of_bulks(bulks.cancel(id, origin).await),
    };
    failed.map_or(Ok(Vec::new()), Err)
}

fn of_kinds<T>(answer: Result<T, kinds::Error>) -> Option<Error> {
    match answer {
        Err(kinds::Error::Store(error)) => Some(Error::Store(error)),
        _ => None,
    }
}

fn of_bulks<T>(answer: Result<T, bulk::Error>) -> Option<Error> {
    match answer {
        Err(bulk::Error::Store(error)) => Some(Error::Store(error)),
        _ => None,
    }
}
