//! The worker's loop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use almanack_client::{Outcome, WorkTask, Worker};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::node::{Asked, Node, problem};

fn task(id: i64) -> Value {
    json!({ "task_id": id, "term": 1, "subject": format!("user:{id}"), "kind": "MAIL_SEND",
        "attempt": 1, "max_retry": 3, "execute_at": "2026-01-05T08:00:00Z", "payload": { "n": id },
        "revision": 1, "lease_until": "2026-01-05T08:01:00Z" })
}

/// Gives each of these claims once and then holds claims open; acknowledges everything else.
fn node_with(claims: Vec<(u16, Value)>) -> impl FnMut(&Asked) -> Option<(u16, Value)> {
    let mut claims = claims.into_iter();
    move |asked| {
        if asked.path.ends_with("/claim") {
            return claims.next();
        }
        Some(acknowledged(asked, "applied"))
    }
}

fn acknowledged(asked: &Asked, result: &str) -> (u16, Value) {
    let tasks = asked.body["tasks"].as_array().unwrap().iter();
    let tasks: Vec<Value> = tasks
        .map(|it| json!({ "task_id": it["task_id"], "term": it["term"], "result": result }))
        .collect();
    (200, json!({ "tasks": tasks }))
}

fn is(what: &'static str) -> impl Fn(&Asked) -> bool {
    move |asked| asked.path.ends_with(what)
}

#[tokio::test]
async fn wk_08_a_worker_waits_for_the_node_and_reports_every_ending() {
    let claims = vec![
        problem(503, "busy"),
        (200, json!({ "tasks": [task(1), task(2), task(3)] })),
    ];
    let node = Node::start(node_with(claims)).await;
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = Worker::new(node.client.clone()).name("mail-1").slots(8);
    let worker = worker.handle("MAIL_SEND", async |task: WorkTask| match task.task_id.0 {
        1 => Ok(Outcome::done_with("250 OK")),
        2 => Err("greylisted"),
        _ => panic!("a bug in the handler"),
    });
    let running = tokio::spawn(worker.run(async { stopped.await.unwrap() }));
    let reported = || {
        let endings = node.asked().into_iter().filter(is("/finish"));
        let mut all: Vec<Value> = endings
            .flat_map(|it| it.body["tasks"].as_array().unwrap().clone())
            .collect();
        all.sort_by_key(|it| it["task_id"].as_i64());
        all
    };
    node.until_asked(|_| reported().len() == 3).await;
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
    assert_eq!(
        reported(),
        [
            json!({ "task_id": 1, "term": 1, "outcome": "done", "detail": "250 OK" }),
            json!({ "task_id": 2, "term": 1, "outcome": "retry", "detail": "greylisted" }),
            json!({ "task_id": 3, "term": 1, "outcome": "retry", "detail": "the handler panicked" }),
        ]
    );
    let claim = node.asked().into_iter().find(is("/claim")).unwrap();
    assert_eq!(
        claim.body,
        json!({ "kinds": ["MAIL_SEND"], "max": 8, "wait_s": 30, "lease_s": 60, "worker": "mail-1" })
    );
}

/// Notes that its handler was stopped.
struct Stopped(Arc<Notify>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn wk_08_a_worker_extends_what_runs_and_stops_what_it_lost() {
    let mut claims = vec![(200, json!({ "tasks": [task(1)] }))].into_iter();
    let node = Node::start(move |asked| match asked.path.rsplit('/').next() {
        Some("claim") => claims.next(),
        Some("extend") => Some(acknowledged(asked, "lost")),
        _ => Some(acknowledged(asked, "applied")),
    })
    .await;
    let dropped = Arc::new(Notify::new());
    let noted = Arc::clone(&dropped);
    let worker = Worker::new(node.client.clone()).lease(Duration::from_secs(5));
    let worker = worker.handle("MAIL_SEND", move |_| {
        let stopped = Stopped(Arc::clone(&noted));
        async move {
            let _stopped = stopped;
            std::future::pending::<()>().await;
        }
    });
    let (stop, stopping) = oneshot::channel::<()>();
    let running = tokio::spawn(worker.run(async { stopping.await.unwrap() }));
    let within = Duration::from_mins(1);
    let stopped = tokio::time::timeout(within, dropped.notified()).await;
    stopped.expect("the handler is stopped");
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
    assert!(node.asked().iter().any(is("/extend")));
    let ended = node.asked().into_iter().filter(|it| !is("/claim")(it));
    assert!(ended.into_iter().all(|it| is("/extend")(&it)), "not ours");
}

#[tokio::test]
async fn wk_08_a_worker_gives_back_what_does_not_end_within_the_drain() {
    let claims = vec![(200, json!({ "tasks": [task(1), task(2)] }))];
    let node = Node::start(node_with(claims)).await;
    let started = Arc::new(Notify::new());
    let begun = Arc::clone(&started);
    let worker = Worker::new(node.client.clone()).drain(Duration::from_millis(50));
    let worker = worker.handle("MAIL_SEND", move |task: WorkTask| {
        let begun = Arc::clone(&begun);
        async move {
            if task.task_id.0 == 2 {
                begun.notify_one();
                std::future::pending::<()>().await;
            }
        }
    });
    worker.run(started.notified()).await.unwrap();
    let released = node.asked().into_iter().find(is("/release")).unwrap();
    assert_eq!(
        released.body,
        json!({ "tasks": [{ "task_id": 2, "term": 1 }] })
    );
    let finished = node.asked().into_iter().find(is("/finish")).unwrap();
    assert_eq!(finished.body["tasks"][0]["task_id"], 1);
}

#[tokio::test]
async fn wk_08_a_worker_ends_with_what_waiting_cannot_change() {
    let node = Node::start(|_| Some(problem(409, "not_pulled"))).await;
    let called = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&called);
    let worker = Worker::new(node.client.clone()).handle("MAIL_SEND", move |_| {
        noted.store(true, Ordering::Relaxed);
        async {}
    });
    let refused = worker.run(std::future::pending()).await.unwrap_err();
    assert!(refused.is_code("not_pulled"), "{refused}");
    assert!(!called.load(Ordering::Relaxed));
}
