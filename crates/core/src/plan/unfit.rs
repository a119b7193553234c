//! Why a schedule cannot be kept as written, and which part of it is to blame.

use jiff::{SignedDuration, Timestamp};

use super::{
    definition::{ALSO_MAX, MAX_CATCH_UP_MAX, NAME_BYTES_MAX},
    operation::Unsuitable,
    pings::ADDRESS_BYTES_MAX,
};
use crate::{calendar, schedule, target::Unusable};

/// Why a schedule cannot be kept as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Not a name of the allowed shape.
    #[error(
        "schedule name `{given}` must start with a letter or digit and have at most {NAME_BYTES_MAX} letters, digits, `.`, `_` or `-`"
    )]
    Name {
        /// What was given, shortened.
        given: String,
    },
    /// The expression does not read.
    #[error("expression `{expression}`: {error}")]
    Expression {
        /// The whole of it.
        expression: String,
        /// Where and why.
        error: Box<schedule::Error>,
    },
    /// It reads, but names no instant.
    #[error("expression `{expression}` never fires")]
    NeverFires {
        /// The whole of it.
        expression: String,
    },
    /// No such time zone.
    #[error("unknown time zone `{tz}`; write an IANA name such as Europe/Berlin")]
    Zone {
        /// What was given.
        tz: String,
    },
    /// No such calendar.
    #[error(
        "unknown calendar `{calendar}`; write it as [[calendar]] or by `almanack calendar put`"
    )]
    Calendar {
        /// What was given.
        calendar: String,
    },
    /// There is one, but its days are not known.
    #[error("calendar `{calendar}` cannot be read: {why}")]
    UnreadableCalendar {
        calendar: String,
        why: Box<calendar::Unfit>,
    },
    /// Only a time of day can move to another day.
    #[error(
        "`move` needs fixed times of day; `{expression}` names an interval: write its hours and minutes as values, or leave `move` out"
    )]
    CannotMove {
        /// The whole of it.
        expression: String,
    },
    /// Nothing is left out.
    #[error("`move` needs calendars to move slots away from: add `except` or `only`")]
    MovesFromNothing,
    /// Too many expressions.
    #[error("`also` has at most {ALSO_MAX} expressions")]
    TooManyExpressions,
    #[error("`runs` must be at least 1")]
    Runs,
    #[error("`ends_at` is before `starts_at`")]
    EndsBeforeItStarts,
    /// The bounds leave nothing.
    #[error("no slot lies between `starts_at` and `ends_at`")]
    OutOfTime,
    /// It names no time from now on.
    #[error("it would never fire: its last time was {last}")]
    Past {
        /// When it would have fired last.
        last: Timestamp,
    },
    /// The target cannot work.
    #[error(transparent)]
    Target(#[from] Unusable),
    /// Too long or negative.
    #[error("{what} must be between {min_s}s and {}h", .max.as_hours())]
    OutOfBounds {
        /// Which duration.
        what: &'static str,
        /// Its lower bound, in seconds.
        min_s: i64,
        /// Its upper bound.
        max: SignedDuration,
    },
    /// Outside its range.
    #[error("max_catch_up must be 1 to {MAX_CATCH_UP_MAX}, not {0}")]
    MaxCatchUp(u32),
    /// Outside its range.
    #[error("priority must be 0 to 9 (9 first), not {0}")]
    Priority(u8),
    /// How it is operated cannot be kept.
    #[error(transparent)]
    Operation(#[from] Unsuitable),
    /// Each slot caught up would cancel the one before.
    #[error(
        "catch_up = \"all\" and overlap = \"cancel_running\" contradict each other: every missed slot would cancel the one before it"
    )]
    CancelsItself,
    /// About firings, and there are none.
    #[error("{0} has no effect on a ping target, which fires nothing; remove it")]
    NotForMonitors(&'static str),
    /// Not an address that can be called.
    #[error(
        "pings.{0} must be an http or https address of at most {ADDRESS_BYTES_MAX} bytes, without user name or password, in which `{{env:NAME}}` or `{{file:/PATH}}` stands for a secret"
    )]
    Address(&'static str),
    /// Stored by a version that knows more.
    #[error("the stored definition cannot be read: {why}")]
    Unreadable {
        /// Where and why.
        why: String,
    },
}

impl Unfit {
    /// The path of the invalid part.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Name { .. } => "name",
            Self::Expression { .. } | Self::NeverFires { .. } | Self::Past { .. } => "expression",
            Self::Zone { .. } => "tz",
            Self::Calendar { .. } | Self::UnreadableCalendar { .. } => "except",
            Self::CannotMove { .. } | Self::MovesFromNothing => "move",
            Self::TooManyExpressions => "also",
            Self::Runs => "runs",
            Self::EndsBeforeItStarts | Self::OutOfTime => "ends_at",
            Self::Target(unusable) => unusable.path(),
            Self::OutOfBounds { what, .. } | Self::NotForMonitors(what) => what,
            Self::MaxCatchUp(_) => "max_catch_up",
            Self::Priority(_) => "priority",
            Self::Operation(unsuitable) => unsuitable.path(),
            Self::CancelsItself => "overlap",
            Self::Address(_) => "pings",
            Self::Unreadable { .. } => "definition",
        }
    }
}
