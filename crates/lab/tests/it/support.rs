//! An article service, a recording fake of Almanack, and a clock that tests set.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use almanack_lab::{
    article::{self, Config, Running, activity::Activity, relay::Pace},
    clock::Clock,
};
use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::{broadcast, watch},
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Limit for waits; what a test waits for normally takes milliseconds.
const WAIT_MAX: Duration = Duration::from_secs(20);

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_MAX, future)
        .await
        .expect("waited in vain")
}

/// A clock that changes only when it is set.
#[derive(Clone)]
pub(crate) struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    pub(crate) fn at(text: &str) -> Self {
        let start: Timestamp = text.parse().unwrap();
        Self(Arc::new(AtomicI64::new(start.as_microsecond())))
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.0.load(Ordering::SeqCst)).unwrap()
    }

    pub(crate) fn after(&self, seconds: i64) -> Timestamp {
        self.now() + SignedDuration::from_secs(seconds)
    }

    pub(crate) fn advance(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000_000, Ordering::SeqCst);
    }

    pub(crate) fn as_clock(&self) -> Clock {
        let clock = self.clone();
        Arc::new(move || clock.now())
    }
}

/// How the fake answers a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// 200 with a receipt per event.
    Receipts,
    Status(u16),
    /// 200 with this body.
    Body(Value),
}

/// A fake of `POST /api/v1/events`.
pub(crate) struct Almanack {
    pub(crate) url: String,
    recorder: Arc<Recorder>,
    _stop: DropGuard,
}

struct Recorder {
    requests: watch::Sender<Vec<Vec<Value>>>,
    replies: Mutex<VecDeque<Reply>>,
    refuse: Mutex<Option<String>>,
}

impl Almanack {
    /// Answers with `replies` first, then with receipts.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let recorder = Arc::new(Recorder {
            requests: watch::Sender::new(Vec::new()),
            replies: Mutex::new(replies.into_iter().collect()),
            refuse: Mutex::new(None),
        });
        let app = Router::new()
            .route("/api/v1/events", post(take_events))
            .with_state(recorder.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let cancel = CancellationToken::new();
        let stop = cancel.clone().cancelled_owned();
        tokio::spawn(
            axum::serve(listener, app)
                .with_graceful_shutdown(stop)
                .into_future(),
        );
        Self {
            url,
            recorder,
            _stop: cancel.drop_guard(),
        }
    }

    /// From now on, answers 400 to every request with an event whose id contains `part`.
    pub(crate) fn refuse(&self, part: &str) {
        *self.recorder.refuse.lock().unwrap() = Some(part.to_owned());
    }

    pub(crate) fn accept_everything(&self) {
        *self.recorder.refuse.lock().unwrap() = None;
    }

    /// All events received until `enough` is true of them, in order, with repetitions.
    pub(crate) async fn events_until(&self, enough: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let mut requests = self.recorder.requests.subscribe();
        let flat = |requests: &Vec<Vec<Value>>| requests.concat();
        let seen = within(requests.wait_for(|requests| enough(&flat(requests)))).await;
        flat(&seen.unwrap())
    }

    pub(crate) async fn events(&self, count: usize) -> Vec<Value> {
        self.events_until(|events| events.len() >= count).await
    }
}

async fn take_events(
    State(recorder): State<Arc<Recorder>>,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> (StatusCode, String) {
    assert_eq!(
        headers["content-type"],
        "application/cloudevents-batch+json"
    );
    let events: Vec<Value> = serde_json::from_slice(&body).unwrap();
    let ids: Vec<String> = events.iter().map(|event| event["id"].to_string()).collect();
    let receipts = json!({ "receipts": vec![json!({ "rule": "created" }); events.len()] });
    recorder
        .requests
        .send_modify(|requests| requests.push(events));
    if let Some(part) = recorder.refuse.lock().unwrap().as_deref()
        && ids.iter().any(|id| id.contains(part))
    {
        return (StatusCode::BAD_REQUEST, "this event is poison".to_owned());
    }
    match recorder
        .replies
        .lock()
        .unwrap()
        .pop_front()
        .unwrap_or(Reply::Receipts)
    {
        Reply::Receipts => (StatusCode::OK, receipts.to_string()),
        Reply::Status(status) => (StatusCode::from_u16(status).unwrap(), "not now".to_owned()),
        Reply::Body(body) => (StatusCode::OK, body.to_string()),
    }
}

/// A running article service with a separate directory.
pub(crate) struct World {
    pub(crate) clock: ManualClock,
    pub(crate) database: std::path::PathBuf,
    service: Running,
    events: broadcast::Receiver<Activity>,
    client: reqwest::Client,
    cancel: CancellationToken,
    directory: TempDir,
}

impl World {
    pub(crate) async fn start(almanack_url: &str) -> Self {
        Self::start_with(almanack_url, |_| {}).await
    }

    pub(crate) async fn start_with(almanack_url: &str, adjust: impl FnOnce(&mut Config)) -> Self {
        let clock = ManualClock::at("2026-01-05T08:00:00Z");
        Self::start_in(tempfile::tempdir().unwrap(), clock, almanack_url, adjust).await
    }

    async fn start_in(
        directory: TempDir,
        clock: ManualClock,
        almanack_url: &str,
        adjust: impl FnOnce(&mut Config),
    ) -> Self {
        let database = directory.path().join("articles.db");
        let mut config = Config::new(&database, ([127, 0, 0, 1], 0).into(), almanack_url);
        config.clock = clock.as_clock();
        config.pace = Pace {
            first: Duration::from_millis(1),
            max: Duration::from_millis(5),
            seed: 1,
        };
        adjust(&mut config);
        let cancel = CancellationToken::new();
        let service = article::start(config, cancel.clone()).await.unwrap();
        let events = service.watch();
        let client = client();
        Self {
            clock,
            database,
            service,
            events,
            client,
            cancel,
            directory,
        }
    }

    /// Stops the service and starts another on the same file.
    pub(crate) async fn restart(self, almanack_url: &str) -> Self {
        self.cancel.cancel();
        within(self.service.join).await.unwrap().unwrap();
        Self::start_in(self.directory, self.clock, almanack_url, |_| {}).await
    }

    pub(crate) async fn stop(self) {
        self.cancel.cancel();
        within(self.service.join).await.unwrap().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        self.service.url()
    }

    /// Waits for a matching activity.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Activity) -> bool) -> Activity {
        let waiting = async {
            loop {
                let activity = self.events.recv().await.unwrap();
                if wanted(&activity) {
                    return activity;
                }
            }
        };
        within(waiting).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let response = self.client.get(self.path(path)).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.json().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.client.post(self.path(path)).json(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> (u16, Value) {
        answer(self.client.patch(self.path(path)).json(body)).await
    }

    pub(crate) fn request(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(self.path(path))
    }

    fn path(&self, path: &str) -> String {
        format!("{}{path}", self.service.url())
    }

    /// Creates an article due in an hour and returns its id.
    pub(crate) async fn write(&self) -> i64 {
        let publish_at = self.clock.after(3600);
        let body = json!({ "title": "Tides", "body": "In and out.", "publish_at": publish_at });
        let (status, article) = self.post("/articles", &body).await;
        assert_eq!(status, 201, "{article}");
        article["id"].as_i64().unwrap()
    }

    /// Creates an article and passes its audit; it then has revision 2.
    pub(crate) async fn write_audited(&self) -> i64 {
        let id = self.write().await;
        let (status, answer) = self.call("audit", id, 1).await;
        assert_eq!(
            (status, answer["result"].as_str()),
            (200, Some("audit_success"))
        );
        id
    }

    pub(crate) async fn article(&self, id: i64) -> Value {
        self.get(&format!("/articles/{id}")).await
    }

    pub(crate) async fn move_to(&self, id: i64, publish_at: Timestamp) -> (u16, Value) {
        self.patch(
            &format!("/articles/{id}"),
            &json!({ "publish_at": publish_at }),
        )
        .await
    }

    /// Calls as Almanack does.
    pub(crate) async fn call(&self, what: &str, id: i64, revision: i64) -> (u16, Value) {
        self.post(
            &format!("/callbacks/{what}"),
            &call_body(what, id, revision),
        )
        .await
    }
}

pub(crate) fn call_body(what: &str, id: i64, revision: i64) -> Value {
    json!({
        "task_id": id * 10,
        "subject": format!("article:{id}"),
        "kind": format!("ARTICLE_{}", what.to_uppercase()),
        "attempt": 1,
        "term": 1,
        "revision": revision,
        "execute_at": "2026-01-05T09:00:00Z",
        "payload": { "article_id": id },
    })
}

pub(crate) async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.json().await.unwrap())
}

pub(crate) fn client() -> reqwest::Client {
    // The provider may be there already, from another test of this process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    #[expect(clippy::disallowed_methods, reason = "tests ask from outside")]
    reqwest::Client::builder().no_proxy().build().unwrap()
}
