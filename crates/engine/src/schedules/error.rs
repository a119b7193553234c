//! Why a request about a schedule was not carried out.

use almanack_core::{
    address::Refusal,
    lang::{Lang, Say, Sentence},
    plan::{Origin, ScheduleName, Unfit},
    say, store,
    task::{Identity, Invalid},
    words,
};

use super::{Expected, NOTE_BYTES_MAX, ROUNDS_MAX};

/// Why a request about a schedule was not carried out. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Error {
    /// There is none of this name.
    Unknown {
        /// The name asked for.
        name: ScheduleName,
    },
    /// It cannot be kept as written.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A call would be refused at every slot.
    Unreachable {
        /// Where the address is: `target.url`.
        path: String,
        refusal: Refusal,
    },
    /// It belongs to a file, and the file would win again.
    Managed { name: ScheduleName, origin: Origin },
    /// It changed since the caller last read it.
    Moved {
        name: ScheduleName,
        expected: Expected,
        found: Expected,
    },
    /// Its newest firing has not ended, and its policy is not to overlap.
    Overlaps {
        name: ScheduleName,
        /// The firing that has not ended.
        running: Identity,
    },
    /// It is not in a state for this.
    NotNow {
        name: ScheduleName,
        state: Words,
        request: Words,
    },
    /// The asked range is empty, too long, or not in the past.
    Range {
        /// What is wrong with it.
        why: Sentence,
    },
    /// Too long, or more than a line.
    Note { bytes: usize },
    /// A firing could not be written down.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// It changes faster than we can decide.
    Contended { name: ScheduleName },
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Unknown { name } => say!(lang; "no schedule `{name}`", "没有日程 `{name}`"),
            Self::Unfit(it) => it.say(lang),
            Self::Unreachable { path, refusal } => {
                let refusal = refusal.say(lang);
                say!(lang;
                    "{path} would never be called: {refusal}",
                    "{path} 永远不会被请求：{refusal}")
            }
            Self::Managed { name, origin } => say!(lang;
                "schedule `{name}` belongs to {}; change it there",
                "日程 `{name}` 属于{}；请在那里修改", owner(*origin, lang)),
            Self::Moved {
                name,
                expected,
                found,
            } => {
                let expected = expected.say(lang);
                let found = found.say(lang);
                say!(lang;
                    "schedule `{name}` is {found}; it was expected to be {expected}",
                    "日程 `{name}` 的状态是 {found}，而预期为 {expected}")
            }
            Self::Overlaps { name, running } => say!(lang;
                "schedule `{name}` still runs {running}",
                "日程 `{name}` 仍在运行 {running}"),
            Self::NotNow {
                name,
                state,
                request,
            } => {
                let (state, request) = (state.say(lang), request.say(lang));
                say!(lang;
                "schedule `{name}` is {state}, so it cannot be {request}",
                "日程 `{name}` 当前{state}，因此不能{request}")
            }
            Self::Range { why } => why.for_reader(lang).0.to_owned(),
            Self::Note { bytes } => say!(lang;
                "a note is one line of at most {NOTE_BYTES_MAX} bytes; this one has {bytes} bytes",
                "备注须为一行，最多 {NOTE_BYTES_MAX} 字节；这里有 {bytes} 字节"),
            Self::Invalid(it) => it.say(lang),
            Self::Contended { name } => say!(lang;
                "schedule `{name}` was changed {ROUNDS_MAX} times by others during this request; try again",
                "在此请求期间，日程 `{name}` 被他人修改了 {ROUNDS_MAX} 次；请重试"),
            Self::Store(it) => it.to_string(),
        }
    }
}

/// A state, or what was requested, as part of a sentence in both languages.
pub(super) type Words = (&'static str, &'static str);

/// Requests that states other than active allow.
pub(super) const REMOVED: Words = ("removed", "移除");
pub(super) const REWOUND: Words = ("rewound", "重置");

/// Where a schedule or a calendar is written.
pub(crate) fn owner(origin: Origin, lang: Lang) -> &'static str {
    words! { lang, origin;
        Origin::File => "the configuration file", "配置文件";
        Origin::Dispatch => "DISPATCH", " DISPATCH";
        Origin::Api => "the API", " API";
    }
}
