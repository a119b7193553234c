//! Workflows, their runs and dispatches.
//!
//! ```text
//!   dispatch ──► queued ──► in_progress ──► completed (success, failure, cancelled, …)
//!                  └──────────── cancel ───────▲
//! ```
//!
//! Nothing here executes anything. The runner (a test with a real process, or none) is notified of
//! each queued and each cancelled run and reports when it starts and ends. Cancelling ends a run at
//! once; GitHub lets the runner's last steps finish first.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{GitHub, Hosted, Need};
use crate::github::{
    refusal::Refusal,
    setup::{Token, Workflow},
};

/// Most inputs of one dispatch.
const INPUTS_MAX: usize = 25;
/// Run ids start here, so that they cannot be mistaken for run numbers.
const FIRST_RUN_ID: u64 = 9_000_000_000;

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waits for a runner.
    Queued,
    /// A runner has it.
    InProgress,
    Completed,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    Success,
    /// A step failed, or the runner died.
    Failure,
    Cancelled,
}

/// One run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its number over all repositories.
    pub id: u64,
    /// `owner/name`.
    pub repository: String,
    pub workflow: String,
    /// What started it: `workflow_dispatch`, `push`, …
    pub event: String,
    /// The branch or tag it runs on, by its short name.
    pub head_branch: String,
    /// Its status.
    pub status: Status,
    pub conclusion: Option<Conclusion>,
    /// The inputs of its dispatch.
    pub inputs: Map<String, Value>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Run {
    /// Ends it as cancelled; returns the notification for its runner.
    fn stop(&mut self, now: Timestamp) -> RunEvent {
        self.status = Status::Completed;
        self.conclusion = Some(Conclusion::Cancelled);
        self.updated_at = now;
        RunEvent::Cancelled(self.clone())
    }

    /// Whether it has this status or conclusion: GitHub's `status` means both.
    pub(crate) fn stands_at(&self, wanted: &str) -> bool {
        json!(self.status) == *wanted || json!(self.conclusion) == *wanted
    }
}

/// A notification for runners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// A run waits for a runner.
    Queued(Run),
    /// A run was cancelled; its process must stop, too.
    Cancelled(Run),
}

/// A dispatch that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Order of arrival over all repositories, from 1.
    pub sequence: u64,
    /// `owner/name`.
    pub repository: String,
    pub workflow: String,
    /// The branch or tag, as the caller wrote it.
    pub git_ref: String,
    /// The inputs for the workflow.
    pub inputs: Map<String, Value>,
    pub at: Timestamp,
    /// The name of the token that sent it.
    pub token: String,
    /// Its run.
    pub run_id: u64,
}

/// A requested dispatch.
#[derive(Debug)]
pub(crate) struct DispatchRequest<'a> {
    pub(crate) repository: (&'a str, &'a str),
    pub(crate) workflow: &'a str,
    /// The branch or tag.
    pub(crate) git_ref: &'a str,
    pub(crate) inputs: Map<String, Value>,
}

impl GitHub {
    /// Accepts a dispatch, queues its run and notifies the runners.
    pub(crate) fn dispatch(
        &mut self,
        caller: Option<&Token>,
        asked: DispatchRequest<'_>,
        now: Timestamp,
    ) -> Result<Run, Refusal> {
        let next_id = self.next_run_id();
        let repository = self.open(caller, asked.repository, Need::WriteActions)?;
        let workflow = repository.workflow(asked.workflow)?.clone();
        let head_branch = repository.branch_or_tag(asked.git_ref)?;
        check_inputs(&workflow, &asked.inputs)?;
        let mut events = Vec::new();
        if workflow.cancel_in_progress {
            events = repository.stop_all(&workflow.file, now);
        }
        let run = repository.queue(next_id, &workflow, (head_branch, asked.inputs), now);
        self.runs_made += 1;
        self.dispatches.push(Dispatch {
            sequence: 1 + self.dispatches.len() as u64,
            repository: run.repository.clone(),
            workflow: run.workflow.clone(),
            git_ref: asked.git_ref.to_owned(),
            inputs: run.inputs.clone(),
            at: now,
            token: caller.map(|token| token.name.clone()).unwrap_or_default(),
            run_id: run.id,
        });
        events.push(RunEvent::Queued(run.clone()));
        self.notify_runners(&events);
        Ok(run)
    }

    /// Notifies every runner, and removes those that have left.
    pub(crate) fn notify_runners(&mut self, events: &[RunEvent]) {
        self.runners.retain(|runner| {
            let mut events = events.iter().cloned();
            events.all(|event| runner.send(event).is_ok())
        });
    }

    /// A run without a dispatch, for example by a push. It starts as queued.
    pub(crate) fn start_run(
        &mut self,
        (owner, name): (&str, &str),
        workflow: &str,
        now: Timestamp,
    ) -> Result<Run, Refusal> {
        let next_id = self.next_run_id();
        let repository = self.repository(owner, name).ok_or(Refusal::NOT_FOUND)?;
        let workflow = repository.workflow(workflow)?.clone();
        let branch = repository.default_branch.clone();
        repository.queue(next_id, &workflow, (branch, Map::new()), now);
        self.runs_made += 1;
        let run = self.change_run(next_id, |run| "push".clone_into(&mut run.event))?;
        self.notify_runners(&[RunEvent::Queued(run.clone())]);
        Ok(run)
    }

    pub(crate) fn change_run(
        &mut self,
        id: u64,
        change: impl FnOnce(&mut Run),
    ) -> Result<Run, Refusal> {
        let mut runs = self.repositories.values_mut().flat_map(|it| &mut it.runs);
        let run = runs.find(|run| run.id == id).ok_or(Refusal::NOT_FOUND)?;
        change(run);
        Ok(run.clone())
    }

    fn next_run_id(&self) -> u64 {
        FIRST_RUN_ID + self.runs_made + 1
    }
}

impl Hosted {
    /// A workflow by its file.
    pub(crate) fn workflow(&self, file: &str) -> Result<&Workflow, Refusal> {
        let mut workflows = self.workflows.iter();
        let found = workflows.find(|workflow| workflow.file == file);
        found.ok_or(Refusal::NOT_FOUND)
    }

    /// Lets time pass for the runs of workflows that say how long theirs take.
    pub(crate) fn pass_time(&mut self, now: Timestamp) {
        for run in &mut self.runs {
            let workflow = self.workflows.iter().find(|it| it.file == run.workflow);
            let Some((workflow, [queued_s, runs_s])) =
                workflow.and_then(|it| Some((it, it.takes_s?)))
            else {
                continue;
            };
            let age = now.duration_since(run.created_at).as_secs();
            if run.status == Status::Queued && age >= queued_s.into() {
                run.status = Status::InProgress;
                run.updated_at = now;
            }
            if run.status == Status::InProgress && age >= (queued_s + runs_s).into() {
                run.status = Status::Completed;
                let ends = [Conclusion::Success, Conclusion::Failure];
                run.conclusion = Some(ends[usize::from(workflow.fails)]);
                run.updated_at = now;
            }
        }
    }

    /// Stops a run that has not ended.
    pub(crate) fn cancel(&mut self, id: u64, now: Timestamp) -> Result<RunEvent, Refusal> {
        let mut runs = self.runs.iter_mut();
        let run = runs.find(|run| run.id == id).ok_or(Refusal::NOT_FOUND)?;
        match run.status {
            Status::Completed => Err(Refusal::RUN_COMPLETED),
            _ => Ok(run.stop(now)),
        }
    }

    fn branch_or_tag(&self, named: &str) -> Result<String, Refusal> {
        let short = named.trim_start_matches("refs/heads/");
        let full = [format!("refs/heads/{short}"), format!("refs/tags/{short}")];
        if full.iter().any(|full| self.refs.contains_key(full)) {
            return Ok(short.to_owned());
        }
        Err(Refusal::about(422, format!("No ref found for: {named}")))
    }

    fn stop_all(&mut self, workflow: &str, now: Timestamp) -> Vec<RunEvent> {
        let own = self.runs.iter_mut().filter(|run| run.workflow == workflow);
        own.filter(|run| run.status != Status::Completed)
            .map(|run| run.stop(now))
            .collect()
    }

    fn queue(
        &mut self,
        id: u64,
        workflow: &Workflow,
        (head_branch, inputs): (String, Map<String, Value>),
        now: Timestamp,
    ) -> Run {
        let run = Run {
            id,
            repository: self.full_name(),
            workflow: workflow.file.clone(),
            event: "workflow_dispatch".to_owned(),
            head_branch,
            status: Status::Queued,
            conclusion: None,
            inputs,
            created_at: now,
            updated_at: now,
        };
        self.runs.push(run.clone());
        run
    }
}

fn check_inputs(workflow: &Workflow, given: &Map<String, Value>) -> Result<(), Refusal> {
    if !workflow.dispatchable {
        return Err(Refusal::NOT_DISPATCHABLE);
    }
    if given.len() > INPUTS_MAX {
        let message = format!("No more than {INPUTS_MAX} properties are allowed");
        return Err(Refusal::about(422, message));
    }
    let declared = |name: &&String| workflow.inputs.iter().any(|input| input.name == **name);
    let unexpected: Vec<&String> = given.keys().filter(|name| !declared(name)).collect();
    if !unexpected.is_empty() {
        let message = format!("Unexpected inputs provided: {unexpected:?}");
        return Err(Refusal::about(422, message));
    }
    let mut required = workflow.inputs.iter().filter(|input| input.required);
    match required.find(|input| !given.contains_key(&input.name)) {
        Some(input) => {
            let message = format!("Required input '{}' not provided", input.name);
            Err(Refusal::about(422, message))
        }
        None => Ok(()),
    }
}
