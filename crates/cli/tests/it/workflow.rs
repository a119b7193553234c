//! Firings at GitHub workflows whose replies are lost, against the simulated GitHub (DP-25).
//!
//! Planner, launcher, store and GitHub are the real ones; time is one clock that all of them share,
//! and each second of it is one step: plan, claim, try, write.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    clock::ClockSleeper,
    github::{Github, GithubSettings, Token, WorkflowLauncher},
    http,
};
use almanack_core::{
    address::{Guard, parse_net},
    finish::{Outcome, finish},
    handler::Handler,
    plan::{DISPATCH, Definition, Firing, Origin, Overlap, ScheduleName},
    store::{Store, TaskFilter},
    target::Target,
    task::{ClaimedTask, Kind, Status, Task},
    time::Clock,
};
use almanack_engine::{
    dispatch::{BACKOFF, DispatchHandler, StoredFirings},
    planner::Planner,
    schedules::Schedules,
    zones::Zones,
};
use almanack_lab::github::{
    Config, Running,
    fault::{Effect, Matching, Rule, When},
    setup::{self, Setup},
    start,
};
use almanack_store::{postgres::PostgresStore, sqlite::SqliteStore};
use almanack_testkit::{clock::ManualClock, fixture::claim_request, postgres::Schema};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

const START: &str = "2026-01-06T08:00:05Z";
const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// A schedule at `daily.yml`.
#[derive(Clone, Copy)]
struct Line {
    name: &'static str,
    expression: &'static str,
    git_ref: &'static str,
}

const fn line(name: &'static str, expression: &'static str, git_ref: &'static str) -> Line {
    Line {
        name,
        expression,
        git_ref,
    }
}

struct Stage {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    github: Running,
    planner: Planner,
    node: DispatchHandler,
    claims: i64,
    _stop: DropGuard,
}

impl Stage {
    async fn new(store: Arc<dyn Store>, lines: &[Line]) -> Self {
        let clock = Arc::new(ManualClock::at(START.parse().unwrap()));
        let stop = CancellationToken::new();
        let workflow = setup::Workflow::new("daily.yml")
            .with_inputs(&["line"])
            .taking(0, 1);
        let mut repository = setup::Repository::new("acme", "news", vec![workflow]);
        repository.branches = vec!["main".to_owned(), "next".to_owned()];
        let shared = Arc::clone(&clock);
        let config = Config {
            setup: Setup {
                tokens: vec![setup::Token::new("pat", "s-pat", &["acme/news"])],
                repositories: vec![repository],
            },
            clock: Arc::new(move || shared.now()),
            ..Config::new(([127, 0, 0, 1], 0).into())
        };
        let github = start(config, stop.clone()).await.unwrap();
        let time: Arc<dyn Clock> = Arc::clone(&clock) as _;
        let zones = Arc::new(Zones::default());
        let schedules = Schedules::new(store.clone(), time.clone(), zones.clone());
        for line in lines {
            let name = ScheduleName::parse(line.name).unwrap();
            // Slots come sooner than a run is seen to have ended.
            let definition = Definition {
                overlap: Overlap::Allow,
                ..Definition::new(line.expression, line.target())
            };
            let put = schedules.put(&name, definition, Origin::Api, "ada");
            put.await.unwrap();
        }
        Self {
            node: node(&github, &store, &time),
            planner: Planner::new(store.clone(), time, zones),
            store,
            clock,
            github,
            claims: 0,
            _stop: stop.drop_guard(),
        }
    }

    fn fault(&self, when: When, effect: Effect) {
        self.github.handle.add_fault(Rule {
            matching: Matching {
                method: Some("POST".to_owned()),
                path: Some("/dispatches".to_owned()),
                ..Matching::default()
            },
            when,
            effect,
        });
    }

    /// Lets so many seconds pass; `ended` says how each attempt ends, given how it went.
    async fn pass(&mut self, seconds: u32, ended: impl Fn(&ClaimedTask, Outcome) -> Outcome) {
        for _ in 0..seconds {
            self.clock.advance(SECOND);
            self.planner.pass().await.unwrap();
            self.claims += 1;
            let request = claim_request(self.claims, self.clock.now(), 10);
            let claimed = self.store.claim(request).await.unwrap();
            for task in claimed.tasks {
                let outcome = ended(&task, self.node.attempt(&task).await);
                let finished = finish(&task, &outcome, &BACKOFF, self.clock.now(), 0);
                self.store.finish(vec![finished]).await.unwrap();
            }
        }
    }

    /// A node that remembers nothing of what the last one did.
    fn restart(&mut self) {
        let time: Arc<dyn Clock> = Arc::clone(&self.clock) as _;
        self.node = node(&self.github, &self.store, &time);
    }

    async fn firings(&self, line: Line) -> Vec<(Firing, Task)> {
        let filter = TaskFilter {
            kind: Some(Kind::parse(DISPATCH).unwrap()),
            limit: 1_000,
            ..TaskFilter::default()
        };
        let rows = self
            .store
            .list_tasks(&filter)
            .await
            .unwrap()
            .rows
            .into_iter();
        let read = rows.map(|row| (Firing::read(&row.payload).unwrap(), row));
        read.filter(|(firing, _)| firing.schedule == line.name)
            .collect()
    }

    /// How often the workflow was started for a line within a stretch of time.
    fn started(&self, line: Line, from: Timestamp, until: Timestamp) -> usize {
        let dispatches = self.github.handle.dispatches();
        let own = dispatches.iter().filter(|it| {
            it.git_ref == line.git_ref
                && it.inputs["line"] == line.name
                && (from..until).contains(&it.at)
        });
        own.count()
    }

    /// Every slot of a line was started once, by its own ref and inputs, and is recorded so.
    async fn assert_each_slot_once(&self, line: Line, gap: SignedDuration, why: &str) {
        let firings = self.firings(line).await;
        assert!(firings.len() >= 4, "{why}: {}", firings.len());
        for (firing, row) in firings {
            let (slot, detail) = (firing.nominal_at, &row.detail);
            let reported = format!("{why}: {} at {slot}: {detail:?}", line.name);
            let runs = detail.as_deref().is_some_and(|it| it.contains(": run "));
            assert!(row.status == Status::Success || runs, "{reported}");
            assert_eq!(self.started(line, slot, slot + gap), 1, "{reported}");
        }
    }
}

impl Line {
    fn target(self) -> Target {
        let target = json!({
            "type": "workflow", "repository": "acme/news", "workflow": "daily.yml",
            "ref": self.git_ref, "inputs": {"line": self.name},
        });
        serde_json::from_value(target).unwrap()
    }
}

fn node(github: &Running, store: &Arc<dyn Store>, time: &Arc<dyn Clock>) -> DispatchHandler {
    let home = parse_net("127.0.0.1").unwrap();
    let guard = Guard::new(vec![home], "outbound.allow");
    let http = http::Client::new(&http::Settings::new(guard)).unwrap();
    let settings = GithubSettings {
        base_url: github.url(),
        token: Token::new("s-pat"),
        timeout: Duration::from_secs(30),
    };
    let github = Github::new(http, Arc::clone(time), &settings).unwrap();
    let firings = Arc::new(StoredFirings(Arc::clone(store)));
    let launcher = WorkflowLauncher::new(Arc::new(github)).looking(firings);
    let sleeper = Arc::new(ClockSleeper::new(Arc::clone(time)));
    DispatchHandler::new(Arc::clone(store), Arc::clone(time), sleeper)
        .with("workflow", Arc::new(launcher))
}

fn as_it_went(_: &ClaimedTask, outcome: Outcome) -> Outcome {
    outcome
}

/// An empty store of each database.
async fn stores() -> Vec<(Arc<dyn Store>, Option<Schema>)> {
    let schema = Schema::create().await;
    let postgres = PostgresStore::connect(schema.url()).await.unwrap();
    vec![
        (Arc::new(SqliteStore::in_memory().unwrap()), None),
        (Arc::new(postgres), Some(schema)),
    ]
}

const ON_TWO_REFS: [Line; 2] = [line("a", "@20s", "main"), line("b", "@20s", "next")];
const ON_ONE_REF: [Line; 2] = [line("a", "@20s", "main"), line("b", "@20s", "main")];
const TWENTY: SignedDuration = SignedDuration::from_secs(20);

#[tokio::test]
async fn dp_25_lines_at_one_workflow_with_lost_replies_are_each_fired_once() {
    for (lines, what) in [(ON_TWO_REFS, "two refs"), (ON_ONE_REF, "one ref")] {
        for (effect, how) in [
            (Effect::Status(502), "502 without a run"),
            (Effect::StatusAfter(502), "502 with a run"),
            (Effect::DropReply, "no reply"),
        ] {
            for (store, _schema) in stores().await {
                let mut stage = Stage::new(store, &lines).await;
                stage.fault(When::Every(2), effect);
                stage.pass(110, as_it_went).await;
                for line in lines {
                    let why = format!("{what}, {how}");
                    stage.assert_each_slot_once(line, TWENTY, &why).await;
                }
            }
        }
    }
}

#[tokio::test]
async fn dp_25_the_slot_before_is_never_taken_for_this_one() {
    for (store, _schema) in stores().await {
        let alone = line("a", "@10s", "main");
        let mut stage = Stage::new(store, &[alone]).await;
        stage.fault(When::Every(2), Effect::Status(502));
        stage.pass(74, as_it_went).await;
        let ten = SignedDuration::from_secs(10);
        stage
            .assert_each_slot_once(alone, ten, "a separate line")
            .await;
    }
}

#[tokio::test]
async fn dp_25_what_was_handed_back_or_lost_with_its_node_is_looked_for_before_it_is_repeated() {
    for ending in [Outcome::HandedBack, Outcome::LeaseExpired] {
        for (store, _schema) in stores().await {
            let mut stage = Stage::new(store, &ON_ONE_REF).await;
            // Every first claim of the second line is cut off, after GitHub had taken it.
            let cut = |task: &ClaimedTask, outcome| {
                let second = task.identity.subject.as_str().starts_with("schedule:b@");
                if second && task.term.0 == 1 {
                    ending.clone()
                } else {
                    outcome
                }
            };
            for _ in 0..110 {
                stage.pass(1, cut).await;
                stage.restart();
            }
            for line in ON_ONE_REF {
                let why = ending.name();
                stage.assert_each_slot_once(line, TWENTY, why).await;
            }
        }
    }
}

#[tokio::test]
async fn dp_25_a_run_that_two_may_have_started_belongs_to_neither_and_neither_is_repeated() {
    for (store, _schema) in stores().await {
        let mut stage = Stage::new(store, &ON_ONE_REF).await;
        stage.fault(When::Next(1), Effect::StatusAfter(502));
        stage.fault(When::Next(1), Effect::Status(502));
        stage.pass(34, as_it_went).await;
        assert_eq!(stage.github.handle.dispatches().len(), 1, "never twice");
        for line in ON_ONE_REF {
            let firings = stage.firings(line).await;
            let [(_, row)] = firings.as_slice() else {
                panic!("{firings:?}");
            };
            assert_eq!(row.status, Status::Fail, "{:?}", row.detail);
            let detail = row.detail.as_deref().unwrap();
            assert!(detail.contains("may have started"), "{detail}");
        }
    }
}
