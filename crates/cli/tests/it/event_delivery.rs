//! Event delivery by a real node: no end is lost under `kill -9`, and nothing is delivered that did
//! not happen.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use almanack_testkit::postgres::Schema;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use reqwest::Method;
use serde_json::Value;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    api::{Api, task},
    business::Business,
    harness::Home,
    process::{Process, eventually, free_address},
};

const KIND: &str = "ARTICLE_PUBLISH";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// Articles that are published before the node dies.
const ARTICLES: usize = 12;

/// A subscriber. It refuses until it is opened, and then records what it receives.
struct Subscriber {
    url: String,
    ear: Arc<Ear>,
    serving: JoinHandle<()>,
}

#[derive(Default)]
struct Ear {
    open: AtomicBool,
    refused: AtomicBool,
    heard: Mutex<Vec<(HeaderMap, Value)>>,
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Subscriber {
    async fn start() -> Self {
        let ear: Arc<Ear> = Arc::default();
        let app = Router::new()
            .route("/hook", post(hear))
            .with_state(Arc::clone(&ear));
        let listener = TcpListener::bind(free_address()).await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, ear, serving }
    }

    /// The ids of everything it received.
    fn ids(&self) -> BTreeSet<String> {
        let heard = self.ear.heard.lock().unwrap();
        let ids = heard.iter().map(|(_, event)| event["id"].as_str().unwrap());
        ids.map(str::to_owned).collect()
    }
}

async fn hear(State(ear): State<Arc<Ear>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !ear.open.load(Ordering::SeqCst) {
        ear.refused.store(true, Ordering::SeqCst);
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    let event = serde_json::from_slice(&body).unwrap();
    ear.heard.lock().unwrap().push((headers, event));
    StatusCode::NO_CONTENT
}

fn home(database: &str, subscriber: &Subscriber) -> Home {
    home_with(database, subscriber, "")
}

fn home_with(database: &str, subscriber: &Subscriber, more: &str) -> Home {
    let toml = format!(
        "[database]
url = \"{database}\"
[node]
lease = \"3s\"
[retry]
base = \"100ms\"
cap = \"300ms\"
[outbound]
allow = [\"127.0.0.1/32\"]
[[subscription]]
name = \"audit\"
url = \"{}\"
secret = \"env:AUDIT_SECRET\"
kinds = [\"{KIND}\"]
{more}",
        subscriber.url
    );
    Home::with(&toml).set("AUDIT_SECRET", SECRET)
}

#[tokio::test]
async fn what_ended_is_reported_after_a_kill_on_sqlite() {
    reported_after_a_kill("sqlite:almanack.db").await;
}

#[tokio::test]
async fn what_ended_is_reported_after_a_kill_on_postgres() {
    let schema = Schema::create().await;
    reported_after_a_kill(schema.url()).await;
}

/// Everything ends while the subscriber refuses; the node dies; the next one delivers it all, and
/// nothing of an attempt that was late.
async fn reported_after_a_kill(database: &str) {
    let (subscriber, business) = (Subscriber::start().await, Business::start().await);
    let home = home(database, &subscriber);
    let mut node = Process::node(&home, free_address(), &[]).ready().await;
    let late = withdrawn_under_way(&node.api(), &business).await;
    let mut expected = BTreeSet::new();
    for n in 0..ARTICLES {
        let subject = format!("article:{n}");
        node.api()
            .put_due(KIND, &subject, &business.done_url())
            .await;
    }
    for n in 0..ARTICLES {
        let subject = format!("article:{n}");
        let done = node.api().until_status(KIND, &subject, "SUCCESS").await;
        // The service took each at its first call.
        expected.insert(format!("task-{}-1", done["task_id"]));
    }
    eventually("the subscriber refuses", async || {
        subscriber.ear.refused.load(Ordering::SeqCst).then_some(())
    })
    .await;
    node.kill().await;
    assert_eq!(subscriber.ids(), BTreeSet::new());

    subscriber.ear.open.store(true, Ordering::SeqCst);
    let node = Process::node(&home, free_address(), &[]).ready().await;
    eventually("everything is delivered", async || {
        node.api().live_tasks().await.is_empty().then_some(())
    })
    .await;
    assert_eq!(subscriber.ids(), expected, "and nothing of task {late}");
    check_reported(&subscriber);
    let listed = home
        .run(&["subscription", "list", "--json-lines"])
        .expect_json();
    assert_eq!(
        (&listed["waiting"], &listed["failed"]),
        (&0.into(), &0.into())
    );
}

/// A task that is withdrawn while it is called: how the call ends comes too late.
async fn withdrawn_under_way(api: &Api, business: &Business) -> Value {
    api.put_due(KIND, "late", &business.held_url()).await;
    business.until_called("late", 1).await;
    let withdrawn = api.ask(Method::DELETE, &task(KIND, "late"), None).await;
    assert_eq!(withdrawn.unwrap().status, 200);
    business.release();
    eventually("the late attempt is in the history", async || {
        let attempts = api.attempts(KIND, "late").await;
        attempts
            .iter()
            .any(|it| it["outcome"] == "done" || !it["late_outcome"].is_null())
            .then_some(())
    })
    .await;
    api.get(&task(KIND, "late")).await.json["task_id"].clone()
}

/// Every call was a signed CloudEvent, known by its id.
fn check_reported(subscriber: &Subscriber) {
    for (headers, event) in subscriber.ear.heard.lock().unwrap().iter() {
        assert_eq!(headers["content-type"], "application/cloudevents+json");
        assert_eq!(headers["webhook-id"], event["id"].as_str().unwrap());
        assert!(headers.contains_key("webhook-signature"));
        assert_eq!(event["type"], "almanack.task.finished.v1");
        assert_eq!(event["data"]["status"], "SUCCESS");
        assert_eq!(event["data"]["subject"], event["subject"]);
    }
}

/// Every call is a list of CloudEvents, named by its first event and how many follow.
#[tokio::test]
async fn a_batch_is_delivered_as_a_list() {
    let (subscriber, business) = (Subscriber::start().await, Business::start().await);
    subscriber.ear.open.store(true, Ordering::SeqCst);
    let home = home_with("sqlite:almanack.db", &subscriber, "batch = 5\n");
    let node = Process::node(&home, free_address(), &[]).ready().await;
    for n in 0..ARTICLES {
        let subject = format!("article:{n}");
        let url = business.done_url();
        node.api().put_due(KIND, &subject, &url).await;
    }
    eventually("everything is delivered", async || {
        let heard = subscriber.ear.heard.lock().unwrap();
        let lists = heard.iter().map(|(_, list)| list.as_array().unwrap());
        let subjects = lists.flatten().map(|event| event["subject"].to_string());
        (subjects.collect::<BTreeSet<_>>().len() == ARTICLES).then_some(())
    })
    .await;
    for (headers, list) in subscriber.ear.heard.lock().unwrap().iter() {
        let content_type = "application/cloudevents-batch+json";
        assert_eq!(headers["content-type"], content_type);
        assert!(headers.contains_key("webhook-signature"));
        let id = headers["webhook-id"].to_str().unwrap();
        let list = list.as_array().unwrap();
        let first = list[0]["id"].as_str().unwrap();
        match list.len() {
            1 => assert_eq!(id, first),
            many => assert_eq!(id, format!("{first}+{}", many - 1)),
        }
        assert!(list.len() <= 5, "{id}");
    }
}

#[test]
fn mistakes_in_subscriptions_are_reported_together() {
    let home = Home::with(
        "[[subscription]]
name = \"a b\"
secret = \"hunter2\"
[[subscription]]
name = \"two\"
url = \"http://127.0.0.1:8090/\"
kafka_topic = \"t\"
[[subscription]]
name = \"two\"
url = \"http://127.0.0.1:8090/\"
[[subscription]]
name = \"silent\"
[[subscription]]
name = \"odd\"
url = \"http://127.0.0.1:8090/\"
events = [\"almanack.task.finished\"]
mode = \"binnary\"
[[subscription]]
name = \"by-topic\"
kafka_topic = \"t\"
batch = 10
[[subscription]]
name = \"headers\"
url = \"http://127.0.0.1:8090/\"
mode = \"binary\"
batch = 10
[[subscription]]
name = \"greedy\"
url = \"http://127.0.0.1:8090/\"
batch = 1001
",
    );
    let checked = home.run(&["check"]);
    assert_eq!(checked.code, 2, "{checked}");
    assert!(!checked.to_string().contains("hunter2"), "{checked}");
    let reported = checked
        .notes
        .lines()
        .filter(|line| line.starts_with("error: "));
    insta::assert_snapshot!(reported.collect::<Vec<_>>().join("\n"), @r#"
    error: a subscription's name has 1 to 64 letters, digits, `-` or `_`
    error: subscription `two` has url and kafka_topic; only one is allowed
    error: an earlier subscription has the name `two`
    error: subscription `silent` has no destination
    error: subscription.odd.events: `almanack.task.finished` is not an event type
    error: subscription.odd.mode: `binnary` is not one of "structured" or "binary"
    error: subscription `by-topic` has `batch` and no url
    error: subscription `headers` has `batch` and mode "binary"
    error: subscription.greedy.batch: 1001 is out of range
    "#);
}

#[test]
fn an_event_cannot_be_forged() {
    let home = Home::new();
    let subject = "event:task-1-1@audit";
    let refused = home.run(&["task", "put", "EVENT_DELIVERY", subject, "--at", "now"]);
    assert_eq!(refused.code, 2, "{refused}");
    assert!(
        refused
            .notes
            .contains("only Almanack creates and changes tasks of kind"),
        "{refused}"
    );
}
