//! Following what a firing handed over, to its end (DP-19).
//!
//! Between two looks the firing's task waits like any other: it holds no slot, any node may take
//! the next look, and a node that dies loses nothing. What was handed over, and how it ended, is in
//! a row of its own (`core::follow`); the ending is written there first, and the task ends as it
//! says, so a report and a look that come to an end at once cannot disagree.

use almanack_core::{
    finish::Outcome,
    follow::{Ended, Ending, Followed, FollowedChange, HandedOver, Seen, Work, decide},
    plan::Firing,
    store,
    target::runs::with_run,
    task::{ClaimedTask, Status, Task},
};
use jiff::SignedDuration;

use super::{DispatchHandler, at_once::Seat};
use crate::wake::later;

/// When a firing is looked at again whose row the store could not give or take.
const TROUBLE_AGAIN: SignedDuration = SignedDuration::from_secs(1);
/// Abandoned firings that are cleared up in one pass.
const ABANDONED_MAX: usize = 100;

impl DispatchHandler {
    /// The outcome of an attempt at a firing whose work was handed over; `None` if none was yet.
    pub(super) async fn follow_handed_over(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
    ) -> Option<Outcome> {
        // Only an earlier claim can have handed something over.
        if task.term.0 <= 1 {
            return None;
        }
        let found = self.store.load_followed(&[task.id]).await;
        let Ok(found) = found else {
            return Some(self.trouble());
        };
        let followed = found.into_iter().next()?;
        let outcome = self.follow(firing, task, followed).await;
        Some(outcome.unwrap_or_else(|_| self.trouble()))
    }

    /// The store does not answer: that is no end, and the window is not about it.
    pub(super) fn trouble(&self) -> Outcome {
        Outcome::NotNow {
            at: later(self.clock.now(), TROUBLE_AGAIN),
            why: "waiting: the store could not be asked about its work",
        }
    }

    /// What was reported before the call was answered counts more than the answer.
    pub(super) async fn or_reported(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        handed_over: HandedOver,
    ) -> HandedOver {
        let HandedOver::Ended(outcome) = handed_over else {
            return handed_over;
        };
        if firing.target.report_within().is_none() {
            return HandedOver::Ended(outcome);
        }
        let Ok(found) = self.store.load_followed(&[task.id]).await else {
            return HandedOver::Unanswered;
        };
        match found.into_iter().next() {
            Some(Followed {
                ending: Some(ending),
                ..
            }) => HandedOver::Ended(ending.outcome()),
            Some(followed) if matches!(outcome, Outcome::Retry { .. }) => {
                HandedOver::Works(followed.work)
            }
            _ => HandedOver::Ended(outcome),
        }
    }

    /// Writes down what was handed over. If that fails the next attempt hands over again, and every
    /// launcher recognises its own.
    pub(super) async fn begin_following(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        work: Work,
    ) -> Outcome {
        let now = self.clock.now();
        let followed = Followed::new(task.id, work, now, firing.run_timeout);
        if self.store.save_followed(&followed).await.is_err() {
            return self.trouble();
        }
        self.followed.note(&followed);
        Outcome::Working {
            at: followed.look_at(now),
            detail: what(&followed),
            on_record: true,
        }
    }

    async fn follow(
        &self,
        firing: &Firing,
        task: &ClaimedTask,
        followed: Followed,
    ) -> store::Result<Outcome> {
        if let Some(ending) = &followed.ending {
            self.followed.forget(&followed);
            return Ok(ending.outcome());
        }
        let seen = match self.launchers.get(firing.target.type_name()) {
            Some(launcher) => launcher.look(firing, task, &followed).await,
            None => Seen::Unseen {
                why: "this node does not support this type of target".to_owned(),
                retry_after: None,
            },
        };
        let (change, look_at) = decide(&followed, seen, self.clock.now());
        let mut after = followed.clone();
        after.work = change.work.clone().unwrap_or(after.work);
        if change.is_needed(&followed) && !self.store.change_followed(task.id, &change).await? {
            // Another node was faster with an ending: that one counts.
            let found = self.store.load_followed(&[task.id]).await?;
            let ending = found.into_iter().next().and_then(|it| it.ending);
            return Ok(ending.map_or_else(|| self.trouble(), |ending| ending.outcome()));
        }
        self.followed.forget(&followed);
        if let Some(ending) = change.ending {
            return Ok(ending.outcome());
        }
        self.followed.note(&after);
        Ok(Outcome::Working {
            at: look_at,
            detail: what(&after),
            on_record: false,
        })
    }

    /// Has the work of firings stopped that were cancelled while it was under way.
    pub(super) async fn withdraw_abandoned(&self) {
        let abandoned = match self.store.load_abandoned(ABANDONED_MAX).await {
            Ok(abandoned) => abandoned,
            Err(error) => {
                tracing::warn!(
                    error = error.chain(),
                    "could not look for the work of cancelled firings; will retry"
                );
                return;
            }
        };
        for followed in abandoned {
            if let Err(why) = self.withdraw(&followed).await {
                let firing = followed.task_id.0;
                tracing::warn!(task.id = firing, why, "could not stop its work; will retry");
            }
        }
    }

    async fn withdraw(&self, followed: &Followed) -> Result<(), String> {
        let now = self.clock.now();
        let row = self.store.load_task(followed.task_id).await;
        let row = row.map_err(|error| error.chain())?;
        let firing = row.as_ref().and_then(|row| Firing::read(&row.payload).ok());
        // Past its time limit it is left alone: what cannot be stopped is not tried for ever.
        if let Some(firing) = firing.as_ref().filter(|_| now < followed.follow_until)
            && let Some(launcher) = self.launchers.get(firing.target.type_name())
        {
            launcher.withdraw(firing, followed).await?;
        }
        let change = FollowedChange {
            ending: Some(Ending::new(Ended::Cancelled, how(row.as_ref()), now)),
            ..FollowedChange::default()
        };
        let changed = self.store.change_followed(followed.task_id, &change).await;
        changed.map_err(|error| error.chain())?;
        if let Some(firing) = &firing
            && let Some(seat) = Seat::of(self, firing, followed.task_id)
        {
            seat.leave().await;
        }
        Ok(())
    }
}

fn how(firing: Option<&Task>) -> &'static str {
    match firing {
        Some(row) if row.status == Status::Cancelled => "its firing was cancelled",
        Some(_) => "its firing ended without it",
        None => "its firing is no longer kept",
    }
}

/// What a firing waits for, for people.
fn what(followed: &Followed) -> String {
    match &followed.work {
        Work::Task { task_id } => format!("waits for task {task_id}"),
        Work::Run { run: None, .. } => "waits until the workflow's run shows".to_owned(),
        Work::Run { run, .. } => with_run("waits for the workflow", *run),
        Work::Report { .. } => "waits for a report".to_owned(),
    }
}
