//! What a chain sees of GitHub: the runs of its own workflow, and what was started at its targets.

use std::sync::Arc;

use almanack_core::{
    chain::{ChainName, NotSeen, OwnRuns},
    target::{
        Target,
        runs::{StartedRun, TargetRuns, short_ref},
    },
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{Error, Github, Repository, Run, RunFilter};

/// Runs of a target that are looked at. At one run a second, that is more than a minute and a half.
const TARGET_RUNS: u8 = 100;

/// The runs of a chain's workflow.
#[derive(Debug)]
pub struct OwnWorkflow {
    github: Arc<Github>,
    repository: Repository,
    workflow: String,
}

impl OwnWorkflow {
    /// Of the chain's workflow in `repository`.
    pub fn new(github: Arc<Github>, repository: Repository, chain: &ChainName) -> Self {
        let workflow = chain.workflow();
        Self {
            github,
            repository,
            workflow,
        }
    }
}

#[async_trait]
impl OwnRuns for OwnWorkflow {
    async fn load_newest(&self) -> Result<Option<u64>, NotSeen> {
        // Just one: the fewer runs an answer shows, the more often it is the same as the last one.
        let filter = RunFilter {
            count: 1,
            ..RunFilter::default()
        };
        let runs = self
            .github
            .list_runs(&self.repository, &self.workflow, filter);
        let runs = runs.await.map_err(|error| not_seen(&error))?;
        Ok(runs.iter().map(|run| run.id).max())
    }
}

/// What was started at workflows, by `workflow_dispatch`.
#[derive(Debug)]
pub struct TargetWorkflows {
    github: Arc<Github>,
}

impl TargetWorkflows {
    /// Uses the client's token.
    pub fn new(github: Arc<Github>) -> Self {
        Self { github }
    }
}

#[async_trait]
impl TargetRuns for TargetWorkflows {
    async fn list_started(
        &self,
        target: &Target,
        from: Timestamp,
    ) -> Result<Vec<StartedRun>, NotSeen> {
        let Target::Workflow {
            repository,
            workflow,
            git_ref,
            ..
        } = target
        else {
            return Err(unseen("only workflows can be looked at"));
        };
        let repository = Repository::parse(repository);
        let repository = repository.ok_or_else(|| unseen("the repository is not owner/name"))?;
        let branch = short_ref(git_ref);
        let filter = RunFilter {
            event: Some("workflow_dispatch"),
            branch: Some(branch),
            count: TARGET_RUNS,
            ..RunFilter::default()
        };
        let runs = self.github.list_runs(&repository, workflow, filter).await;
        let runs = runs.map_err(|error| not_seen(&error))?;
        // GitHub shows whole seconds.
        let from_s = self.github.at_github(from).as_second();
        let since = |run: &&Run| run.created_at.as_second() >= from_s;
        let all = runs.len() >= usize::from(TARGET_RUNS);
        if all && runs.iter().all(|run| since(&run)) {
            return Err(unseen("more runs were started since than one list shows"));
        }
        let ours = |run: &&Run| run.head_branch.as_deref().is_none_or(|name| name == branch);
        let started = runs.iter().filter(since).filter(ours);
        Ok(started.map(started_run).collect())
    }
}

fn started_run(run: &Run) -> StartedRun {
    StartedRun {
        id: run.id,
        created_at: run.created_at,
    }
}

fn unseen(why: &str) -> NotSeen {
    NotSeen {
        why: why.to_owned(),
        retry_after: None,
    }
}

fn not_seen(error: &Error) -> NotSeen {
    NotSeen {
        why: error.to_string(),
        retry_after: error.retry_after(),
    }
}
