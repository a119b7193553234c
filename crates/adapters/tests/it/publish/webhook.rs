//! A webhook as its receiver sees it.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    publish::webhook::{WebhookPublisher, WebhookPublisherSettings},
    signature::SigningKey,
};
use almanack_core::{
    budget::Budget,
    edition::{
        delivery::OnUnknown,
        port::{FailureClass, Presence, Publisher, Sent},
    },
    time::Clock,
};
use axum::{
    Router,
    body::Bytes,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
    routing::post,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{brief, document, failed, message, request_budget, unknown};
use crate::fixture::{Fixed, SECRET, client, serve};

fn publisher(url: &str) -> WebhookPublisher {
    patient(url, Duration::from_secs(30))
}

fn patient(url: &str, timeout: Duration) -> WebhookPublisher {
    let settings = WebhookPublisherSettings {
        destination: "hook".to_owned(),
        url: url.to_owned(),
        key: Some(SigningKey::parse(SECRET).unwrap()),
        timeout,
    };
    WebhookPublisher::new(client(), Arc::new(Fixed), settings)
}

#[tokio::test]
async fn ed_34_an_edition_is_posted_whole_signed_and_under_one_key() {
    let (seen, mut received) = mpsc::unbounded_channel();
    let take = move |headers: HeaderMap, body: Bytes| async move {
        let _ = seen.send((headers, body));
        StatusCode::NO_CONTENT
    };
    let url = serve(Router::new().route("/take", post(take))).await;
    let publisher = publisher(&format!("{url}/take"));
    let document = document(1, "# text");
    let budget = request_budget();
    for _ in 0..2 {
        let sent = publisher.send(&message(&document), &budget).await;
        assert_eq!(sent, Sent::Confirmed { receipt: None });
    }
    assert_eq!(budget.spent(), 2);
    let (headers, body) = received.recv().await.unwrap();
    let (headers_again, body_again) = received.recv().await.unwrap();
    assert_eq!(body, body_again, "a repetition is the same");
    assert_eq!(headers["idempotency-key"], headers_again["idempotency-key"]);
    assert_eq!(headers["idempotency-key"], "edition:2026-01-10/1/there/1");
    assert_eq!(headers["webhook-id"], "edition:2026-01-10/1/there/1");
    let key = SigningKey::parse(SECRET).unwrap();
    let signed = key.sign("edition:2026-01-10/1/there/1", Fixed.now(), &body);
    assert_eq!(headers["webhook-signature"], signed);
    assert_eq!(
        serde_json::from_slice::<Value>(&body).unwrap(),
        json!({
            "type": "edition.published",
            "date": "2026-01-10",
            "revision": 1,
            "title": "HackerNews Daily",
            "name": "default",
            "language": "zh-CN",
            "markdown": "# text",
            "left_out": 0,
            "stories": [{
                "rank": 1,
                "key": "hn:1",
                "title": "标题 1",
                "original_title": "Title 1",
                "url": "https://example.com/1",
                "discussion_url": null,
                "score": 100,
                "published_at": null,
                "content_summary": "摘要 & <more>",
                "comment_summary": null,
                "note": null,
            }],
        })
    );
}

#[tokio::test]
async fn ed_12_what_a_receivers_answer_means() {
    let answer = |Path(status): Path<u16>| async move {
        if status == 0 {
            std::future::pending::<()>().await;
        }
        let status = StatusCode::from_u16(status).unwrap();
        (status, [(header::RETRY_AFTER, "7")]).into_response()
    };
    let url = serve(Router::new().route("/{status}", post(answer))).await;
    let document = document(1, "text");
    let send = async |status: u16| {
        let wait_ms = if status == 0 { 300 } else { 30_000 };
        let publisher = patient(&format!("{url}/{status}"), Duration::from_millis(wait_ms));
        publisher.send(&message(&document), &request_budget()).await
    };
    for (status, class) in [
        (429, FailureClass::RateLimited),
        (408, FailureClass::Transient),
        (425, FailureClass::Transient),
        (401, FailureClass::Credentials),
        (403, FailureClass::Credentials),
        (400, FailureClass::Refused),
        (404, FailureClass::Refused),
        (410, FailureClass::Refused),
        (307, FailureClass::Refused),
    ] {
        let failure = failed(send(status).await);
        assert_eq!(brief(&failure), (class, Some(7)), "{status}");
    }
    for status in [500, 503, 0] {
        let failure = unknown(send(status).await);
        assert_eq!(failure.class, FailureClass::Transient, "{status}");
    }
}

#[tokio::test]
async fn ed_12_a_doubtful_one_is_repeated_because_its_key_makes_that_harmless() {
    let publisher = publisher("http://127.0.0.1:1025/hush");
    let document = document(1, "text");
    assert_eq!(publisher.on_unknown(), OnUnknown::Repeat);
    let seen = publisher.look(&message(&document), &request_budget()).await;
    assert_eq!(seen, Presence::CannotVerify);
    let gone = failed(publisher.send(&message(&document), &request_budget()).await);
    assert_eq!(gone.class, FailureClass::Transient);
    assert!(!gone.detail.contains("hush"), "{gone}");
    let spent = publisher.send(&message(&document), &Budget::new(0)).await;
    assert!(failed(spent).is_spent());
}
