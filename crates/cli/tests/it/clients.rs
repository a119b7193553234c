//! The Rust client against a real node (WK-08). Those for Python and TypeScript are tested by
//! `dev/clients`, against the same binary.

use std::{net::SocketAddr, time::Duration};

use almanack_client::{
    BatchItem, BulkAction, Change, Client, Definition, Event, Filter, HistoryEvent, Kept, Outcome,
    Put, Rule, ScheduleFilter, SignedDuration, State, Status, Target, Task, Timestamp, WorkTask,
    Worker,
};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    harness::Home,
    process::{Process, eventually, free_address, from_now},
};

const NODE: &str = "[kinds.PUSHED]\nurl = \"http://127.0.0.1:1024/\"\n";
const PULLING: &str = "[kinds.PULLED]\ndeliver = \"pull\"\n";
const LATER: &str = "2100-01-04T08:00:00Z";

fn client_of(address: SocketAddr) -> Client {
    Client::new(&format!("http://{address}")).unwrap()
}

/// Each test on a node of either database.
macro_rules! on_both_databases {
    ($($test:ident,)*) => {
        mod sqlite {
            $(#[tokio::test] async fn $test() { super::$test("sqlite:almanack.db").await; })*
        }
        mod postgres {
            $(#[tokio::test] async fn $test() {
                let schema = almanack_testkit::postgres::Schema::create().await;
                super::$test(schema.url()).await;
            })*
        }
    };
}

on_both_databases! {
    wk_08_the_rust_client_puts_moves_reads_and_withdraws,
    wk_08_the_rust_client_sends_many_and_events,
    wk_08_the_rust_client_writes_schedules,
    wk_08_a_rust_worker_ends_tasks_while_nodes_come_and_go,
    wk_08_a_rust_worker_gives_back_what_it_cannot_end,
    wk_08_the_rust_client_holds_kinds_and_changes_in_bulk,
}

fn home(database: &str, toml: &str) -> Home {
    Home::with(&format!("[database]\nurl = \"{database}\"\n{toml}"))
}

async fn node(database: &str, toml: &str) -> (Home, Process, Client) {
    let home = home(database, toml);
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let client = client_of(node.address);
    (home, node, client)
}

fn later() -> Timestamp {
    LATER.parse().unwrap()
}

async fn wk_08_the_rust_client_puts_moves_reads_and_withdraws(database: &str) {
    let (_home, _node, client) = node(database, NODE).await;
    let subject = "article/42 ä";
    let put = Put::new("PUSHED", subject, later()).revision(1);
    let put = put.payload(&json!({ "n": 1 })).unwrap().priority(7);
    let created = client.put(put).await.unwrap().receipt;
    assert_eq!(created.rule, Rule::Created);
    let hour = later() + SignedDuration::from_hours(1);
    let change = Change::revision(2);
    let moved = client.reschedule("PUSHED", subject, hour, change).await;
    assert_eq!(moved.unwrap().receipt.old_execute_at, Some(later()));
    let task = client.get("PUSHED", subject).await.unwrap();
    assert_eq!((task.status, task.live), (Status::Init, true));
    assert_eq!(task.payload.read::<serde_json::Value>().unwrap()["n"], 1);
    let listed = client.list(&Filter::kind("PUSHED"), Some(1), None).await;
    assert_eq!(listed.unwrap().tasks, [task]);
    let kept = client.receipt(created.decision).await.unwrap();
    assert_eq!(kept.kept, Kept::Superseded);
    let history = client.history("PUSHED", subject, None).await.unwrap();
    let rules = history.events.iter().map(|event| match event {
        HistoryEvent::Decision(decision) => decision.rule,
        HistoryEvent::Attempt(attempt) => panic!("not tried yet: {attempt:?}"),
    });
    assert_eq!(rules.collect::<Vec<_>>(), [Rule::Created, Rule::Updated]);
    let cancelled = client.cancel("PUSHED", subject, Change::default()).await;
    assert_eq!(cancelled.unwrap().receipt.rule, Rule::Cancelled);
    let stale = client.cancel("PUSHED", subject, Change::revision(1)).await;
    assert_eq!(stale.unwrap().receipt.rule, Rule::IgnoredStale);
    let ignored = client.history("PUSHED", subject, None).await.unwrap();
    assert!(ignored.events.len() > 3, "what changed nothing is readable");
    assert!(client.find("PUSHED", "none").await.unwrap().is_none());
    let retried = client.retry("PUSHED", subject).await.unwrap();
    assert_eq!(retried.receipt.rule, Rule::Reinserted);
}

async fn wk_08_the_rust_client_sends_many_and_events(database: &str) {
    let (_home, _node, client) = node(database, NODE).await;
    let puts = [
        Put::new("PUSHED", "a", later()),
        Put::new("UNKNOWN", "b", later()),
    ];
    let answers = client.batch(&puts, None).await.unwrap();
    let [BatchItem::Receipt(first), BatchItem::Refused { error }] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert_eq!(first.receipt.rule, Rule::Created);
    assert_eq!(error.code, "unknown_kind");
    assert!(error.hint().is_some_and(|hint| hint.contains("PUSHED")));
    let once = client.batch(&puts[..1], Some("once")).await.unwrap();
    assert_eq!(once, client.batch(&puts[..1], Some("once")).await.unwrap());
    let put = Put::new("PUSHED", "c", later());
    let put = Event::put("1", "/articles", 1, put).unwrap();
    let cancel = Event::cancel("2", "/articles", 2, "PUSHED", "c");
    let answers = client.send_events(&[put, cancel]).await.unwrap();
    let rule = |item: &BatchItem| match item {
        BatchItem::Receipt(receipted) => receipted.receipt.rule,
        BatchItem::Refused { error } => panic!("{error}"),
    };
    let rules: Vec<Rule> = answers.iter().map(rule).collect();
    assert_eq!(rules, [Rule::Created, Rule::Cancelled]);
}

async fn wk_08_the_rust_client_writes_schedules(database: &str) {
    let (_home, _node, client) = node(database, NODE).await;
    let target: Target =
        serde_json::from_value(json!({ "type": "task", "kind": "PUSHED", "subject": "s" }))
            .unwrap();
    let definition = Definition::new("0 8 1 1 *", target);
    let written = client.put_schedule_if("yearly", &definition, None).await;
    let written = written.unwrap();
    assert_eq!(written.definition.as_ref(), Some(&definition));
    assert!(written.next_at.is_some());
    let exists = client.put_schedule_if("yearly", &definition, None).await;
    assert!(exists.unwrap_err().is_code("revision_mismatch"));
    let paused = client.pause_schedule("yearly", Some(later()), Some("holidays"));
    let paused = paused.await.unwrap().state;
    assert!(matches!(&paused, State::Paused(pause) if pause.note.as_deref() == Some("holidays")));
    let resumed = client.resume_schedule("yearly").await.unwrap();
    assert_eq!(resumed.state, State::Active);
    let fired = client.fire_schedule("yearly").await.unwrap();
    assert_eq!(fired.identity.kind.as_str(), "DISPATCH");
    let filter = ScheduleFilter::default();
    let all = client.schedules(&filter, None).await.unwrap().schedules;
    assert_eq!(all.len(), 1);
    let removed = client.remove_schedule("yearly").await.unwrap();
    assert!(matches!(removed.state, State::Removed { .. }));
}

async fn until(client: &Client, subject: &str, fits: impl Fn(&Task) -> bool) -> Task {
    eventually(&format!("{subject} ends"), async || {
        let task = client.get("PULLED", subject).await.unwrap();
        Some(task).filter(|task| fits(task))
    })
    .await
}

async fn wk_08_a_rust_worker_ends_tasks_while_nodes_come_and_go(database: &str) {
    let home = home(database, PULLING);
    let address = free_address();
    let mut node = Process::node(&home, address, &[]).ready().await;
    let client = client_of(address);
    let (stop, stopped) = oneshot::channel::<()>();
    let worker = Worker::new(client.clone()).name("mail-1");
    let worker = worker.handle("PULLED", async |task: WorkTask| {
        match task.identity.subject.as_str() {
            "broken" => Outcome::give_up("no address"),
            "busy" => Outcome::retry_after(Duration::from_hours(1), "greylisted"),
            _ => Outcome::done_with("250 OK"),
        }
    });
    let running = tokio::spawn(worker.run(async { stopped.await.unwrap() }));
    for subject in ["first", "broken", "busy"] {
        let put = Put::new("PULLED", subject, from_now(0));
        client.put(put).await.unwrap();
    }
    let first = until(&client, "first", |task| task.status == Status::Success).await;
    assert_eq!(first.detail.as_deref(), Some("250 OK"));
    assert_eq!(first.node.as_deref(), Some("mail-1"));
    until(&client, "broken", |task| {
        task.status == Status::Fail && !task.live
    })
    .await;
    until(&client, "busy", |task| {
        task.status == Status::Fail && task.live
    })
    .await;
    node.kill().await;
    let _again = Process::node(&home, address, &[]).ready().await;
    client
        .put(Put::new("PULLED", "second", from_now(0)))
        .await
        .unwrap();
    until(&client, "second", |task| task.status == Status::Success).await;
    stop.send(()).unwrap();
    running.await.unwrap().unwrap();
}

async fn wk_08_a_rust_worker_gives_back_what_it_cannot_end(database: &str) {
    let (_home, _node, client) = node(database, PULLING).await;
    client
        .put(Put::new("PULLED", "slow", from_now(0)))
        .await
        .unwrap();
    let started = std::sync::Arc::new(tokio::sync::Notify::new());
    let begun = std::sync::Arc::clone(&started);
    let worker = Worker::new(client.clone()).drain(Duration::ZERO);
    let worker = worker.handle("PULLED", move |_| {
        begun.notify_one();
        std::future::pending::<()>()
    });
    worker.run(started.notified()).await.unwrap();
    let task = client.get("PULLED", "slow").await.unwrap();
    assert_eq!((task.status, task.attempt), (Status::Init, 0));
}

async fn wk_08_the_rust_client_holds_kinds_and_changes_in_bulk(database: &str) {
    let (_home, _node, client) = node(database, PULLING).await;
    let held = client.pause_kind("PULLED", None, Some("deploy")).await;
    assert!(held.unwrap().paused.is_some());
    let kinds = client.kinds().await.unwrap().kinds;
    assert!(kinds.iter().any(|it| it.kind.as_str() == "PULLED"));
    let resumed = client.resume_kind("PULLED").await.unwrap();
    assert!(resumed.paused.is_none());
    for subject in ["a", "b", "c"] {
        let put = Put::new("PULLED", subject, later()).tags(["nightly"]);
        client.put(put).await.unwrap();
    }
    let filter = Filter {
        tag: Some("nightly".to_owned()),
        ..Filter::kind("PULLED")
    };
    let action = BulkAction::MoveBy(SignedDuration::from_hours(2));
    let plan = client.plan_bulk(action, &filter).await.unwrap();
    assert_eq!((plan.matched, plan.would_change), (3, 3));
    let started = client
        .start_bulk(action, &filter, Some(plan.through_task_id))
        .await
        .unwrap();
    let moved = later() + SignedDuration::from_hours(2);
    for subject in ["a", "b", "c"] {
        until(&client, subject, |task| task.execute_at == moved).await;
    }
    let bulk = client.bulk(started.bulk_id).await.unwrap();
    assert_eq!(bulk.bulk_id, started.bulk_id);
}
