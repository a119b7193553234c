//! A business service for tests: answers, keeps callers waiting, and remembers who called, when, and how many at once.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use almanack_adapters::clock::SystemClock;
use almanack_core::time::Clock as _;
use axum::{Json, Router, extract::State, routing::post};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::process::{eventually, free_address};

/// The service. It goes with its handle.
pub(crate) struct Business {
    address: SocketAddr,
    desk: Arc<Desk>,
    serving: JoinHandle<()>,
}

struct Desk {
    calls: Mutex<Vec<Value>>,
    /// When each of those came whom it keeps waiting.
    held_at: Mutex<Vec<Timestamp>>,
    open: watch::Sender<bool>,
    waiting: AtomicUsize,
    waiting_most: AtomicUsize,
}

/// Somebody waits for an answer, until it is given or they are gone.
struct Waiting<'a>(&'a Desk);

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
        let desk = Arc::new(Desk {
            calls: Mutex::default(),
            held_at: Mutex::default(),
            open: watch::Sender::new(false),
            waiting: AtomicUsize::new(0),
            waiting_most: AtomicUsize::new(0),
        });
        let app = Router::new()
            .route("/done", post(done))
            .route("/held", post(held))
            .with_state(Arc::clone(&desk));
        let listener = TcpListener::bind(address).await.unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self {
            address,
            desk,
            serving,
        }
    }

    pub(crate) fn done_url(&self) -> String {
        format!("http://{}/done", self.address)
    }

    /// Answers only once [`Business::release`] was called.
    pub(crate) fn held_url(&self) -> String {
        format!("http://{}/held", self.address)
    }

    /// Answers everybody who waits, and everybody who comes.
    pub(crate) fn release(&self) {
        self.desk.open.send_replace(true);
    }

    /// The calls about a subject so far.
    pub(crate) fn calls(&self, subject: &str) -> usize {
        let calls = self.desk.calls.lock().unwrap();
        calls
            .iter()
            .filter(|call| call["subject"] == subject)
            .count()
    }

    /// How many wait for an answer now.
    pub(crate) fn waiting(&self) -> usize {
        self.desk.waiting.load(Ordering::Relaxed)
    }

    /// Waits until at least so many wait for an answer.
    pub(crate) async fn until_waiting(&self, callers: usize) {
        let what = format!("{callers} wait for an answer");
        eventually(&what, async || (self.waiting() >= callers).then_some(())).await;
    }

    /// When those came who had to wait, in order.
    pub(crate) fn held_at(&self) -> Vec<Timestamp> {
        self.desk.held_at.lock().unwrap().clone()
    }

    /// How many waited for an answer at once, at most.
    pub(crate) fn waiting_most(&self) -> usize {
        self.desk.waiting_most.load(Ordering::Relaxed)
    }

    /// Waits for so many calls about a subject.
    pub(crate) async fn until_called(&self, subject: &str, times: usize) {
        let what = format!("{subject} is called {times} times");
        eventually(&what, async || (self.calls(subject) >= times).then_some(())).await;
    }
}

async fn done(State(desk): State<Arc<Desk>>, Json(call): Json<Value>) -> Json<Value> {
    desk.calls.lock().unwrap().push(call);
    Json(json!({ "result": "done" }))
}

async fn held(State(desk): State<Arc<Desk>>, Json(call): Json<Value>) -> Json<Value> {
    let waiting = desk.waiting.fetch_add(1, Ordering::Relaxed) + 1;
    let _waiting = Waiting(&desk);
    desk.waiting_most.fetch_max(waiting, Ordering::Relaxed);
    desk.held_at.lock().unwrap().push(SystemClock.now());
    desk.calls.lock().unwrap().push(call);
    let mut open = desk.open.subscribe();
    // Whoever opens it outlives this call, or takes it along.
    let _ = open.wait_for(|open| *open).await;
    Json(json!({ "result": "done" }))
}
