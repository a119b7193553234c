//! The workflow launcher: a schedule fires by `workflow_dispatch` (DP-11).
//!
//! GitHub has no idempotency key for a dispatch, so a repetition after an unknown outcome could
//! start the workflow twice. Therefore a try whose outcome is unknown is repeated only after
//! looking at the workflow's runs, and a run counts only if no other firing can have started it
//! (DP-25, [`almanack_core::target::runs`]). If the runs cannot be read, or a run cannot be
//! attributed, the dispatch is not repeated, but the runs are read again later: in doubt missed,
//! never fired twice. Chains look by themselves ([`almanack_core::chain`]); for a node this does
//! ([`WorkflowLauncher::looking`]).
//!
//! A dispatch that is answered names its run, and the detail of the attempt keeps the number: that
//! is how other firings know that the run is not theirs.
//!
//! Refusals are final: a missing workflow does not appear by asking again.

use std::{collections::BTreeMap, fmt, sync::Arc};

use almanack_core::{
    chain::{NotSeen, SHOWS_AFTER},
    finish::Outcome,
    plan::Firing,
    target::{
        Launcher, Target,
        runs::{OtherFirings, TargetRuns as _, Whose, attribute, with_run},
    },
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{
    Error, Github, Repository, TargetWorkflows,
    tries::{Doubt, Tries},
};
use crate::launcher::wrong_target;

/// Fires at [`Target::Workflow`].
pub struct WorkflowLauncher {
    github: Arc<Github>,
    looking: Option<Looking>,
}

struct Looking {
    runs: TargetWorkflows,
    firings: Arc<dyn OtherFirings>,
    tries: Tries,
}

impl fmt::Debug for WorkflowLauncher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkflowLauncher").finish_non_exhaustive()
    }
}

impl WorkflowLauncher {
    /// Dispatches on behalf of the client's token, which may be another one than that of the locks.
    /// The caller checks the target before a repetition.
    pub fn new(github: Arc<Github>) -> Self {
        Self {
            github,
            looking: None,
        }
    }

    /// Looks at the target by itself before it repeats a try whose outcome is unknown; `firings`
    /// names the other firings that may have started those runs.
    #[must_use]
    pub fn looking(mut self, firings: Arc<dyn OtherFirings>) -> Self {
        self.looking = Some(Looking {
            runs: TargetWorkflows::new(Arc::clone(&self.github)),
            firings,
            tries: Tries::default(),
        });
        self
    }

    async fn dispatch(&self, call: Call<'_>) -> Result<Option<u64>, Error> {
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
        usable.map_err(|unusable| Outcome::give_up(unusable.to_string()))?;
        let repository = Repository::parse(repository);
        let unwritten = || Outcome::give_up("the repository is not written owner/name");
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
            return outcome_of(&self.dispatch(call).await);
        };
        let mut doubt = looking.tries.doubt(task);
        if let Some(settled) = looking.settle(firing, task, doubt).await {
            return looking.remember(firing, task, doubt, settled);
        }
        let began_at = self.github.clock.now();
        let dispatched = self.dispatch(call).await;
        let mut outcome = outcome_of(&dispatched);
        let doubtful = dispatched.is_err_and(|error| error.may_have_taken_effect());
        if doubtful {
            doubt = doubt.or_since(began_at);
        }
        if let (true, Outcome::Retry { retry_after, .. }) = (doubtful, &mut outcome) {
            *retry_after = Some(retry_after.unwrap_or_default().max(SHOWS_AFTER));
        }
        looking.remember(firing, task, doubt, outcome)
    }
}

impl Looking {
    /// The outcome of an earlier try; `None` if it had no effect, so that another one is due.
    async fn settle(&self, firing: &Firing, task: &ClaimedTask, doubt: Doubt) -> Option<Outcome> {
        let since = match doubt {
            Doubt::No => return None,
            Doubt::Since(since) => Some(since),
            Doubt::Unknown => None,
        };
        match self.look(firing, task, since).await {
            Ok(Whose::NotOurs) => None,
            Ok(Whose::Ours(run)) => {
                let detail = with_run("an earlier try had started it, by the workflow's runs", run);
                Some(Outcome::done(detail))
            }
            Ok(Whose::Unclear) => Some(Outcome::retry_after(
                SHOWS_AFTER,
                "an earlier try may have started the workflow: a run was started since, \
                 by this firing or by another one at the same workflow; not repeated",
            )),
            Err(error) => Some(Outcome::Retry {
                error: format!("cannot determine whether an earlier try started it: {error}"),
                retry_after: error.retry_after,
            }),
        }
    }

    async fn look(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        since: Option<Timestamp>,
    ) -> Result<Whose, NotSeen> {
        let target = &firing.target;
        let since = match since {
            Some(since) => since,
            None => self.firings.load_decided_at(task).await?,
        };
        // The runs first: a firing that started one of them has recorded it by the time the rows
        // are read.
        let started = self.runs.list_started(target, since).await?;
        let others = self.firings.load_others(task, target, since).await?;
        Ok(attribute(&started, &others))
    }

    fn remember(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        doubt: Doubt,
        outcome: Outcome,
    ) -> Outcome {
        match outcome {
            Outcome::Retry { .. } => self.tries.keep(firing, task, doubt),
            _ => self.tries.forget(task),
        }
        outcome
    }
}

fn outcome_of(dispatched: &Result<Option<u64>, Error>) -> Outcome {
    let error = match dispatched {
        Ok(run) => return Outcome::done(with_run("GitHub accepted it", *run)),
        Err(error) => error,
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
    Outcome::give_up(format!("{error}{hint}"))
}
