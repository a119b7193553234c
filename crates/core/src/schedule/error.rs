//! Why an expression is refused: what, where, and what to write instead.
//!
//! Strict reading is only kind if the refusal repairs. A [`Repair`] is offered where the meaning is
//! beyond doubt; it means exactly what the import mode, or the likeliest other implementation,
//! would have made of the text.

use std::fmt;

use super::field::Field;

/// A range of bytes in the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A refused expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Error {
    pub span: Span,
    pub problem: Problem,
    /// What to write instead, if that is clear.
    pub repair: Option<Repair>,
}

/// Text to put in the place of a part of the expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    pub span: Span,
    pub text: String,
}

/// What is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the expression is empty")]
    Empty,
    /// Too few or too many fields.
    #[error(
        "an expression has five fields, six with seconds first or seven with a year last; this has {found}"
    )]
    FieldCount {
        /// How many there are.
        found: usize,
    },
    /// Six fields of which the last is a year, as some other dialects write them.
    #[error("six fields begin with the second; a year is the last of seven")]
    YearLast,
    /// A blank that is neither a space nor a tab.
    #[error("only spaces and tabs separate fields; this is U+{:04X}", u32::from(*.found))]
    Blank { found: char },
    /// A character that has no meaning anywhere in an expression.
    #[error("`{found}` has no meaning in an expression")]
    Character { found: char },
    /// A field or one of its items has nothing where a value should be.
    #[error("{field}: a value is missing")]
    Missing { field: Field },
    /// Not a number and not a name.
    #[error("{field}: `{found}` is not a value")]
    NotAValue { field: Field, found: String },
    /// A number beyond the field's bounds.
    #[error("{field}: {found} is not between {} and {}", .field.min(), .field.max())]
    OutOfRange { field: Field, found: String },
    /// `MONDAY`: names have three letters.
    #[error("{field}: names have three letters, `{found}` has more")]
    LongName { field: Field, found: String },
    /// A step that is no positive number.
    #[error("{field}: a step is a number from 1, not `{found}`")]
    Step { field: Field, found: String },
    /// `0/15`: read as `0` by some and as `0-59/15` by others.
    #[error(
        "{field}: a step needs `*` or a range before it; `{found}` means different things elsewhere"
    )]
    StepWithoutRange { field: Field, found: String },
    /// `FRI-MON`: never matches for some, wraps around for others.
    #[error("{field}: the range `{found}` runs backwards")]
    Backwards { field: Field, found: String },
    /// A modifier on a range, on a step, or in a field that has none.
    #[error("{field}: `{modifier}` cannot be used in `{found}`")]
    Modifier {
        field: Field,
        /// `L`, `W`, `#`, `?`, `+`, `H` or `~`.
        modifier: char,
        found: String,
    },
    /// `L` as a weekday: Saturday for some, the last day of the month for others.
    #[error("day of week: `L` needs the weekday it is the last of, like 5L")]
    BareLast,
    /// `W#3` as a day of the month.
    #[error("day of month: business days are counted in the day of week field")]
    WorkdayOfMonth,
    /// The n-th business day of a month, with n beyond 23.
    #[error("day of week: a month has 1 to 23 business days, not `{found}`")]
    NthWorkday { found: String },
    /// `at` without a date and a time.
    #[error("`at` needs a date and a time: at 2026-12-24 18:00")]
    Instant,
    /// `at` with an offset.
    #[error("`at` is a time of the schedule's zone; `{found}` names another")]
    Offset { found: String },
    /// `l`, `w` or `h`.
    #[error("{field}: modifiers are capital letters; `{found}` is not")]
    LowerCase { field: Field, found: String },
    /// The n-th weekday of a month, with n beyond 5.
    #[error("day of week: a month has a weekday 1 to 5 times, not `{found}`")]
    Nth { found: String },
    /// `@something`.
    #[error("`{found}` is not a nickname")]
    Nickname { found: String },
    /// `@reboot`.
    #[error("`@reboot` names no time: nothing fires because of a restart")]
    Reboot,
    /// `@0s` and the like.
    #[error("`{found}` is not a period of 1 second to 366 days")]
    Period { found: String },
    /// Something after a nickname.
    #[error("nothing may follow `{nickname}`")]
    Trailing { nickname: String },
    /// A zone in front of the fields.
    #[error("the time zone belongs to the schedule, not into its expression")]
    ZonePrefix,
    /// A zone in front of the fields without a name.
    #[error("the time zone has no name")]
    ZoneMissing,
}

impl Span {
    /// From one byte to before another.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

impl Error {
    pub(super) fn new(span: Span, problem: Problem) -> Self {
        Self {
            span,
            problem,
            repair: None,
        }
    }

    /// The same, with what to write in the refused place.
    pub(super) fn write(self, text: impl Into<String>) -> Self {
        let span = self.span;
        self.replace(span, text)
    }

    /// The same, with what to write in another place.
    pub(super) fn replace(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            repair: Some(Repair { span, text }),
            ..self
        }
    }

    /// What to do about it, in a phrase.
    pub fn hint(&self) -> Option<String> {
        if let Some(repair) = &self.repair {
            let inserted = repair.span.start == repair.span.end;
            return Some(match repair.text.as_str() {
                " " => "write a space".to_owned(),
                text if inserted => format!("put `{}` in front", text.trim()),
                text => format!("write `{text}`"),
            });
        }
        let advice = match &self.problem {
            Problem::FieldCount { .. } => "write minute, hour, day of month, month, day of week",
            Problem::BareLast => "write SAT for Saturdays, 6L for the month's last Saturday",
            Problem::WorkdayOfMonth => "write it in the last field: 0 8 * * W#3",
            Problem::Offset { .. } => "write the wall time without an offset, and the zone as `tz`",
            Problem::Nickname { .. } => "write @yearly, @monthly, @weekly, @daily, @hourly or @10s",
            Problem::ZonePrefix => "name the zone beside the expression, as `tz` or `--tz`",
            _ => return None,
        };
        Some(advice.to_owned())
    }
}

impl Repair {
    /// The whole expression, repaired.
    pub fn apply(&self, expression: &str) -> String {
        let before = expression.get(..self.span.start).unwrap_or_default();
        let after = expression.get(self.span.end..).unwrap_or_default();
        format!("{before}{}{after}", self.text)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
