//! One run of a workflow, and how lists of runs are filtered.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Asked for; waits for others of its group.
    Pending,
    /// Waits for somebody's approval.
    Waiting,
    /// Asked for; not handed to a runner yet.
    Requested,
    /// Waits for a runner.
    Queued,
    /// A runner has it.
    InProgress,
    /// Over.
    Completed,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// All steps passed.
    Success,
    /// A step failed, or the runner died.
    Failure,
    /// Somebody stopped it.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// It had nothing to do.
    Skipped,
}

/// One run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its number over all repositories.
    pub id: u64,
    /// Its number among the runs of its workflow.
    pub run_number: u64,
    /// `owner/name`.
    pub repository: String,
    /// The workflow's file.
    pub workflow: String,
    /// The workflow's number.
    pub workflow_id: u64,
    /// What started it: `workflow_dispatch`, `push`, …
    pub event: String,
    /// The branch or tag it runs on, by its short name.
    pub head_branch: String,
    /// The commit it runs on.
    pub head_sha: String,
    /// How far it has come.
    pub status: Status,
    /// How it ended.
    pub conclusion: Option<Conclusion>,
    /// What its dispatcher told it.
    pub inputs: Map<String, Value>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a runner must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// A run waits for a runner.
    Queued(Run),
    /// A run was stopped; whatever executes it must stop, too.
    Cancelled(Run),
}

/// Which runs to list; what is left out matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Runs of this workflow, by file name or number.
    pub workflow: Option<String>,
    /// A status or a conclusion: GitHub's `status` means both.
    pub status: Option<String>,
    /// Runs on this branch.
    pub branch: Option<String>,
    /// Runs started by this.
    pub event: Option<String>,
    /// Runs on this commit.
    pub head_sha: Option<String>,
}

impl RunFilter {
    /// Whether a run belongs into the list; the workflow was looked up before.
    pub(super) fn keeps(&self, run: &Run, workflow_id: Option<u64>) -> bool {
        workflow_id.is_none_or(|id| id == run.workflow_id)
            && is(self.branch.as_ref(), &run.head_branch)
            && is(self.event.as_ref(), &run.event)
            && is(self.head_sha.as_ref(), &run.head_sha)
            && self.status.as_deref().is_none_or(|it| run.stands_at(it))
    }
}

impl Run {
    /// Ends it as cancelled; answers what its runner must know.
    pub(super) fn stop(&mut self, now: Timestamp) -> RunEvent {
        self.status = Status::Completed;
        self.conclusion = Some(Conclusion::Cancelled);
        self.updated_at = now;
        RunEvent::Cancelled(self.clone())
    }

    fn stands_at(&self, wanted: &str) -> bool {
        let named = |value: Value| value.as_str() == Some(wanted);
        let conclusion = self.conclusion.map(|conclusion| json!(conclusion));
        named(json!(self.status)) || conclusion.is_some_and(named)
    }
}

fn is(wanted: Option<&String>, found: &str) -> bool {
    wanted.is_none_or(|wanted| wanted == found)
}
