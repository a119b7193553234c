//! A business service for tests: answers, keeps callers waiting, and remembers who called, when,
//! and how many at once.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use almanack_adapters::clock::SystemClock;
use almanack_core::time::Clock as _;
use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::process::{eventually, free_address};

/// The service. It goes with its handle.
pub(crate) struct Business {
    address: SocketAddr,
    context: Arc<CommandContext>,
    serving: JoinHandle<()>,
}

struct CommandContext {
    calls: Mutex<Vec<Value>>,
    /// When each of those came whom it keeps waiting.
    held_at: Mutex<Vec<Timestamp>>,
    open: watch::Sender<bool>,
    waiting: AtomicUsize,
    waiting_most: AtomicUsize,
}

/// A caller waits for an answer, until it is given or the caller is gone.
struct Waiting<'a>(&'a CommandContext);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Business {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Business {
    pub(crate) async fn start() -> Self {
        Self::start_at(free_address()).await
    }

    pub(crate) async fn start_at(address: SocketAddr) -> Self {
        let context = Arc::new(CommandContext {
            calls: Mutex::default(),
            held_at: Mutex::default(),
            open: watch::Sender::new(false),
            waiting: AtomicUsize::new(0),
            waiting_most: AtomicUsize::new(0),
        });
        let app = Router::new()
            .route("/done", post(done))
            .route("/held", post(held))
            .route("/accepted", post(accepted))
            .with_state(Arc::clone(&context));
        let listener = TcpListener::bind(address).await.unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self {
            address,
            context,
            serving,
        }
    }

    pub(crate) fn done_url(&self) -> String {
        format!("http://{}/done", self.address)
    }

    /// Answers that it will report.
    pub(crate) fn accepted_url(&self) -> String {
        format!("http://{}/accepted", self.address)
    }

    /// Waits for so many calls, and answers them.
    pub(crate) async fn until_accepted(&self, times: usize) -> Vec<Value> {
        eventually(&format!("{times} calls are accepted"), async || {
            let calls = self.context.calls.lock().unwrap();
            (calls.len() >= times).then(|| calls.clone())
        })
        .await
    }

    /// Answers only once [`Business::release`] was called.
    pub(crate) fn held_url(&self) -> String {
        format!("http://{}/held", self.address)
    }

    /// Answers all waiting and all later callers.
    pub(crate) fn release(&self) {
        self.context.open.send_replace(true);
    }

    /// The calls about a subject so far.
    pub(crate) fn calls(&self, subject: &str) -> usize {
        let calls = self.context.calls.lock().unwrap();
        calls
            .iter()
            .filter(|call| call["subject"] == subject)
            .count()
    }

    /// How many wait for an answer now.
    pub(crate) fn waiting(&self) -> usize {
        self.context.waiting.load(Ordering::Relaxed)
    }

    /// Waits until at least so many wait for an answer.
    pub(crate) async fn until_waiting(&self, callers: usize) {
        let what = format!("{callers} wait for an answer");
        eventually(&what, async || (self.waiting() >= callers).then_some(())).await;
    }

    /// When those came who had to wait, in order.
    pub(crate) fn held_at(&self) -> Vec<Timestamp> {
        self.context.held_at.lock().unwrap().clone()
    }

    /// How many waited for an answer at once, at most.
    pub(crate) fn waiting_most(&self) -> usize {
        self.context.waiting_most.load(Ordering::Relaxed)
    }

    /// Waits for so many calls about a subject.
    pub(crate) async fn until_called(&self, subject: &str, times: usize) {
        let what = format!("{subject} is called {times} times");
        eventually(&what, async || (self.calls(subject) >= times).then_some(())).await;
    }
}

async fn done(State(context): State<Arc<CommandContext>>, Json(call): Json<Value>) -> Json<Value> {
    context.calls.lock().unwrap().push(call);
    Json(json!({ "result": "done" }))
}

async fn accepted(
    State(context): State<Arc<CommandContext>>,
    Json(call): Json<Value>,
) -> StatusCode {
    context.calls.lock().unwrap().push(call);
    StatusCode::ACCEPTED
}

async fn held(State(context): State<Arc<CommandContext>>, Json(call): Json<Value>) -> Json<Value> {
    let waiting = context.waiting.fetch_add(1, Ordering::Relaxed) + 1;
    let _waiting = Waiting(&context);
    context.waiting_most.fetch_max(waiting, Ordering::Relaxed);
    context.held_at.lock().unwrap().push(SystemClock.now());
    context.calls.lock().unwrap().push(call);
    let mut open = context.open.subscribe();
    // The opener outlives this call, or ends it.
    let _ = open.wait_for(|open| *open).await;
    Json(json!({ "result": "done" }))
}
