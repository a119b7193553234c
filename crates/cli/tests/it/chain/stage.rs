//! A GitHub with a runner: queued runs become processes, cancelled ones get SIGTERM, ended ones
//! start the guard.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_core::{dispatch, lock::Content, lock::LockKey};
use almanack_lab::github::{
    self, Config, Handle, Running,
    fault::{Effect, Matching, Rule, When},
    setup::{Repository, Setup, Token, Workflow},
    state::run::{Conclusion, Run, RunEvent},
};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::{harness::Home, process::eventually};

/// What must never be in a log: names of targets.
const HUSHED: [&str; 7] = [
    "octarine", "library", "poll", "check", "daily", "weekly", "s-pat",
];
/// The workflows of the target repository.
pub(super) const TARGETS: [&str; 6] = [
    "poll.yml",
    "check.yml",
    "daily.yml",
    "weekly.yml",
    "poll-2.yml",
    "poll-3.yml",
];

/// Whether ended runs start the guard, as `if: always()` does. A machine that dies has no last
/// step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastStep {
    Guards,
    Missing,
}

/// GitHub, its runner, and everything that was written.
pub(super) struct Stage {
    pub(super) github: Running,
    pub(super) home: Arc<Home>,
    pub(super) dispatch: String,
    children: Arc<Mutex<BTreeMap<u64, Child>>>,
    _stop: tokio_util::sync::DropGuard,
}

struct Child {
    chain: String,
    pid: u32,
}

/// How chains are run here.
#[derive(Debug, Clone)]
pub(super) struct Play {
    pub(super) dispatch: String,
    pub(super) last_step: LastStep,
    /// More arguments, by chain.
    pub(super) more: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Play {
    pub(super) fn of(dispatch: &str) -> Self {
        Self {
            dispatch: dispatch.to_owned(),
            last_step: LastStep::Guards,
            more: BTreeMap::new(),
        }
    }
}

pub(super) fn setup() -> Setup {
    let own = ["tick-a.yml", "tick-b.yml", "guard.yml"].map(|file| Workflow {
        cancel_in_progress: true,
        ..Workflow::new(file).with_inputs(&["ended"])
    });
    let targets = TARGETS.map(Workflow::new);
    Setup {
        tokens: vec![
            Token {
                requests_per_hour: 100_000,
                ..Token::new("chain", "s-chain", &["octo/clock"])
            },
            Token {
                requests_per_hour: 100_000,
                ..Token::new("pat", "s-pat", &["octarine/library"])
            },
        ],
        repositories: vec![
            Repository::new("octo", "clock", own.into()),
            Repository::new("octarine", "library", targets.into()),
        ],
    }
}

/// A GitHub without a runner.
pub(super) async fn github(setup: Setup) -> (Running, tokio_util::sync::DropGuard) {
    let stop = CancellationToken::new();
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = Config {
        setup,
        ..Config::new(listen)
    };
    let github = github::start(config, stop.clone()).await.unwrap();
    (github, stop.drop_guard())
}

/// The environment that Actions gives a step.
pub(super) fn environment(github: &Running, run_id: u64) -> Vec<(&'static str, String)> {
    let head = github.handle.refs("octo", "clock")["refs/heads/main"].clone();
    vec![
        ("GITHUB_API_URL", github.url()),
        ("GITHUB_REPOSITORY", "octo/clock".to_owned()),
        ("GITHUB_RUN_ID", run_id.to_string()),
        ("GITHUB_REF_NAME", "main".to_owned()),
        ("GITHUB_SHA", head),
        ("GH_TOKEN", "s-chain".to_owned()),
        ("PAT", "s-pat".to_owned()),
    ]
}

impl Stage {
    pub(super) async fn open(play: Play) -> Self {
        let (github, stop) = github(setup()).await;
        let home = Arc::new(Home::new());
        let children = Arc::default();
        let runner = Runner {
            handle: github.handle.clone(),
            environment: environment(&github, 0),
            home: Arc::clone(&home),
            children: Arc::clone(&children),
            play: play.clone(),
        };
        // Before anything can be queued.
        let events = github.handle.runner();
        tokio::spawn(runner.run(events));
        Self {
            github,
            home,
            dispatch: play.dispatch,
            children,
            _stop: stop,
        }
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.github.handle
    }

    /// As a push to main does: a new run of each chain.
    pub(super) fn push(&self) {
        for chain in ["tick-a.yml", "tick-b.yml"] {
            self.handle().start_run("octo", "clock", chain).unwrap();
        }
    }

    pub(super) fn fault(&self, path: &str, method: &str, when: When, effect: Effect) {
        let matching = Matching {
            path: Some(path.to_owned()),
            method: Some(method.to_owned()),
            token: None,
        };
        self.handle().add_fault(Rule {
            matching,
            when,
            effect,
        });
    }

    /// Sends a signal to the newest process of a chain.
    pub(super) fn signal(&self, chain: &str, signal: &str) {
        let children = self.children.lock().unwrap();
        let child = children.values().rev().find(|child| child.chain == chain);
        let pid = child.unwrap().pid.to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &pid])
            .status();
        assert!(sent.unwrap().success(), "{signal} {chain}");
    }

    /// Waits until so many dispatches of each line have arrived.
    pub(super) async fn until_fired(&self, times: usize) {
        self.until("dispatches arrive", |stage| {
            let counts = stage.keys_and_counts();
            counts.iter().all(|(_, fired)| *fired >= times)
        })
        .await;
    }

    pub(super) async fn until(&self, what: &str, wanted: impl Fn(&Self) -> bool) {
        eventually(what, async || wanted(self).then_some(())).await;
    }

    /// Stops all chains, and waits until they have. The guard is not notified: there is no last
    /// step any more.
    pub(super) async fn close(&self) {
        self.until("no process is left", |stage| {
            let children = stage.children.lock().unwrap();
            for child in children.values() {
                let pid = child.pid.to_string();
                let _ = std::process::Command::new("kill")
                    .args(["-TERM", &pid])
                    .stderr(Stdio::null())
                    .status();
            }
            children.is_empty()
        })
        .await;
    }

    /// The locks of each line, in order, and how often its workflow was dispatched.
    pub(super) fn keys_and_counts(&self) -> Vec<(Vec<LockKey>, usize)> {
        let refs = self.handle().refs("octo", "clock");
        let keys: Vec<LockKey> = refs
            .keys()
            .filter_map(|name| LockKey::parse_ref(name))
            .collect();
        let lines = dispatch::parse(&self.dispatch).lines;
        let of_line = |line: dispatch::Line| {
            let definition = line.definition;
            let content = Content::of(&definition.expression, &definition.tz, &definition.target);
            let mut own: Vec<LockKey> = keys
                .iter()
                .filter(|key| key.content() == content)
                .copied()
                .collect();
            own.sort_by_key(LockKey::slot);
            let workflow = serde_json::to_value(&definition.target).unwrap()["workflow"].clone();
            let fired = self.handle().dispatches();
            let fired = fired.iter().filter(|it| workflow == it.workflow.as_str());
            (own, fired.count())
        };
        lines.into_iter().map(of_line).collect()
    }

    /// Every slot of each line, `every_s` apart, was taken, and fired once; `lost` may have been
    /// taken by processes that were killed before they fired.
    pub(super) fn assert_once(&self, every_s: i64, lost: usize) {
        for (keys, fired) in self.keys_and_counts() {
            let slots: Vec<i64> = keys.iter().map(|key| key.slot().as_second()).collect();
            for pair in slots.windows(2) {
                assert_eq!(
                    pair[1] - pair[0],
                    every_s,
                    "a slot was left out: {slots:?}\n{}",
                    self.logs()
                );
            }
            let allowed = slots.len().saturating_sub(lost)..=slots.len();
            assert!(
                allowed.contains(&fired),
                "{fired} firings of {} slots\n{}",
                slots.len(),
                self.logs()
            );
        }
        self.assert_hushed();
    }

    /// No log names a target (DP-15).
    pub(super) fn assert_hushed(&self) {
        let logs = self.logs();
        for name in HUSHED {
            assert!(!logs.contains(name), "`{name}` is in a log:\n{logs}");
        }
    }

    /// What all processes wrote.
    pub(super) fn logs(&self) -> String {
        let mut names: Vec<PathBuf> = fs::read_dir(self.home.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "log"))
            .collect();
        names.sort();
        let text = |path: &PathBuf| {
            format!(
                "--- {}\n{}",
                path.display(),
                fs::read_to_string(path).unwrap()
            )
        };
        names.iter().map(text).collect()
    }

    /// The events of all processes, in one list.
    pub(super) fn reported(&self, said: &str) -> Vec<Value> {
        let logs = self.logs();
        let notes = logs
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        notes.filter(|note| note["said"] == said).collect()
    }

    /// Lays a lock down, as an earlier run would have left it.
    pub(super) async fn lay_lock(&self, key: LockKey) {
        let client = client();
        let sha = self.handle().refs("octo", "clock")["refs/heads/main"].clone();
        let url = format!("{}/repos/octo/clock/git/refs", self.github.url());
        let body = serde_json::json!({"ref": key.ref_name(), "sha": sha});
        let made = client
            .post(url)
            .bearer_auth("s-chain")
            .header("user-agent", "test")
            .json(&body);
        assert_eq!(made.send().await.unwrap().status(), 201);
    }

    /// The lock of a line's slot.
    pub(super) fn key(&self, line: usize, slot: Timestamp) -> LockKey {
        let definition = dispatch::parse(&self.dispatch).lines[line]
            .definition
            .clone();
        let content = Content::of(&definition.expression, &definition.tz, &definition.target);
        LockKey::new(content, slot)
    }
}

/// What wrote what, to explain a failed test.
impl Drop for Stage {
    #[expect(
        clippy::print_stderr,
        reason = "a failed test is explained by what its processes wrote"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.logs());
        }
    }
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    #[expect(clippy::disallowed_methods, reason = "tests ask from outside")]
    reqwest::Client::new()
}

#[derive(Clone)]
struct Runner {
    handle: Handle,
    environment: Vec<(&'static str, String)>,
    home: Arc<Home>,
    children: Arc<Mutex<BTreeMap<u64, Child>>>,
    play: Play,
}

impl Runner {
    async fn run(self, mut events: UnboundedReceiver<RunEvent>) {
        while let Some(event) = events.recv().await {
            match event {
                RunEvent::Queued(run) if run.repository == "octo/clock" => {
                    tokio::spawn(self.clone().execute(run));
                }
                RunEvent::Cancelled(run) => self.stop(run.id),
                RunEvent::Queued(_) => {}
            }
        }
    }

    fn stop(&self, id: u64) {
        let children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(child) = children.get(&id) {
            let pid = child.pid.to_string();
            let _ = std::process::Command::new("kill")
                .args(["-TERM", &pid])
                .status();
        }
    }

    async fn execute(self, run: Run) {
        self.handle.begin_run(run.id).unwrap();
        let chain = run.workflow.trim_end_matches(".yml").to_owned();
        let ended = run
            .inputs
            .get("ended")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let mut arguments = vec!["--json"];
        if chain == "guard" {
            arguments.push("guard");
            arguments.extend(ended.iter().flat_map(|run_id| ["--ended", run_id.as_str()]));
        } else {
            arguments.extend(["chain", "--self", &chain, "--round", "500ms", "--for", "5h"]);
            let more = self.play.more.get(chain.as_str());
            arguments.extend(more.into_iter().flatten());
        }
        let log = self.home.path().join(format!("{chain}-{}.log", run.id));
        let log = File::create(log).unwrap();
        let mut command = self.home.command(&arguments);
        command
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("GITHUB_RUN_ID", run.id.to_string())
            .env("DISPATCH", &self.play.dispatch)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let mut command = tokio::process::Command::from(command);
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let pid = child.id().unwrap();
        self.children.lock().unwrap().insert(
            run.id,
            Child {
                chain: chain.clone(),
                pid,
            },
        );
        let ended = child.wait().await.unwrap();
        if chain != "guard" && self.play.last_step == LastStep::Guards {
            self.start_guard(run.id).await;
        }
        self.children.lock().unwrap().remove(&run.id);
        let conclusion = if ended.success() {
            Conclusion::Success
        } else {
            Conclusion::Failure
        };
        let known = self.handle.runs("octo", "clock");
        let cancelled = |it: &Run| it.id == run.id && it.conclusion.is_some();
        if !known.iter().any(cancelled) {
            self.handle.finish_run(run.id, conclusion).unwrap();
        }
    }

    /// The last step, which runs whatever became of the others.
    async fn start_guard(&self, ended: u64) {
        let url = &self.environment[0].1;
        let url = format!("{url}/repos/octo/clock/actions/workflows/guard.yml/dispatches");
        let body = serde_json::json!({"ref": "main", "inputs": {"ended": ended.to_string()}});
        let client = client();
        let asked = client
            .post(url)
            .bearer_auth("s-chain")
            .header("user-agent", "test");
        let _ = asked.json(&body).send().await;
    }
}
