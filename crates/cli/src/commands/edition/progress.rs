//! The progress of a run: a bar on a terminal, a line per step elsewhere.
//!
//! The observer only records; the command that runs the edition prints, so that all output goes one
//! way.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        forecast::forecast,
        plan::{Action, Waiting},
        rules::Rules,
    },
    time::Clock,
};
use almanack_engine::editions::Observer;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(super) struct Onlooker {
    clock: Arc<dyn Clock>,
    rules: Rules,
    seen: Mutex<Option<Snapshot>>,
    lines: UnboundedSender<String>,
    stopping: AtomicBool,
}

/// What was last seen.
struct Snapshot {
    account: Account,
    doing: String,
    budget: Option<Arc<Budget>>,
    /// Requests of the steps before.
    spent: u32,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) done: u64,
    pub(super) total: u64,
    /// Everything else, in words.
    pub(super) words: String,
}

impl Onlooker {
    /// Nothing was seen yet. What it says comes out of the receiver.
    pub(super) fn new(clock: Arc<dyn Clock>, rules: &Rules) -> (Self, UnboundedReceiver<String>) {
        let (lines, hear) = unbounded_channel();
        let watch = Self {
            clock,
            // A run does not wait for ticks.
            rules: Rules {
                chain: true,
                ..rules.clone()
            },
            seen: Mutex::new(None),
            lines,
            stopping: AtomicBool::new(false),
        };
        (watch, hear)
    }

    /// Ends the run after the present step.
    pub(super) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// How far it is.
    pub(super) fn progress(&self) -> Option<Progress> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.as_ref()?;
        let counts = seen.account.counts();
        let plan = forecast(&seen.account, &self.rules, None, self.clock.now());
        let now = seen.budget.as_ref().map_or(0, |budget| budget.spent());
        let finish = plan
            .finish_at
            .map(|at| format!(", done about {}", at.strftime("%H:%M:%SZ")));
        let words = format!(
            "{} ({}/{} batches), {now}/{} requests, {} in all{}",
            seen.doing,
            plan.batches_done,
            plan.batches_planned,
            self.rules.budget,
            seen.spent.saturating_add(now),
            finish.unwrap_or_default()
        );
        Some(Progress {
            done: u64::from(counts.completed + counts.failed),
            total: u64::from(counts.total),
            words,
        })
    }
}

impl Observer for Onlooker {
    fn began(&self, account: &Account, action: &Action, budget: &Arc<Budget>) {
        let doing = words(account, action);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen.as_ref().map_or(0, |seen| seen.spent);
        *seen = Some(Snapshot {
            account: account.clone(),
            doing: doing.clone(),
            budget: Some(Arc::clone(budget)),
            spent: before,
        });
        // A receiver that is gone needs no more.
        let _ = self.lines.send(doing);
    }

    fn ended(&self, account: &Account) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let last = seen.get_or_insert_with(|| Snapshot {
            account: account.clone(),
            doing: String::new(),
            budget: None,
            spent: 0,
        });
        let paid = last.budget.take().map_or(0, |budget| budget.spent());
        last.spent = last.spent.saturating_add(paid);
        last.account = account.clone();
    }

    fn waits(&self, waiting: &Waiting) {
        let doing = format!("waiting: {waiting}");
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // A line per reason to wait, not per poll.
        if let Some(seen) = seen.as_mut()
            && seen.doing != doing
        {
            seen.doing.clone_from(&doing);
            let _ = self.lines.send(doing);
        }
    }

    fn goes_on(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed)
    }
}

/// What an action does, in words.
fn words(account: &Account, action: &Action) -> String {
    match action {
        Action::Reopen => "reopening the edition".to_owned(),
        Action::Fetch => "fetching the stories".to_owned(),
        Action::Recover => "recovering the stories of an interrupted batch".to_owned(),
        Action::PutBack(keys) => format!("retrying {} failed stories", keys.len()),
        Action::Process(keys) => {
            let index = account.batches.last().map_or(0, |batch| batch.index) + 1;
            format!("batch {index}: {} stories", keys.len())
        }
        Action::Wave(batches) => {
            let stories: usize = batches.iter().map(Vec::len).sum();
            format!("{} batches at once: {stories} stories", batches.len())
        }
        Action::Improve(keys) => format!("improving {} stories", keys.len()),
        Action::Judge => "checking its quality".to_owned(),
        Action::Aggregate => "rendering the edition".to_owned(),
        Action::GiveUp => "giving up: no story was completed".to_owned(),
        Action::Deliver(due) => {
            let mut to: Vec<&str> = due.iter().map(|due| due.destination.as_str()).collect();
            to.dedup();
            format!("delivering to {}", to.join(", "))
        }
        Action::EndHold => "nobody answered in time".to_owned(),
        Action::Publish => "published".to_owned(),
        Action::Wait(_) | Action::Rest(_) => "waiting".to_owned(),
    }
}
