//! The initial state: tokens, repositories and workflows.
//!
//! The same structs serve tests, the file that `almanack world github` reads, and the control API.

use serde::{Deserialize, Serialize};

/// Requests an hour that GitHub grants a workflow's own token, per repository.
pub const REQUESTS_PER_HOUR: u32 = 1_000;
/// The branch a repository starts from where none is named.
const MAIN: &str = "main";

/// Everything that exists at the start.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    pub tokens: Vec<Token>,
    /// The repositories.
    pub repositories: Vec<Repository>,
}

/// A token's permission in one area of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    None,
    Read,
    /// May read and write.
    Write,
}

/// A token.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Its name in counts and dispatches; not secret.
    pub name: String,
    /// The secret that the client sends.
    pub secret: String,
    /// `owner/name` of the repositories it can see; the others do not exist for it.
    pub repositories: Vec<String>,
    /// Permission for refs and files.
    #[serde(default = "write")]
    pub contents: Permission,
    /// Permission for workflows and runs.
    #[serde(default = "write")]
    pub actions: Permission,
    /// Size of its window of one hour.
    #[serde(default = "requests_per_hour")]
    pub requests_per_hour: u32,
    /// Whose window it uses up: tokens of one name here share one, as the tokens of all runs in one
    /// repository do. Without it, the token has a separate window.
    #[serde(default)]
    pub shares_window: Option<String>,
}

impl Token {
    /// A token that may do everything in these repositories, as often as a workflow's own may.
    pub fn new(name: &str, secret: &str, repositories: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            secret: secret.to_owned(),
            repositories: repositories.iter().map(|&name| name.to_owned()).collect(),
            contents: write(),
            actions: write(),
            requests_per_hour: requests_per_hour(),
            shares_window: None,
        }
    }

    /// The name of the window it uses up.
    pub(super) fn window(&self) -> &str {
        self.shares_window.as_deref().unwrap_or(&self.name)
    }

    /// Whether the repository exists for it. GitHub's names ignore case.
    pub(super) fn sees(&self, owner: &str, name: &str) -> bool {
        let wanted = format!("{owner}/{name}");
        let mut seen = self.repositories.iter();
        seen.any(|seen| seen.eq_ignore_ascii_case(&wanted))
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("name", &self.name)
            .field("repositories", &self.repositories)
            .field("contents", &self.contents)
            .field("actions", &self.actions)
            .field("requests_per_hour", &self.requests_per_hour)
            .finish_non_exhaustive()
    }
}

/// A repository to create.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repository {
    pub owner: String,
    /// What it is called.
    pub name: String,
    /// Its branches, all at one first commit; the first is the default branch.
    #[serde(default = "main_only")]
    pub branches: Vec<String>,
    /// Its workflows.
    #[serde(default)]
    pub workflows: Vec<Workflow>,
}

impl Repository {
    /// A repository with the branch `main`.
    pub fn new(owner: &str, name: &str, workflows: Vec<Workflow>) -> Self {
        Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            branches: main_only(),
            workflows,
        }
    }
}

/// A file under `.github/workflows/`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Its file name: `tick-a.yml`.
    pub file: String,
    /// Whether it has the trigger `workflow_dispatch`.
    #[serde(default = "yes")]
    pub dispatchable: bool,
    /// The inputs it declares.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Whether a new run cancels those that have not ended, as `cancel-in-progress` does.
    #[serde(default)]
    pub cancel_in_progress: bool,
    /// How many seconds its runs wait for a runner and then take, if no test runs them.
    #[serde(default)]
    pub takes_s: Option<[u32; 2]>,
    /// Whether those runs fail.
    #[serde(default)]
    pub fails: bool,
}

impl Workflow {
    /// A workflow that can be dispatched, without inputs.
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            dispatchable: true,
            inputs: Vec::new(),
            cancel_in_progress: false,
            takes_s: None,
            fails: false,
        }
    }

    /// The same workflow, whose runs are queued for so many seconds and then take so many.
    #[must_use]
    pub fn taking(mut self, queued_s: u32, runs_s: u32) -> Self {
        self.takes_s = Some([queued_s, runs_s]);
        self
    }

    /// The same workflow with these optional inputs.
    #[must_use]
    pub fn with_inputs(mut self, names: &[&str]) -> Self {
        self.inputs = names.iter().map(|&name| Input::optional(name)).collect();
        self
    }
}

/// An input of a workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    pub name: String,
    /// Whether a dispatch without it is refused.
    #[serde(default)]
    pub required: bool,
}

impl Input {
    /// An input that may be left out.
    pub fn optional(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            required: false,
        }
    }
}

fn write() -> Permission {
    Permission::Write
}

fn requests_per_hour() -> u32 {
    REQUESTS_PER_HOUR
}

fn main_only() -> Vec<String> {
    vec![MAIN.to_owned()]
}

fn yes() -> bool {
    true
}
