//! Where to see a workflow's run: its address in the run's log.

use std::sync::Arc;

use almanack_core::{
    finish::Outcome,
    follow::{Followed, HandedOver, Seen, Work},
    plan::Firing,
    run_log::RunLogs,
    store::RunId,
    target::{Launcher, Target, runs::run_of},
    task::ClaimedTask,
};
use async_trait::async_trait;

/// Fires as another launcher does, and reports the address of the run once that is known.
pub struct ReportsRuns {
    inner: Arc<dyn Launcher>,
    logs: Arc<dyn RunLogs>,
    /// Where people look at repositories.
    web: String,
}

impl ReportsRuns {
    /// `api_url` is where programs do.
    pub fn new(inner: Arc<dyn Launcher>, logs: Arc<dyn RunLogs>, api_url: &str) -> Self {
        let web = web_of(api_url);
        Self { inner, logs, web }
    }

    async fn report(&self, firing: &Firing, task: &ClaimedTask, run: Option<u64>) {
        if let (Some(run), Target::Workflow { repository, .. }) = (run, &firing.target) {
            let address = format!("{}/{repository}/actions/runs/{run}", self.web);
            self.logs.report(RunId::of(task), &address).await;
        }
    }
}

fn run_in(work: &Work) -> Option<u64> {
    match work {
        Work::Run { run, .. } => *run,
        _ => None,
    }
}

/// GitHub has a host of its own for programs, GitHub Enterprise Server a path.
fn web_of(api_url: &str) -> String {
    let base = api_url.trim_end_matches('/');
    let base = base.strip_suffix("/api/v3").unwrap_or(base);
    base.replacen("://api.github.com", "://github.com", 1)
}

#[async_trait]
impl Launcher for ReportsRuns {
    async fn fire(&self, firing: &Firing, task: &ClaimedTask) -> Outcome {
        let outcome = self.inner.fire(firing, task).await;
        let run = match &outcome {
            Outcome::Done { detail } => detail.as_deref().and_then(run_of),
            _ => None,
        };
        self.report(firing, task, run).await;
        outcome
    }

    async fn hand_over(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        let handed_over = self.inner.hand_over(firing, task).await;
        if let HandedOver::Works(work) = &handed_over {
            self.report(firing, task, run_in(work)).await;
        }
        handed_over
    }

    async fn recall(&self, firing: &Firing, task: &ClaimedTask) -> HandedOver {
        self.inner.recall(firing, task).await
    }

    async fn look(&self, firing: &Firing, task: &ClaimedTask, followed: &Followed) -> Seen {
        let seen = self.inner.look(firing, task, followed).await;
        if let Seen::Works {
            work: Some(work), ..
        } = &seen
        {
            self.report(firing, task, run_in(work)).await;
        }
        seen
    }

    async fn withdraw(&self, firing: &Firing, followed: &Followed) -> Result<(), String> {
        self.inner.withdraw(firing, followed).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_seen_where_people_look() {
        for (api, web) in [
            ("https://api.github.com", "https://github.com"),
            ("https://api.github.com/", "https://github.com"),
            ("https://git.example/api/v3/", "https://git.example"),
            ("http://127.0.0.1:9", "http://127.0.0.1:9"),
        ] {
            assert_eq!(web_of(api), web);
        }
    }
}
