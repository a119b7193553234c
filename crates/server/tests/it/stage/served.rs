//! What is served: one store behind two doors, one open and one that asks who comes.

use std::{sync::Arc, time::Duration};

use almanack_adapters::password::Argon2id;
use almanack_core::{
    edition::EditionName,
    plan::ScheduleName,
    store::{Result, Store},
    time::Sleeper,
};
use almanack_engine::{
    editions::Editions,
    reschedule::{Kinds, Rescheduler},
};
use almanack_server::{
    AppState, Configured, Limits, Publishers, StatusPage, Tick, access::Access, app,
};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    edition_harness::EditionHarness,
    entropy::SeededEntropy,
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use axum::Router;
use jiff::Timestamp;
use metrics_exporter_prometheus::PrometheusBuilder;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    editions::made_from,
    harness::{World, reporting, work},
    scripted::{Lines, watching},
};

/// Between two looks of an open page: long enough for the browser to draw, short enough not to wait
/// for.
const BLINK: Duration = Duration::from_millis(200);

/// The store, its clock, and who works on them.
pub(crate) struct Stage {
    pub(crate) world: World,
    pub(super) news: EditionHarness,
    pub(super) editions: Arc<Editions>,
}

/// Where it is served.
pub(super) struct Served {
    pub(super) open: String,
    pub(super) guarded: String,
    /// A node on which nothing has happened.
    pub(super) empty: String,
}

impl Stage {
    pub(crate) fn build() -> Self {
        let news = EditionHarness::with(18);
        let mut made = None;
        let store = SqliteStore::in_memory().unwrap();
        let mut world = World::built(store, open(), true, |store, clock| {
            let editions = made_from(store, clock, &news);
            made = Some(editions.clone());
            (Tick::default(), editions.into())
        });
        let editions = made.unwrap();
        world.app = face(&world, &editions, open());
        Self {
            world,
            news,
            editions,
        }
    }

    /// From now on no time passes.
    pub(crate) fn clock_stands_at(&self, now: Timestamp) {
        self.world.clock.set(now);
    }

    /// Serves for as long as the test runs.
    pub(super) async fn serve(&self, empty: &Self) -> Served {
        let guarded = face(&self.world, &self.editions, Access::Tokens);
        Served {
            open: listen(self.world.app.clone()).await,
            guarded: listen(guarded).await,
            empty: listen(empty.world.app.clone()).await,
        }
    }
}

fn open() -> Access {
    Access::Open
}

async fn listen(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, app).await });
    // Browsers keep cookies that want HTTPS for `localhost`, and for no other plain address.
    format!("http://localhost:{port}")
}

/// The stage has people and tokens, and one of its doors stays open all the same.
struct NeverGuarded;

#[async_trait]
impl Layer for NeverGuarded {
    async fn load_guarded_since(&self, _: &dyn Store) -> Result<Option<Timestamp>> {
        Ok(None)
    }
}

/// The dashboard and the API over what the world has.
fn face(world: &World, editions: &Arc<Editions>, access: Access) -> Router {
    let store: Arc<dyn Store> = match access {
        Access::Open => Layered::over(world.store.clone(), NeverGuarded),
        Access::Tokens | Access::Local(_) => world.store.clone(),
    };
    let kinds = Kinds {
        accept_any: true,
        ..Kinds::default()
    };
    let rescheduler = Rescheduler::new(world.store.clone(), world.clock.clone(), kinds);
    app(Arc::new(AppState {
        rescheduler: Arc::new(rescheduler),
        schedules: world.schedules.clone(),
        sources: world.fixture.sources.clone(),
        publishers: Publishers::default(),
        opml: Arc::new(Lines),
        subscriptions: Vec::new().into(),
        watching: Some(watching()),
        editions: editions.clone().into(),
        public_editions: true,
        newsletters: almanack_engine::newsletter::NewsletterSet::default(),
        status_page: Some(status_page()),
        reader_pages: almanack_server::ReaderPages::default(),
        work: Some(work(&store, &world.clock)),
        tick: Tick::default(),
        reporting: reporting(&store, world.clock.clone(), Arc::new(Blink)),
        store: store.clone(),
        changes: store,
        clock: world.clock.clone(),
        speed: 1.0,
        access,
        page_hosts: Vec::new(),
        public_url: None,
        trusted_proxies: Vec::new(),
        passwords: Arc::new(Argon2id::default()),
        health: Arc::default(),
        leaving: CancellationToken::new(),
        sleeper: Arc::new(Blink),
        entropy: Arc::new(SeededEntropy::new(7)),
        limits: Limits::default(),
        configuration: configured().into(),
        metrics: PrometheusBuilder::new().build_recorder().handle(),
        about: almanack_server::about::About::default(),
        node: Some("news-1".to_owned()),
        version: "0.0.0-test",
    }))
}

/// What everybody may see of it.
fn status_page() -> StatusPage {
    let name = |name: &str| ScheduleName::parse(name).unwrap();
    StatusPage {
        title: None,
        schedules: ["heartbeat", "nightly-export", "slow-import", "db-backup"]
            .map(name)
            .to_vec(),
        tags: Vec::new(),
        editions: vec![EditionName::default()],
    }
}

/// Settings as an operator has them, from everywhere they can come from.
fn configured() -> Vec<Configured> {
    let rows = [
        (
            "database.url",
            "sqlite:/var/lib/almanack/almanack.db",
            "almanack.toml, line 3",
        ),
        ("server.listen", "127.0.0.1:8080", "default"),
        ("node.name", "node-a", "--name"),
        ("node.slots", "16", "ALMANACK_NODE_SLOTS"),
        ("github.token", "(hidden)", "almanack.toml, line 21"),
        (
            "editions.title",
            "HackerNews 日报",
            "almanack.toml, line 30",
        ),
    ];
    let configured = rows.map(|(key, value, origin)| Configured {
        key: key.to_owned(),
        value: value.to_owned(),
        origin: origin.to_owned(),
        words: ["What it means.", "它的含义。"],
        reloadable: key == "node.slots",
    });
    configured.to_vec()
}

/// The clock stands still, but open pages are still looked at again: waits a moment of the
/// browser's own time.
struct Blink;

#[async_trait]
impl Sleeper for Blink {
    #[expect(
        clippy::disallowed_methods,
        reason = "a real browser lives by the wall clock; nothing asserts how long this takes"
    )]
    async fn until(&self, _: Timestamp) {
        tokio::time::sleep(BLINK).await;
    }
}
