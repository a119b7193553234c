//! The webhook publisher as a subscriber sees it.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    call::Caller,
    event_publisher::{WebhookEventPublisher, WebhookEventPublisherSettings},
    signature::SigningKey,
};
use almanack_core::{
    event::outgoing::{CloudEvent, EventPublisher, Mode},
    finish::Outcome,
    percent,
    time::Clock,
};
use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    response::Redirect,
    routing::post,
};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::fixture::{Fixed, SECRET, client, serve};

type Received = mpsc::UnboundedReceiver<(HeaderMap, Bytes)>;

async fn subscriber() -> (String, Received) {
    let (seen, received) = mpsc::unbounded_channel();
    let take = move |headers: HeaderMap, body: Bytes| async move {
        let _ = seen.send((headers, body));
        StatusCode::NO_CONTENT
    };
    let busy = || async {
        (
            StatusCode::SERVICE_UNAVAILABLE,
            [(header::RETRY_AFTER, "9")],
        )
    };
    let app = Router::new()
        .route("/take", post(take))
        .route("/gone", post(|| async { StatusCode::GONE }))
        .route("/moved", post(|| async { Redirect::permanent("/take") }))
        .route("/busy", post(busy))
        .route("/never", post(std::future::pending::<StatusCode>));
    (serve(app).await, received)
}

fn event() -> CloudEvent {
    serde_json::from_value(json!({
        "specversion": "1.0",
        "id": "task-12-3",
        "source": "/almanack",
        "type": "almanack.task.finished.v1",
        "subject": "article:42",
        "time": "2026-01-05T08:00:00Z",
        "datacontenttype": "application/json",
        "data": {"task_id": 12, "status": "SUCCESS"},
    }))
    .unwrap()
}

/// Only the server that never answers has a short timeout: the others may take as long as a busy
/// machine needs.
fn publisher(url: String, key: Option<SigningKey>) -> WebhookEventPublisher {
    publisher_in(Mode::Structured, url, key)
}

fn publisher_in(mode: Mode, url: String, key: Option<SigningKey>) -> WebhookEventPublisher {
    let timeout = if url.ends_with("/never") {
        Duration::from_millis(300)
    } else {
        Duration::from_secs(30)
    };
    let settings = WebhookEventPublisherSettings {
        url,
        key,
        timeout,
        mode,
    };
    let caller = Caller {
        client: client(),
        clock: Arc::new(Fixed),
        hosts: None,
    };
    WebhookEventPublisher { caller, settings }
}

async fn publish(path: &str) -> Outcome {
    let (url, _received) = subscriber().await;
    publisher(format!("{url}{path}"), None)
        .publish(&event())
        .await
}

#[tokio::test]
async fn a_event_is_a_signed_cloud_event_known_by_its_id() {
    let (url, mut received) = subscriber().await;
    let key = SigningKey::parse(SECRET).unwrap();
    let publisher = publisher(format!("{url}/take"), Some(key.clone()));
    let mut ids = Vec::new();
    for _ in 0..2 {
        let outcome = publisher.publish(&event()).await;
        assert_eq!(outcome.name(), "done", "{outcome:?}");
        let (headers, body) = received.recv().await.unwrap();
        assert_eq!(headers["content-type"], "application/cloudevents+json");
        assert_eq!(headers["webhook-timestamp"], "1767600000");
        let signed = key.sign("task-12-3", Fixed.now(), &body);
        assert_eq!(headers["webhook-signature"], signed);
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body, serde_json::to_value(event()).unwrap());
        ids.push(headers["webhook-id"].to_str().unwrap().to_owned());
    }
    assert_eq!(
        ids,
        ["task-12-3", "task-12-3"],
        "the same when delivered again"
    );
}

/// In binary mode the body is the data alone, and the rest can be read from the headers as it can
/// from the event.
#[tokio::test]
async fn a_event_in_binary_mode_has_its_attributes_in_headers() {
    let (url, mut received) = subscriber().await;
    let key = SigningKey::parse(SECRET).unwrap();
    let publisher = publisher_in(Mode::Binary, format!("{url}/take"), Some(key.clone()));
    let event = CloudEvent {
        subject: "article/4 2 满".to_owned(),
        ..event()
    };
    let outcome = publisher.publish(&event).await;
    assert_eq!(outcome.name(), "done", "{outcome:?}");
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(body, event.data.get().as_bytes());
    let signed = key.sign("task-12-3", Fixed.now(), &body);
    assert_eq!(headers["webhook-signature"], signed);
    let whole = serde_json::to_value(&event).unwrap();
    for name in ["specversion", "id", "source", "type", "subject", "time"] {
        let header = headers[&format!("ce-{name}")].to_str().unwrap();
        let read = percent::decode(header).unwrap();
        assert_eq!(whole[name], read, "{name}");
    }
}

#[tokio::test]
async fn only_a_gone_receiver_gets_no_retry() {
    assert_eq!(publish("/gone").await.name(), "give_up");
    for path in ["/missing", "/never", "/moved"] {
        assert_eq!(publish(path).await.name(), "retry", "{path}");
    }
    let Outcome::Retry { retry_after, .. } = publish("/busy").await else {
        panic!("503 is a retry");
    };
    assert_eq!(retry_after, Some(SignedDuration::from_secs(9)));
}

#[tokio::test]
async fn an_address_stays_out_of_the_error() {
    let absent = publisher("http://127.0.0.1:1025/hush".to_owned(), None);
    let Outcome::Retry { error, .. } = absent.publish(&event()).await else {
        panic!("a missing server is a retry");
    };
    assert!(!error.contains("hush"), "{error}");
}
