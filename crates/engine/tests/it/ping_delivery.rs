//! Calls about firings: in order, a few times, and never in the firing's way (DP-23).

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_core::{
    finish::Outcome,
    plan::{DISPATCH, Definition, PING_DELIVERY, Pings, pings::PingSender},
    target::Target,
    task::{Status, Task},
};
use almanack_engine::ping_delivery::PingDeliveryHandler;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    dispatch::{FakeTarget, House, done, node_settings},
    virtual_time::pause,
};

/// Remembers who was called, and answers the first `refusals` calls with a retry.
struct Receiver {
    called: Mutex<Vec<String>>,
    refusals: Mutex<usize>,
}

#[async_trait]
impl PingSender for Receiver {
    async fn send(&self, address: &str) -> Outcome {
        let mut refusals = self.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return Outcome::retry("HTTP 503");
        }
        self.called.lock().unwrap().push(address.to_owned());
        done()
    }
}

fn definition() -> Definition {
    let url = "https://example.org/hook".to_owned();
    let call = |phase: &str| Some(format!("https://hc.example/{phase}"));
    Definition {
        pings: Pings {
            start: call("start"),
            success: call("success"),
            failure: call("failure"),
        },
        ..Definition::new("@every 1h", Target::webhook(url))
    }
}

/// One firing that ends so, and what was called.
async fn called(
    outcome: Outcome,
    takes_s: u64,
    refusals: usize,
) -> (Vec<String>, Vec<Task>, Vec<Task>) {
    let house = House::new();
    house.put(definition()).await;
    let receiver = Arc::new(Receiver {
        called: Mutex::default(),
        refusals: Mutex::new(refusals),
    });
    let calls = PingDeliveryHandler {
        store: house.store.clone(),
        clock: Arc::new(house.time),
        sender: receiver.clone(),
    };
    let target = FakeTarget::taking(outcome, Duration::from_secs(takes_s));
    let handler = house.handler(target);
    let node = house.admit_beside(Arc::new(calls), handler, node_settings());
    let (node, stop) = (node.await, CancellationToken::new());
    let running = tokio::spawn(node.run(stop.clone()));
    pause(Duration::from_mins(100)).await;
    stop.cancel();
    running.await.unwrap();
    let called = receiver.called.lock().unwrap().clone();
    (
        called,
        house.tasks(DISPATCH).await,
        house.tasks(PING_DELIVERY).await,
    )
}

const BOTH: [&str; 2] = ["https://hc.example/start", "https://hc.example/success"];

#[tokio::test(start_paused = true)]
async fn dp_23_a_firing_calls_when_it_starts_and_when_it_has_succeeded() {
    let (calls, firings, _) = called(done(), 30, 0).await;
    assert_eq!(calls, BOTH);
    assert_eq!(firings.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn dp_23_a_firing_calls_when_it_has_failed_for_good() {
    let (calls, ..) = called(Outcome::give_up("no"), 30, 0).await;
    assert_eq!(
        calls,
        ["https://hc.example/start", "https://hc.example/failure"]
    );
}

/// The start is refused until the firing has ended: saying then that it started would be a lie. The
/// end is still called, once.
#[tokio::test(start_paused = true)]
async fn dp_23_an_end_is_never_called_before_its_start() {
    let (calls, firings, _) = called(done(), 1, 1).await;
    assert_eq!(calls, ["https://hc.example/success"]);
    assert_eq!(firings[0].status, Status::Success);
}

#[tokio::test(start_paused = true)]
async fn dp_23_who_never_answers_is_given_up_and_the_firing_is_not_delayed() {
    let (calls, firings, deliveries) = called(done(), 30, usize::MAX).await;
    assert_eq!(calls, [""; 0]);
    let took = |task: &Task| task.finished_at.unwrap().duration_since(task.execute_at);
    assert!(
        firings.iter().all(|task| took(task).as_secs() < 32),
        "{firings:?}"
    );
    let failed = |task: &&Task| task.status == Status::Fail && !task.is_live();
    assert_eq!(
        deliveries.iter().filter(failed).count(),
        1,
        "the end's, and people see it"
    );
    let said: Vec<&str> = deliveries
        .iter()
        .filter_map(|it| it.detail.as_deref())
        .collect();
    assert!(
        said.iter().all(|detail| !detail.contains("hc.example")),
        "{said:?}"
    );
}
