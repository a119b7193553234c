//! How a schedule is operated: timeouts and caps, tags, an owner, who hears of its alerts.

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
pub enum Unsuitable {
    /// More than can be meant.
    #[error("retry.count must be 0 to {RETRIES_MAX}")]
    Retries,
    /// Too short or too long.
    #[error("{what} must be between 100ms and 24h")]
    Backoff {
        /// Which wait.
        what: &'static str,
    },
    /// The first wait is longer than the longest.
    #[error("retry.backoff must not be longer than retry.backoff_max")]
    BackoffOrder,
    /// Too short or too long.
    #[error("timeout must be between 1s and 1h")]
    Timeout,
    /// Of a target that is not called.
    #[error(
        "timeout is for webhooks and workflows; a command has target.timeout, and a task the timeout of its kind"
    )]
    NoTimeout,
    /// Outside its range.
    #[error("firings_max must be 1 to {FIRINGS_MAX}")]
    FiringsMax,
    /// Too many, the same one twice, or not words.
    #[error(
        "tags must be at most {TAGS_MAX} different words of lower-case letters, digits, `.`, `_`, `:`, `/` or `-`, each at most {TAG_BYTES_MAX} long"
    )]
    Tags,
    /// Too long, or more than a line.
    #[error(
        "owner must be one line of 1 to {OWNER_BYTES_MAX} bytes without quotes and backslashes"
    )]
    Owner,
    /// Too many, the same one twice, or not names.
    #[error("alerts must be at most {TAGS_MAX} different names of alert channels, such as ntfy")]
    Alerts,
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
