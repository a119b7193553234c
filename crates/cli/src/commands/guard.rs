//! `almanack guard`: finds dead chains and starts them again (DP-09).
//!
//! After every failed step it lists the runs again: a start whose answer got lost shows as a run,
//! and is not repeated.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use almanack_adapters::{
    clock::{SystemClock, pause},
    github::{Error, Github, Repository, Run, RunFilter},
};
use almanack_core::{
    chain::{ChainHealth, ChainName, RunStatus, judge},
    time::Clock,
};
use serde::Serialize;

use super::actions::ActionsEnvironment;
use crate::commands::prelude::*;

/// Looks at one chain before giving up.
const TRIES_MAX: u32 = 5;
/// Wait after a failed step, times the try.
const WAIT: Duration = Duration::from_secs(2);
/// Longest wait that GitHub may ask for; the next guard comes anyway.
const WAIT_MAX: Duration = Duration::from_mins(2);
/// Runs that are looked at.
const RUNS: u8 = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Did {
    Nothing,
    Started,
    /// Not restarted: it would only fail again.
    LeftAlone,
    Failed,
}

/// Looks after the chains.
pub(super) fn run(
    arguments: &GuardArguments,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Done {
    let actions = ActionsEnvironment::new(environment, arguments.api_url.as_deref());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let given = arguments.git_ref.as_deref();
    let guard = Guard {
        github: actions.client(&clock, actions.own_token()?)?,
        repository: actions.repository()?,
        clock,
        git_ref: given
            .or(actions.given("GITHUB_REF_NAME"))
            .unwrap_or("main")
            .to_owned(),
        ended: arguments.ended,
    };
    let chains = arguments.chain.iter().map(|name| ChainName::parse(name));
    let chains: Result<Vec<ChainName>, _> = chains.collect();
    let chains = chains.map_err(Failure::usage)?;
    let reports = wait_for(async {
        let mut reports = Vec::new();
        for chain in &chains {
            reports.push(guard.look_after(chain).await);
        }
        Ok(reports)
    })?;
    show(&reports, guard.clock.now(), output)
}

struct Guard {
    github: Arc<Github>,
    repository: Repository,
    clock: Arc<dyn Clock>,
    git_ref: String,
    ended: Option<u64>,
}

impl Guard {
    async fn look_after(&self, chain: &ChainName) -> Value {
        let (mut first, mut attempt) = (None, 1);
        loop {
            match self.step(chain, &mut first).await {
                Err(error) if error.is_transient() && attempt < TRIES_MAX => {
                    let asked = error.retry_after().map(SignedDuration::unsigned_abs);
                    let wait = asked.unwrap_or(WAIT * attempt);
                    pause(wait.min(WAIT_MAX)).await;
                    attempt += 1;
                }
                did => return report(chain, first, &did),
            }
        }
    }

    /// Looks, and does what is needed; `first` keeps what was found at first.
    async fn step(&self, chain: &ChainName, first: &mut Option<ChainHealth>) -> Result<Did, Error> {
        let found = self.find(chain).await?;
        let first = *first.get_or_insert(found);
        match found {
            // Alive now but not at first: a start whose answer got lost.
            ChainHealth::Alive { .. }
                if first != found && !matches!(first, ChainHealth::Alive { .. }) =>
            {
                Ok(Did::Started)
            }
            ChainHealth::Alive { .. } => Ok(Did::Nothing),
            ChainHealth::Failing { .. } => Ok(Did::LeftAlone),
            ChainHealth::Hung { run_id } => {
                self.github.cancel_run(&self.repository, run_id).await?;
                self.start(chain).await
            }
            ChainHealth::Dead => self.start(chain).await,
        }
    }

    async fn find(&self, chain: &ChainName) -> Result<ChainHealth, Error> {
        let filter = RunFilter {
            count: RUNS,
            ..RunFilter::default()
        };
        let workflow = chain.workflow();
        let runs = self.github.list_runs(&self.repository, &workflow, filter);
        let runs: Vec<RunStatus> = runs.await?.into_iter().map(seen).collect();
        Ok(judge(chain, &runs, self.ended, self.clock.now()))
    }

    async fn start(&self, chain: &ChainName) -> Result<Did, Error> {
        let (workflow, inputs) = (chain.workflow(), BTreeMap::new());
        let github = &self.github;
        let started = github.dispatch(&self.repository, &workflow, &self.git_ref, &inputs);
        started.await.map(|_| Did::Started)
    }
}

fn seen(run: Run) -> RunStatus {
    RunStatus {
        id: run.id,
        status: run.status,
        conclusion: run.conclusion,
        started_at: run.run_started_at.unwrap_or(run.created_at),
    }
}

fn show(reports: &[Value], now: Timestamp, output: &mut Output) -> Done {
    if output.json {
        reports.iter().try_for_each(|report| output.value(report))?;
    } else {
        output.columns(REPORT, reports, now, true)?;
    }
    // Chains of one repository mostly fail for one reason.
    let hints: BTreeSet<&str> = reports
        .iter()
        .filter_map(|it| it["hint"].as_str())
        .collect();
    for hint in hints {
        output.note(&format!("hint: {hint}\n"));
    }
    let well = |it: &Value| it["did"] == "nothing" || it["did"] == "started";
    Ok(Exit::failed_if(!reports.iter().all(well)))
}

/// What a person can do about a refusal.
fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Refused { status: 401, .. } => {
            Some("GH_TOKEN is not valid; in the workflow: ${{ github.token }}")
        }
        Error::Refused { status: 403, .. } => {
            Some("the token may not start workflows; in the workflow: permissions: actions: write")
        }
        Error::Refused { status: 404, .. } => {
            Some("the default branch has no such workflow, or the token cannot see the repository")
        }
        Error::Refused { status: 422, .. } => {
            Some("the workflow needs `on: workflow_dispatch`, and the branch must exist: see --ref")
        }
        _ => None,
    }
}

/// The result for a chain.
fn report(chain: &ChainName, found: Option<ChainHealth>, did: &Result<Did, Error>) -> Value {
    let (found, run_id) = match found {
        Some(ChainHealth::Alive { run_id }) => ("alive", Some(run_id)),
        Some(ChainHealth::Hung { run_id }) => ("hung", Some(run_id)),
        Some(ChainHealth::Failing { run_id }) => ("failing", Some(run_id)),
        Some(ChainHealth::Dead) => ("dead", None),
        None => ("unknown", None),
    };
    let error = did.as_ref().err();
    json!({
        "chain": chain.as_str(),
        "found": found,
        "run_id": run_id,
        "did": did.as_ref().unwrap_or(&Did::Failed),
        "error": error.map(ToString::to_string),
        "hint": error.and_then(hint),
    })
}

const REPORT: &[Column] = &[
    column("CHAIN", "/chain", plain),
    column("FOUND", "", |it, now| {
        plain(&it["found"], now).ink(match it["did"].as_str() {
            Some("nothing") => Ink::Good,
            Some("started") => Ink::Notable,
            _ => Ink::Bad,
        })
    }),
    column("DONE", "", |it, _| {
        let done = match (text(&it["did"]).as_str(), it["found"] == "hung") {
            ("nothing", _) => "nothing to do",
            ("started", true) => "cancelled and restarted",
            ("started", false) => "started",
            ("left_alone", _) => {
                "its last runs failed immediately; not restarted for 15 minutes: see their logs"
            }
            _ => return format!("failed: {}", text(&it["error"])).into(),
        };
        Cell::new(done)
    }),
];
