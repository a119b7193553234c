//! The hand that a test lays on the server: set it up, disturb it, look at what happened.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::mpsc;

use super::{
    fault::Rule,
    journal::{Count, Seen},
    limit::{Account, Resource},
    refusal::Refusal,
    service::Service,
    setup::{Repository, Token},
    state::{
        actions::Dispatch,
        contents::Found,
        run::{Conclusion, Run, RunEvent, RunFilter, Status},
    },
};

/// Reaches into a running server from the same process.
#[derive(Clone)]
pub struct Handle(pub(super) Arc<Service>);

/// Names the server only; what is inside changes while one looks.
impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Handle").field(&self.0.base_url).finish()
    }
}

impl Handle {
    /// Adds a token, or replaces the one of that name.
    pub fn add_token(&self, token: Token) {
        self.0.lock().github.add_token(token);
    }

    /// Adds a repository, or replaces the one of that name.
    pub fn add_repository(&self, repository: Repository) {
        let now = self.0.now();
        self.0.lock().github.add_repository(repository, now);
    }

    /// Lays down a fault.
    pub fn add_fault(&self, rule: Rule) {
        self.0.lock().faults.add(rule);
    }

    /// The faults still in force.
    pub fn faults(&self) -> Vec<Rule> {
        self.0.lock().faults.rules()
    }

    /// Lifts all faults.
    pub fn clear_faults(&self) {
        self.0.lock().faults.clear();
    }

    /// Leaves a token, and those it shares with, just so many requests in the present window.
    pub fn leave_requests(
        &self,
        token: &str,
        resource: Resource,
        remaining: u32,
    ) -> Result<(), Refusal> {
        let now = self.0.now();
        let mut inside = self.0.lock();
        let inside = &mut *inside;
        let token = inside.github.token_named(token).ok_or(Refusal::NotFound)?;
        let account = Account {
            name: token.window(),
            limit: token.requests_per_hour,
            resource,
        };
        inside.limits.leave(account, remaining, now);
        Ok(())
    }

    /// The newest requests, oldest first.
    pub fn requests(&self) -> Vec<Seen> {
        self.0.lock().journal.newest()
    }

    /// All requests, counted by token, route, status and whether they count against the limit.
    pub fn counts(&self) -> Vec<Count> {
        self.0.lock().journal.counts()
    }

    /// How many requests of a token count against its limit, over all windows.
    pub fn charged(&self, token: &str) -> u64 {
        let counts = self.counts();
        let own = counts.iter().filter(|it| it.charged && it.token == token);
        own.map(|count| count.requests).sum()
    }

    /// All dispatches, in order of arrival.
    pub fn dispatches(&self) -> Vec<Dispatch> {
        self.0.lock().github.dispatches().to_vec()
    }

    /// All references, full name to commit; none for a repository that does not exist.
    pub fn refs(&self, owner: &str, name: &str) -> BTreeMap<String, String> {
        let mut inside = self.0.lock();
        let Some(repository) = inside.github.repository(owner, name) else {
            return BTreeMap::new();
        };
        let refs = repository.matching_refs("refs/");
        refs.map(|(name, sha)| (name.to_owned(), sha.to_string()))
            .collect()
    }

    /// What a file on a branch says.
    pub fn file(&self, owner: &str, name: &str, branch: &str, path: &str) -> Option<Vec<u8>> {
        let mut inside = self.0.lock();
        let repository = inside.github.repository(owner, name)?;
        match repository.read(path, Some(branch)) {
            Ok(Found::File { content, .. }) => Some(content.to_vec()),
            _ => None,
        }
    }

    /// All runs, newest first.
    pub fn runs(&self, owner: &str, name: &str) -> Vec<Run> {
        let mut inside = self.0.lock();
        let repository = inside.github.repository(owner, name);
        let runs = repository.and_then(|held| held.runs(&RunFilter::default()).ok());
        runs.unwrap_or_default().into_iter().cloned().collect()
    }

    /// Queues a run that nobody dispatched, as a push would.
    pub fn start_run(&self, owner: &str, name: &str, workflow: &str) -> Result<Run, Refusal> {
        let now = self.0.now();
        let run = {
            let mut inside = self.0.lock();
            let run = inside.github.start_run((owner, name), workflow, now)?;
            inside.tell_runners(&[RunEvent::Queued(run.clone())]);
            run
        };
        self.0.changed();
        Ok(run)
    }

    /// A runner took the run.
    pub fn begin_run(&self, id: u64) -> Result<Run, Refusal> {
        self.set_run(id, Status::InProgress, None)
    }

    /// The run has ended.
    pub fn finish_run(&self, id: u64, conclusion: Conclusion) -> Result<Run, Refusal> {
        self.set_run(id, Status::Completed, Some(conclusion))
    }

    /// Says how far a run has come.
    pub fn set_run(
        &self,
        id: u64,
        status: Status,
        conclusion: Option<Conclusion>,
    ) -> Result<Run, Refusal> {
        let now = self.0.now();
        let run = self.0.lock().github.set_run(id, status, conclusion, now)?;
        self.0.changed();
        Ok(run)
    }

    /// Be the runner: told of every run queued or cancelled from now on, and of each exactly once.
    pub fn runner(&self) -> mpsc::UnboundedReceiver<RunEvent> {
        self.0.lock().add_runner()
    }

    /// Waits until something is true of the server; asks again after every answer it gives.
    pub async fn until(&self, wanted: impl Fn(&Self) -> bool) {
        let mut changes = self.0.changes.subscribe();
        while !wanted(self) {
            // The sender lives as long as this handle.
            let _ = changes.changed().await;
        }
    }
}
