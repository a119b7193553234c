//! What others see of the process: nodes, metrics, headers.

use std::{collections::BTreeSet, sync::Arc};

use almanack_core::{
    alert::Rule,
    store::{NodeStore, Store},
    time::Clock,
};
use almanack_engine::{
    editions::EditionSet,
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    schedules::Schedules,
};
use almanack_server::{AppState, Publishers, Tick, access::Access, app};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    edition_harness::EditionHarness,
    entropy::SeededEntropy,
    fixture::{PUBLISH, START, at as instant, kind, node},
};
use axum::{Router, http::Method};
use insta::assert_json_snapshot;
use jiff::SignedDuration;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use tokio::runtime::Runtime;

use crate::{
    editions,
    harness::{ARTICLE, Answer, Forward, LIMITS, Plain, World, at, request, send, with},
    scripted::{Fixture, Lines, watching},
};

#[tokio::test]
async fn nodes_are_listed() {
    let world = World::open();
    world
        .store
        .save_node(&node("node-a", "session-a"))
        .await
        .unwrap();
    world.clock.set(instant(65));
    assert_json_snapshot!(world.get("/api/v1/nodes").await.json(), @r#"
    {
      "nodes": [
        {
          "name": "node-a",
          "seen_at": "2026-01-05T08:00:00Z",
          "seen_seconds_ago": 65,
          "session": "session-a",
          "skew_us": 0,
          "started_at": "2026-01-05T08:00:00Z",
          "version": "0.1.0"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn health_says_which_version_runs() {
    let world = World::open();
    assert_json_snapshot!(world.get("/healthz").await.json(), @r#"
    {
      "node": "news-1",
      "status": "ok",
      "version": "0.0.0-test"
    }
    "#);
    assert_eq!(world.get("/readyz").await.json()["status"], "ready");
}

/// Readiness is for who sends requests: they go where they can be carried out, and nowhere that is
/// about to close.
#[tokio::test]
async fn a_node_says_when_it_is_not_ready_and_what_does_not_work() {
    let world = World::open();
    let away = |why: &str| Err(why.to_owned());
    let bus = (Rule::Disconnected, "nats");
    world.health.note(bus, START, away("hunter2 is refused"));
    assert_json_snapshot!(world.get("/readyz").await.json(), @r#"
    {
      "degraded": [
        "nats"
      ],
      "node": "news-1",
      "status": "degraded",
      "version": "0.0.0-test"
    }
    "#);
    world.health.note(bus, START, Ok(()));
    assert_eq!(world.get("/readyz").await.json()["status"], "ready");
    world.health.note_written(START);
    world.clock.advance(SignedDuration::from_secs(16));
    let stuck = world.get("/readyz").await;
    assert_eq!(
        (stuck.status, stuck.code().as_str()),
        (503, "database_unwritable")
    );
    world.health.note_written(world.clock.now());
    assert_eq!(world.get("/readyz").await.json()["status"], "ready");
    world.health.note_leaving();
    let leaving = world.get("/readyz").await;
    assert_eq!(leaving.status, 503);
    assert_eq!(leaving.json()["code"], "shutting_down");
    assert_eq!(world.get("/healthz").await.status, 200, "it is still up");
}

#[tokio::test]
async fn answers_carry_a_request_id_and_careful_headers() {
    let world = World::open();
    let answer = world.get("/healthz").await;
    let other = world.get("/nowhere").await;
    assert!(answer.header("x-request-id").is_some());
    assert_ne!(answer.header("x-request-id"), other.header("x-request-id"));
    for answer in [answer, other] {
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
    let given = with(Method::GET, "/healthz", "", &[("x-request-id", "mine")]);
    assert_eq!(world.send(given).await.header("x-request-id"), Some("mine"));
    let zipped = with(
        Method::GET,
        "/api/v1/openapi.json",
        "",
        &[("accept-encoding", "gzip")],
    );
    assert_eq!(
        world.send(zipped).await.header("content-encoding"),
        Some("gzip")
    );
}

/// An app that is counted. The recorder is the thread's own, so that tests do not count each
/// other's requests.
struct Counted {
    recorder: PrometheusRecorder,
    runtime: Runtime,
    clock: Arc<ManualClock>,
    app: Router,
}

impl Counted {
    fn new() -> Self {
        Self::with(|_, _| EditionSet::default())
    }

    fn with(editions: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> EditionSet) -> Self {
        let recorder = PrometheusBuilder::new().build_recorder();
        let clock = Arc::new(ManualClock::at(START));
        let time: Arc<dyn Clock> = clock.clone();
        let store = Arc::new(SqliteStore::in_memory().unwrap());
        let editions = editions(&store, &clock);
        let store: Arc<dyn Store> = store;
        let kinds = Kinds {
            configured: BTreeSet::from([kind(PUBLISH)]),
            accept_any: false,
            ..Kinds::default()
        };
        let fixture = Fixture::on(&store, &time);
        let state = AppState {
            rescheduler: Arc::new(Rescheduler::new(store.clone(), time.clone(), kinds)),
            schedules: Arc::new(Schedules::new(store.clone(), time.clone(), Arc::default())),
            sources: fixture.sources,
            publishers: Publishers::default(),
            opml: Arc::new(Lines),
            subscriptions: Vec::new().into(),
            watching: Some(watching()),
            editions,
            public_editions: true,
            newsletters: almanack_engine::newsletter::NewsletterSet::default(),
            status_page: None,
            reader_pages: almanack_server::ReaderPages::default(),
            work: None,
            tick: Tick::default(),
            reporting: Reloadable::default(),
            changes: store.clone(),
            store,
            clock: time,
            access: Access::Open,
            page_hosts: Vec::new(),
            public_url: None,
            trusted_proxies: Vec::new(),
            passwords: Arc::new(Plain::default()),
            speed: 1.0,
            health: Arc::default(),
            leaving: tokio_util::sync::CancellationToken::new(),
            sleeper: Arc::new(Forward(clock.clone())),
            entropy: Arc::new(SeededEntropy::new(1)),
            limits: LIMITS,
            configuration: Vec::new().into(),
            metrics: recorder.handle(),
            about: almanack_server::about::About::default(),
            node: Some("news-1".to_owned()),
            version: "0.0.0-test",
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        Self {
            recorder,
            runtime,
            clock,
            app: app(Arc::new(state)),
        }
    }

    fn ask(&self, method: Method, path: &str, body: &str) -> Answer {
        let request = request(method, path, body);
        metrics::with_local_recorder(&self.recorder, || {
            self.runtime.block_on(send(&self.app, request))
        })
    }
}

#[test]
fn metrics_count_sources_but_not_at_every_look() {
    let counted = Counted::new();
    let add = |address: &str| {
        let body = format!(r#"{{"address":"{address}"}}"#);
        let answer = counted.ask(Method::POST, "/api/v1/sources", &body);
        assert_eq!(answer.status, 201, "{}", answer.body);
    };
    add("https://a.example/");
    let lines = || counted.ask(Method::GET, "/metrics", "").body;
    let text = lines();
    for line in [
        r#"almanack_sources{state="active"} 1"#,
        r#"almanack_sources{state="paused"} 0"#,
        r#"almanack_sources{state="ended"} 0"#,
        "almanack_sources_due 1",
        "almanack_sources_in_backoff 0",
        r#"almanack_sources_attention{attention="silent"} 0"#,
        r#"almanack_sources_attention{attention="credentials"} 0"#,
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    add("https://b.example/");
    let active = |count| format!(r#"almanack_sources{{state="active"}} {count}"#);
    assert!(lines().contains(&active(1)), "counted a moment ago");
    counted.clock.set(instant(10));
    assert!(lines().contains(&active(2)), "counted anew");
}

#[test]
fn metrics_show_the_day_s_editions_but_do_not_look_every_time() {
    let counted = Counted::with(|store, clock| {
        let news = EditionHarness::with(3);
        editions::two_made_from(store, clock, &news)
    });
    let lines = || counted.ask(Method::GET, "/metrics", "").body;
    assert!(lines().contains(r#"almanack_edition_state{edition="default",state="init"} 0"#));
    let built = counted.ask(Method::POST, "/trigger-export-sync", "");
    assert_eq!(built.status, 200, "{}", built.body);
    let published = r#"almanack_edition_state{edition="default",state="published"} 1"#;
    assert!(!lines().contains(published), "looked at a moment ago");
    counted.clock.set(instant(10));
    let text = lines();
    for line in [
        published,
        r#"almanack_edition_state{edition="default",state="init"} 0"#,
        r#"almanack_edition_state{edition="weekly",state="published"} 0"#,
        r#"almanack_edition_stories{edition="weekly",status="completed"} 0"#,
        r#"almanack_edition_stories{edition="default",status="completed"} 3"#,
        r#"almanack_edition_stories{edition="default",status="failed"} 0"#,
        r#"almanack_edition_requests{edition="default"} 17"#,
        r#"almanack_edition_budget{edition="default"} 45"#,
        r#"almanack_edition_batch_requests{edition="default"} 13"#,
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    counted.clock.set(instant(24 * 3600));
    assert!(
        lines().contains(r#"almanack_edition_state{edition="default",state="published"} 0"#),
        "another day"
    );
}

#[test]
fn metrics_count_requests_and_rules_and_show_what_waits() {
    let counted = Counted::new();
    let ask = |method, path, body: &str| counted.ask(method, path, body);
    ask(Method::PUT, ARTICLE, &at(0));
    ask(Method::PUT, ARTICLE, &at(10));
    ask(Method::GET, "/nowhere/42", "");
    counted.clock.set(instant(3600 + 600 + 90));
    let text = ask(Method::GET, "/metrics", "").body;
    for line in [
        r#"almanack_reschedule_total{rule="created"} 1"#,
        r#"almanack_reschedule_total{rule="updated"} 1"#,
        r#"almanack_http_requests_total{method="PUT",route="/api/v1/tasks/{kind}/{subject}",status="201"} 1"#,
        r#"almanack_http_requests_total{method="GET",route="unmatched",status="404"} 1"#,
        r#"almanack_http_request_duration_seconds_count{method="PUT",route="/api/v1/tasks/{kind}/{subject}"} 2"#,
        r#"almanack_queue_depth{kind="ARTICLE_PUBLISH",state="waiting"} 1"#,
        r#"almanack_queue_depth{kind="ARTICLE_PUBLISH",state="due"} 1"#,
        r#"almanack_oldest_due_seconds{kind="ARTICLE_PUBLISH"} 90"#,
        r#"almanack_build_info{version="0.0.0-test"} 1"#,
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    ask(Method::DELETE, ARTICLE, "");
    let text = ask(Method::GET, "/metrics", "").body;
    let zero = r#"almanack_queue_depth{kind="ARTICLE_PUBLISH",state="due"} 0"#;
    assert!(
        text.contains(zero),
        "a queue that emptied falls to zero:\n{text}"
    );
}
