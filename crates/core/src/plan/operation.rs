//! How a schedule is operated: timeouts and caps, tags, an owner, who hears of its alerts.

use crate::{
    lang::{Lang, Say},
    say,
};
use jiff::SignedDuration;

use super::{Definition, retry::RETRIES_MAX};

/// Most tags of a schedule, and most channels that its alerts go to.
pub const TAGS_MAX: usize = 20;
/// Longest tag, in bytes.
const TAG_BYTES_MAX: usize = 50;
/// Longest owner, in bytes.
const OWNER_BYTES_MAX: usize = 100;

/// Longest attempt at a call: what takes longer reports back, or is a command.
const TIMEOUT_MAX: SignedDuration = SignedDuration::from_hours(1);
/// Most firings at once that may be asked for.
const FIRINGS_MAX: u32 = 1_000;

/// Why a schedule cannot be operated as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unsuitable {
    /// More than can be meant.
    Retries,
    /// Too short or too long.
    Backoff {
        /// Which wait.
        what: &'static str,
    },
    /// The first wait is longer than the longest.
    BackoffOrder,
    /// Too short or too long.
    Timeout,
    /// Of a target that is not called.
    NoTimeout,
    /// Outside its range.
    FiringsMax,
    /// Too many, the same one twice, or not words.
    Tags,
    /// Too long, or more than a line.
    Owner,
    /// Too many, the same one twice, or not names.
    Alerts,
}

impl Say for Unsuitable {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Retries => say!(lang;
                "retry.count must be 0 to {RETRIES_MAX}",
                "retry.count 必须为 0 到 {RETRIES_MAX}"),
            Self::Backoff { what } => say!(lang;
                "{what} must be between 100ms and 24h",
                "{what} 必须在 100ms 到 24h 之间"),
            Self::BackoffOrder => say!(lang;
                "retry.backoff must not be longer than retry.backoff_max",
                "retry.backoff 不能长于 retry.backoff_max"),
            Self::Timeout => say!(lang;
                "timeout must be between 1s and 1h",
                "timeout 必须在 1s 到 1h 之间"),
            Self::NoTimeout => say!(lang;
                "timeout is for webhooks and workflows; a command has target.timeout, and a task the timeout of its kind",
                "timeout 用于 webhook 和工作流；命令使用 target.timeout，任务使用其类型的超时"),
            Self::FiringsMax => say!(lang;
                "firings_max must be 1 to {FIRINGS_MAX}",
                "firings_max 必须为 1 到 {FIRINGS_MAX}"),
            Self::Tags => say!(lang;
                "tags must be at most {TAGS_MAX} different words of lower-case letters, digits, `.`, `_`, `:`, `/` or `-`, each at most {TAG_BYTES_MAX} long",
                "tags 最多 {TAGS_MAX} 个互不相同的词，由小写字母、数字、`.`、`_`、`:`、`/` 或 `-` 组成，每个最长 {TAG_BYTES_MAX} 个字符"),
            Self::Owner => say!(lang;
                "owner must be one line of 1 to {OWNER_BYTES_MAX} bytes without quotes and backslashes",
                "owner 必须是一行 1 到 {OWNER_BYTES_MAX} 字节的文字，不含引号和反斜杠"),
            Self::Alerts => say!(lang;
                "alerts must be at most {TAGS_MAX} different names of alert channels, such as ntfy",
                "alerts 最多 {TAGS_MAX} 个互不相同的告警渠道名称，如 ntfy"),
        }
    }
}

impl Unsuitable {
    /// The path of the invalid part.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Retries => "retry.count",
            Self::Backoff { what } => what,
            Self::BackoffOrder => "retry.backoff",
            Self::Timeout | Self::NoTimeout => "timeout",
            Self::FiringsMax => "firings_max",
            Self::Tags => "tags",
            Self::Owner => "owner",
            Self::Alerts => "alerts",
        }
    }
}

/// Whether a text is a tag: lower-case letters, digits, `.`, `_`, `:`, `/` and `-`, so that it
/// needs no quotes anywhere and is one word.
pub fn is_tag(text: &str) -> bool {
    let shaped = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._:/-".contains(c);
    (1..=TAG_BYTES_MAX).contains(&text.len()) && text.chars().all(shaped)
}

/// Whether a text names an owner: one line without quotes and backslashes.
pub fn is_owner(text: &str) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, '"' | '\\');
    !text.trim().is_empty() && text.len() <= OWNER_BYTES_MAX && !text.contains(odd)
}

/// Checks everything here of a definition.
pub(super) fn check(definition: &Definition) -> Result<(), Unsuitable> {
    definition.retry.check()?;
    if let Some(timeout) = definition.timeout {
        let calls = matches!(definition.target.type_name(), "webhook" | "workflow");
        calls.then_some(()).ok_or(Unsuitable::NoTimeout)?;
        let bounds = SignedDuration::from_secs(1)..=TIMEOUT_MAX;
        let fits = bounds.contains(&timeout);
        fits.then_some(()).ok_or(Unsuitable::Timeout)?;
    }
    let bounds = 1..=FIRINGS_MAX;
    if definition
        .firings_max
        .is_some_and(|max| !bounds.contains(&max))
    {
        return Err(Unsuitable::FiringsMax);
    }
    if !are_words(&definition.tags) {
        return Err(Unsuitable::Tags);
    }
    if definition.owner.as_deref().is_some_and(|it| !is_owner(it)) {
        return Err(Unsuitable::Owner);
    }
    if !are_words(definition.alerts.as_deref().unwrap_or_default()) {
        return Err(Unsuitable::Alerts);
    }
    Ok(())
}

/// Whether they are few, different, and each one word.
fn are_words(texts: &[String]) -> bool {
    texts.len() <= TAGS_MAX && texts.iter().all(|it| is_tag(it)) && !has_twice(texts)
}

fn has_twice(texts: &[String]) -> bool {
    let earlier = |(index, text): (usize, &String)| texts[..index].contains(text);
    texts.iter().enumerate().any(earlier)
}
