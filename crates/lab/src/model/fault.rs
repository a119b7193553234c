//! How the model misbehaves on demand.
//!
//! Some effects spoil the answer's content, some the answer around it, some the connection. Those
//! that spoil an array do not affect a summary, which has none.

use serde::{Deserialize, Serialize};

use super::task::{Kind, Task};
use crate::rule;
pub use crate::rule::When;

/// The requests a rule matches; an omitted field matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Matching {
    /// Only this kind of work.
    pub kind: Option<Kind>,
    /// Only where a title, or the text to summarise, contains this. Effects that spoil one element
    /// spoil the one that contains it.
    pub contains: Option<String>,
    /// Only for this model.
    pub model: Option<String>,
}

/// The effect on a matching request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Polite words before and after the content.
    Prose,
    /// The same, with square brackets in the words.
    ProseWithBrackets,
    /// A Markdown code fence around the content.
    Fence,
    /// A comma after the last element.
    TrailingComma,
    /// The last element is missing.
    OneLess,
    /// One element too many.
    OneMore,
    /// The elements in another order; objects keep their indices.
    Shuffled,
    /// The elements from last to first.
    Reversed,
    /// Two objects claim the same index; strings stay unchanged.
    RepeatedIndex,
    /// One element is an empty text.
    ElementEmpty,
    /// One element is `null`, or the field of it that matters.
    ElementNull,
    /// The original instead of a translation or a summary.
    Unchanged,
    /// An apology instead of an answer.
    Excuse,
    EmptyContent,
    /// `null` instead of a text.
    NullContent,
    /// Half of the content, and `finish_reason` says `length`.
    CutOff,
    /// An answer without `choices`.
    NoChoices,
    /// Status 200, and an error in the body, as services before a model answer for it.
    ErrorInside,
    /// Status 200, and a page instead of JSON.
    NotJson,
    /// Answered with this status: 500, 502, 503.
    Status(u16),
    /// 429.
    Limited {
        /// Value of `Retry-After`; without it there is no such header.
        retry_after_s: Option<u32>,
        /// As an HTTP date instead of seconds.
        #[serde(default)]
        as_date: bool,
    },
    /// Answered correctly after a delay.
    Slow {
        /// The wait, in real time.
        wait_ms: u64,
    },
    Hang,
    /// The connection is cut after the request was received.
    DropReply,
}

/// A rule: which requests, how often, and the effect.
pub type Rule = rule::Rule<Matching, Effect>;

impl Rule {
    /// A rule for one kind of work.
    pub fn of(kind: Kind, when: When, effect: Effect) -> Self {
        let matching = Matching {
            kind: Some(kind),
            ..Matching::default()
        };
        Self::new(matching, when, effect)
    }

    /// Poison: every request that contains the text meets this, always.
    pub fn poison(text: &str, effect: Effect) -> Self {
        let matching = Matching {
            contains: Some(text.to_owned()),
            ..Matching::default()
        };
        Self::new(matching, When::Always, effect)
    }
}

impl Matching {
    pub(super) fn covers(&self, task: &Task, model: &str) -> bool {
        let [asked, contains] = [&self.model, &self.contains].map(Option::as_deref);
        self.kind.is_none_or(|kind| kind == task.kind())
            && asked.is_none_or(|it| it == model)
            && contains.is_none_or(|part| is_in(part, task))
    }
}

fn is_in(part: &str, task: &Task) -> bool {
    match task {
        Task::Summary { text, .. } => text.contains(part),
        _ => task.titles().iter().any(|title| title.text.contains(part)),
    }
}
