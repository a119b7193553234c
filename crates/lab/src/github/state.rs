//! What GitHub holds, without HTTP: repositories, refs, files, workflows and runs.
//!
//! Every method decides and changes in one step, takes the time as an argument and returns a value
//! or a [`Refusal`]. With exclusive access to the state, each request happens before or after every
//! other, never in between: that is what makes creating a ref a lock.
//!
//! - `git`: references, tags and files;
//! - [`run`]: workflows, dispatches, and their runs.

pub(super) mod git;
pub mod run;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use tokio::sync::mpsc;

use self::{
    git::{Tree, object_id},
    run::{Dispatch, Run, RunEvent},
};
use super::{
    limit::Limits,
    refusal::Refusal,
    setup::{Permission, Repository, Setup, Token, Workflow},
};

/// Which permission an endpoint needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Refs and files, to read.
    ReadContents,
    /// Refs and files, to write.
    WriteContents,
    /// Workflows and runs, to read.
    ReadActions,
    /// Workflows and runs, to write.
    WriteActions,
}

impl Need {
    /// As in `x-accepted-github-permissions`, and whether the token has it.
    fn check(self, token: &Token) -> (&'static str, bool) {
        use Permission::{Read, Write};
        match self {
            Self::ReadContents => ("contents=read", token.contents >= Read),
            Self::WriteContents => ("contents=write", token.contents >= Write),
            Self::ReadActions => ("actions=read", token.actions >= Read),
            Self::WriteActions => ("actions=write", token.actions >= Write),
        }
    }
}

/// GitHub, its limits, and the runners.
#[derive(Debug, Default)]
pub struct GitHub {
    pub(super) limits: Limits,
    /// Requests that arrived, for their ids.
    pub(super) arrived: u64,
    pub(super) runners: Vec<mpsc::UnboundedSender<RunEvent>>,
    tokens: Vec<Token>,
    /// By lower-case `owner/name`: GitHub's names ignore case.
    repositories: BTreeMap<String, Hosted>,
    /// In order of arrival, over all repositories.
    pub(super) dispatches: Vec<Dispatch>,
    runs_made: u64,
}

/// A repository as GitHub holds it.
#[derive(Debug)]
pub struct Hosted {
    pub id: u64,
    pub owner: String,
    /// What it is called.
    pub name: String,
    /// The default branch.
    pub default_branch: String,
    /// Full name to commit: `refs/heads/main`.
    pub(super) refs: BTreeMap<String, String>,
    commits: BTreeMap<String, Tree>,
    tags: BTreeSet<String>,
    workflows: Vec<Workflow>,
    pub(super) runs: Vec<Run>,
}

impl GitHub {
    /// What the setup names.
    pub fn new(setup: Setup, now: Timestamp) -> Self {
        let mut github = Self::default();
        for token in setup.tokens {
            github.add_token(token);
        }
        for repository in setup.repositories {
            github.add_repository(repository, now);
        }
        github
    }

    /// Adds a token, or replaces the one of that name.
    pub fn add_token(&mut self, token: Token) {
        self.tokens.retain(|known| known.name != token.name);
        self.tokens.push(token);
    }

    /// Adds a repository with one first commit, or replaces the one of that name.
    pub fn add_repository(&mut self, repository: Repository, now: Timestamp) {
        let taken = self.repositories.values().map(|held| held.id).max();
        let id = 1 + taken.unwrap_or(0);
        let key = key(&repository.owner, &repository.name);
        self.repositories
            .insert(key, Hosted::new(repository, id, now));
    }

    /// The token with this secret. An empty secret matches none.
    pub fn token(&self, secret: &str) -> Option<&Token> {
        let mut tokens = self.tokens.iter().filter(|_| !secret.is_empty());
        tokens.find(|token| token.secret == secret)
    }

    /// The token with this name.
    pub fn token_named(&self, name: &str) -> Option<&Token> {
        self.tokens.iter().find(|token| token.name == name)
    }

    /// The repository, if the caller may do this there.
    pub fn open(
        &mut self,
        caller: Option<&Token>,
        (owner, name): (&str, &str),
        need: Need,
    ) -> Result<&mut Hosted, Refusal> {
        let token = caller
            .filter(|token| token.sees(owner, name))
            .ok_or(Refusal::NOT_FOUND)?;
        let repository = self.repository(owner, name).ok_or(Refusal::NOT_FOUND)?;
        match need.check(token) {
            (_, true) => Ok(repository),
            (needed, false) => Err(Refusal::not_accessible(needed)),
        }
    }

    /// The repository, without checking a token.
    pub fn repository(&mut self, owner: &str, name: &str) -> Option<&mut Hosted> {
        self.repositories.get_mut(&key(owner, name))
    }

    /// Owner and name of the repository with this number.
    pub fn place_of(&self, id: u64) -> Option<(String, String)> {
        let found = self.repositories.values().find(|held| held.id == id)?;
        Some((found.owner.clone(), found.name.clone()))
    }
}

impl Hosted {
    fn new(repository: Repository, id: u64, now: Timestamp) -> Self {
        let sha = object_id("commit", format!("at {now}\n\nInitial commit").as_bytes());
        let at_first = |branch: &String| (format!("refs/heads/{branch}"), sha.clone());
        let default_branch = repository.branches.first().cloned();
        Self {
            id,
            owner: repository.owner,
            name: repository.name,
            default_branch: default_branch.unwrap_or_else(|| "main".to_owned()),
            refs: repository.branches.iter().map(at_first).collect(),
            commits: BTreeMap::from([(sha, Tree::new())]),
            tags: BTreeSet::new(),
            workflows: repository.workflows,
            runs: Vec::new(),
        }
    }

    /// `owner/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }
}

fn key(owner: &str, name: &str) -> String {
    format!("{owner}/{name}").to_ascii_lowercase()
}
