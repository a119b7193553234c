//! The workflow launcher: a schedule fires by `workflow_dispatch` (DP-11).
//!
//! GitHub has no idempotency key for a dispatch, so a repetition after an unknown outcome could start the
//! workflow twice. Therefore a try whose outcome is unknown is repeated only after looking at the
//! workflow's runs: if one was started since, that was it. What cannot be looked at is not repeated, but looked
//! at again later. Chains look by themselves ([`almanack_core::chain`]); for a node this does
//! ([`WorkflowLauncher::looking`]). A run that somebody else started in that time counts as ours: in doubt
//! missed, never fired twice.
//!
//! Refusals are final: a missing workflow does not appear by asking again.

use std::{collections::BTreeMap, sync::Arc};

use almanack_core::{
    chain::{CLOCKS_APART, SHOWS_AFTER, TargetRuns as _},
    finish::Outcome,
    plan::Firing,
    target::{Launcher, Target},
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{Error, Github, Repository, TargetWorkflows, tries::Tries};
use crate::launcher::wrong_target;

/// Fires at [`Target::Workflow`].
#[derive(Debug)]
pub struct WorkflowLauncher {
    github: Arc<Github>,
    looking: Option<Looking>,
}

/// What looking takes.
#[derive(Debug)]
struct Looking {
    runs: TargetWorkflows,
    tries: Tries,
}

impl WorkflowLauncher {
    /// Dispatches on behalf of the client's token, which may be another one than that of the locks. Whoever
    /// calls this looks at the target before a repetition.
    pub fn new(github: Arc<Github>) -> Self {
        Self {
            github,
            looking: None,
        }
    }

    /// Looks at the target by itself before it repeats a try whose outcome is unknown.
    #[must_use]
    pub fn looking(mut self) -> Self {
        self.looking = Some(Looking {
            runs: TargetWorkflows::new(Arc::clone(&self.github)),
            tries: Tries::default(),
        });
        self
    }

    async fn dispatch(&self, call: Call<'_>) -> Result<(), Error> {
        let dispatched =
            self.github
                .dispatch(&call.repository, call.workflow, call.git_ref, call.inputs);
        dispatched.await
    }
}

/// A dispatch, ready to be sent.
struct Call<'a> {
    repository: Repository,
    workflow: &'a str,
    git_ref: &'a str,
    inputs: &'a BTreeMap<String, String>,
}

impl<'a> Call<'a> {
    /// Names become parts of a path; what was stored long ago is checked again before it does.
    fn new(target: &'a Target) -> Result<Self, Outcome> {
        let Target::Workflow {
            repository,
            workflow,
            git_ref,
            inputs,
        } = target
        else {
            return Err(wrong_target("workflows", target));
        };
        let usable = target.check();
        usable.map_err(|unusable| give_up(unusable.to_string()))?;
        let repository = Repository::parse(repository);
        let unwritten = || give_up("the repository is not written owner/name".to_owned());
        Ok(Self {
            repository: repository.ok_or_else(unwritten)?,
            workflow,
            git_ref,
            inputs,
        })
    }
}

#[async_trait]
impl Launcher for WorkflowLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let call = match Call::new(&firing.target) {
            Ok(call) => call,
            Err(outcome) => return outcome,
        };
        let Some(looking) = &self.looking else {
            return judge(&self.dispatch(call).await);
        };
        let mut doubt_since = looking.tries.in_doubt_since(firing, task);
        if let Some(since) = doubt_since
            && let Some(settled) = looking.look(firing, since).await
        {
            return looking.remember(firing, task, doubt_since, settled);
        }
        let dispatched = self.dispatch(call).await;
        let mut outcome = judge(&dispatched);
        let doubtful = dispatched.is_err_and(|error| error.may_have_taken_effect());
        if let (true, Outcome::Retry { retry_after, .. }) = (doubtful, &mut outcome) {
            doubt_since = doubt_since.or(Some(task.started_at));
            *retry_after = Some(retry_after.unwrap_or_default().max(SHOWS_AFTER));
        }
        looking.remember(firing, task, doubt_since, outcome)
    }
}

impl Looking {
    /// What an earlier try came to; `None` if it came to nothing, so that another one is due.
    async fn look(&self, firing: &Firing, since: Timestamp) -> Option<Outcome> {
        let from = since.saturating_sub(CLOCKS_APART).unwrap_or(since);
        let seen = self.runs.was_started(&firing.target, from, Timestamp::MAX);
        match seen.await {
            Ok(true) => Some(Outcome::Done {
                detail: Some("an earlier try had started it, by the workflow's runs".to_owned()),
            }),
            Ok(false) => None,
            Err(error) => Some(Outcome::Retry {
                error: format!("whether an earlier try started it cannot be seen: {error}"),
                retry_after: error.retry_after,
            }),
        }
    }

    fn remember(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        doubt_since: Option<Timestamp>,
        outcome: Outcome,
    ) -> Outcome {
        match outcome {
            Outcome::Retry { .. } => self.tries.keep(firing, task, doubt_since),
            _ => self.tries.forget(task),
        }
        outcome
    }
}

fn judge(dispatched: &Result<(), Error>) -> Outcome {
    let Err(error) = dispatched else {
        return Outcome::Done {
            detail: Some("GitHub took it".to_owned()),
        };
    };
    if error.is_transient() {
        let doubt = if error.may_have_taken_effect() {
            "; the workflow may have been started all the same"
        } else {
            ""
        };
        return Outcome::Retry {
            error: format!("{error}{doubt}"),
            retry_after: error.retry_after(),
        };
    }
    let hint = match error {
        Error::Refused { status: 401, .. } => " (is the token right?)",
        Error::Refused { status: 403, .. } => " (the token may not start workflows there)",
        Error::Refused { status: 404, .. } => {
            " (no such repository or workflow, or the token cannot see it)"
        }
        _ => "",
    };
    give_up(format!("{error}{hint}"))
}

fn give_up(error: String) -> Outcome {
    Outcome::GiveUp { error }
}
