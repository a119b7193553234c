//! Reports about the work of firings, from whoever was called (DP-19).
//!
//! One conditional write decides: a report counts while the firing is live and its work has not
//! ended. So of two reports of the end that arrive at two nodes one counts, and one that comes
//! after the time limit, after the end or after a cancellation changes nothing and is refused.

use std::sync::Arc;

use almanack_core::{
    follow::{Ended, Ending, Followed, InvalidReport, Report, Stage, Work},
    lang::{Lang, Say},
    plan::{DISPATCH, Firing},
    run_log::RunLogs,
    say,
    store::{self, RunId, Store},
    task::{Task, TaskId, Term},
    time::{Clock, Sleeper},
};
use jiff::Timestamp;

use crate::dispatch::wake_firing;

/// Why a report was refused. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// No such firing, or none that waits for a report.
    NotExpected(TaskId),
    /// Its work has ended.
    Ended { firing: TaskId, ending: Ending },
    /// It was cancelled.
    Cancelled(TaskId),
    /// The report itself.
    #[error(transparent)]
    Invalid(#[from] InvalidReport),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::NotExpected(it) => say!(lang;
                "firing {it} expects no report",
                "触发 {it} 不需要报告"),
            Self::Ended { firing, ending } => say!(lang;
                "firing {firing} ended at {}: {}",
                "触发 {firing} 已于 {} 结束：{}", ending.ended_at, ending.detail),
            Self::Cancelled(it) => say!(lang; "firing {it} was cancelled", "触发 {it} 已被取消"),
            Self::Invalid(it) => it.say(lang),
            Self::Store(it) => it.to_string(),
        }
    }
}

/// Takes reports.
#[derive(Clone)]
pub struct Reports {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub sleeper: Arc<dyn Sleeper>,
    pub logs: Arc<dyn RunLogs>,
}

impl Reports {
    /// Takes a report about a firing; the caller has checked its signature. Answers when the next
    /// one is expected at the latest, or `None` after the last.
    pub async fn take(
        &self,
        firing: TaskId,
        stage: Stage,
        report: &Report,
    ) -> Result<Option<Timestamp>, Error> {
        let change = report.change(stage, self.clock.now())?;
        let found = self.store.load_followed(&[firing]).await?.pop();
        let followed = match found {
            Some(found) => Some(found),
            None => self.expect(firing).await?,
        };
        let followed = followed.filter(|it| matches!(it.work, Work::Report { .. }));
        let mut followed = followed.ok_or(Error::NotExpected(firing))?;
        if !self.store.change_followed(firing, &change).await? {
            return Err(self.why_refused(firing).await?);
        }
        if let Some(text) = &report.text {
            self.log(firing, text).await?;
        }
        if change.ending.is_some() {
            let (store, clock) = (self.store.as_ref(), self.clock.as_ref());
            wake_firing(store, clock, self.sleeper.as_ref(), firing).await;
            return Ok(None);
        }
        followed.heard_at = change.heard_at;
        Ok(Some(followed.expected_until()))
    }

    /// Quick work reports before its firing has noted that the call was accepted: then this notes it.
    async fn expect(&self, firing: TaskId) -> store::Result<Option<Followed>> {
        let row = self.store.load_task(firing).await?;
        let is_called = |row: &Task| {
            row.is_live() && row.term > Term(0) && row.identity.kind.as_str() == DISPATCH
        };
        let called = row.filter(is_called);
        let Some(read) = called.and_then(|row| Firing::read(&row.payload).ok()) else {
            return Ok(None);
        };
        let Some(within) = read.target.report_within() else {
            return Ok(None);
        };
        let within_s = within.as_secs();
        let work = Work::Report { within_s };
        let followed = Followed::new(firing, work, self.clock.now(), read.run_timeout);
        self.store.save_followed(&followed).await?;
        Ok(Some(followed))
    }

    /// Adds a report to the log of the attempt that made the call, which holds the answer to it.
    async fn log(&self, task_id: TaskId, text: &str) -> store::Result<()> {
        let logged = self.store.load_run_log_extents(task_id).await?;
        let term = logged.iter().map(|extent| extent.term).max();
        let term = term.unwrap_or(Term(1));
        self.logs.report(RunId { task_id, term }, text).await;
        Ok(())
    }

    async fn why_refused(&self, firing: TaskId) -> store::Result<Error> {
        let followed = self.store.load_followed(&[firing]).await?.pop();
        Ok(match followed.and_then(|followed| followed.ending) {
            Some(ending) if ending.ended != Ended::Cancelled => Error::Ended { firing, ending },
            _ => Error::Cancelled(firing),
        })
    }
}
