//! Workflows, their runs, and who asked for them.
//!
//! ```text
//!   dispatch ──► queued ──► in_progress ──► completed (success, failure, cancelled, …)
//!                  └──────────── cancel ───────▲
//! ```
//!
//! Nothing here executes anything. Whoever plays the runner (a test with a real process, or nobody)
//! is told of each queued and each cancelled run and says when it begins and ends. Cancelling ends a
//! run at once; GitHub lets the runner's last steps finish first.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    GitHub, Hosted, Need,
    object::Oid,
    run::{Conclusion, Run, RunEvent, RunFilter, Status},
};
use crate::github::{
    refusal::Refusal,
    setup::{Token, Workflow},
};

/// Most inputs of one dispatch.
const INPUTS_MAX: usize = 25;
/// Run ids start here, so that nobody mistakes one for a run number.
const FIRST_RUN_ID: u64 = 9_000_000_000;

/// A dispatch that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Order of arrival over all repositories, from 1.
    pub sequence: u64,
    /// `owner/name`.
    pub repository: String,
    /// The workflow's file.
    pub workflow: String,
    /// The branch or tag, as the caller wrote it.
    pub git_ref: String,
    /// What the caller told the workflow.
    pub inputs: Map<String, Value>,
    /// When it arrived.
    pub at: Timestamp,
    /// Who sent it, by the token's name.
    pub token: String,
    /// The run it made.
    pub run_id: u64,
}

/// A dispatch as the caller asks for it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Owner and name.
    pub repository: (&'a str, &'a str),
    /// File name or number.
    pub workflow: &'a str,
    /// The branch or tag.
    pub git_ref: &'a str,
    /// What to tell the workflow.
    pub inputs: &'a Map<String, Value>,
}

/// The workflows of one repository, numbered.
#[derive(Debug)]
pub(super) struct Workflows(Vec<(u64, Workflow)>);

impl Workflows {
    pub(super) fn new(workflows: Vec<Workflow>, repository_id: u64) -> Self {
        let numbers = repository_id * 1000 + 1..;
        Self(numbers.zip(workflows).collect())
    }

    fn find(&self, named: &str) -> Result<&(u64, Workflow), Refusal> {
        let number = named.parse().ok();
        let is = |(id, workflow): &&(u64, Workflow)| workflow.file == named || Some(*id) == number;
        self.0.iter().find(is).ok_or(Refusal::NotFound)
    }
}

impl GitHub {
    /// Takes a dispatch and queues its run; answers the run and what a runner must know.
    pub fn dispatch(
        &mut self,
        caller: Option<&Token>,
        asked: Asked<'_>,
        now: Timestamp,
    ) -> Result<(Run, Vec<RunEvent>), Refusal> {
        let next_id = FIRST_RUN_ID + self.runs_made + 1;
        let repository = self.open(caller, asked.repository, Need::WriteActions)?;
        let (run, mut events) = repository.queue(next_id, asked, now)?;
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
        Ok((run, events))
    }

    /// A run that nobody dispatched: a push started it, say. It begins as queued.
    pub fn start_run(
        &mut self,
        (owner, name): (&str, &str),
        workflow: &str,
        now: Timestamp,
    ) -> Result<Run, Refusal> {
        let next_id = FIRST_RUN_ID + self.runs_made + 1;
        let repository = self.repository(owner, name).ok_or(Refusal::NotFound)?;
        let found = repository.workflows.find(workflow)?.clone();
        let branch = repository.default_branch.clone();
        let head = repository.head(&branch)?;
        let run = repository.new_run(next_id, &found, head, now);
        let run = Run {
            event: "push".to_owned(),
            ..run
        };
        repository.runs.push(run.clone());
        self.runs_made += 1;
        Ok(run)
    }

    /// Says how far a run has come, on behalf of its runner.
    pub fn set_run(
        &mut self,
        id: u64,
        status: Status,
        conclusion: Option<Conclusion>,
        now: Timestamp,
    ) -> Result<Run, Refusal> {
        let mut runs = self.repositories.values_mut().flat_map(|it| &mut it.runs);
        let run = runs.find(|run| run.id == id).ok_or(Refusal::NotFound)?;
        run.status = status;
        run.conclusion = conclusion;
        run.updated_at = now;
        Ok(run.clone())
    }
}

/// Short name and commit.
type Head = (String, Oid);

impl Hosted {
    /// The runs that match, newest first.
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<&Run>, Refusal> {
        let workflow_id = match &filter.workflow {
            Some(named) => Some(self.workflows.find(named)?.0),
            None => None,
        };
        let newest_first = self.runs.iter().rev();
        Ok(newest_first
            .filter(|run| filter.keeps(run, workflow_id))
            .collect())
    }

    /// One run.
    pub fn run(&self, id: u64) -> Result<&Run, Refusal> {
        let mut runs = self.runs.iter();
        runs.find(|run| run.id == id).ok_or(Refusal::NotFound)
    }

    /// Stops a run that has not ended.
    pub fn cancel(&mut self, id: u64, now: Timestamp) -> Result<RunEvent, Refusal> {
        let mut runs = self.runs.iter_mut();
        let run = runs.find(|run| run.id == id).ok_or(Refusal::NotFound)?;
        match run.status {
            Status::Completed => Err(Refusal::RunCompleted),
            _ => Ok(run.stop(now)),
        }
    }

    fn queue(
        &mut self,
        id: u64,
        asked: Asked<'_>,
        now: Timestamp,
    ) -> Result<(Run, Vec<RunEvent>), Refusal> {
        let found = self.workflows.find(asked.workflow)?.clone();
        let head = self.head(asked.git_ref)?;
        check_inputs(&found.1, asked.inputs)?;
        let stopped = if found.1.cancel_in_progress {
            self.stop_all(found.0, now)
        } else {
            Vec::new()
        };
        let run = Run {
            inputs: asked.inputs.clone(),
            ..self.new_run(id, &found, head, now)
        };
        self.runs.push(run.clone());
        Ok((run, stopped))
    }

    fn head(&self, named: &str) -> Result<Head, Refusal> {
        let (full, sha) = self
            .resolve(named)
            .ok_or_else(|| Refusal::NoRefFor(named.to_owned()))?;
        let short = full.splitn(3, '/').last().unwrap_or_default();
        Ok((short.to_owned(), sha.clone()))
    }

    fn stop_all(&mut self, workflow_id: u64, now: Timestamp) -> Vec<RunEvent> {
        self.runs
            .iter_mut()
            .filter(|run| run.workflow_id == workflow_id && run.status != Status::Completed)
            .map(|run| run.stop(now))
            .collect()
    }

    fn new_run(
        &self,
        id: u64,
        (workflow_id, workflow): &(u64, Workflow),
        (head_branch, head_sha): Head,
        now: Timestamp,
    ) -> Run {
        let earlier = self.runs.iter();
        let earlier = earlier.filter(|run| run.workflow_id == *workflow_id);
        Run {
            id,
            run_number: 1 + earlier.count() as u64,
            repository: self.full_name(),
            workflow: workflow.file.clone(),
            workflow_id: *workflow_id,
            event: "workflow_dispatch".to_owned(),
            head_branch,
            head_sha: head_sha.to_string(),
            status: Status::Queued,
            conclusion: None,
            inputs: Map::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

fn check_inputs(workflow: &Workflow, given: &Map<String, Value>) -> Result<(), Refusal> {
    if !workflow.dispatchable {
        return Err(Refusal::NotDispatchable);
    }
    if given.len() > INPUTS_MAX {
        return Err(Refusal::TooManyInputs {
            max: INPUTS_MAX,
            given: given.len(),
        });
    }
    let declared = |name: &&String| workflow.inputs.iter().any(|input| input.name == **name);
    let unexpected: Vec<String> = given
        .keys()
        .filter(|name| !declared(name))
        .cloned()
        .collect();
    if !unexpected.is_empty() {
        return Err(Refusal::UnexpectedInputs(unexpected));
    }
    let mut required = workflow.inputs.iter().filter(|input| input.required);
    match required.find(|input| !given.contains_key(&input.name)) {
        Some(input) => Err(Refusal::InputMissing(input.name.clone())),
        None => Ok(()),
    }
}
