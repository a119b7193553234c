//! GitHub as workflows on GitHub Actions see it: from the environment.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use almanack_adapters::github::{API_URL, Github, GithubSettings, Repository, Token};
use almanack_core::time::Clock;

use crate::commands::prelude::*;

/// How long an answer may take. Shorter than a round: the next round asks again.
const TIMEOUT: Duration = Duration::from_secs(8);

/// The environment of a workflow run.
pub(super) struct ActionsEnvironment<'a> {
    environment: &'a BTreeMap<String, String>,
    api_url: String,
}

impl<'a> ActionsEnvironment<'a> {
    pub(super) fn new(environment: &'a BTreeMap<String, String>, api_url: Option<&str>) -> Self {
        let set = environment.get("GITHUB_API_URL").map(String::as_str);
        let api_url = api_url.or(set).unwrap_or(API_URL).to_owned();
        Self {
            environment,
            api_url,
        }
    }

    /// A variable that is not empty.
    pub(super) fn given(&self, name: &str) -> Option<&'a str> {
        let value = self.environment.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// A required variable.
    pub(super) fn needed(&self, name: &str, hint: &str) -> Result<&'a str> {
        let missing = || Failure::usage(format!("{name} is not set")).hint(hint);
        self.given(name).ok_or_else(missing)
    }

    /// The repository the workflow runs in.
    pub(super) fn repository(&self) -> Result<Repository> {
        let hint = "GitHub Actions sets it; elsewhere, set it to owner/name of the repository with the chains";
        let text = self.needed("GITHUB_REPOSITORY", hint)?;
        Repository::parse(text).ok_or_else(|| {
            Failure::usage("GITHUB_REPOSITORY is not of the form owner/name").hint(hint)
        })
    }

    /// The token of the repository itself.
    pub(super) fn own_token(&self) -> Result<&'a str> {
        self.needed("GH_TOKEN", "in the workflow: GH_TOKEN: ${{ github.token }}")
    }

    /// A client on behalf of `token`.
    pub(super) fn client(&self, clock: &Arc<dyn Clock>, token: &str) -> Result<Arc<Github>> {
        let settings = GithubSettings {
            base_url: self.api_url.clone(),
            token: Token::new(token),
            timeout: TIMEOUT,
        };
        let http = wiring::client_of(&self.api_url)?;
        let client = Github::new(http, Arc::clone(clock), &settings);
        let client = client.map_err(Failure::usage)?;
        Ok(Arc::new(client))
    }
}
