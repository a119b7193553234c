//! The callback as a business service sees it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_adapters::{
    call::{Behaviour, Caller},
    callback::{CallbackHandler, CallbackSettings},
    http::HostLimiter,
    signature::SigningKey,
};
use almanack_core::{
    callback::AlreadyDone, finish::Outcome, handler::Handler, task::ClaimedTask, time::Clock,
};
use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect},
    routing::{get, post, put},
};
use jiff::SignedDuration;
use serde_json::json;
use tokio::{net::TcpListener, sync::mpsc};

use crate::{
    fixture::{Fixed, SECRET, client, task},
    webhook::Safe,
};

/// A service with one route per way to answer; records what it received.
async fn service() -> (String, mpsc::UnboundedReceiver<(HeaderMap, Bytes)>) {
    let (seen, received) = mpsc::unbounded_channel();
    let coded = |status: StatusCode, code: &'static str| async move {
        (status, axum::Json(serde_json::json!({ "code": code }))).into_response()
    };
    let app = Router::new()
        .route(
            "/ok",
            post(move |headers: HeaderMap, body: Bytes| async move {
                let _ = seen.send((headers, body));
                StatusCode::OK
            }),
        )
        .route(
            "/done-before",
            post(move || coded(StatusCode::CONFLICT, "already_published")),
        )
        .route(
            "/conflict",
            post(move || coded(StatusCode::CONFLICT, "superseded")),
        )
        .route("/gone", post(move || coded(StatusCode::GONE, "withdrawn")))
        .route("/moved", post(|| async { Redirect::temporary("/ok") }))
        .route(
            "/busy",
            post(|| async {
                (
                    StatusCode::SERVICE_UNAVAILABLE,
                    [(header::RETRY_AFTER, "120")],
                )
            }),
        )
        .route("/put", put(|| async { StatusCode::OK }))
        .route("/look", get(|| async { StatusCode::OK }))
        .route("/never", post(std::future::pending::<StatusCode>))
        .route(
            "/endless",
            post(|| async { axum::body::Body::from(vec![b'x'; 1024 * 1024]) }),
        );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, received)
}

fn handler(configured: Option<String>) -> CallbackHandler {
    let settings = CallbackSettings {
        url: configured,
        behaviour: Behaviour {
            timeout: Duration::from_millis(300),
            key: Some(SigningKey::parse(SECRET).unwrap()),
            already_done: vec![AlreadyDone::parse("409:already_published").unwrap()],
        },
    };
    CallbackHandler {
        caller: Caller {
            client: client(),
            clock: Arc::new(Fixed),
            hosts: None,
        },
        by_kind: BTreeMap::new(),
        otherwise: settings,
        secrets: Arc::new(Safe),
    }
}

async fn outcome(path: &str) -> Outcome {
    let (url, _received) = service().await;
    handler(None)
        .attempt(&task(Some(format!("{url}{path}"))))
        .await
}

#[tokio::test]
async fn sf_06_a_host_that_hangs_has_a_quarter_of_the_calls_and_others_have_theirs() {
    let (dead, _) = service().await;
    let (healthy, _received) = service().await;
    let hosts = HostLimiter::new(8);
    let mut handler = handler(None);
    handler.caller.hosts = Some(hosts.clone());
    let hanging = task(Some(format!("{dead}/never")));
    let calls = (0..6).map(|_| handler.attempt(&hanging));
    let ended = futures_util::future::join_all(calls).await;
    let ended: Vec<&str> = ended.iter().map(Outcome::name).collect();
    let expected = ["retry", "retry", "not_now", "not_now", "not_now", "not_now"];
    assert_eq!(ended, expected, "two hang, and the rest come again later");
    let other = task(Some(format!("{healthy}/ok")));
    assert_eq!(handler.attempt(&other).await.name(), "done");
    let calls = (0..2).map(|_| handler.attempt(&hanging));
    let ended = futures_util::future::join_all(calls).await;
    let ended: Vec<&str> = ended.iter().map(Outcome::name).collect();
    assert_eq!(ended, ["retry", "not_now"], "one to try with");
}

#[tokio::test]
async fn the_call_carries_what_the_service_needs_to_be_idempotent() {
    let (url, mut received) = service().await;
    let done = handler(Some(format!("{url}/ok")))
        .attempt(&task(None))
        .await;
    assert_eq!(
        done,
        Outcome::Done {
            detail: Some("HTTP 200".to_owned())
        }
    );
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(
        headers["idempotency-key"], "almanack-task-42",
        "the same for every attempt"
    );
    assert_eq!(
        headers["webhook-id"], "almanack-task-42-3",
        "this attempt's own"
    );
    assert_eq!(headers["webhook-timestamp"], "1767600000");
    let signed = SigningKey::parse(SECRET)
        .unwrap()
        .sign("almanack-task-42-3", Fixed.now(), &body);
    assert_eq!(headers["webhook-signature"], signed);
    assert_eq!(
        std::str::from_utf8(&body).unwrap(),
        r#"{"task_id":42,"subject":"article:7","kind":"ARTICLE_PUBLISH","attempt":2,"term":3,"revision":5,"execute_at":"2026-01-05T07:59:50Z","payload":{"price": 1.10, "ids": [1, 2]}}"#,
        "the payload arrives unchanged"
    );
}

#[tokio::test]
async fn a_task_may_name_its_own_address() {
    let (url, mut received) = service().await;
    let other = handler(Some("http://127.0.0.1:9/unused".to_owned()));
    other.attempt(&task(Some(format!("{url}/ok")))).await;
    assert!(received.recv().await.is_some());
}

#[tokio::test]
async fn rs_09_an_answer_that_it_had_already_happened_is_success() {
    assert_eq!(outcome("/done-before").await.name(), "done");
    let refused = Outcome::GiveUp {
        error: "HTTP 409 (superseded)".to_owned(),
    };
    assert_eq!(
        outcome("/conflict").await,
        refused,
        "another conflict is not"
    );
}

#[tokio::test]
async fn rs_09_a_refusal_is_final_and_a_redirect_is_one() {
    assert_eq!(
        outcome("/gone").await,
        Outcome::GiveUp {
            error: "HTTP 410 (withdrawn)".into()
        }
    );
    let moved = outcome("/moved").await;
    assert_eq!(
        moved.name(),
        "give_up",
        "{moved:?}: following it could leave the trusted address"
    );
}

#[tokio::test]
async fn rs_09_busy_means_later_and_says_when() {
    let Outcome::Retry { error, retry_after } = outcome("/busy").await else {
        panic!("503 is a retry");
    };
    assert_eq!(
        (error.as_str(), retry_after),
        ("HTTP 503", Some(SignedDuration::from_secs(120)))
    );
}

#[tokio::test]
async fn a_service_that_never_answers_is_a_retry() {
    let Outcome::Retry { error, .. } = outcome("/never").await else {
        panic!("no answer is a retry");
    };
    assert!(error.starts_with("no answer in time"), "{error}");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_a_retry_and_its_address_stays_private() {
    // Taken and given back, so no server listens there.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://{address}/hook?token=hush");
    let Outcome::Retry { error, .. } = handler(None).attempt(&task(Some(url))).await else {
        panic!("a missing server is a retry");
    };
    assert!(error.starts_with("could not connect"), "{error}");
    assert!(!error.contains("hush"), "{error}");
}

#[tokio::test]
async fn an_endless_answer_is_not_read_to_the_end() {
    assert_eq!(
        outcome("/endless").await.name(),
        "done",
        "the status counts, the body does not"
    );
}

#[tokio::test]
async fn without_an_address_it_waits_for_one_and_says_so() {
    let Outcome::Retry { error, retry_after } = handler(None).attempt(&task(None)).await else {
        panic!("a configuration can be mended");
    };
    assert!(error.contains("kinds.ARTICLE_PUBLISH.url"), "{error}");
    assert_eq!(retry_after, Some(SignedDuration::from_secs(60)));
}

#[tokio::test]
async fn an_address_that_is_none_is_given_up() {
    let nonsense = handler(None)
        .attempt(&task(Some("not a url".to_owned())))
        .await;
    assert_eq!(nonsense.name(), "give_up");
}

#[tokio::test]
async fn ss_14_a_task_s_own_address_may_not_lead_into_a_network_that_is_not_allowed() {
    for (url, text) in [
        ("http://10.0.0.7/hook?token=hush", "outbound.allow"),
        (
            "http://[::ffff:169.254.169.254]/latest?hush",
            "169.254.169.254 is",
        ),
        ("http://127.0.0.1:6379/hush", "Redis"),
        ("http://hush@127.0.0.1:8080/", "before the `@`"),
    ] {
        let outcome = handler(None).attempt(&task(Some(url.to_owned()))).await;
        let Outcome::GiveUp { error } = outcome else {
            panic!("{url}: {outcome:?}: it does not become public by waiting");
        };
        assert!(error.contains(text) && !error.contains("hush"), "{error}");
    }
    let unknown = task(Some("http://almanack.invalid/".to_owned()));
    let outcome = handler(None).attempt(&unknown).await;
    assert_eq!(outcome.name(), "retry", "{outcome:?}: a name may come back");
}

/// What a task says about its call is how it is made; a credential comes from where it is kept.
#[tokio::test]
async fn a_task_can_say_how_it_is_called() {
    let (url, mut received) = service().await;
    let asking = |path: &str, options: serde_json::Value| ClaimedTask {
        call_options: serde_json::from_value(options).unwrap(),
        ..task(Some(format!("{url}{path}")))
    };
    for (path, options, expected) in [
        ("/put", json!({"method": "PUT"}), "done"),
        ("/put", json!({"method": "POST"}), "give_up"),
        ("/look", json!({"method": "GET"}), "done"),
        ("/never", json!({"timeout_s": 1}), "retry"),
        (
            "/ok",
            json!({"headers": {"Authorization": "Bearer env:OTHER"}}),
            "retry",
        ),
    ] {
        let outcome = handler(None).attempt(&asking(path, options.clone())).await;
        assert_eq!(outcome.name(), expected, "{path} {options}: {outcome:?}");
    }
    let headers = json!({"headers": {"Authorization": "Bearer env:HOOK", "X-Tenant": "9"}});
    assert_eq!(
        handler(None).attempt(&asking("/ok", headers)).await.name(),
        "done"
    );
    let (headers, body) = received.recv().await.unwrap();
    assert_eq!(
        (&headers["authorization"], &headers["x-tenant"]),
        (&"Bearer hunter2".parse().unwrap(), &"9".parse().unwrap())
    );
    assert!(headers.contains_key("webhook-signature"), "signed as ever");
    assert!(!body.is_empty());
    assert!(
        received.try_recv().is_err(),
        "an unreleased secret calls no one"
    );
}
