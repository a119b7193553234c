//! `almanack chain`: fires schedules in rounds until its time is over.
//!
//! Wiring only: `engine::chain` does the work. Its events go to standard output line by line,
//! because the log of a workflow shows that; nothing else is written there.

mod watch;

use std::{collections::BTreeMap, fs, sync::Arc, time::Duration};

use almanack_adapters::{
    clock::{ClockSleeper, SystemClock},
    github::{OwnWorkflow, TargetWorkflows, WorkflowLauncher},
    lock::{
        git::{GitLock, GitSettings},
        github::GithubLock,
    },
};
use almanack_core::{
    chain::{ChainName, NotSeen, Note, OwnRuns, ROUND_MAX, ROUND_MIN},
    dispatch::{self, Dispatch},
    lock::SlotLock,
    target::Launcher,
    time::Clock,
};
use almanack_engine::chain::{Chain, Ports, Settings};
use async_trait::async_trait;
use jiff::tz::Offset;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use super::actions::ActionsEnvironment;
use crate::{commands::prelude::*, process::stop_signal};

/// How long one git command may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(20);

/// Works until the run's time is over, a newer run exists, or SIGTERM.
pub(super) fn run(
    arguments: &ChainArguments,
    environment: &BTreeMap<String, String>,
    output: &mut Output,
) -> Done {
    let actions = ActionsEnvironment::new(environment, arguments.api_url.as_deref());
    let clock = clock(arguments)?;
    let settings = settings(arguments, &actions)?;
    let dispatch = read_dispatch(arguments, &actions)?;
    let offset = display_offset(&actions, output);
    runtime()?.block_on(async {
        let stop = stop_signal()?;
        let (notes, received) = mpsc::unbounded_channel();
        let mut ports = ports(arguments, &actions, &settings, clock, notes)?;
        let (watched, verdict) = watch::watch(ports.lock, stop.clone());
        ports.lock = Arc::new(watched);
        let once = arguments.once;
        let working = tokio::spawn(async move {
            let chain = Chain::new(ports, settings, dispatch);
            if once {
                chain.run_once().await
            } else {
                chain.run(&stop).await
            }
        });
        print(received, offset, output).await;
        let ended = working.await;
        ended.map_err(|error| Failure::failed(format!("the chain stopped: {error}")))?;
        verdict.exit()
    })
}

/// Prints until all senders are dropped.
async fn print(mut received: UnboundedReceiver<Note>, offset: Offset, output: &mut Output) {
    while let Some(note) = received.recv().await {
        let line = if output.json {
            note.json().to_string()
        } else {
            note.text(offset)
        };
        // A closed output is no reason to stop firing.
        let _ = output.line(&line);
        let _ = output.flush();
    }
}

fn settings(arguments: &ChainArguments, actions: &ActionsEnvironment<'_>) -> Result<Settings> {
    let hint = "pass the name of its workflow file, like --self tick-a";
    let name = match &arguments.name {
        Some(name) => name,
        None => actions.needed("GITHUB_WORKFLOW", hint)?,
    };
    let name = ChainName::parse(name);
    let name = name.map_err(|error| Failure::usage(error).hint(hint))?;
    let round = duration("--round", &arguments.round)?;
    if !(ROUND_MIN..=ROUND_MAX).contains(&round) {
        return Err(Failure::usage(
            "--round must be 100ms to 10s: with longer rounds, slots count as missed",
        ));
    }
    let length = arguments.length.as_deref();
    let length = length.map(|text| duration("--for", text)).transpose()?;
    Ok(Settings {
        length: length.unwrap_or_else(|| name.length()),
        run_id: run_id(arguments, actions)?,
        round,
        name,
    })
}

/// Off GitHub there are no runs that could be newer.
fn run_id(arguments: &ChainArguments, actions: &ActionsEnvironment<'_>) -> Result<u64> {
    let hint = "GitHub Actions sets it; elsewhere, use --lock git:URL";
    if off_github(arguments) && actions.given("GITHUB_RUN_ID").is_none() {
        return Ok(u64::MAX);
    }
    let text = actions.needed("GITHUB_RUN_ID", hint)?;
    let wrong = |_| Failure::usage("GITHUB_RUN_ID is not a number").hint(hint);
    text.parse().map_err(wrong)
}

fn off_github(arguments: &ChainArguments) -> bool {
    arguments.lock.starts_with("git:")
}

fn read_dispatch(arguments: &ChainArguments, actions: &ActionsEnvironment<'_>) -> Result<Dispatch> {
    let hint = "write one line per schedule, like: */5 * * * *  owner/repo  check.yml";
    let text = match &arguments.dispatch {
        Some(file) => fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("read `{}`: {error}", file.display())))?,
        None => actions.needed("DISPATCH", hint)?.to_owned(),
    };
    let dispatch = dispatch::parse(&text);
    if dispatch.lines.is_empty() {
        let first = dispatch.problems.first().map(ToString::to_string);
        let why = first.unwrap_or_else(|| "it has no lines".to_owned());
        let what = format!("DISPATCH contains no schedule: {why}");
        return Err(Failure::usage(what).hint(hint));
    }
    Ok(dispatch)
}

/// `TZ_OFFSET` moves the times in the log and nothing else, so a wrong one stops nothing.
fn display_offset(actions: &ActionsEnvironment<'_>, output: &mut Output) -> Offset {
    let Some(text) = actions.given("TZ_OFFSET") else {
        return Offset::UTC;
    };
    let hours = text.parse().ok();
    let offset = hours.and_then(|hours| Offset::from_hours(hours).ok());
    offset.unwrap_or_else(|| {
        output.note("warning: TZ_OFFSET is not a number of hours; times are shown in UTC\n");
        Offset::UTC
    })
}

fn ports(
    arguments: &ChainArguments,
    actions: &ActionsEnvironment<'_>,
    settings: &Settings,
    clock: Arc<dyn Clock>,
    notes: mpsc::UnboundedSender<Note>,
) -> Result<Ports> {
    let pat = match actions.given("PAT") {
        Some(pat) => pat,
        None => actions.own_token()?,
    };
    let targets = actions.client(&clock, pat)?;
    let launcher: Arc<dyn Launcher> = Arc::new(WorkflowLauncher::new(Arc::clone(&targets)));
    let (lock, own_runs) = lock(arguments, actions, settings, &clock)?;
    Ok(Ports {
        sleeper: Arc::new(ClockSleeper::new(Arc::clone(&clock))),
        clock,
        entropy: wiring::entropy(),
        lock,
        launchers: BTreeMap::from([("workflow", launcher)]),
        own_runs,
        target_runs: Arc::new(TargetWorkflows::new(targets)),
        notes,
    })
}

type Locks = (Arc<dyn SlotLock>, Arc<dyn OwnRuns>);

fn lock(
    arguments: &ChainArguments,
    actions: &ActionsEnvironment<'_>,
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> Result<Locks> {
    if let Some(url) = arguments.lock.strip_prefix("git:") {
        return Ok((git_lock(url, actions)?, Arc::new(Alone)));
    }
    if arguments.lock != "github" {
        return Err(Failure::usage("--lock is github or git:URL"));
    }
    let github = actions.client(clock, actions.own_token()?)?;
    let repository = actions.repository()?;
    let commit = actions.needed("GITHUB_SHA", "GitHub Actions sets it to the commit it runs")?;
    let own_runs = OwnWorkflow::new(Arc::clone(&github), repository.clone(), &settings.name);
    let lock = GithubLock::new(github, repository, commit.to_owned(), wiring::entropy());
    Ok((Arc::new(lock), Arc::new(own_runs)))
}

fn git_lock(url: &str, actions: &ActionsEnvironment<'_>) -> Result<Arc<dyn SlotLock>> {
    let mut folders = ["RUNNER_TEMP", "TMPDIR"].into_iter();
    let folder = folders.find_map(|name| actions.given(name));
    let mark = wiring::entropy().next_u64();
    let settings = GitSettings {
        url: url.to_owned(),
        scratch: format!("{}/almanack-locks-{mark:016x}", folder.unwrap_or("/tmp")).into(),
        timeout: GIT_TIMEOUT,
        environment: BTreeMap::new(),
    };
    let lock = GitLock::new(wiring::entropy(), settings);
    let lock = lock.map_err(Failure::usage)?;
    Ok(Arc::new(lock))
}

/// A chain that no newer run replaces.
struct Alone;

#[async_trait]
impl OwnRuns for Alone {
    async fn load_newest(&self) -> Result<Option<u64>, NotSeen> {
        Ok(None)
    }
}

/// The machine's clock, shifted.
struct Shifted(SignedDuration);

impl Clock for Shifted {
    fn now(&self) -> Timestamp {
        let now = SystemClock.now();
        now.saturating_add(self.0).unwrap_or(now)
    }
}

fn clock(arguments: &ChainArguments) -> Result<Arc<dyn Clock>> {
    let offset = arguments.clock_offset.as_deref();
    let offset = offset.map(|text| duration("--clock-offset", text));
    let offset = offset.transpose()?.unwrap_or_default();
    Ok(Arc::new(Shifted(offset)))
}
