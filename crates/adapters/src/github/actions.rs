//! Workflows: starting one, and seeing which runs there are.

use std::collections::BTreeMap;

use jiff::Timestamp;
use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{Error, Github, Repository};

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
}

impl Github {
    /// Starts a workflow by `workflow_dispatch`. GitHub answers before anything runs. After an error
    /// that [may have taken effect](Error::may_have_taken_effect) the workflow may run all the same.
    pub async fn dispatch(
        &self,
        repository: &Repository,
        workflow: &str,
        git_ref: &str,
        inputs: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        #[derive(Serialize)]
        struct Body<'a> {
            r#ref: &'a str,
            inputs: &'a BTreeMap<String, String>,
        }
        let path = ["actions", "workflows", workflow, "dispatches"];
        let url = self.repository_url(repository, &path);
        let body = Body {
            r#ref: git_ref,
            inputs,
        };
        let request = self.request(Method::POST, url).json(&body);
        self.send(request, &hidden(repository, workflow)).await?;
        Ok(())
    }

    /// The newest runs of a workflow, newest first: at most `count` (GitHub gives up to 100), only
    /// those with `status` if one is named.
    pub async fn list_runs(
        &self,
        repository: &Repository,
        workflow: &str,
        status: Option<&str>,
        count: u8,
    ) -> Result<Vec<Run>, Error> {
        #[derive(Deserialize)]
        struct Runs {
            workflow_runs: Vec<Run>,
        }
        let what = "workflow runs";
        let path = ["actions", "workflows", workflow, "runs"];
        let mut url = self.repository_url(repository, &path);
        url.query_pairs_mut()
            .append_pair("per_page", &count.to_string());
        if let Some(status) = status {
            url.query_pairs_mut().append_pair("status", status);
        }
        let page = self.page(&url, &hidden(repository, workflow), what).await?;
        let runs = serde_json::from_slice::<Runs>(&page.body);
        let runs = runs.map_err(|_| Error::Unreadable { what })?;
        Ok(runs.workflow_runs)
    }
}

fn hidden<'a>(repository: &'a Repository, workflow: &'a str) -> [&'a str; 4] {
    let [owner, name] = repository.names();
    let stem = workflow.rsplit_once('.').map_or("", |(stem, _)| stem);
    [owner, name, workflow, stem]
}
