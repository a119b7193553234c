//! Workflows: starting one, and seeing which runs there are.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use jiff::Timestamp;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::{Error, Github, Repository, read};
use crate::http::Answer;

/// Asks that the answer to a dispatch names its run.
const RUN_DETAILS: &str = "return_run_details";

/// The run that an answer names. The dispatch was taken whatever its body says.
async fn started_run(mut answer: Answer) -> Option<u64> {
    #[derive(Deserialize)]
    struct Details {
        workflow_run_id: u64,
    }
    let body = answer.read().await.ok()?;
    let details = serde_json::from_slice::<Details>(&body);
    details.ok().map(|details| details.workflow_run_id)
}

/// One run of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Run {
    /// Its number; a newer run has a larger one.
    pub id: u64,
    /// `queued`, `in_progress`, `completed`, `waiting`, `pending`, `requested`.
    pub status: String,
    /// How it ended, once it has.
    pub conclusion: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When its newest attempt began; a repetition keeps `created_at`.
    #[serde(default)]
    pub run_started_at: Option<Timestamp>,
    /// When it last changed: once it has ended, when that was.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
    /// The branch or tag it runs on.
    #[serde(default)]
    pub head_branch: Option<String>,
}

/// A list of runs, as GitHub writes it.
#[derive(Deserialize)]
struct Runs {
    workflow_runs: Vec<Run>,
}

/// Which runs to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunFilter<'a> {
    /// Only those with this status or conclusion.
    pub status: Option<&'a str>,
    /// Only those that this started, such as `workflow_dispatch`.
    pub event: Option<&'a str>,
    /// Only those on this branch or tag.
    pub branch: Option<&'a str>,
    /// At most so many; GitHub gives up to 100.
    pub count: u8,
}

impl Github {
    /// Starts a workflow by `workflow_dispatch`; returns its run, where GitHub names it. GitHub
    /// answers before anything runs. After an error that [may have taken
    /// effect](Error::may_have_taken_effect) the workflow may run all the same.
    pub async fn dispatch(
        &self,
        repository: &Repository,
        workflow: &str,
        git_ref: &str,
        inputs: &BTreeMap<String, String>,
    ) -> Result<Option<u64>, Error> {
        let path = ["actions", "workflows", workflow, "dispatches"];
        let url = self.repository_url(repository, &path);
        let names = hidden(repository, workflow);
        let plain = json!({"ref": git_ref, "inputs": inputs});
        if !self.names_no_runs.load(Ordering::Relaxed) {
            let mut body = plain.clone();
            body[RUN_DETAILS] = true.into();
            match self.send(self.posting(url.clone(), &body), &names).await {
                Ok(answer) => return Ok(started_run(answer).await),
                // Older GitHub Enterprise servers refuse unknown fields, and start nothing.
                Err(error) if error.is_refusal_about(RUN_DETAILS) => {
                    self.names_no_runs.store(true, Ordering::Relaxed);
                }
                Err(error) => return Err(error),
            }
        }
        self.send(self.posting(url, &plain), &names).await?;
        Ok(None)
    }

    /// The newest runs of a workflow, newest first.
    pub async fn list_runs(
        &self,
        repository: &Repository,
        workflow: &str,
        filter: RunFilter<'_>,
    ) -> Result<Vec<Run>, Error> {
        let what = "workflow runs";
        let path = ["actions", "workflows", workflow, "runs"];
        let mut url = self.repository_url(repository, &path);
        url.query_pairs_mut()
            .append_pair("per_page", &filter.count.to_string());
        let filters = [
            ("status", filter.status),
            ("event", filter.event),
            ("branch", filter.branch),
        ];
        for (name, value) in filters {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        let page = self.page(&url, &hidden(repository, workflow), what).await?;
        Ok(read::<Runs>(&page.body, what)?.workflow_runs)
    }

    /// The newest runs of all workflows of a repository that a dispatch has started: one request,
    /// however many of them are followed.
    pub async fn list_dispatched_runs(&self, repository: &Repository) -> Result<Vec<Run>, Error> {
        let what = "workflow runs";
        let mut url = self.repository_url(repository, &["actions", "runs"]);
        url.query_pairs_mut()
            .append_pair("per_page", "100")
            .append_pair("event", "workflow_dispatch");
        let page = self.page(&url, &repository.names(), what).await?;
        Ok(read::<Runs>(&page.body, what)?.workflow_runs)
    }

    /// One run.
    pub async fn load_run(&self, repository: &Repository, id: u64) -> Result<Run, Error> {
        let what = "a workflow run";
        let url = self.repository_url(repository, &["actions", "runs", &id.to_string()]);
        let page = self.page(&url, &repository.names(), what).await?;
        read(&page.body, what)
    }

    /// Cancels a run. Its last steps may still take minutes.
    pub async fn cancel_run(&self, repository: &Repository, id: u64) -> Result<(), Error> {
        let id = id.to_string();
        let url = self.repository_url(repository, &["actions", "runs", &id, "cancel"]);
        let request = self.request(Method::POST, url);
        self.send(request, &repository.names()).await?;
        Ok(())
    }
}

fn hidden<'a>(repository: &'a Repository, workflow: &'a str) -> [&'a str; 4] {
    let [owner, name] = repository.names();
    let stem = workflow.rsplit_once('.').map_or("", |(stem, _)| stem);
    [owner, name, workflow, stem]
}
