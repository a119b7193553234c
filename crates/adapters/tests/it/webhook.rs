//! The webhook launcher as its receiver sees it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use almanack_adapters::{
    call::{Behaviour, Caller},
    signature::SigningKey,
    webhook::{ReportAddress, WebhookLauncher},
};
use almanack_core::{
    callback::AlreadyDone,
    finish::Outcome,
    follow::{HandedOver, Work, may_report},
    run_log::{NoRunLogs, RunLog, RunLogs},
    secret::{Secret, Secrets, Unavailable},
    store::RunId,
    target::Launcher,
    task::TaskId,
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
        reports: None,
        logs: Arc::new(NoRunLogs),
        secrets: Arc::new(Safe),
    }
}

/// Has one secret, for one host.
pub(crate) struct Safe;

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

/// The texts that were reported.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl RunLogs for Reports {
    fn begin(&self, _: RunId) -> Box<dyn RunLog> {
        Box::new(NoRunLogs)
    }

    async fn report(&self, run: RunId, text: &str) {
        assert_eq!((run.task_id.0, run.term.0), (42, 3));
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// A launcher on a node that receivers can reach.
fn reporting() -> WebhookLauncher {
    let reports = ReportAddress {
        base: "https://almanack.example.org".to_owned(),
        key: SigningKey::parse(SECRET).unwrap(),
    };
    WebhookLauncher {
        reports: Some(reports),
        ..launcher()
    }
}

#[tokio::test]
async fn dp_20_status_and_answer_of_a_webhook_are_in_its_log() {
    let app = Router::new()
        .route("/text", post(|| async { "thank you" }))
        .route(
            "/no",
            post(|| async { (StatusCode::BAD_GATEWAY, "upstream is away") }),
        )
        .route("/empty", post(|| async { StatusCode::NO_CONTENT }))
        .route("/binary", post(|| async { vec![0_u8, 1, 2] }));
    let url = serve(app).await;
    let mut found = Vec::new();
    for path in ["/text", "/no", "/empty", "/binary"] {
        let reports = Reports::default();
        let launcher = WebhookLauncher {
            logs: Arc::new(reports.clone()),
            ..launcher()
        };
        let firing = firing(json!({"type": "webhook", "url": format!("{url}{path}")}));
        launcher.fire(&firing, &task(None)).await;
        found.extend(reports.0.lock().unwrap().clone());
    }
    let expected = [
        "HTTP 200\nthank you\n",
        "HTTP 502\nupstream is away\n",
        "HTTP 204\n",
        "HTTP 200\n(3 bytes that are not text)\n",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn dp_19_a_webhook_that_answers_202_is_given_addresses_to_report_to() {
    let (url, mut received) = receiver().await;
    let target = |within: Option<&str>| {
        let mut target = json!({"type": "webhook", "url": format!("{url}/take")});
        if let Some(within) = within {
            target["report_within"] = within.into();
        }
        firing(target)
    };
    let handed_over = reporting()
        .hand_over(&target(Some("1h")), &task(None))
        .await;
    assert_eq!(
        handed_over,
        HandedOver::Works(Work::Report { within_s: 3_600 })
    );
    let (_, body) = received.recv().await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let finish = body["report"]["finish"].as_str().unwrap();
    let start = "https://almanack.example.org/api/v1/firings/42/finish?signature=";
    let signature = finish.strip_prefix(start).unwrap();
    let key = SigningKey::parse(SECRET).unwrap();
    assert!(may_report(&key, TaskId(42), signature));
    assert!(
        !may_report(&key, TaskId(43), signature),
        "of this firing only"
    );
    assert_eq!(body["report"]["within_s"], 3_600);
    // Without it the answer is the end, and nothing is offered.
    let ended = reporting().hand_over(&target(None), &task(None)).await;
    assert!(
        matches!(ended, HandedOver::Ended(Outcome::Done { .. })),
        "{ended:?}"
    );
    let (_, body) = received.recv().await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(body.get("report").is_none());
    // A node that cannot be reached says so, and calls nobody.
    let deaf = launcher().hand_over(&target(Some("1h")), &task(None)).await;
    let HandedOver::Ended(Outcome::Retry { error, .. }) = deaf else {
        panic!("{deaf:?}");
    };
    assert!(error.contains("server.public_url"), "{error}");
    assert!(received.try_recv().is_err());
}

#[tokio::test]
async fn dp_19_any_other_answer_means_what_it_meant() {
    let (url, _received) = receiver().await;
    for (path, outcome) in [
        ("/known", "done"),
        ("/busy", "retry"),
        ("/missing", "give_up"),
    ] {
        let target = json!({
            "type": "webhook", "url": format!("{url}{path}"), "report_within": "1h",
        });
        let handed_over = reporting().hand_over(&firing(target), &task(None)).await;
        let HandedOver::Ended(ended) = handed_over else {
            panic!("{path}: {handed_over:?}");
        };
        assert_eq!(ended.name(), outcome, "{path}");
    }
}
