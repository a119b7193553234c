//! Whether a token is accepted, and what it may do: a check before the first edition.

use reqwest::Method;
use serde::Deserialize;

use super::{Github, Repository, error::Error};

/// What a token may do with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Write,
    Read,
    /// It may read, and GitHub does not say more.
    Unsaid,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Shown {
    permissions: Option<Permissions>,
}

#[derive(Deserialize)]
struct Permissions {
    push: bool,
}

impl Github {
    /// Asks for a repository. Costs one request and changes nothing.
    pub async fn access(&self, repository: &Repository) -> Result<Access, Error> {
        let url = self.repository_url(repository, &[]);
        let request = self.request(Method::GET, url);
        let names = repository.names();
        let shown: Shown = self.fetch(request, &names, "a repository").await?;
        Ok(match shown.permissions {
            Some(Permissions { push: true }) => Access::Write,
            Some(Permissions { push: false }) => Access::Read,
            None => Access::Unsaid,
        })
    }

    /// Whether the token is accepted at all. Costs nothing of its limit.
    pub async fn check_token(&self) -> Result<(), Error> {
        let url = self.url(["rate_limit"].into_iter());
        self.send(self.request(Method::GET, url), &[]).await?;
        Ok(())
    }
}
