//! An app over an in-memory store, at a fixed instant.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use almanack_adapters::signature::SigningKey;
use almanack_core::{
    address::{Guard, Reach},
    backoff::Backoff,
    finish::{Outcome, finish},
    handler::Handler,
    run_log::KnownSecrets,
    secret::Secret,
    sign_in::{
        PasswordHash,
        password::{self, Passwords, Salt},
    },
    store::{Store, TaskFilter, TaskStore},
    task::ClaimedTask,
    time::{Clock, CorrectedClock, Sleeper},
};
use almanack_engine::{
    bulk::{BulkHandler, STEP_ROWS},
    editions::EditionSet,
    handlers::Handlers,
    health::Health,
    node::Ports,
    planner::{Planned, Planner},
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    run_log::RunLogKeeper,
    runner::RunnerSettings,
    schedules::Schedules,
    tick::Ticker,
    work::Work,
    zones::Zones,
};
use almanack_server::{
    AppState, Configured, Limits, Publishers, Reporting, StatusPage, Tick, access::Access, app,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    entropy::SeededEntropy,
    fixture::{PUBLISH, START, claim_request, kind},
    hubs::ScriptedHubs,
};
use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request},
};
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::scripted::{Fixture, Lines, watching};

/// A path most tests use.
pub(crate) const ARTICLE: &str = "/api/v1/tasks/ARTICLE_PUBLISH/article:42";

pub(crate) const LIMITS: Limits = Limits {
    payload_bytes: 1024,
    body_bytes: 8 * 1024,
    batch_items_max: 5,
};

/// What reports about firings are signed with.
pub(crate) fn report_key() -> SigningKey {
    SigningKey::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap()
}

/// Takes reports, and keeps what they say.
pub(crate) fn reporting(
    store: &Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    sleeper: Arc<dyn Sleeper>,
) -> Reloadable<Option<Reporting>> {
    let times = (clock, sleeper);
    let secrets = KnownSecrets::new([Secret::new("correct horse")]);
    let logs = RunLogKeeper::new(store.clone(), times, 1024 * 1024, secrets);
    Reloadable::new(Some(Reporting {
        verifier: Arc::new(report_key()),
        logs: Arc::new(logs),
    }))
}

pub(crate) struct World {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) schedules: Arc<Schedules>,
    pub(crate) planner: Planner,
    pub(crate) fixture: Fixture,
    pub(crate) passwords: Arc<Plain>,
    pub(crate) health: Arc<Health>,
    pub(crate) app: Router,
}

/// Who may enter, and what everybody may see: editions, hosts of pages, the status page.
type Shown = (Access, bool, Vec<String>, Option<StatusPage>);

/// Passwords that are recognised by themselves, and how often one was looked at.
#[derive(Default)]
pub(crate) struct Plain {
    pub(crate) checked: AtomicUsize,
}

#[async_trait]
impl Passwords for Plain {
    async fn hash(&self, password: &str, _: Salt) -> Result<PasswordHash, password::Error> {
        Ok(PasswordHash(password.to_owned()))
    }

    async fn verify(
        &self,
        password: &str,
        hash: Option<&PasswordHash>,
    ) -> Result<bool, password::Error> {
        self.checked.fetch_add(1, Ordering::SeqCst);
        Ok(hash.is_some_and(|hash| hash.0 == password))
    }
}

/// Waiting moves the clock.
pub(crate) struct Forward(pub(crate) Arc<ManualClock>);

#[async_trait]
impl Sleeper for Forward {
    async fn until(&self, at: Timestamp) {
        self.0.set(at.max(self.0.now()));
    }
}

/// A ticker of a node that runs nothing: what fires stays due.
pub(crate) fn ticker(
    store: &Arc<SqliteStore>,
    clock: &Arc<ManualClock>,
    sleeper: Arc<dyn Sleeper>,
) -> Arc<Ticker> {
    let counters = Arc::default();
    Arc::new(Ticker::new(store.clone(), counters, clock.clone(), sleeper))
}

/// The kind that workers take.
pub(crate) const MAIL: &str = "MAIL_SEND";

/// Hands out tasks of [`MAIL`]; waiting moves the clock.
pub(crate) fn work(store: &Arc<dyn Store>, clock: &Arc<ManualClock>) -> Arc<Work> {
    let time: Arc<dyn Clock> = clock.clone();
    let ports = Ports {
        store: store.clone(),
        clock: Arc::new(CorrectedClock::new(time)),
        sleeper: Arc::new(Forward(clock.clone())),
        entropy: Arc::new(SeededEntropy::new(3)),
        handlers: Handlers::new(Arc::new(Nobody)).into(),
        subscriptions: Reloadable::default(),
    };
    let settings = RunnerSettings {
        pulled: [kind(MAIL)].into(),
        ..RunnerSettings::default()
    };
    Work::new(ports, settings.into())
}

/// No node runs anything here.
struct Nobody;

#[async_trait]
impl Handler for Nobody {
    async fn attempt(&self, _: &ClaimedTask) -> Outcome {
        Outcome::HandedBack
    }
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The problem's code; the whole answer must be as problem details are.
    pub(crate) fn code(&self) -> String {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{}",
            self.body
        );
        let problem = self.json();
        assert_eq!(problem["status"], self.status);
        let code = problem["code"].as_str().unwrap().to_owned();
        assert_eq!(problem["type"], format!("/problems/{code}"));
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        code
    }
}

impl World {
    /// Loopback without tokens, knowing one kind.
    pub(crate) fn open() -> Self {
        Self::with(SqliteStore::in_memory().unwrap(), Access::Open)
    }

    pub(crate) fn with(store: SqliteStore, access: Access) -> Self {
        Self::ticking(store, access, |store, clock| Tick {
            ticker: Some(ticker(store, clock, Arc::new(Forward(clock.clone())))),
            verifier: Reloadable::default(),
        })
    }

    /// A world with a tick of the test's own.
    pub(crate) fn ticking(
        store: SqliteStore,
        access: Access,
        tick: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> Tick,
    ) -> Self {
        Self::built(store, access, true, |store, clock| {
            (tick(store, clock), EditionSet::default())
        })
    }

    /// A world with a tick and editions of the test's own.
    pub(crate) fn built(
        store: SqliteStore,
        access: Access,
        public_editions: bool,
        parts: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> (Tick, EditionSet),
    ) -> Self {
        Self::answering(store, access, public_editions, Vec::new(), parts)
    }

    /// A world whose pages answer to these hosts.
    pub(crate) fn answering(
        store: SqliteStore,
        access: Access,
        public_editions: bool,
        page_hosts: Vec<String>,
        parts: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> (Tick, EditionSet),
    ) -> Self {
        let pages = Arc::new(store.for_pages());
        Self::reading(store, pages, access, public_editions, page_hosts, parts)
    }

    /// A world whose lists and pages are read through a store of their own.
    pub(crate) fn reading(
        store: SqliteStore,
        pages: Arc<dyn Store>,
        access: Access,
        public_editions: bool,
        page_hosts: Vec<String>,
        parts: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> (Tick, EditionSet),
    ) -> Self {
        Self::publishing(
            store,
            pages,
            (access, public_editions, page_hosts, None),
            parts,
            |_| Publishers::default(),
        )
    }

    /// A world with a public status page.
    pub(crate) fn showing(
        status_page: StatusPage,
        store: SqliteStore,
        access: Access,
        parts: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> (Tick, EditionSet),
    ) -> Self {
        let pages = Arc::new(store.for_pages());
        let open = (access, true, Vec::new(), Some(status_page));
        Self::publishing(store, pages, open, parts, |_| Publishers::default())
    }

    /// A world that hubs can push to.
    pub(crate) fn pushed(hubs: &Arc<ScriptedHubs>) -> Self {
        let store = SqliteStore::in_memory().unwrap();
        let pages = Arc::new(store.for_pages());
        let parts = |_: &_, _: &_| (Tick::default(), EditionSet::default());
        Self::publishing(
            store,
            pages,
            (Access::Open, true, Vec::new(), None),
            parts,
            |fixture| fixture.pushed(hubs),
        )
    }

    fn publishing(
        store: SqliteStore,
        pages: Arc<dyn Store>,
        (access, public_editions, page_hosts, status_page): Shown,
        parts: impl FnOnce(&Arc<SqliteStore>, &Arc<ManualClock>) -> (Tick, EditionSet),
        publishers: impl FnOnce(&mut Fixture) -> Publishers,
    ) -> Self {
        let passwords = Arc::new(Plain::default());
        let clock = Arc::new(ManualClock::at(START));
        let store = Arc::new(store);
        let zones = Arc::new(Zones::default());
        let guard = Guard::new(Vec::new(), "outbound.allow");
        let reach = Reloadable::new(Reach::new(guard, BTreeSet::new()));
        let schedules = Schedules::new(store.clone(), clock.clone(), zones.clone());
        let schedules = Arc::new(schedules.reaching(reach.clone()));
        let (tick, editions) = parts(&store, &clock);
        let port: Arc<dyn Store> = store.clone();
        let time: Arc<dyn Clock> = clock.clone();
        let mut fixture = Fixture::on(&port, &time);
        let publishers = publishers(&mut fixture);
        let rescheduler =
            Rescheduler::new(port.clone(), time.clone(), known_kinds()).reaching(reach);
        let health = Arc::new(Health::of_beat(SignedDuration::from_secs(5)));
        let state = AppState {
            rescheduler: Arc::new(rescheduler),
            schedules: schedules.clone(),
            sources: fixture.sources.clone(),
            publishers,
            opml: Arc::new(Lines),
            subscriptions: Vec::new().into(),
            watching: Some(watching()),
            editions,
            public_editions,
            newsletters: almanack_engine::newsletter::NewsletterSet::default(),
            status_page,
            reader_pages: almanack_server::ReaderPages::default(),
            work: Some(work(&port, &clock)),
            tick,
            reporting: reporting(&port, time.clone(), Arc::new(Forward(clock.clone()))),
            store: pages,
            changes: port.clone(),
            clock: time.clone(),
            access,
            page_hosts,
            public_url: Some("https://almanack.example".to_owned()),
            trusted_proxies: Vec::new(),
            passwords: passwords.clone(),
            speed: 1.0,
            health: health.clone(),
            leaving: CancellationToken::new(),
            sleeper: Arc::new(Forward(clock.clone())),
            entropy: Arc::new(SeededEntropy::new(1)),
            limits: LIMITS,
            configuration: vec![
                configured("node.slots", "16", "default"),
                configured("node.name", "\"news-1\"", "almanack.toml:3"),
            ]
            .into(),
            metrics: PrometheusBuilder::new().build_recorder().handle(),
            about: almanack_server::about::About::default(),
            node: Some("news-1".to_owned()),
            version: "0.0.0-test",
        };
        Self {
            clock,
            store,
            schedules,
            planner: Planner::new(port, time, zones),
            fixture,
            passwords,
            health,
            app: app(Arc::new(state)),
        }
    }

    /// Plans at an instant, as a node would.
    pub(crate) async fn plan_at(&self, now: Timestamp) -> Planned {
        self.clock.set(now);
        self.planner.pass().await.unwrap()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        send(&self.app, request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, "")).await
    }

    pub(crate) async fn put(&self, path: &str, body: &str) -> Answer {
        self.send(request(Method::PUT, path, body)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send(request(Method::POST, path, body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &str) -> Answer {
        self.send(request(Method::PATCH, path, body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(request(Method::DELETE, path, "")).await
    }

    /// Claims the one task that is due now.
    pub(crate) async fn claim(&self, number: i64) -> ClaimedTask {
        let request = claim_request(number, self.clock.now(), 1);
        let mut claimed = self.store.claim(request).await.unwrap();
        claimed.tasks.pop().expect("a task is due")
    }

    /// Carries out the bulk change that is due, as a node would.
    pub(crate) async fn change_in_bulk(&self, claim: i64) {
        let task = self.claim(claim).await;
        let handler = BulkHandler {
            store: self.store.clone(),
            clock: self.clock.clone(),
            step_rows: STEP_ROWS,
        };
        let outcome = handler.attempt(&task).await;
        self.end(&task, &outcome).await;
    }

    /// Ends an attempt now.
    pub(crate) async fn end(&self, task: &ClaimedTask, outcome: &Outcome) {
        let ending = finish(task, outcome, &Backoff::default(), self.clock.now(), 0);
        self.store.finish(vec![ending]).await.unwrap();
    }

    pub(crate) async fn done(&self, task: &ClaimedTask) {
        self.end(
            task,
            &Outcome::Done {
                detail: Some("200 OK".to_owned()),
            },
        )
        .await;
    }

    /// Every row there is, to show that nothing changed.
    pub(crate) async fn rows(&self) -> Vec<almanack_core::task::Task> {
        let all = TaskFilter {
            limit: 1000,
            ..TaskFilter::default()
        };
        self.store.list_tasks(&all).await.unwrap().rows
    }
}

fn configured(key: &str, value: &str, origin: &str) -> Configured {
    Configured {
        key: key.to_owned(),
        value: value.to_owned(),
        origin: origin.to_owned(),
        ..Configured::default()
    }
}

pub(crate) async fn send(app: &Router, request: Request<Body>) -> Answer {
    let response = app.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    }
}

/// A request as a careful client sends it: JSON, to localhost.
pub(crate) fn request(method: Method, path: &str, body: &str) -> Request<Body> {
    with(method, path, body, &[("content-type", "application/json")])
}

pub(crate) fn with(
    method: Method,
    path: &str,
    body: &str,
    headers: &[(&str, &str)],
) -> Request<Body> {
    let start = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:8080");
    let built = headers
        .iter()
        .fold(start, |built, (name, value)| built.header(*name, *value));
    built.body(Body::from(body.to_owned())).unwrap()
}

/// A body that asks for an instant `minute` minutes after nine.
pub(crate) fn at(minute: u8) -> String {
    format!(r#"{{"execute_at":"2026-01-05T09:{minute:02}:00Z"}}"#)
}

fn known_kinds() -> Kinds {
    Kinds {
        configured: BTreeSet::from([kind(PUBLISH), kind(MAIL)]),
        pulled: BTreeSet::from([kind(MAIL)]),
        accept_any: false,
        ..Kinds::default()
    }
}
