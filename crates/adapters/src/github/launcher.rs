//! The workflow launcher: a schedule fires by `workflow_dispatch` (DP-11).
//!
//! GitHub has no idempotency key for a dispatch, so a repetition after an unknown outcome may start the
//! workflow twice; the error in the history says so. Refusals are final: a missing workflow does not
//! appear by asking again.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    plan::Firing,
    target::{Launcher, Target},
    task::ClaimedTask,
};
use async_trait::async_trait;

use super::{Error, Github, Repository};
use crate::launcher::wrong_target;

/// Fires at [`Target::Workflow`].
#[derive(Debug)]
pub struct WorkflowLauncher {
    github: Arc<Github>,
}

impl WorkflowLauncher {
    /// Dispatches on behalf of the client's token, which may be another one than that of the locks.
    pub fn new(github: Arc<Github>) -> Self {
        Self { github }
    }
}

#[async_trait]
impl Launcher for WorkflowLauncher {
    async fn fire(&self, firing: &Firing, _: &ClaimedTask) -> Outcome {
        let Target::Workflow {
            repository,
            workflow,
            git_ref,
            inputs,
        } = &firing.target
        else {
            return wrong_target("workflows", &firing.target);
        };
        // Names become parts of a path; what was stored long ago is checked again before it does.
        if let Err(unusable) = firing.target.check() {
            return give_up(unusable.to_string());
        }
        let Some(repository) = Repository::parse(repository) else {
            return give_up("the repository is not written owner/name".to_owned());
        };
        let dispatched = self.github.dispatch(&repository, workflow, git_ref, inputs);
        match dispatched.await {
            Ok(()) => Outcome::Done {
                detail: Some("GitHub took it".to_owned()),
            },
            Err(error) => judge(&error),
        }
    }
}

fn judge(error: &Error) -> Outcome {
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
