//! Why an expression is refused: what, where, and what to write instead.
//!
//! Strict reading is only kind if the refusal repairs. A [`Repair`] is offered where the meaning is
//! beyond doubt; it means exactly what the import mode, or the likeliest other implementation,
//! would have made of the text.

use crate::{
    lang::{Lang, Say},
    say, words,
};
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
#[error("{}", self.say(Lang::English))]
pub enum Problem {
    Empty,
    /// Too few or too many fields.
    FieldCount {
        /// How many there are.
        found: usize,
    },
    /// Six fields of which the last is a year, as some other dialects write them.
    YearLast,
    /// A blank that is neither a space nor a tab.
    Blank {
        found: char,
    },
    /// A character that has no meaning anywhere in an expression.
    Character {
        found: char,
    },
    /// A field or one of its items has nothing where a value should be.
    Missing {
        field: Field,
    },
    /// Not a number and not a name.
    NotAValue {
        field: Field,
        found: String,
    },
    /// A number beyond the field's bounds.
    OutOfRange {
        field: Field,
        found: String,
    },
    /// `MONDAY`: names have three letters.
    LongName {
        field: Field,
        found: String,
    },
    /// A step that is no positive number.
    Step {
        field: Field,
        found: String,
    },
    /// `0/15`: read as `0` by some and as `0-59/15` by others.
    StepWithoutRange {
        field: Field,
        found: String,
    },
    /// `FRI-MON`: never matches for some, wraps around for others.
    Backwards {
        field: Field,
        found: String,
    },
    /// A modifier on a range, on a step, or in a field that has none.
    Modifier {
        field: Field,
        /// `L`, `W`, `#`, `?`, `+`, `H` or `~`.
        modifier: char,
        found: String,
    },
    /// `L` as a weekday: Saturday for some, the last day of the month for others.
    BareLast,
    /// `W#3` as a day of the month.
    WorkdayOfMonth,
    /// The n-th business day of a month, with n beyond 23.
    NthWorkday {
        found: String,
    },
    /// `at` without a date and a time.
    Instant,
    /// `at` with an offset.
    Offset {
        found: String,
    },
    /// `l`, `w` or `h`.
    LowerCase {
        field: Field,
        found: String,
    },
    /// The n-th weekday of a month, with n beyond 5.
    Nth {
        found: String,
    },
    /// `@something`.
    Nickname {
        found: String,
    },
    /// `@reboot`.
    Reboot,
    /// `@0s` and the like.
    Period {
        found: String,
    },
    /// Something after a nickname.
    Trailing {
        nickname: String,
    },
    /// A zone in front of the fields.
    ZonePrefix,
    /// A zone in front of the fields without a name.
    ZoneMissing,
}

impl Say for Problem {
    #[expect(clippy::too_many_lines, reason = "a flat table of sentences")]
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Empty => say!(lang; "the expression is empty", "表达式为空"),
            Self::FieldCount { found } => say!(lang;
                "an expression has five fields, six with seconds first or seven with a year last; this has {found}",
                "表达式有五个字段；秒在最前时有六个，年在最后时有七个；这里有 {found} 个"),
            Self::YearLast => say!(lang;
                "six fields begin with the second; a year is the last of seven",
                "六个字段时第一个是秒；年是七个字段中的最后一个"),
            Self::Blank { found } => say!(lang;
                "only spaces and tabs separate fields; this is U+{:04X}",
                "字段之间只能用空格和制表符；这里是 U+{:04X}", u32::from(*found)),
            Self::Character { found } => say!(lang;
                "`{found}` has no meaning in an expression",
                "`{found}` 在表达式中没有意义"),
            Self::Missing { field } => {
                let field = field.say(lang);
                say!(lang; "{field}: a value is missing", "{field}：缺少值")
            }
            Self::NotAValue { field, found } => {
                let field = field.say(lang);
                say!(lang; "{field}: `{found}` is not a value", "{field}：`{found}` 不是有效的值")
            }
            Self::OutOfRange { field, found } => {
                let (min, max) = (field.min(), field.max());
                let field = field.say(lang);
                say!(lang;
                    "{field}: {found} is not between {min} and {max}",
                    "{field}：{found} 不在 {min} 到 {max} 之间")
            }
            Self::LongName { field, found } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: names have three letters, `{found}` has more",
                    "{field}：名称为三个字母，`{found}` 过长")
            }
            Self::Step { field, found } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: a step is a number from 1, not `{found}`",
                    "{field}：步长是从 1 开始的数字，不能是 `{found}`")
            }
            Self::StepWithoutRange { field, found } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: a step needs `*` or a range before it; `{found}` means different things elsewhere",
                    "{field}：步长前面需要 `*` 或范围；`{found}` 在其他 cron 中含义不同")
            }
            Self::Backwards { field, found } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: the range `{found}` runs backwards",
                    "{field}：范围 `{found}` 前后颠倒")
            }
            Self::Modifier {
                field,
                modifier,
                found,
            } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: `{modifier}` cannot be used in `{found}`",
                    "{field}：`{modifier}` 不能用在 `{found}` 中")
            }
            Self::BareLast => say!(lang;
                "day of week: `L` needs the weekday it is the last of, like 5L",
                "星期：`L` 前面需要写明星期几，如 5L"),
            Self::WorkdayOfMonth => say!(lang;
                "day of month: business days are counted in the day of week field",
                "日：工作日在“星期”字段中计数"),
            Self::NthWorkday { found } => say!(lang;
                "day of week: a month has 1 to 23 business days, not `{found}`",
                "星期：一个月有 1 到 23 个工作日，不能是 `{found}`"),
            Self::Instant => say!(lang;
                "`at` needs a date and a time: at 2026-12-24 18:00",
                "`at` 需要日期和时间：at 2026-12-24 18:00"),
            Self::Offset { found } => say!(lang;
                "`at` is a time of the schedule's zone; `{found}` names another",
                "`at` 使用日程所在时区的时间；`{found}` 指定了另一个时区"),
            Self::LowerCase { field, found } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: modifiers are capital letters; `{found}` is not",
                    "{field}：修饰符须大写；`{found}` 不是")
            }
            Self::Nth { found } => say!(lang;
                "day of week: a month has a weekday 1 to 5 times, not `{found}`",
                "星期：同一星期几每月出现 1 到 5 次，不能是 `{found}`"),
            Self::Nickname { found } => say!(lang;
                "`{found}` is not a nickname",
                "`{found}` 不是预定义的名称"),
            Self::Reboot => say!(lang;
                "`@reboot` names no time: nothing fires because of a restart",
                "`@reboot` 不表示时间：重启不会触发任何日程"),
            Self::Period { found } => say!(lang;
                "`{found}` is not a period of 1 second to 366 days",
                "`{found}` 不是 1 秒到 366 天之间的周期"),
            Self::Trailing { nickname } => say!(lang;
                "nothing may follow `{nickname}`",
                "`{nickname}` 后面不能有其他内容"),
            Self::ZonePrefix => say!(lang;
                "the time zone belongs to the schedule, not into its expression",
                "时区属于日程，不能写在表达式中"),
            Self::ZoneMissing => say!(lang; "the time zone has no name", "时区没有名称"),
        }
    }
}

impl Span {
    /// From one byte to before another.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

impl Say for Error {
    fn say(&self, lang: Lang) -> String {
        self.problem.say(lang)
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
    pub fn hint(&self, lang: Lang) -> Option<String> {
        if let Some(repair) = &self.repair {
            let inserted = repair.span.start == repair.span.end;
            return Some(match repair.text.as_str() {
                " " => say!(lang, "write a space", "请写一个空格"),
                text if inserted => {
                    say!(lang, "put `{}` in front", "请在前面加上 `{}`", text.trim())
                }
                text => say!(lang, "write `{text}`", "请写 `{text}`"),
            });
        }
        let problem = &self.problem;
        let advice = words! { lang, problem?;
            Problem::FieldCount { .. } => "write minute, hour, day of month, month, day of week",
                "请依次写分、时、日、月、星期";
            Problem::BareLast => "write SAT for Saturdays, 6L for the month's last Saturday",
                "SAT 表示每个星期六，6L 表示当月最后一个星期六";
            Problem::WorkdayOfMonth => "write it in the last field: 0 8 * * W#3",
                "请写在最后一个字段：0 8 * * W#3";
            Problem::Offset { .. } => "write the wall time without an offset, and the zone as `tz`",
                "请写不带偏移的当地时间，并用 `tz` 指定时区";
            Problem::Nickname { .. } => "write @yearly, @monthly, @weekly, @daily, @hourly or @10s",
                "请写 @yearly、@monthly、@weekly、@daily、@hourly 或 @10s";
            Problem::ZonePrefix => "name the zone beside the expression, as `tz` or `--tz`",
                "请在表达式之外用 `tz` 或 `--tz` 指定时区";
        };
        advice.map(str::to_owned)
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
