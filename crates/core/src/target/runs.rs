//! Whose run is it: which firing started a workflow's run.
//!
//! GitHub has no idempotency key for a dispatch, and a run does not say which request started it.
//! When the reply to a dispatch is lost, the only evidence is the list of runs, and other firings
//! may have started some of them: other slots of the same schedule, or other schedules at the same
//! workflow.
//!
//! ```text
//!   runs on our branch since our first try
//!     − those whose number another firing was given
//!     ≤ those that others certainly started, or asked for before us ──► none is ours: dispatch again
//!     > these and all that others may have started ───────────────────► ours
//!     otherwise ──────────────────────────────────────────────────────► unclear: wait, never guess
//! ```
//!
//! INVARIANT (DP-25): a firing is recorded as done only for a run that no other firing can have
//! started. What stays unclear is neither recorded as fired nor dispatched again.
//!
//! Not known here: runs that a person or another program dispatches on the same branch in the same
//! seconds.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;

use super::Target;
use crate::{chain::NotSeen, task::ClaimedTask};

/// Between the text and the number of the run, in an attempt's detail.
const RUN: &str = ": run ";

/// A run at a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedRun {
    pub id: u64,
    /// When it was started, by the target's clock.
    pub created_at: Timestamp,
}

/// What another firing at the same workflow and ref came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CameTo {
    /// It started this run.
    Run(u64),
    /// It started a run whose number is not known.
    Unnamed,
    /// It may have started one.
    Doubt,
}

/// How another firing relates to the one in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinship {
    /// It starts the very same, and came first. Which of two equal runs is whose makes no
    /// difference, so the first firing has the first run.
    Earlier,
    /// It starts the very same, and came later.
    Later,
    /// It starts something else.
    Different,
}

/// Another firing at the same workflow and ref, at about the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherFiring {
    /// What it came to.
    pub came_to: CameTo,
    /// How it relates to the firing in question.
    pub kinship: Kinship,
}

/// Whether a run is the firing's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// A try of this firing started one; its number, where only one run is left.
    Ours(Option<u64>),
    /// No try of this firing started one.
    NotOurs,
    /// There is a run, and another firing may have started it.
    Unclear,
}

/// Decides whether one of the runs since our first try is ours.
pub fn attribute(started: &[StartedRun], others: &[OtherFiring]) -> Whose {
    let named = others.iter().filter_map(|other| match other.came_to {
        CameTo::Run(id) => Some(id),
        CameTo::Unnamed | CameTo::Doubt => None,
    });
    let named: BTreeSet<u64> = named.collect();
    let left: Vec<u64> = started.iter().map(|run| run.id).collect();
    let left: Vec<u64> = left.into_iter().filter(|id| !named.contains(id)).collect();
    let count = |wanted: fn(&OtherFiring) -> bool| others.iter().filter(|it| wanted(it)).count();
    let unnamed = count(|other| other.came_to == CameTo::Unnamed);
    let before = count(|other| other.is_in_doubt(Kinship::Earlier));
    let perhaps = count(|other| other.is_in_doubt(Kinship::Different));
    if left.len() <= unnamed + before {
        Whose::NotOurs
    } else if left.len() > unnamed + before + perhaps {
        Whose::Ours(match left.as_slice() {
            [only] => Some(*only),
            _ => None,
        })
    } else {
        Whose::Unclear
    }
}

impl OtherFiring {
    fn is_in_doubt(&self, kinship: Kinship) -> bool {
        self.came_to == CameTo::Doubt && self.kinship == kinship
    }
}

impl Target {
    /// Whether a run of `other` could be taken for one of this: the same workflow on the same ref.
    pub fn shares_runs_with(&self, other: &Self) -> bool {
        let (Some(ours), Some(theirs)) = (self.runs_at(), other.runs_at()) else {
            return false;
        };
        ours.0.eq_ignore_ascii_case(theirs.0) && ours.1 == theirs.1 && ours.2 == theirs.2
    }

    fn runs_at(&self) -> Option<(&str, &str, &str)> {
        match self {
            Self::Workflow {
                repository,
                workflow,
                git_ref,
                ..
            } => Some((repository, workflow, short_ref(git_ref))),
            _ => None,
        }
    }
}

/// A branch or tag as runs name it.
pub fn short_ref(git_ref: &str) -> &str {
    let short = git_ref
        .strip_prefix("refs/heads/")
        .or_else(|| git_ref.strip_prefix("refs/tags/"));
    short.unwrap_or(git_ref)
}

/// A firing's detail, with the run it started; [`run_of`] reads it again.
pub fn with_run(text: &str, run: Option<u64>) -> String {
    match run {
        Some(id) => format!("{text}{RUN}{id}"),
        None => text.to_owned(),
    }
}

/// The run that an attempt's detail names.
pub fn run_of(detail: &str) -> Option<u64> {
    let (_, id) = detail.rsplit_once(RUN)?;
    id.parse().ok()
}

/// What happened at targets. A caller that does not know the outcome of a try looks here before the
/// next one: chains by themselves, nodes in the launcher.
#[async_trait]
pub trait TargetRuns: Send + Sync {
    /// The runs that were started by a dispatch at `target`, on its ref, since `from` by our clock.
    /// The implementation allows for the target's clock. A list that may lack some is an error.
    async fn list_started(
        &self,
        target: &Target,
        from: Timestamp,
    ) -> Result<Vec<StartedRun>, NotSeen>;
}

/// The firings of all nodes.
#[async_trait]
pub trait OtherFirings: Send + Sync {
    /// When this firing was decided on: no try of it can have been earlier.
    async fn load_decided_at(&self, task: &ClaimedTask) -> Result<Timestamp, NotSeen>;

    /// Who else may have started runs that could be taken for this firing's, since `since`. A list
    /// that may lack some is an error.
    async fn load_others(
        &self,
        task: &ClaimedTask,
        target: &Target,
        since: Timestamp,
    ) -> Result<Vec<OtherFiring>, NotSeen>;
}

#[cfg(test)]
mod tests {
    use super::{
        CameTo::{Doubt, Run, Unnamed},
        Kinship::{Different, Earlier, Later},
        Whose::{NotOurs, Ours, Unclear},
        *,
    };

    fn runs(ids: &[u64]) -> Vec<StartedRun> {
        let created_at = Timestamp::UNIX_EPOCH;
        ids.iter()
            .map(|&id| StartedRun { id, created_at })
            .collect()
    }

    fn other(came_to: CameTo, kinship: Kinship) -> OtherFiring {
        OtherFiring { came_to, kinship }
    }

    type Row = (
        &'static [u64],
        &'static [(CameTo, Kinship)],
        Whose,
        &'static str,
    );

    #[rustfmt::skip]
    const TABLE: [Row; 13] = [
        (&[], &[], NotOurs, "no run at all"),
        (&[1], &[], Ours(Some(1)), "no other run"),
        (&[1], &[(Run(1), Different)], NotOurs, "another's by its number"),
        (&[1], &[(Run(1), Earlier)], NotOurs, "the slot before"),
        (&[1, 2], &[(Run(1), Different)], Ours(Some(2)), "the one that is left"),
        (&[1], &[(Unnamed, Different)], NotOurs, "another's without a number"),
        (&[1, 2], &[(Unnamed, Different)], Ours(None), "one of the two"),
        (&[], &[(Doubt, Different)], NotOurs, "neither started one"),
        (&[1], &[(Doubt, Different)], Unclear, "either may have"),
        (&[1, 2], &[(Doubt, Different)], Ours(None), "both have"),
        (&[1], &[(Doubt, Earlier)], NotOurs, "the first has the first"),
        (&[1], &[(Doubt, Later)], Ours(Some(1)), "we are the first"),
        (&[1], &[(Run(9), Later)], Ours(Some(1)), "a run before our time"),
    ];

    #[test]
    fn dp_25_a_run_is_ours_only_if_no_other_firing_can_have_started_it() {
        for (started, others, whose, why) in TABLE {
            let others = others.iter();
            let others: Vec<_> = others.map(|(came, kin)| other(*came, *kin)).collect();
            assert_eq!(attribute(&runs(started), &others), whose, "{why}");
        }
    }

    #[test]
    fn only_workflows_on_the_same_ref_share_runs() {
        let target = |repository: &str, git_ref: &str| -> Target {
            let json = serde_json::json!({
                "type": "workflow", "repository": repository, "workflow": "w.yml", "ref": git_ref,
            });
            serde_json::from_value(json).unwrap()
        };
        let main = target("o/r", "main");
        assert!(main.shares_runs_with(&target("O/R", "refs/heads/main")));
        assert!(!main.shares_runs_with(&target("o/r", "next")));
        assert!(!main.shares_runs_with(&target("o/x", "main")));
        let webhook = serde_json::from_str(r#"{"type":"webhook","url":"https://x.test/"}"#);
        assert!(!main.shares_runs_with(&webhook.unwrap()));
    }

    #[test]
    fn the_run_in_a_detail_is_read_again() {
        assert_eq!(run_of(&with_run("GitHub accepted it", Some(7))), Some(7));
        assert_eq!(run_of(&with_run("GitHub accepted it", None)), None);
        assert_eq!(run_of("a dry run 7"), None);
    }
}
