//! A task: one durable intent to try something at a time.
//!
//! ```text
//!              claim                finish: Done
//!   INIT ───────────────► RUNNING ──────────────► SUCCESS
//!    ▲                     │ │ ▲
//!    │ finish: Again       │ │ │ claim, once the backoff has passed
//!    └─────────────────────┘ │ │
//!                            ▼ │
//!                           FAIL        (retries left: live; none left: the end)
//!
//!   INIT, RUNNING, FAIL ──cancel or replace──► CANCELLED
//! ```
//!
//! A task's identity is `(subject, kind)`. Of all rows with one identity exactly one is *current*:
//! the newest. INVARIANT: the database refuses a second current row, so every decision about an
//! identity is a compare-and-set on its current row, and at most one live task can exist (RS-01).

mod expiry;
mod identity;
mod payload;
mod tags;
pub mod why;

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    callback::{Callback, TIMEOUT_S_MAX},
    json,
    lang::{Lang, Say, Sentence},
    say,
};

pub use expiry::{EXPIRES_AFTER_S_MAX, Expires, Expiry};
pub use identity::{Identity, Kind, Subject};
pub use payload::Payload;
pub use tags::{TAG_BYTES_MAX, TAGS_MAX, Tags, parse_tag};

/// Longest subject, in bytes. Long enough for a URL-like name, short enough for an index page.
pub const SUBJECT_BYTES_MAX: usize = 200;
/// Longest kind, in bytes.
pub const KIND_BYTES_MAX: usize = 64;
/// Largest payload a deployment may allow, in bytes; the default limit is lower and configurable.
pub const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;
/// Retries of a task, by default (RS-09).
pub const MAX_RETRY_DEFAULT: u32 = 3;
/// Most retries that can be requested.
pub const MAX_RETRY_MAX: u32 = 100;

/// Number of a task row, given by the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct TaskId(pub i64);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Fencing number of a claim on one task; every claim raises it by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Term(pub i64);

/// Number of a change of intent; an older one never overrides a newer one (RS-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Revision(pub i64);

impl Revision {
    /// Before every number: no change of this intent has been numbered yet.
    pub const NONE: Self = Self(0);
}

/// Why a value was refused. The message names the value's rule, never echoes a payload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Invalid {
    /// Empty, too long, or with characters that would not survive a log line or a URL.
    Subject {
        /// Length of what was given.
        bytes: usize,
    },
    /// Not a name of the allowed shape.
    Kind {
        /// What was given, shortened.
        given: String,
    },
    /// Not JSON, or JSON that some readers cannot read.
    Payload(json::Unfit),
    /// Over the limit.
    PayloadTooLarge {
        /// Size of what was given.
        bytes: usize,
        /// The limit in force.
        limit: usize,
    },
    /// Outside 0 to 9.
    Priority(i64),
    /// Outside the allowed range.
    MaxRetry(i64),
    /// Not positive.
    Revision(i64),
    /// Outside the allowed range.
    ExpiresAfter(i64),
    /// Both fields are set.
    ExpiresTwice,
    /// Outside the allowed range.
    CallTimeout(u32),
    /// A header that cannot be sent, or must not be stored.
    CallHeader {
        /// Which one, after a dot.
        name: String,
        /// What is wrong, as the rest of a sentence; never its value.
        why: Sentence,
    },
    /// Not a plain word.
    Tag {
        /// What was given, shortened.
        given: String,
    },
    /// More than are indexed.
    Tags(usize),
    /// No status has this name.
    Status(String),
}

impl Say for Invalid {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Subject { bytes } => say!(lang;
                "subject must have 1 to {SUBJECT_BYTES_MAX} bytes, no control characters and no blank at either end; this one has {bytes} bytes",
                "主体须为 1 到 {SUBJECT_BYTES_MAX} 字节，不含控制字符，首尾没有空白；这里有 {bytes} 字节"),
            Self::Kind { given } => say!(lang;
                "kind `{given}` must start with a letter and have at most {KIND_BYTES_MAX} letters, digits, `_`, `-` or `.`",
                "类型 `{given}` 必须以字母开头，最多 {KIND_BYTES_MAX} 个字母、数字、`_`、`-` 或 `.`"),
            Self::Payload(it) => {
                let it = it.say(lang);
                say!(lang; "payload {it}", "payload {it}")
            }
            Self::PayloadTooLarge { bytes, limit } => say!(lang;
                "payload has {bytes} bytes; the limit is {limit}",
                "payload 有 {bytes} 字节；上限为 {limit}"),
            Self::Priority(it) => say!(lang;
                "priority must be 0 to 9 (9 first), not {it}",
                "priority 必须为 0 到 9（9 最先），不能是 {it}"),
            Self::MaxRetry(it) => say!(lang;
                "max_retry must be 0 to {MAX_RETRY_MAX}, not {it}",
                "max_retry 必须为 0 到 {MAX_RETRY_MAX}，不能是 {it}"),
            Self::Revision(it) => say!(lang;
                "revision must be 1 or more, not {it}",
                "revision 至少为 1，不能是 {it}"),
            Self::ExpiresAfter(it) => say!(lang;
                "expires_after_s must be 1 to {EXPIRES_AFTER_S_MAX} seconds, or 0 for never, not {it}",
                "expires_after_s 必须为 1 到 {EXPIRES_AFTER_S_MAX} 秒，或为 0 表示永不过期，不能是 {it}"),
            Self::ExpiresTwice => say!(lang;
                "expires_at and expires_after_s cannot both be set",
                "expires_at 和 expires_after_s 不能同时设置"),
            Self::CallTimeout(it) => say!(lang;
                "callback.timeout_s must be 1 to {TIMEOUT_S_MAX}, not {it}",
                "callback.timeout_s 必须为 1 到 {TIMEOUT_S_MAX}，不能是 {it}"),
            Self::CallHeader { name, why } => {
                let why = why.say(lang);
                say!(lang; "callback.headers{name} {why}", "callback.headers{name}：{why}")
            }
            Self::Tag { given } => say!(lang;
                "tag `{given}` must have 1 to {TAG_BYTES_MAX} letters, digits, `.`, `_`, `:` or `-`",
                "标签 `{given}` 须为 1 到 {TAG_BYTES_MAX} 个字母、数字、`.`、`_`、`:` 或 `-`"),
            Self::Tags(it) => say!(lang;
                "a task has at most {TAGS_MAX} tags, not {it}",
                "一个任务最多有 {TAGS_MAX} 个标签，不能有 {it} 个"),
            Self::Status(it) => say!(lang;
                "unknown status `{it}`; one of INIT, RUNNING, SUCCESS, FAIL, CANCELLED",
                "未知的状态 `{it}`；可选 INIT、RUNNING、SUCCESS、FAIL、CANCELLED"),
        }
    }
}

/// The status of a task. The names are the founding documents'.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = TaskStatus))]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Waits for its time.
    Init,
    /// Claimed by a node.
    Running,
    /// Done; nothing about it changes any more.
    Success,
    /// The last attempt failed. Live while retries are left.
    Fail,
    /// Withdrawn or replaced.
    Cancelled,
}

impl Status {
    /// All of them, in the order of a task's life.
    pub const ALL: [Self; 5] = [
        Self::Init,
        Self::Running,
        Self::Success,
        Self::Fail,
        Self::Cancelled,
    ];

    /// The name used in the store, the API and the logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Running => "RUNNING",
            Self::Success => "SUCCESS",
            Self::Fail => "FAIL",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// Reads a name, in any case.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| Invalid::Status(text.chars().take(32).collect()))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which of several due tasks goes first: 9 before 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "i64")]
pub struct Priority(u8);

impl TryFrom<i64> for Priority {
    type Error = Invalid;

    fn try_from(level: i64) -> Result<Self, Invalid> {
        Self::new(level)
    }
}

impl Priority {
    /// In the middle, so that a later request can go either way.
    pub const DEFAULT: Self = Self(5);
    /// After what people wait for.
    pub const LOW: Self = Self(2);

    /// Accepts 0 to 9.
    pub fn new(level: i64) -> Result<Self, Invalid> {
        match u8::try_from(level) {
            Ok(level @ 0..=9) => Ok(Self(level)),
            _ => Err(Invalid::Priority(level)),
        }
    }

    /// The level as a number.
    pub fn level(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Checks a requested number of retries.
pub fn parse_max_retry(given: i64) -> Result<u32, Invalid> {
    match u32::try_from(given) {
        Ok(count) if count <= MAX_RETRY_MAX => Ok(count),
        _ => Err(Invalid::MaxRetry(given)),
    }
}

/// Checks a revision given from outside.
pub fn parse_revision(given: i64) -> Result<Revision, Invalid> {
    if given < 1 {
        Err(Invalid::Revision(given))
    } else {
        Ok(Revision(given))
    }
}

/// One row of a task's life, as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Task {
    /// Number of the row.
    #[serde(rename = "task_id")]
    pub id: TaskId,
    /// Its identity.
    #[serde(flatten)]
    pub identity: Identity,
    pub status: Status,
    /// Whether it is the newest row of its identity.
    #[serde(skip)]
    pub current: bool,
    /// When to try (next), or when it was last meant to be tried.
    pub execute_at: Timestamp,
    /// When the runner should take it: `execute_at` while it waits, `None` while it runs and once
    /// it has ended. A FAIL that still waits has retries left; one that does not is the end.
    #[serde(skip)]
    pub due_at: Option<Timestamp>,
    /// What the handler needs to know.
    pub payload: Payload,
    /// Where to call, when the task itself says so.
    #[serde(skip)]
    pub callback_url: Option<String>,
    /// How to call there, when the task itself says so.
    #[serde(skip)]
    pub call_options: Option<Box<Callback>>,
    /// By which it is found.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Which of several due tasks goes first.
    pub priority: Priority,
    /// Attempts started so far in this round; the one running now counts.
    pub attempt: u32,
    /// Retries allowed after the first attempt.
    pub max_retry: u32,
    /// From when on it is not tried any more.
    #[serde(flatten)]
    pub expiry: Expiry,
    /// Fencing number of the newest claim.
    #[serde(skip)]
    pub term: Term,
    /// Number of the newest change of intent.
    pub revision: Revision,
    /// Decisions recorded on this row after its creation; part of the compare-and-set.
    #[serde(skip)]
    pub decisions: u32,
    /// Who requested it.
    pub origin: String,
    /// The last attempt's detail: its error, or the answer it got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The node that claimed it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Until when the claim holds, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// The row this one replaced, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<TaskId>,
    /// When it was written.
    pub created_at: Timestamp,
    /// The execute time it was created with.
    #[serde(skip)]
    pub created_execute_at: Timestamp,
    /// When the last attempt started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When the last attempt ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
}

impl Task {
    /// Where and how to call, if the task itself says anything about it.
    pub fn callback(&self) -> Option<Callback> {
        if self.callback_url.is_none() && self.call_options.is_none() {
            return None;
        }
        let options = self.call_options.as_deref().cloned();
        Some(Callback {
            url: self.callback_url.clone(),
            ..options.unwrap_or_default()
        })
    }

    /// Whether it will still be tried, or is being tried.
    pub fn is_live(&self) -> bool {
        self.status == Status::Running || self.due_at.is_some()
    }

    /// Whether a node may claim it at `now`: it waits, and its time has come (RS-15).
    pub fn is_claimable(&self, now: Timestamp) -> bool {
        self.due_at.is_some_and(|due_at| due_at <= now)
    }
}

/// `max_retry` counts the tries after the first, so attempt N has used N − 1 of them.
pub fn retries_left(attempt: u32, max_retry: u32) -> bool {
    attempt <= max_retry
}

/// A task as a claim hands it to a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedTask {
    /// Number of the row.
    pub id: TaskId,
    /// Its identity.
    pub identity: Identity,
    /// Fencing number of this claim; shown when finishing.
    pub term: Term,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Retries allowed after the first attempt.
    pub max_retry: u32,
    /// Of the attempts before this one, those whose node vanished: they use up no retry.
    pub expiries: u32,
    /// When it was due.
    pub execute_at: Timestamp,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// What the handler needs to know.
    pub payload: Payload,
    /// Where to call, when the task itself says so.
    pub callback_url: Option<String>,
    /// How to call there, when the task itself says so.
    pub call_options: Option<Box<Callback>>,
    /// From when on it must not be started: to be asked right before.
    pub expiry: Expiry,
    /// Number of the newest change of intent.
    pub revision: Revision,
}

/// A task to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// Its identity.
    pub identity: Identity,
    /// INIT, or CANCELLED for the tombstone of a withdrawal that overtook its creation.
    pub status: Status,
    /// When to try.
    pub execute_at: Timestamp,
    /// What the handler needs to know.
    pub payload: Payload,
    /// Where to call, when the task itself says so.
    pub callback_url: Option<String>,
    /// How to call there, when the task itself says so.
    pub call_options: Option<Box<Callback>>,
    /// Which of several due tasks goes first.
    pub priority: Priority,
    /// Retries allowed after the first attempt.
    pub max_retry: u32,
    /// The key it takes turns by; `None` if its kind is not shared ([`crate::share`]).
    pub share_key: Option<String>,
    /// From when on it is not tried any more.
    pub expiry: Expiry,
    /// Number of the change of intent.
    pub revision: Revision,
    /// By which it is found.
    pub tags: Tags,
    /// Who requested it.
    pub origin: String,
    /// The row it replaces, if any.
    pub replaces: Option<TaskId>,
}

impl NewTask {
    /// When the runner should take it, if it waits at all.
    pub fn due_at(&self) -> Option<Timestamp> {
        (self.status == Status::Init).then_some(self.execute_at)
    }
}

#[cfg(test)]
mod tests;
