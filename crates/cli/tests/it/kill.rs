//! Nodes and the article service under `kill -9`: nothing is lost, and every article is published
//! exactly once in effect (RS-08, RS-12).
//!
//! Authors write, move and withdraw while processes die at moments drawn from a seed and come back.
//! When the dying stops, everything must come to its end by itself. A failing seed is repeated with
//! `ALMANACK_KILL_SEED=N cargo test -p almanack --test it kill`.

mod authors;
mod pings;
mod slow_line;

use std::{net::SocketAddr, time::Duration};

use almanack_adapters::clock::pause;
use almanack_lab::chance::Chance;
use almanack_testkit::postgres::Schema;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    harness::Home,
    process::{Process, eventually, free_address},
};
use authors::Authors;

/// Processes killed per run.
const KILLS: usize = 14;
/// Every so many kills, the article service is the one to die.
const SERVICE_EVERY: usize = 5;
/// Time between two kills.
const PAUSE_MS_MAX: u64 = 900;
/// How long a process stays dead.
const DEAD_MS_MAX: u64 = 500;
/// Retries that no number of kills here can use up.
const MAX_RETRY: &str = "100";
/// How far the clock of a node on PostgreSQL may be from the article service's.
const SKEW_MAX: SignedDuration = SignedDuration::from_millis(250);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_08_rs_12_two_killed_nodes_on_postgres_publish_every_article_once() {
    let schema = Schema::create().await;
    run(schema.url(), 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rs_08_rs_12_one_killed_node_on_sqlite_publishes_every_article_once() {
    run("sqlite:almanack.db", 1).await;
}

async fn run(database: &str, nodes: usize) {
    let seed = seed();
    let mut stage = Stage::set(database, nodes, Chance::new(seed)).await;
    let mut authors = Authors::new(stage.service.address, seed.wrapping_add(1));
    tokio::join!(authors.work(), stage.havoc());
    stage.settle().await;
    let articles = stage.articles().await;
    authors.check(&articles);
    let mut died = 0;
    for article in &articles {
        died += stage.check(article).await;
    }
    assert!(
        died > 0,
        "no kill hit a call on its way; this run proved little"
    );
    let outbox = stage.service.api().get("/outbox").await.json;
    assert_eq!(outbox["rejected"], serde_json::json!([]));
}

/// The seed of this run, said aloud so that a failure can be repeated.
#[expect(clippy::print_stderr, reason = "the line that repeats a failure")]
#[expect(
    clippy::disallowed_methods,
    reason = "a repeated test takes its seed from the environment"
)]
fn seed() -> u64 {
    let reported = std::env::var("ALMANACK_KILL_SEED").ok();
    let fresh = || u64::from(std::process::id());
    let seed = reported.map_or_else(fresh, |text| text.parse().expect("a seed is a number"));
    eprintln!("reproduce: ALMANACK_KILL_SEED={seed} cargo test -p almanack --test it kill");
    seed
}

/// The processes, and who dies next.
struct Stage {
    home: Home,
    nodes: Vec<Process>,
    service: Process,
    service_starts: usize,
    chance: Chance,
}

impl Stage {
    async fn set(database: &str, nodes: usize, mut chance: Chance) -> Self {
        let service = free_address();
        let line = slow_line::open(service, chance.next_u64()).await;
        let home = Home::with(&configuration(database, line));
        let start = |_| Process::node(&home, free_address(), &[]);
        let nodes: Vec<Process> = (0..nodes).map(start).collect();
        let service = start_service(&home, service, nodes[0].address);
        Self {
            nodes,
            service,
            service_starts: 1,
            home,
            chance,
        }
    }

    /// Kills and restarts without waiting: a process may die while it starts, too.
    async fn havoc(&mut self) {
        for kill in 1..=KILLS {
            self.wait(PAUSE_MS_MAX).await;
            if kill % SERVICE_EVERY == 0 {
                self.service.kill().await;
                self.wait(DEAD_MS_MAX).await;
                self.start_service();
            } else {
                let which = self.chance.below(self.nodes.len() as u64);
                let which = usize::try_from(which).unwrap();
                self.nodes[which].kill().await;
                self.wait(DEAD_MS_MAX).await;
                let address = self.nodes[which].address;
                self.nodes[which] = Process::node(&self.home, address, &[]);
            }
        }
    }

    /// Back at its address, and sending its events to the next node.
    fn start_service(&mut self) {
        let node = &self.nodes[self.service_starts % self.nodes.len()];
        self.service = start_service(&self.home, self.service.address, node.address);
        self.service_starts += 1;
    }

    async fn wait(&mut self, ms_max: u64) {
        pause(Duration::from_millis(self.chance.below(ms_max))).await;
    }

    /// Waits until everything has come to its end.
    async fn settle(&self) {
        let (node, service) = (self.nodes[0].api(), self.service.api());
        eventually("the outbox is empty and no task is live", async || {
            let outbox = service.ask(reqwest::Method::GET, "/outbox", None).await;
            let reported = outbox.ok()?.json["waiting"] == 0;
            let answers = node.ask(reqwest::Method::GET, "/readyz", None).await;
            let answers = answers.is_ok_and(|answer| answer.status == 200);
            (reported && answers && node.live_tasks().await.is_empty()).then_some(())
        })
        .await;
    }

    async fn articles(&self) -> Vec<Value> {
        let answer = self.service.api().get("/articles").await;
        answer.json["articles"].as_array().unwrap().clone()
    }

    /// One article is where it belongs, and the history knows of every call about it. Answers how
    /// many attempts a kill cut short.
    async fn check(&self, article: &Value) -> usize {
        let node = self.nodes[0].api();
        let subject = format!("article:{}", article["id"]);
        let attempts = node.attempts("ARTICLE_PUBLISH", &subject).await;
        let calls = article["publish_calls"].as_u64().unwrap();
        assert!(
            attempts.len() as u64 >= calls,
            "unrecorded calls: {article} {attempts:?}"
        );
        let died = attempts
            .iter()
            .filter(|it| it["outcome"] == "lease_expired")
            .count();
        let forbidden = article["body"].as_str().unwrap().contains("FORBIDDEN");
        if !article["withdrawn_at"].is_null() || forbidden {
            assert_eq!(article["publish_effects"], 0, "{article}");
            assert!(article["published_at"].is_null(), "{article}");
            return died;
        }
        assert_eq!(
            article["state"], "PUBLISHED",
            "lost: {article} {attempts:?}"
        );
        assert_eq!(article["publish_effects"], 1, "{article}");
        let (published, wanted) = (at(&article["published_at"]), at(&article["publish_at"]));
        assert!(published + SKEW_MAX >= wanted, "too early: {article}");
        let task = node
            .until_status("ARTICLE_PUBLISH", &subject, "SUCCESS")
            .await;
        assert_eq!(task["live"], false);
        died
    }
}

fn at(value: &Value) -> Timestamp {
    value.as_str().unwrap().parse().unwrap()
}

fn configuration(database: &str, line: SocketAddr) -> String {
    format!(
        "[database]
url = \"{database}\"
[kinds.ARTICLE_AUDIT]
url = \"http://{line}/callbacks/audit\"
[kinds.ARTICLE_PUBLISH]
url = \"http://{line}/callbacks/publish\"
"
    )
}

fn start_service(home: &Home, address: SocketAddr, almanack: SocketAddr) -> Process {
    let (listen, almanack) = (address.to_string(), format!("http://{almanack}"));
    let command = home.command(&[
        "world",
        "article-service",
        // Calls go over a line that the test can cut, so the nodes' configuration says where.
        "--no-callback-url",
        "--max-retry",
        MAX_RETRY,
        "--listen",
        &listen,
        "--almanack-url",
        &almanack,
    ]);
    Process::start(home, address, command)
}
