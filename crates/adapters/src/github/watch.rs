//! Watching runs to their conclusion, within the request budget.
//!
//! Requests are few and runs may be many, so one list of a repository's newest runs answers for all
//! firings that ask within the next seconds, an unchanged list costs nothing (`ETag`), and only a
//! run that the list no longer shows is asked for by itself. When few requests are left, looking waits
//! until there are more: dispatching goes first.

use std::collections::BTreeMap;

use almanack_core::follow::{Ended, Ending, Seen};
use almanack_core::target::runs::with_run;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use super::{Error, Github, Limit, Repository, Run, Sent};

/// For so long a list answers for everyone.
const LIST_ANSWERS: SignedDuration = SignedDuration::from_secs(10);
/// Requests that are left to dispatches.
const RESERVED: u64 = 100;
/// Repositories remembered.
const REPOSITORIES_MAX: usize = 1_000;

/// The newest runs of repositories, as they were seen a moment ago.
#[derive(Debug, Default)]
pub(super) struct WatchedRuns(Mutex<BTreeMap<Repository, Listed>>);

#[derive(Debug)]
struct Listed {
    at: Timestamp,
    runs: BTreeMap<u64, Run>,
    /// Why there is no list: not every firing has to find that out by itself.
    failed: Option<String>,
}

impl Listed {
    fn of(at: Timestamp, list: &Result<Vec<Run>, Error>) -> Self {
        let runs = list.iter().flatten();
        Self {
            at,
            runs: runs.map(|run| (run.id, run.clone())).collect(),
            failed: list.as_ref().err().map(ToString::to_string),
        }
    }
}

impl WatchedRuns {
    /// The state of a run.
    pub(super) async fn look(&self, github: &Github, repository: &Repository, id: u64) -> Seen {
        let now = github.clock.now();
        match self.load(github, repository, id, now).await {
            Ok(run) => seen(&run, now),
            Err(Error::Refused { status: 404, .. }) => {
                let detail = with_run("the run no longer exists", Some(id));
                Seen::ended(Ended::Failed, &detail, now)
            }
            Err(error) => unseen(&error),
        }
    }

    async fn load(
        &self,
        github: &Github,
        repository: &Repository,
        id: u64,
        now: Timestamp,
    ) -> Result<Run, Error> {
        // Held through the request: who comes meanwhile is answered by the same list.
        let mut listed = self.0.lock().await;
        let known = listed.get(repository);
        let fresh = known.filter(|it| now.duration_since(it.at) < LIST_ANSWERS);
        if let Some(known) = fresh {
            if let Some(run) = known.runs.get(&id) {
                return Ok(run.clone());
            }
            if let Some(why) = known.failed.clone() {
                let sent = Sent::No;
                return Err(Error::NoAnswer { why, sent });
            }
        }
        github.check_reserve(now)?;
        if fresh.is_none() {
            let list = github.list_dispatched_runs(repository).await;
            if listed.len() >= REPOSITORIES_MAX {
                listed.clear();
            }
            listed.insert(repository.clone(), Listed::of(now, &list));
            if let Some(run) = list?.into_iter().find(|run| run.id == id) {
                return Ok(run);
            }
        }
        drop(listed);
        github.load_run(repository, id).await
    }
}

impl Github {
    /// Refuses a look while the requests that are left belong to dispatches.
    pub(super) fn check_reserve(&self, now: Timestamp) -> Result<(), Error> {
        let few = |limit: &Limit| limit.remaining < RESERVED && limit.reset_at > now;
        self.limit().filter(few).map_or(Ok(()), |limit| {
            Err(Error::Limited {
                status: 429,
                message: "few requests are left, and dispatches go first".to_owned(),
                retry_after: limit.reset_at.duration_since(now),
            })
        })
    }
}

pub(super) fn unseen(error: &Error) -> Seen {
    Seen::Unseen {
        why: error.to_string(),
        retry_after: error.retry_after(),
    }
}

fn seen(run: &Run, now: Timestamp) -> Seen {
    let is_over = run.status == "completed";
    let began = is_over || run.status == "in_progress";
    // By GitHub's clock, which may be ahead of ours.
    let started_at = run.run_started_at.filter(|_| began).map(|at| at.min(now));
    if !is_over {
        let work = None;
        return Seen::Works { work, started_at };
    }
    let conclusion = run.conclusion.as_deref().unwrap_or("unknown");
    let ended = match conclusion {
        "success" | "neutral" | "skipped" => Ended::Done,
        _ => Ended::Failed,
    };
    let detail = with_run(&format!("the workflow ended as {conclusion}"), Some(run.id));
    let ended_at = run.updated_at.map_or(now, |at| at.min(now));
    Seen::Ended {
        ending: Ending::new(ended, &detail, ended_at),
        started_at,
    }
}
