//! `almanack work`: runs a program for each task of pulled kinds, a durable `xargs`.
//!
//! One loop holds the state (which programs run, which reports are not taken yet) and is woken by
//! events: a request was answered, a program ended, time passed. Nothing in it waits for the node,
//! so programs are watched and leases checked also while the node is away. What must stay true:
//!
//! - A program runs only while its lease holds: one whose lease was lost, or could not be extended
//!   in time, is ended.
//! - A program's end is reported until the node has answered about it; the term fences it, so
//!   repeating is harmless.
//! - A worker that stops gives back what it did not end. One that is killed leaves that to its
//!   leases.

mod holdings;
mod local;
mod program;

use std::{io, sync::Arc, time::Duration};

use almanack_adapters::{
    clock::pause,
    command::{Program, ProgramEnd},
};
use almanack_core::{
    run_log::KnownSecrets,
    secret::Secret,
    work::{ExtendedTasks, HeldTask, LeaseResult, WAIT_MAX_S, WorkClaim, WorkReport},
};
use serde::Serialize;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use self::{
    holdings::Holdings,
    program::{TakenTask, report_of},
};
use crate::{commands::prelude::*, process};

/// Between two tries while the node does not answer: doubling, up to the longest.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(15);
/// How long the last requests of a worker that stops may take.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Leases are extended so often while they hold.
const BEATS_PER_LEASE: u32 = 4;

pub(super) async fn run(
    at: &Connector<'_>,
    arguments: &WorkArguments,
    output: &mut Output,
) -> Done {
    let lease = duration("--lease", &arguments.lease)?;
    let drain = duration("--drain", &arguments.drain)?.unsigned_abs();
    let chance = wiring::entropy().next_u64();
    let worker = arguments.worker.clone();
    let worker = worker.unwrap_or_else(|| process::host_name(&at.inputs.environment, chance));
    let claim = WorkClaim {
        kinds: arguments.kinds.clone(),
        max: Some(i64::from(arguments.slots)),
        wait_s: Some(WAIT_MAX_S),
        lease_s: Some(lease.as_secs()),
        worker: Some(worker),
    };
    claim.read().map_err(Failure::usage)?;
    let (client, secrets, keeping) = match &at.server {
        Some(_) => (at.open(DatabaseNeed::Existing).await?, Vec::new(), None),
        None => Box::pin(local::open(at.inputs)).await?,
    };
    let token = at.inputs.environment.get("ALMANACK_TOKEN");
    let secrets = secrets.into_iter().chain(token.map(|it| Secret::new(it)));
    let supervisor = std::env::current_exe();
    let supervisor = supervisor.map_err(|error| Failure::failed(format!("start: {error}")))?;
    let program = Program {
        supervisor,
        argv: arguments.program.clone(),
    };
    let worker = Worker {
        client: Arc::new(client),
        program: Arc::new(program),
        secrets: KnownSecrets::new(secrets),
        lease: lease.unsigned_abs(),
        drain,
        claim,
        holdings: Holdings::new(usize::from(arguments.slots)),
        tasks: JoinSet::new(),
        claiming: None,
        wait: AGAIN_FIRST,
        failure: None,
    };
    let _keeping = keeping.map(|keeping| local::Keeping(tokio::spawn(keeping)));
    worker.work(process::stop_signal()?, output).await
}

/// What the loop is woken by.
enum Event {
    Claimed(Result<Result<Answer, Refusal>>),
    Extended(f64, Result<Result<Answer, Refusal>>),
    Reported(Vec<WorkReport>, Result<Result<Answer, Refusal>>),
    /// A program ended, or could not be started.
    Ended(HeldTask, io::Result<ProgramEnd>),
    /// Leases are due.
    Beat,
    /// The wait after trouble is over.
    Again,
    /// The wait after a report that was not taken is over.
    ReportAgain(Vec<WorkReport>),
    /// Programs had their time to end.
    Drained,
}

struct Worker {
    client: Arc<Client>,
    program: Arc<Program>,
    secrets: KnownSecrets,
    lease: Duration,
    drain: Duration,
    claim: WorkClaim,
    holdings: Holdings,
    tasks: JoinSet<Event>,
    /// The request for more work, while it is under way, or the wait before the next.
    claiming: Option<AbortHandle>,
    /// How long to wait after the next trouble.
    wait: Duration,
    /// Why it stops, if nobody asked it to.
    failure: Option<Failure>,
}

impl Worker {
    async fn work(mut self, stop: CancellationToken, output: &mut Output) -> Done {
        self.after(self.lease / BEATS_PER_LEASE, Event::Beat);
        let mut stopping = false;
        while !(stopping && self.holdings.is_empty()) {
            if !stopping {
                self.ask_for_work();
            }
            self.report();
            tokio::select! {
                biased;
                () = stop.cancelled(), if !stopping => {
                    stopping = true;
                    self.begin_to_stop(output);
                }
                event = self.tasks.join_next() => {
                    // What was aborted says nothing.
                    let Some(Ok(event)) = event else { continue };
                    if matches!(event, Event::Drained) {
                        break;
                    }
                    self.hear(event, output);
                    if self.failure.is_some() && !stopping {
                        stopping = true;
                        self.begin_to_stop(output);
                    }
                }
            }
        }
        self.leave(output).await;
        self.failure.map_or(Ok(Exit::Ok), Err)
    }

    fn after(&mut self, period: Duration, event: Event) -> AbortHandle {
        self.tasks.spawn(async move {
            pause(period).await;
            event
        })
    }

    /// Sends a request and returns with what it was answered.
    fn call(
        &mut self,
        what: &'static str,
        body: &impl Serialize,
        event: impl FnOnce(Result<Result<Answer, Refusal>>) -> Event + Send + 'static,
    ) -> AbortHandle {
        let (client, call) = (
            Arc::clone(&self.client),
            Call::post(&["work", what]).json(body),
        );
        self.tasks
            .spawn(async move { event(client.try_call(call).await) })
    }

    fn ask_for_work(&mut self) {
        let free = self.holdings.free();
        if free > 0 && self.claiming.is_none() {
            let claim = WorkClaim {
                max: i64::try_from(free).ok(),
                ..self.claim.clone()
            };
            self.claiming = Some(self.call("claim", &claim, Event::Claimed));
        }
    }

    /// Reports ends that the node does not know, unless a report is under way.
    fn report(&mut self) {
        if let Some(reports) = self.holdings.take_reports() {
            let body = json!({ "tasks": reports });
            self.call("finish", &body, |answer| Event::Reported(reports, answer));
        }
    }

    fn hear(&mut self, event: Event, output: &mut Output) {
        match event {
            Event::Claimed(Ok(Ok(answer))) => {
                self.claiming = None;
                self.wait = AGAIN_FIRST;
                self.start(&answer);
            }
            Event::Claimed(trouble) => {
                let wait = self.trouble(trouble, output);
                self.claiming = Some(self.after(wait, Event::Again));
            }
            Event::Again => self.claiming = None,
            Event::Ended(held, Ok(end)) => {
                if let Some(task) = self.holdings.end(held, report_of(held, &end)) {
                    output.note(&format!("{task}: {}\n", program::summary(&end)));
                }
            }
            Event::Ended(held, Err(error)) => {
                self.holdings.lose(held);
                self.holdings.give_back(held);
                let program = self.program.argv.first().map(|it| it.to_string_lossy());
                let what = format!(
                    "`{}` cannot be started: {error}",
                    program.unwrap_or_default()
                );
                self.failure.get_or_insert(Failure::usage(what));
            }
            Event::Reported(_, Ok(Ok(_))) => self.holdings.reported(Vec::new()),
            Event::Reported(reports, trouble) => {
                // A node that refuses them for good would refuse them again; their leases decide.
                let lasts = matches!(&trouble, Ok(Err(refusal)) if refusal.is_lasting());
                let wait = self.trouble(trouble, output);
                let reports = if lasts { Vec::new() } else { reports };
                self.after(wait, Event::ReportAgain(reports));
            }
            Event::ReportAgain(reports) => self.holdings.reported(reports),
            Event::Beat => self.beat(output),
            Event::Extended(asked_at, Ok(Ok(answer))) => self.extended(asked_at, &answer, output),
            Event::Extended(_, trouble) => drop(self.trouble(trouble, output)),
            Event::Drained => {}
        }
    }

    /// Says what is wrong, and how long to wait. What would be refused again ends the worker.
    fn trouble(
        &mut self,
        trouble: Result<Result<Answer, Refusal>>,
        output: &mut Output,
    ) -> Duration {
        let wait = self.wait;
        self.wait = (wait * 2).min(AGAIN_MAX);
        let failure = match trouble {
            Ok(Ok(_)) => return wait,
            Ok(Err(refusal)) if refusal.is_lasting() => {
                self.failure.get_or_insert(refusal.failure());
                return wait;
            }
            Ok(Err(refusal)) => refusal.failure(),
            Err(failure) => failure,
        };
        output.note(&format!("{}trying again in {wait:?}\n", failure.text()));
        wait
    }

    fn start(&mut self, answer: &Answer) {
        for item in answer.items("tasks") {
            let Some(task) = TakenTask::read(item) else {
                continue;
            };
            let (program, held) = (Arc::clone(&self.program), task.held());
            let log = program::Shown::new(&self.secrets);
            let (variables, input) = (task.variables(), task.payload.clone());
            let running = self.tasks.spawn(async move {
                let ended = program
                    .run(variables, input.as_bytes(), Box::new(log))
                    .await;
                Event::Ended(held, ended)
            });
            self.holdings.take(held, task.to_string(), running);
        }
    }

    /// Extends leases; ends programs whose lease may pass before the next beat.
    fn beat(&mut self, output: &mut Output) {
        let beat = self.lease / BEATS_PER_LEASE;
        self.after(beat, Event::Beat);
        for task in self.holdings.end_lapsed(self.lease, beat) {
            output.note(&format!(
                "{task}: the lease could not be extended; stopped\n"
            ));
        }
        let tasks = self.holdings.held();
        if !tasks.is_empty() {
            let asked_at = self.holdings.seconds();
            let body = json!({ "tasks": tasks, "lease_s": self.claim.lease_s });
            self.call("extend", &body, move |answer| {
                Event::Extended(asked_at, answer)
            });
        }
    }

    fn extended(&mut self, asked_at: f64, answer: &Answer, output: &mut Output) {
        let Ok(answer) = serde_json::from_str::<ExtendedTasks>(answer.text()) else {
            return;
        };
        for task in answer.tasks {
            let (task_id, term) = (task.task_id, task.term);
            let held = HeldTask { task_id, term };
            match task.result {
                LeaseResult::Extended => self.holdings.extended(held, asked_at),
                LeaseResult::Lost => {
                    if let Some(task) = self.holdings.lose(held) {
                        output.note(&format!(
                            "{task}: the lease is lost, or the task was cancelled; stopped\n"
                        ));
                    }
                }
            }
        }
    }

    fn begin_to_stop(&mut self, output: &mut Output) {
        if let Some(claiming) = self.claiming.take() {
            claiming.abort();
        }
        let running = self.holdings.held().len();
        if running > 0 {
            let drain = self.drain;
            output.note(&format!(
                "stopping: {running} running, waiting up to {drain:?}\n"
            ));
        }
        self.after(self.drain, Event::Drained);
    }

    /// Ends what still runs and gives it back.
    async fn leave(&mut self, output: &mut Output) {
        let (back, reports) = self.holdings.leave();
        let last = async {
            for (what, body) in [
                (
                    "finish",
                    (!reports.is_empty()).then(|| json!({ "tasks": reports })),
                ),
                (
                    "release",
                    (!back.is_empty()).then(|| json!({ "tasks": back })),
                ),
            ] {
                if let Some(body) = body {
                    let call = Call::post(&["work", what]).json(&body);
                    if let Err(failure) = self.client.call(call).await {
                        output.note(&failure.text());
                    }
                }
            }
        };
        tokio::select! {
            () = last => {}
            () = pause(LAST_WORDS) => {}
        }
        self.tasks.shutdown().await;
    }
}
