//! Why a request was not carried out.

use almanack_core::{
    address::Refusal,
    lang::{Lang, Say},
    reschedule::{NothingThere, Refused},
    say, store,
    task::{Identity, Kind},
};

use super::ROUNDS_MAX;

/// Why a request was not carried out. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// There is nothing to withdraw or to retry.
    #[error(transparent)]
    NothingThere(#[from] NothingThere),
    /// It would have expired when its time comes.
    Expired(Refused),
    /// No URL to call is known.
    UnknownKind {
        /// The kind asked for.
        kind: Kind,
        /// The kinds that are configured.
        known: Vec<Kind>,
    },
    /// Of a kind that belongs to the engine ([`almanack_core::reserved`]).
    Reserved {
        /// The kind asked for.
        kind: Kind,
    },
    /// A claim looks at every kind that waits, so their number is bounded.
    TooManyKinds {
        /// The kind asked for.
        kind: Kind,
        /// How many may wait.
        limit: usize,
    },
    /// The call would be refused whenever it is made.
    Callback(Refusal),
    /// Workers take tasks of this kind.
    Pulled {
        /// The kind asked for.
        kind: Kind,
    },
    /// The identity changes faster than we can decide.
    Contended {
        /// The identity asked about.
        identity: Identity,
    },
    /// The same `Idempotency-Key` came with a different request.
    KeyReused,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::NothingThere(it) => it.say(lang),
            Self::Expired(it) => {
                let it = it.say(lang);
                say!(lang; "{it}", "{it}")
            }
            Self::UnknownKind { kind, .. } => say!(lang;
                "kind `{kind}` is not configured and the task has no callback.url",
                "类型 `{kind}` 未配置，任务也没有 callback.url"),
            Self::Reserved { kind } => say!(lang;
                "only Almanack creates and changes tasks of kind `{kind}`; you can cancel an existing DISPATCH, EVENT_DELIVERY, EDITION_RUN or EDITION_MAIL task (without a revision), or retry a failed one",
                "`{kind}` 类任务只能由 Almanack 创建和更改；您可以取消已有的 DISPATCH、EVENT_DELIVERY、EDITION_RUN 或 EDITION_MAIL 任务（不带 revision），或重试失败的任务"),
            Self::TooManyKinds { kind, limit } => say!(lang;
                "tasks of {limit} unconfigured kinds already wait, the most allowed, and `{kind}` would be one more; put what makes tasks differ into the subject, configure the kind, or raise limits.kinds",
                "已有 {limit} 个未配置类型的任务在等待，达到上限，`{kind}` 会再多一个；请把区分任务的内容放入主体，或配置该类型，或提高 limits.kinds"),
            Self::Callback(it) => {
                let it = it.say(lang);
                say!(lang;
                    "callback.url would never be called: {it}",
                    "callback.url 永远不会被请求：{it}")
            }
            Self::Pulled { kind } => say!(lang;
                "callback.url would never be called: workers take tasks of kind `{kind}` (kinds.{kind}.deliver = \"pull\"); leave it out",
                "callback.url 永远不会被请求：`{kind}` 类任务由工作者领取（kinds.{kind}.deliver = \"pull\"）；请去掉它"),
            Self::Contended { identity } => say!(lang;
                "{identity} was changed {ROUNDS_MAX} times by others during this request; try again",
                "在此请求期间，{identity} 被他人修改了 {ROUNDS_MAX} 次；请重试"),
            Self::KeyReused => say!(lang;
                "this Idempotency-Key was used for a different request",
                "此 Idempotency-Key 已用于另一个请求"),
            Self::Store(it) => it.to_string(),
        }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::NothingThere(nothing) => Self::NothingThere(nothing),
            expired @ Refused::Expired { .. } => Self::Expired(expired),
        }
    }
}
