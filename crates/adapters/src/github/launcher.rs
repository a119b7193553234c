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
//! A node follows the run to its conclusion, which is the firing's outcome (DP-19, `watch.rs`). A
//! run that cannot be distinguished from others is not followed: the firing ends at the hand-over,
//! and says so.
//!
//! Refusals are final: a missing workflow does not appear by asking again.

use std::{collections::BTreeMap, fmt, sync::Arc};

use almanack_core::{
    chain::{NotSeen, SHOWS_AFTER},
    finish::Outcome,
    follow::{Ended, Followed, HandedOver, Seen, Work},
    plan::Firing,
    target::{
        Launcher, Target,
        runs::{OtherFirings, TargetRuns as _, Whose, attribute, with_run},
    },
    task::ClaimedTask,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{
    Error, Github, Repository, TargetWorkflows,
    tries::{Doubt, Tries},
    watch::{WatchedRuns, unseen},
};
use crate::launcher::wrong_target;

/// How long a run whose number GitHub did not say may take to show up.
const FOUND_WITHIN: SignedDuration = SignedDuration::from_mins(2);

/// Fires at [`Target::Workflow`].
pub struct WorkflowLauncher {
    github: Arc<Github>,
    looking: Option<Looking>,
}

struct Looking {
    runs: TargetWorkflows,
    firings: Arc<dyn OtherFirings>,
    tries: Tries,
    watched: WatchedRuns,
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
            watched: WatchedRuns::default(),
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

/// A workflow that was started.
struct Started {
    /// How that is known.
    text: &'static str,
    run: Option<u64>,
    /// No run of it is older.
    since: Timestamp,
}

impl Started {
    fn outcome(&self) -> Outcome {
        Outcome::done(with_run(self.text, self.run))
    }
}

impl WorkflowLauncher {
    /// Starts the workflow, unless an earlier try has.
    async fn start(&self, firing: &Firing, task: &ClaimedTask) -> Result<Started, Outcome> {
        let call = Call::new(&firing.target)?;
        let began_at = self.github.clock.now();
        let Some(looking) = &self.looking else {
            return started(&self.dispatch(call).await, began_at);
        };
        let mut doubt = looking.tries.doubt(task);
        if let Some(settled) = looking.settle(firing, task, doubt).await {
            return looking.remember(firing, task, doubt, settled);
        }
        let dispatched = self.dispatch(call).await;
        let mut result = started(&dispatched, began_at);
        let doubtful = dispatched.is_err_and(|error| error.may_have_taken_effect());
        if doubtful {
            doubt = doubt.or_since(began_at);
        }
        if let (true, Err(Outcome::Retry { retry_after, .. })) = (doubtful, &mut result) {
            *retry_after = Some(retry_after.unwrap_or_default().max(SHOWS_AFTER));
        }
        looking.remember(firing, task, doubt, result)
    }

    /// Looks for a run whose number GitHub did not say.
    async fn find(
        &self,
        looking: &Looking,
        firing: &Firing,
        task: &ClaimedTask,
        since: Timestamp,
    ) -> Seen {
        let now = self.github.clock.now();
        let unknown = |why| Seen::ended(Ended::Done, why, now);
        match looking.look(firing, task, Some(since)).await {
            Ok(Whose::Ours(Some(run))) => Seen::Works {
                work: Some(Work::Run {
                    run: Some(run),
                    since,
                }),
                started_at: None,
            },
            Ok(Whose::NotOurs) if now.duration_since(since) < FOUND_WITHIN => Seen::UNCHANGED,
            Ok(Whose::NotOurs) => {
                unknown("GitHub accepted it, but no run of it showed up: how it ended is not known")
            }
            Ok(Whose::Ours(None) | Whose::Unclear) => unknown(
                "GitHub accepted it, but its run cannot be distinguished from others: how it ended is \
                 not known",
            ),
            Err(error) => Seen::Unseen {
                why: error.to_string(),
                retry_after: error.retry_after,
            },
        }
    }
}

#[async_trait]
impl Launcher for WorkflowLauncher {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        match self.start(firing, task).await {
            Ok(started) => started.outcome(),
            Err(outcome) => outcome,
        }
    }

    async fn hand_over(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        match self.start(firing, task).await {
            Ok(Started { run, since, .. }) => HandedOver::Works(Work::Run { run, since }),
            Err(outcome) => HandedOver::Ended(outcome),
        }
    }

    async fn recall(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        let Some(looking) = &self.looking else {
            return HandedOver::Ended(Outcome::give_up("nothing is known of earlier attempts"));
        };
        let doubt = looking.tries.doubt(task);
        match looking.settle(firing, task, doubt).await {
            Some(Ok(Started { run, since, .. })) => HandedOver::Works(Work::Run { run, since }),
            _ => HandedOver::Ended(Outcome::give_up("no run is known to be its own")),
        }
    }

    async fn look(&self, firing: &Firing, task: &ClaimedTask, followed: &Followed) -> Seen {
        let (Work::Run { run, since }, Some(looking)) = (&followed.work, &self.looking) else {
            return Seen::UNCHANGED;
        };
        let call = match Call::new(&firing.target) {
            Ok(call) => call,
            Err(outcome) => {
                return Seen::Unseen {
                    why: outcome.name().to_owned(),
                    retry_after: None,
                };
            }
        };
        match run {
            Some(run) => {
                looking
                    .watched
                    .look(&self.github, &call.repository, *run)
                    .await
            }
            None => match self.github.check_reserve(self.github.clock.now()) {
                Ok(()) => self.find(looking, firing, task, *since).await,
                Err(error) => unseen(&error),
            },
        }
    }

    async fn withdraw(&self, firing: &Firing, followed: &Followed) -> Result<(), String> {
        let (Work::Run { run: Some(run), .. }, Ok(call)) =
            (&followed.work, Call::new(&firing.target))
        else {
            return Ok(());
        };
        match self.github.cancel_run(&call.repository, *run).await {
            // It has ended by itself, or is gone.
            Ok(()) | Err(Error::Refused { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Looking {
    /// What came of an earlier try; `None` if it had no effect, so that another one is due.
    async fn settle(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        doubt: Doubt,
    ) -> Option<Result<Started, Outcome>> {
        let since = match doubt {
            Doubt::No => return None,
            Doubt::Since(since) => Some(since),
            Doubt::Unknown => None,
        };
        match self.look(firing, task, since).await {
            Ok(Whose::NotOurs) => None,
            Ok(Whose::Ours(run)) => Some(Ok(Started {
                text: "an earlier try had started it, by the workflow's runs",
                run,
                since: since.unwrap_or(firing.nominal_at),
            })),
            Ok(Whose::Unclear) => Some(Err(Outcome::retry_after(
                SHOWS_AFTER,
                "an earlier try may have started the workflow: a run was started since, \
                 by this firing or by another one at the same workflow; not repeated",
            ))),
            Err(error) => Some(Err(Outcome::Retry {
                error: format!("cannot determine whether an earlier try started it: {error}"),
                retry_after: error.retry_after,
            })),
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
        result: Result<Started, Outcome>,
    ) -> Result<Started, Outcome> {
        match result {
            Err(Outcome::Retry { .. }) => self.tries.keep(firing, task, doubt),
            _ => self.tries.forget(task),
        }
        result
    }
}

fn started(dispatched: &Result<Option<u64>, Error>, since: Timestamp) -> Result<Started, Outcome> {
    match dispatched {
        Ok(run) => Ok(Started {
            text: "GitHub accepted it",
            run: *run,
            since,
        }),
        Err(error) => Err(outcome_of(error)),
    }
}

fn outcome_of(error: &Error) -> Outcome {
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
