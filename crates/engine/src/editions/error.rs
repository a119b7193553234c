//! Why a request about an edition was not carried out.

use crate::reschedule;
use almanack_core::{
    edition::{EditionId, port::BadTemplate, turn::NotNow},
    lang::{Lang, Say},
    say, store,
    task::Invalid,
};

/// Why a request was not carried out. Nothing changed, unless it says otherwise.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// There is no such edition.
    Unknown(EditionId),
    /// Its day has not come.
    Future {
        /// The edition asked for.
        id: EditionId,
        today: EditionId,
    },
    /// Before there were any.
    TooEarly(EditionId),
    /// It cannot be done to the edition as it is.
    #[error(transparent)]
    NotNow(#[from] NotNow),
    /// It has no document yet, or none of this revision.
    NoDocument(EditionId, Option<u32>),
    /// The template cannot be filled.
    Template(#[from] BadTemplate),
    /// It changes faster than we can decide. Part of the request may have taken effect.
    Contended(EditionId),
    /// The task that builds it was refused.
    NotQueued(#[from] reschedule::Error),
    /// The task that builds it has no name.
    Unnamed(#[from] Invalid),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unknown(it) => say!(lang; "there is no edition of {it}", "没有 {it} 的日报"),
            Self::Future { id, today } => say!(lang;
                "{id} is in the future; today's edition is {today}",
                "{id} 在将来；今天的日报是 {today}"),
            Self::TooEarly(it) => say!(lang;
                "{it} is before 1970: there is no edition of such a day",
                "{it} 早于 1970 年：没有这一天的日报"),
            Self::NotNow(it) => it.say(lang),
            Self::NoDocument(it, None) => say!(lang;
                "the edition of {it} has no document yet",
                "{it} 的日报还没有文档"),
            Self::NoDocument(it, Some(revision)) => say!(lang;
                "the edition of {it} has no revision {revision}",
                "{it} 的日报没有修订版 {revision}"),
            Self::Template(it) => say!(lang;
                "cannot render the template: {it}",
                "无法渲染模板：{it}"),
            Self::Contended(it) => say!(lang;
                "the edition of {it} kept changing during this request; try again",
                "在此请求期间，{it} 的日报不断变化；请重试"),
            Self::NotQueued(_) => say!(lang; "could not queue the edition", "无法将日报加入队列"),
            Self::Unnamed(_) => say!(lang;
                "the edition's task has an invalid name",
                "日报的任务名称无效"),
            Self::Store(it) => it.to_string(),
        }
    }
}

impl Error {
    /// Whether the same call can succeed later without anyone changing anything.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Store(error) => error.is_transient(),
            Self::Contended(_) => true,
            _ => false,
        }
    }

    /// Whether a row of the edition cannot be read; others are as they were.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_unreadable())
    }

    /// The error and all its causes in one line, for a log.
    pub fn chain(&self) -> String {
        store::chain(self)
    }
}
