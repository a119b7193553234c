//! The webhook launcher as its receiver sees it.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    call::{Behaviour, Caller},
    signature::SigningKey,
    webhook::WebhookLauncher,
};
use almanack_core::{
    callback::AlreadyDone,
    finish::Outcome,
    secret::{Secret, Secrets, Unavailable},
    target::Launcher,
    time::Clock,
};
use async_trait::async_trait;
use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    response::Redirect,
    routing::{any, post},
};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::fixture::{Fixed, SECRET, client, firing, serve, task};

async fn receiver() -> (String, mpsc::UnboundedReceiver<(HeaderMap, Bytes)>) {
    let (seen, received) = mpsc::unbounded_channel();
    let take = move |headers: HeaderMap, body: Bytes| async move {
        let _ = seen.send((headers, body));
        StatusCode::ACCEPTED
    };
    let busy = || async { (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "7")]) };
    let app = Router::new()
        .route("/take", any(take))
        .route("/moved", post(|| async { Redirect::permanent("/take") }))
        .route("/busy", post(busy))
        .route("/known", post(|| async { StatusCode::CONFLICT }))
        .route("/never", post(std::future::pending::<StatusCode>));
    (serve(app).await, received)
}

fn launcher() -> WebhookLauncher {
    let behaviour = Behaviour {
        timeout: Duration::from_millis(300),
        key: Some(SigningKey::parse(SECRET).unwrap()),
        already_done: vec![AlreadyDone::parse("409").unwrap()],
    };
    let caller = Caller {
        client: client(),
        clock: Arc::new(Fixed),
        hosts: None,
    };
    WebhookLauncher {
        caller,
        behaviour,
        secrets: Arc::new(Safe),
    }
}

/// Has one secret, for one host.
struct Safe;

#[async_trait]
impl Secrets for Safe {
    async fn read(&self, reference: &str, host: &str) -> Result<Secret, Unavailable> {
        if (reference, host) == ("env:HOOK", "127.0.0.1") {
            return Ok(Secret::new("hunter2"));
        }
        let why = format!("it is not released for {host}; add it to schedules.secrets");
        Err(Unavailable { why })
    }
}

async fn fire(path: &str) -> Outcome {
    let (url, _received) = receiver().await;
    let firing = firing(json!({"type": "webhook", "url": format!("{url}{path}")}));
    launcher().fire(&firing, &task(None)).await
}

#[tokio::test]
async fn dp_11_a_webhook_is_signed_and_says_what_fires() {
    let (url, mut received) = receiver().await;
    let target = json!({"type": "webhook", "url": format!("{url}/take"), "body": {"to": ["all"]}});
    let done = launcher().fire(&firing(target), &task(None)).await;
    let accepted = Some("HTTP 202".to_owned());
    assert_eq!(done, Outcome::Done { detail: accepted });
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(
        headers["idempotency-key"], "almanack-task-42",
        "the same for every attempt"
    );
    assert_eq!(headers["webhook-id"], "almanack-task-42-3");
    assert_eq!(headers["webhook-timestamp"], "1767600000");
    let key = SigningKey::parse(SECRET).unwrap();
    let signed = key.sign("almanack-task-42-3", Fixed.now(), &body);
    assert_eq!(headers["webhook-signature"], signed);
    assert_eq!(
        serde_json::from_slice::<Value>(&body).unwrap(),
        json!({
            "schedule": "nightly",
            "nominal_at": "2026-01-05T07:58:29.5Z",
            "trigger": "schedule",
            "caught_up": true,
            "attempt": 2,
            "lateness_ms": 90_500,
            "task_id": 42,
            "body": {"to": ["all"]},
        })
    );
}

#[tokio::test]
async fn dp_11_a_webhook_sends_what_its_schedule_says() {
    let (url, mut received) = receiver().await;
    let address = format!("{url}/take");
    let rows = [
        (
            json!({"method": "PUT", "template": {"on": "{date}", "n": [1, "{attempt}"]}}),
            "application/json",
            r#"{"n":[1,"2"],"on":"2026-01-05"}"#,
        ),
        (
            json!({"template": "{schedule} fired: {firing}"}),
            "text/plain; charset=utf-8",
            "nightly fired: 42",
        ),
        (
            json!({"template": "a={attempt}", "headers": {"content-type": "application/x-www-form-urlencoded"}}),
            "application/x-www-form-urlencoded",
            "a=2",
        ),
    ];
    for (more, content_type, expected) in rows {
        let mut target = json!({"type": "webhook", "url": address});
        target
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let done = launcher().fire(&firing(target), &task(None)).await;
        assert_eq!(done.name(), "done");
        let (headers, body) = received.recv().await.unwrap();
        assert_eq!(headers["content-type"], content_type);
        assert_eq!(String::from_utf8_lossy(&body), expected);
        let key = SigningKey::parse(SECRET).unwrap();
        let signed = key.sign("almanack-task-42-3", Fixed.now(), &body);
        assert_eq!(headers["webhook-signature"], signed);
    }
    let target = json!({"type": "webhook", "url": address, "method": "GET"});
    assert_eq!(
        launcher().fire(&firing(target), &task(None)).await.name(),
        "done"
    );
    let (headers, body) = received.recv().await.unwrap();
    assert!(body.is_empty() && !headers.contains_key("content-type"));
}

#[tokio::test]
async fn dp_15_a_header_names_a_secret_that_only_its_host_receives() {
    let (url, mut received) = receiver().await;
    let with = |value: &str| {
        let headers = json!({"Authorization": value, "X-Tenant": "a"});
        json!({"type": "webhook", "url": format!("{url}/take"), "headers": headers})
    };
    for (value, expected) in [
        ("env:HOOK", "hunter2"),
        ("Bearer env:HOOK", "Bearer hunter2"),
    ] {
        let done = launcher().fire(&firing(with(value)), &task(None)).await;
        assert_eq!(done.name(), "done");
        let (headers, _) = received.recv().await.unwrap();
        assert_eq!(
            (&headers["authorization"], &headers["x-tenant"]),
            (&expected.parse().unwrap(), &"a".parse().unwrap())
        );
    }
    let Outcome::Retry { error, .. } = launcher()
        .fire(&firing(with("env:DATABASE_PASSWORD")), &task(None))
        .await
    else {
        panic!("a secret that was not released is not sent");
    };
    let expected = "the secret `env:DATABASE_PASSWORD` of header `Authorization` cannot be used: it is \
                    not released for 127.0.0.1; add it to schedules.secrets";
    assert_eq!(error, expected);
    assert!(received.try_recv().is_err(), "nothing was sent");
}

#[tokio::test]
async fn dp_12_a_schedules_own_timeout_counts() {
    let (url, _received) = receiver().await;
    let target = json!({"type": "webhook", "url": format!("{url}/never")});
    let mut firing = firing(target);
    firing.timeout = Some(SignedDuration::from_millis(50));
    let Outcome::Retry { error, .. } = launcher().fire(&firing, &task(None)).await else {
        panic!("no answer is a retry");
    };
    assert_eq!(error, "no answer in time (0.05 s)");
}

#[tokio::test]
async fn dp_12_answers_mean_the_same_as_for_callbacks() {
    assert_eq!(
        fire("/known").await.name(),
        "done",
        "configured as already done"
    );
    assert_eq!(fire("/missing").await.name(), "give_up");
    let Outcome::Retry { retry_after, .. } = fire("/busy").await else {
        panic!("429 is a retry");
    };
    assert_eq!(retry_after, Some(SignedDuration::from_secs(7)));
    assert_eq!(fire("/never").await.name(), "retry");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (url, mut received) = receiver().await;
    let target = json!({"type": "webhook", "url": format!("{url}/moved")});
    let moved = launcher().fire(&firing(target), &task(None)).await;
    assert_eq!(moved.name(), "give_up", "{moved:?}");
    assert!(received.try_recv().is_err(), "nothing arrived behind it");
}

#[tokio::test]
async fn dp_15_an_address_stays_out_of_the_error() {
    let target = json!({"type": "webhook", "url": "http://127.0.0.1:1025/hush"});
    let Outcome::Retry { error, .. } = launcher().fire(&firing(target), &task(None)).await else {
        panic!("a missing server is a retry");
    };
    assert!(!error.contains("hush"), "{error}");
}

#[tokio::test]
async fn another_type_of_target_is_given_up() {
    let target = json!({"type": "command", "argv": ["x"]});
    let wrong = launcher().fire(&firing(target), &task(None)).await;
    assert_eq!(wrong.name(), "give_up");
}
