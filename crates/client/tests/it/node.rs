//! A node that answers what it is given, in order, and remembers what it was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use almanack_client::Client;
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::watch};

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) body: Value,
}

/// Decides the answer to a question; nothing: hold it open until the caller is gone.
pub(crate) type Answers = Box<dyn FnMut(&Asked) -> Option<(u16, Value)> + Send>;

pub(crate) struct Node {
    pub(crate) client: Client,
    context: Arc<Context>,
}

struct Context {
    answers: Mutex<Answers>,
    asked: Mutex<Vec<Asked>>,
    count: watch::Sender<usize>,
}

impl Node {
    pub(crate) async fn start(
        answers: impl FnMut(&Asked) -> Option<(u16, Value)> + Send + 'static,
    ) -> Self {
        let context = Arc::new(Context {
            answers: Mutex::new(Box::new(answers)),
            asked: Mutex::default(),
            count: watch::Sender::new(0),
        });
        let app = Router::new()
            .fallback(answer)
            .with_state(Arc::clone(&context));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let client = Client::new(&format!("http://{address}")).unwrap();
        Self {
            client: client.token("alm_secret"),
            context,
        }
    }

    /// Answers these in order, and the last one for ever.
    pub(crate) async fn answering(answers: impl IntoIterator<Item = (u16, Value)>) -> Self {
        let mut answers: VecDeque<_> = answers.into_iter().collect();
        Self::start(move |_| {
            let last = answers.len() == 1;
            let next = answers.front().cloned();
            if !last {
                answers.pop_front();
            }
            next
        })
        .await
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.context.asked.lock().unwrap().clone()
    }

    /// Waits until a question fits.
    pub(crate) async fn until_asked(&self, fits: impl Fn(&Asked) -> bool) {
        let mut count = self.context.count.subscribe();
        let fits = count.wait_for(|_| self.asked().iter().any(&fits));
        let waited = tokio::time::timeout(std::time::Duration::from_mins(1), fits).await;
        waited.unwrap().unwrap();
    }
}

async fn answer(
    State(context): State<Arc<Context>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let bearer = headers.get(header::AUTHORIZATION).unwrap();
    assert_eq!(bearer, "Bearer alm_secret");
    let key = headers.get("idempotency-key");
    let asked = Asked {
        path: uri.to_string(),
        key: key.map(|key| key.to_str().unwrap().to_owned()),
        body: serde_json::from_slice(&body).unwrap_or_default(),
    };
    let answer = (context.answers.lock().unwrap())(&asked);
    context.asked.lock().unwrap().push(asked);
    context.count.send_modify(|count| *count += 1);
    let Some((status, body)) = answer else {
        return std::future::pending().await;
    };
    let status = StatusCode::from_u16(status).unwrap();
    (status, axum::Json(body)).into_response()
}

pub(crate) fn problem(status: u16, code: &str) -> (u16, Value) {
    let body = json!({ "type": "/problems/x", "title": "X", "status": status, "code": code,
        "detail": "It is so" });
    (status, body)
}
