//! Why a request is not carried out.

use jiff::Timestamp;

use super::Change;
use crate::{
    lang::{Lang, Say},
    say,
    task::Identity,
};

/// Nothing has this identity, so there is nothing to withdraw.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub struct NothingThere {
    /// The identity asked about.
    pub identity: Identity,
}

impl Say for NothingThere {
    fn say(&self, lang: Lang) -> String {
        let identity = &self.identity;
        say!(lang, "no task {identity}", "没有任务 {identity}")
    }
}

/// Why a request is not carried out. Nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Refused {
    #[error(transparent)]
    NothingThere(#[from] NothingThere),
    /// It could never be tried.
    Expired {
        /// The time it would have; a past one means now.
        execute_at: Timestamp,
        expires_at: Timestamp,
    },
}

impl Say for Refused {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::NothingThere(it) => it.say(lang),
            Self::Expired {
                execute_at,
                expires_at,
            } => say!(lang;
                "the task would expire at {expires_at}, not after its time {execute_at}, and never run; set a later expires_at, or expires_after_s (0: never)",
                "任务的过期时间 {expires_at} 不晚于执行时间 {execute_at}，因而永远不会运行；请设置更晚的 expires_at，或 expires_after_s（0 表示永不过期）"),
        }
    }
}

impl Change {
    /// A task that would have expired when its time comes is refused: it could never be tried.
    pub(super) fn check_expiry(&self) -> Result<(), Refused> {
        let new = self.insert.as_ref().map(|new| (new.execute_at, new.expiry));
        let amended = self.amend.as_ref().filter(|amend| amend.waits);
        let amended = amended.map(|amend| (amend.execute_at, amend.expiry));
        match new.or(amended) {
            Some((execute_at, expiry)) if expiry.is_over(execute_at) => Err(Refused::Expired {
                execute_at,
                expires_at: expiry.at.unwrap_or(execute_at),
            }),
            _ => Ok(()),
        }
    }
}
