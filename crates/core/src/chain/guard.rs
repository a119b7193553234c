//! The guard: which chains are dead (DP-09).

use jiff::{SignedDuration, Timestamp};

use super::ChainName;

/// A run that is older than its length by this much hangs: it should have left by itself.
const HUNG_AFTER: SignedDuration = SignedDuration::from_mins(45);
/// So many runs that failed within a quarter of an hour, and the chain is left alone for a while.
pub const FAILURES_MAX: usize = 3;
/// Shorter than the time between two guards that the clock starts, so that these try again.
const FAILURES_WITHIN: SignedDuration = SignedDuration::from_mins(15);

/// A run of a chain, as GitHub reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStatus {
    pub id: u64,
    /// `queued`, `in_progress`, `completed`, …
    pub status: String,
    pub conclusion: Option<String>,
    /// When it began; a repetition begins again.
    pub started_at: Timestamp,
}

/// How a chain was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainHealth {
    /// A run works, or will.
    Alive { run_id: u64 },
    /// A run works for longer than it may: to be cancelled, and a new one started.
    Hung { run_id: u64 },
    /// No run: to be started.
    Dead,
    /// No run, because the last ones all failed at once: starting another would only spin.
    Failing { run_id: u64 },
}

/// Judges a chain by its newest runs. `ended` is a run that says of itself that it is about to end,
/// and so counts as over although GitHub still shows it at work.
pub fn judge(
    chain: &ChainName,
    runs: &[RunStatus],
    ended: Option<u64>,
    now: Timestamp,
) -> ChainHealth {
    let alive = |run: &&RunStatus| {
        let working = ["queued", "in_progress", "waiting", "pending", "requested"];
        working.contains(&run.status.as_str()) && Some(run.id) != ended
    };
    let Some(run) = runs.iter().filter(alive).max_by_key(|run| run.id) else {
        return judge_dead(runs, now);
    };
    let worked = now.duration_since(run.started_at);
    let run_id = run.id;
    if run.status == "in_progress" && worked > chain.length() + HUNG_AFTER {
        ChainHealth::Hung { run_id }
    } else {
        ChainHealth::Alive { run_id }
    }
}

fn judge_dead(runs: &[RunStatus], now: Timestamp) -> ChainHealth {
    let mut newest: Vec<&RunStatus> = runs.iter().collect();
    newest.sort_by_key(|run| std::cmp::Reverse(run.id));
    newest.truncate(FAILURES_MAX);
    let failed = |run: &&RunStatus| {
        let recent = now.duration_since(run.started_at) <= FAILURES_WITHIN;
        recent && run.conclusion.as_deref() == Some("failure")
    };
    match newest.first() {
        Some(run) if newest.len() == FAILURES_MAX && newest.iter().all(failed) => {
            ChainHealth::Failing { run_id: run.id }
        }
        _ => ChainHealth::Dead,
    }
}
