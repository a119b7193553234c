//! Locks and dispatches against the simulated GitHub, which is independent of this crate.

use std::{sync::Arc, time::Duration};

use almanack_adapters::{
    clock::SystemClock,
    entropy::OsEntropy,
    github::{Github, GithubSettings, Repository, Token, WorkflowLauncher},
    lock::github::GithubLock,
};
use almanack_core::{
    chain::NotSeen,
    finish::Outcome,
    lock::{Acquired, SlotLock},
    target::{
        Launcher, Target,
        runs::{OtherFiring, OtherFirings},
    },
    task::{ClaimedTask, Term},
    time::Clock,
};
use almanack_lab::github::{
    Config, Running,
    fault::{Effect, Matching, Rule, When},
    setup, start,
};
use almanack_testkit::lock::{Place, key};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::fixture::{client, firing, task};

struct World {
    running: Running,
    github: Arc<Github>,
    _stop: DropGuard,
}

impl World {
    async fn start() -> Self {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap());
        let workflow = setup::Workflow::new("daily.yml").with_inputs(&["mode"]);
        let repository = setup::Repository::new("acme", "news", vec![workflow]);
        config.setup.repositories.push(repository);
        let token = setup::Token::new("chain", "s-chain", &["acme/news"]);
        config.setup.tokens.push(token);
        let cancel = CancellationToken::new();
        let running = start(config, cancel.clone()).await.unwrap();
        let settings = GithubSettings {
            base_url: running.url(),
            token: Token::new("s-chain"),
            timeout: Duration::from_secs(10),
        };
        Self {
            github: Arc::new(Github::new(client(), Arc::new(SystemClock), &settings).unwrap()),
            running,
            _stop: cancel.drop_guard(),
        }
    }

    fn opener(&self) -> impl Fn() -> GithubLock + use<> {
        let github = Arc::clone(&self.github);
        let head = self.running.handle.refs("acme", "news")["refs/heads/main"].clone();
        move || {
            let repository = Repository::parse("acme/news").unwrap();
            let entropy = Arc::new(OsEntropy::default());
            GithubLock::new(Arc::clone(&github), repository, head.clone(), entropy)
        }
    }

    fn break_next(&self, method: &str, path: &str, effect: Effect) {
        self.running.handle.add_fault(Rule {
            matching: Matching {
                method: Some(method.to_owned()),
                path: Some(path.to_owned()),
                ..Matching::default()
            },
            when: When::Next(1),
            effect,
        });
    }
}

async fn place() -> Place {
    let world = World::start().await;
    let open = world.opener();
    Place::new(move || Arc::new(open())).keeping(world)
}

almanack_testkit::lock_conformance!(place);

#[tokio::test]
async fn dp_06_a_creation_whose_answer_is_cut_off_is_recognised_as_our_own() {
    let world = World::start().await;
    let open = world.opener();
    let (ours, other) = (open(), open());
    world.break_next("POST", "/git/refs", Effect::DropReply);
    assert!(ours.acquire(&key(1, 60)).await.unwrap_err().is_transient());
    assert_eq!(other.acquire(&key(1, 60)).await, Ok(Acquired::Lost));
    assert_eq!(ours.acquire(&key(1, 60)).await, Ok(Acquired::Won));
}

#[tokio::test]
async fn dp_11_dp_12_workflows_are_dispatched_refused_and_limited() {
    let world = World::start().await;
    let launcher = WorkflowLauncher::new(Arc::clone(&world.github));
    let target = |workflow: &str, git_ref: &str| {
        let inputs = json!({"mode": "full"});
        firing(json!({
            "type": "workflow", "repository": "acme/news", "workflow": workflow,
            "ref": git_ref, "inputs": inputs,
        }))
    };
    let fire = async |workflow, git_ref| {
        launcher
            .fire(&target(workflow, git_ref), &task(None))
            .await
            .name()
    };
    assert_eq!(fire("daily.yml", "main").await, "done");
    assert_eq!(fire("missing.yml", "main").await, "give_up");
    assert_eq!(fire("daily.yml", "no-such-branch").await, "give_up");
    world.break_next(
        "POST",
        "/dispatches",
        Effect::SecondaryLimit { retry_after_s: 30 },
    );
    assert_eq!(fire("daily.yml", "main").await, "retry");
    world.break_next("POST", "/dispatches", Effect::Status(502));
    assert_eq!(fire("daily.yml", "main").await, "retry");
    let dispatches = world.running.handle.dispatches();
    assert_eq!(dispatches.len(), 1, "{dispatches:?}");
}

/// No other firing, and this one was decided on an hour ago.
struct Alone;

#[async_trait]
impl OtherFirings for Alone {
    async fn load_decided_at(&self, _: &ClaimedTask) -> Result<Timestamp, NotSeen> {
        Ok(SystemClock.now() - SignedDuration::from_hours(1))
    }

    async fn load_others(
        &self,
        _: &ClaimedTask,
        _: &Target,
        _: Timestamp,
    ) -> Result<Vec<OtherFiring>, NotSeen> {
        Ok(Vec::new())
    }
}

struct Tried<'a> {
    world: &'a World,
    launcher: WorkflowLauncher,
}

impl<'a> Tried<'a> {
    fn by_a_node(world: &'a World) -> Self {
        let launcher = WorkflowLauncher::new(Arc::clone(&world.github));
        let launcher = launcher.looking(Arc::new(Alone));
        Self { world, launcher }
    }

    /// How the try under a term ends, and how often the workflow has been started by then.
    async fn attempt(&self, term: i64) -> (&'static str, usize) {
        let target = json!({
            "type": "workflow", "repository": "acme/news", "workflow": "daily.yml", "ref": "main",
            "inputs": {},
        });
        let mut task = task(None);
        // What was handed back is no attempt; its term counts.
        (task.attempt, task.term) = (1, Term(term));
        let outcome = self.launcher.fire(&firing(target), &task).await;
        if let Outcome::Retry { retry_after, error } = &outcome
            && error.contains("may have been started")
        {
            assert!(retry_after.is_some(), "{error}: it needs time to show");
        }
        (outcome.name(), self.world.running.handle.dispatches().len())
    }
}

#[tokio::test]
async fn dp_12_a_node_repeats_an_unknown_outcome_only_after_looking() {
    let world = World::start().await;
    let node = Tried::by_a_node(&world);
    world.break_next("POST", "/dispatches", Effect::Status(502));
    assert_eq!(node.attempt(1).await, ("retry", 0));
    world.break_next("GET", "/runs", Effect::Status(502));
    assert_eq!(node.attempt(2).await, ("retry", 0), "what is unseen waits");
    world.break_next("POST", "/dispatches", Effect::DropReply);
    assert_eq!(node.attempt(3).await, ("retry", 1), "nothing was there");
    assert_eq!(node.attempt(4).await, ("done", 1), "it had been taken");
}

#[tokio::test]
async fn dp_12_another_nodes_try_is_looked_for_and_a_known_refusal_is_not() {
    let world = World::start().await;
    let node = Tried::by_a_node(&world);
    world.break_next("POST", "/dispatches", Effect::DropReply);
    assert_eq!(node.attempt(1).await, ("retry", 1));
    let other = Tried::by_a_node(&world);
    assert_eq!(
        other.attempt(2).await,
        ("done", 1),
        "the first died with its memory"
    );
    let limit = Effect::SecondaryLimit { retry_after_s: 1 };
    world.break_next("POST", "/dispatches", limit);
    assert_eq!(other.attempt(1).await, ("retry", 1));
    assert_eq!(
        other.attempt(2).await,
        ("done", 2),
        "a limit starts nothing: the run that is there is another firing's"
    );
}
