//! Why a request about a source was not carried out.

use almanack_core::{
    lang::{Lang, Say, Sentence},
    say,
    source::{
        SourceId, check::Failure, filter::BadRule, options::form::Unfit, policy::UnknownPolicy,
    },
    store,
    task::Invalid,
};

use crate::reschedule;

/// Why a request was not carried out.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// There is no such source.
    Unknown {
        /// The number asked for.
        id: SourceId,
    },
    /// A text that would not fit.
    TooLong {
        what: &'static str,
        /// How long it may be.
        limit: usize,
    },
    /// A text that would not survive a line of a list.
    Unprintable { what: &'static str },
    /// Its policy is none.
    #[error(transparent)]
    Policy(#[from] UnknownPolicy),
    /// One of its filters cannot be read.
    Filter(#[from] BadRule),
    /// There is no such entry.
    UnknownEntry { id: i64 },
    /// Its address may not be asked, or its rules cannot be read.
    Unreadable { why: Sentence },
    /// Its address leads nowhere now.
    Unreachable(Failure),
    /// It is paused or has ended, and only resuming it changes that.
    NotActive {
        id: SourceId,
        /// The name of its state.
        state: &'static str,
    },
    /// The configuration file defines it, and the file would win again.
    Managed { id: SourceId },
    /// Its options cannot be stored.
    #[error(transparent)]
    Options(#[from] Unfit),
    /// Another source has this address.
    AddressTaken { other: SourceId },
    /// It changes faster than we can decide.
    Contended { id: SourceId },
    /// Its task could not be put.
    #[error(transparent)]
    Reschedule(#[from] reschedule::Error),
    /// Its number makes no subject.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unknown { id } => say!(lang; "there is no source {id}", "没有信源 {id}"),
            Self::TooLong { what, limit } => say!(lang;
                "{what} must have at most {limit} bytes",
                "{what} 最多 {limit} 字节"),
            Self::Unprintable { what } => say!(lang;
                "{what} must have no control characters",
                "{what} 不能含控制字符"),
            Self::Policy(it) => it.say(lang),
            Self::Filter(it) => {
                let it = it.say(lang);
                say!(lang; "filters: {it}", "filters：{it}")
            }
            Self::UnknownEntry { id } => say!(lang; "there is no entry {id}", "没有条目 {id}"),
            Self::Unreadable { why } => why.say(lang),
            Self::Unreachable(it) => say!(lang; "{}", "{}", it.detail),
            Self::NotActive { id, state } => {
                let chinese = if *state == "paused" {
                    "已暂停"
                } else {
                    "已终止"
                };
                let state = lang.pick(state, chinese);
                say!(lang;
                    "source {id} is {state}, so it is not checked; resume it first",
                    "信源 {id} {state}，不会被检查；请先恢复")
            }
            Self::Managed { id } => say!(lang;
                "source {id} belongs to [[source]] of the configuration file; change it there",
                "信源 {id} 属于配置文件中的 [[source]]；请在那里修改"),
            Self::Options(it) => it.say(lang),
            Self::AddressTaken { other } => say!(lang;
                "source {other} already has this address",
                "信源 {other} 已使用此地址"),
            Self::Contended { id } => say!(lang;
                "source {id} kept changing during this request; try again",
                "在此请求期间，信源 {id} 不断变化；请重试"),
            Self::Reschedule(it) => it.say(lang),
            Self::Invalid(it) => it.say(lang),
            Self::Store(it) => it.to_string(),
        }
    }
}
