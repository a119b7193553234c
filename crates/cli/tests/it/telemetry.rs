//! Traces as a collector gets them: one per task, a span per attempt and per call, and never in the
//! way.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value::Value,
    trace::v1::{Span, span::SpanKind},
};
use prost::Message as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};

/// A collector, and a service that fails once.
#[derive(Default)]
struct World {
    spans: Mutex<Vec<Span>>,
    keys: Mutex<Vec<String>>,
    parents: Mutex<Vec<String>>,
    calls: AtomicUsize,
}

async fn collect(State(world): State<Arc<World>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let spans = request.resource_spans.into_iter();
    let spans = spans.flat_map(|it| it.scope_spans).flat_map(|it| it.spans);
    world.spans.lock().unwrap().extend(spans);
    let key = headers
        .get("x-key")
        .map(|it| it.to_str().unwrap().to_owned());
    world.keys.lock().unwrap().extend(key);
    StatusCode::OK
}

async fn publish(State(world): State<Arc<World>>, headers: HeaderMap) -> StatusCode {
    let parent = headers["traceparent"].to_str().unwrap().to_owned();
    world.parents.lock().unwrap().push(parent);
    match world.calls.fetch_add(1, Ordering::Relaxed) {
        0 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

/// Has no second attempt, whose wait may be so short that a tick makes it, too.
async fn accept(State(world): State<Arc<World>>) {
    world.calls.fetch_add(1, Ordering::Relaxed);
}

/// Both on one port of loopback.
async fn world() -> (Arc<World>, String) {
    let world = Arc::new(World::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new()
        .route("/v1/traces", post(collect))
        .route("/publish", post(publish))
        .route("/accept", post(accept))
        .with_state(Arc::clone(&world));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (world, address)
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from_digit(digit.into(), 16).unwrap())
        .collect()
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|it| it.key == key)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}

fn put(home: &Home, url: &str) {
    let arguments = [
        "task",
        "put",
        "ARTICLE_PUBLISH",
        "article:42",
        "--at",
        "now",
    ];
    let here = ["--set", "outbound.allow=127.0.0.1"];
    let put = home.run(&[&arguments[..], &["--callback-url", url], &here].concat());
    put.expect_data();
}

#[tokio::test]
async fn all_attempts_at_a_task_are_one_trace_which_the_service_is_reported() {
    let (world, address) = world().await;
    let home = Home::with("[telemetry]\nheaders = \"env:KEY\"\n").set("KEY", "x-key=s3cret");
    let endpoint = format!("telemetry.otlp_endpoint={address}");
    let node = Process::node(&home, free_address(), &["--set", &endpoint])
        .ready()
        .await;
    put(&home, &format!("{address}/publish"));
    let spans = eventually("four spans are collected", async || {
        let spans = world.spans.lock().unwrap().clone();
        (spans.len() >= 4).then_some(spans)
    })
    .await;
    let kind = |kind: SpanKind| -> Vec<Span> {
        let mut found: Vec<Span> = spans
            .iter()
            .filter(|it| it.kind == kind as i32)
            .cloned()
            .collect();
        found.sort_by_key(|it| it.start_time_unix_nano);
        found
    };
    let (attempts, calls) = (kind(SpanKind::Internal), kind(SpanKind::Client));
    assert_eq!((attempts.len(), calls.len()), (2, 2), "{spans:#?}");
    assert!(
        spans.iter().all(|it| it.trace_id == spans[0].trace_id),
        "one trace"
    );
    let reported = |key: &str| -> Vec<String> {
        attempts
            .iter()
            .map(|it| attribute(it, key).unwrap_or_default())
            .collect()
    };
    assert_eq!(
        reported("almanack.task.subject"),
        ["article:42", "article:42"]
    );
    assert_eq!(reported("almanack.task.attempt"), ["1", "2"]);
    assert_eq!(reported("almanack.outcome"), ["retry", "done"]);
    let parents = world.parents.lock().unwrap().clone();
    for ((attempt, call), parent) in attempts.iter().zip(&calls).zip(&parents) {
        assert_eq!(call.parent_span_id, attempt.span_id);
        let expected = format!("00-{}-{}-01", hex(&call.trace_id), hex(&call.span_id));
        assert_eq!(*parent, expected);
    }
    assert_eq!(
        attribute(&calls[0], "http.response.status_code").as_deref(),
        Some("503")
    );
    let keys = world.keys.lock().unwrap().clone();
    assert!(!keys.is_empty() && keys.iter().all(|key| key == "s3cret"));
    assert!(!node.notes().contains("s3cret"));
}

/// Work goes on; spans that could not be sent are counted.
#[tokio::test]
async fn a_collector_that_is_away_costs_its_traces_and_nothing_else() {
    let (world, address) = world().await;
    let home = Home::new();
    let away = format!("telemetry.otlp_endpoint=http://{}", free_address());
    let node = Process::node(&home, free_address(), &["--set", &away])
        .ready()
        .await;
    put(&home, &format!("{address}/publish"));
    eventually("the task is done", async || {
        (world.calls.load(Ordering::Relaxed) >= 2).then_some(())
    })
    .await;
    let address = node.address;
    eventually("dropped spans are counted", async || {
        let counted = "almanack_trace_spans_dropped_total{why=\"collector\"}";
        metrics(address).await.contains(counted).then_some(())
    })
    .await;
}

/// By hand: what is there is no JSON.
async fn metrics(address: std::net::SocketAddr) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let asked = format!("GET /metrics HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(asked.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// What first appears when it has counted hides its first time; and a disk that fills is seen
/// before it is full.
#[tokio::test]
async fn a_node_shows_its_counters_from_the_start_and_the_size_of_its_store() {
    let home = Home::with("[kinds.ARTICLE_PUBLISH]\nurl = \"http://127.0.0.1:1025/\"\n");
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let text = metrics(node.address).await;
    for line in [
        "almanack_lease_expired_total 0",
        r#"almanack_tasks_failed_total{kind="ARTICLE_PUBLISH"} 0"#,
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    eventually("the store and its disk are measured", async || {
        let text = metrics(node.address).await;
        let shown = |name: &str| {
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(name));
            value.is_some_and(|value| value.trim().parse::<f64>().is_ok_and(|it| it > 0.0))
        };
        let both = shown("almanack_store_size_bytes ") && shown("almanack_disk_free_bytes ");
        both.then_some(())
    })
    .await;
}

/// Those that nobody took, and nobody was to take any more.
#[tokio::test]
async fn wk_06_expired_tasks_are_counted() {
    let home = Home::with("[node]\nlease = \"3s\"\n[kinds.LATE]\ndeliver = \"pull\"\n");
    let node = Process::node(&home, free_address(), &[]).ready().await;
    let counted = async |count: u8| {
        let line = format!("almanack_tasks_expired_total {count}");
        let text = metrics(node.address).await;
        text.lines().any(|it| it == line).then_some(())
    };
    assert!(counted(0).await.is_some(), "from the start");
    for subject in ["a", "b"] {
        let put = [
            "task",
            "put",
            "LATE",
            subject,
            "--at",
            "now",
            "--expires-after",
            "1s",
        ];
        home.run(&put).expect_data();
    }
    eventually("both are counted", async || counted(2).await).await;
}

/// A tick lives shorter than a batch waits for company.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tick_is_traced_and_leaves_after_its_spans() {
    let (world, address) = world().await;
    let home = Home::with("[outbound]\nallow = [\"127.0.0.1\"]\n");
    put(&home, &format!("{address}/accept"));
    let endpoint = format!("telemetry.otlp_endpoint={address}");
    home.run(&["tick", "--set", &endpoint]).expect_data();
    let spans = world.spans.lock().unwrap().clone();
    let mut kinds: Vec<i32> = spans.iter().map(|it| it.kind).collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [SpanKind::Internal as i32, SpanKind::Client as i32],
        "the attempt and its call: {spans:#?}"
    );
}

/// A server accepts the connection and never answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_hangs_does_not_keep_a_tick() {
    let (world, address) = world().await;
    let hanging = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!(
        "telemetry.otlp_endpoint=http://{}",
        hanging.local_addr().unwrap()
    );
    let home = Home::with("[outbound]\nallow = [\"127.0.0.1\"]\n");
    put(&home, &format!("{address}/accept"));
    let ticked = home.run(&["tick", "--set", &endpoint]);
    assert!(ticked.notes.contains("lost the last traces"), "{ticked}");
    ticked.expect_data();
    assert_eq!(world.calls.load(Ordering::Relaxed), 1);
}
