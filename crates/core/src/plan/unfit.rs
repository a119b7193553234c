//! Why a schedule cannot be kept as written, and which part of it is to blame.

use jiff::{SignedDuration, Timestamp};

use super::{
    definition::{ALSO_MAX, MAX_CATCH_UP_MAX, NAME_BYTES_MAX},
    operation::Unsuitable,
    pings::ADDRESS_BYTES_MAX,
};
use crate::{
    calendar,
    lang::{Lang, Say},
    say, schedule,
    target::Unusable,
};

/// Why a schedule cannot be kept as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unfit {
    /// Not a name of the allowed shape.
    Name {
        /// What was given, shortened.
        given: String,
    },
    /// The expression does not read.
    Expression {
        /// The whole of it.
        expression: String,
        /// Where and why.
        error: Box<schedule::Error>,
    },
    /// It reads, but names no instant.
    NeverFires {
        /// The whole of it.
        expression: String,
    },
    /// No such time zone.
    Zone {
        /// What was given.
        tz: String,
    },
    /// No such calendar.
    Calendar {
        /// What was given.
        calendar: String,
    },
    /// There is one, but its days are not known.
    UnreadableCalendar {
        calendar: String,
        why: Box<calendar::Unfit>,
    },
    /// Only a time of day can move to another day.
    CannotMove {
        /// The whole of it.
        expression: String,
    },
    /// Nothing is left out.
    MovesFromNothing,
    /// Too many expressions.
    TooManyExpressions,
    Runs,
    EndsBeforeItStarts,
    /// The bounds leave nothing.
    OutOfTime,
    /// It names no time from now on.
    Past {
        /// When it would have fired last.
        last: Timestamp,
    },
    /// The target cannot work.
    #[error(transparent)]
    Target(#[from] Unusable),
    /// Too long or negative.
    OutOfBounds {
        /// Which duration.
        what: &'static str,
        /// Its lower bound, in seconds.
        min_s: i64,
        /// Its upper bound.
        max: SignedDuration,
    },
    /// Outside its range.
    MaxCatchUp(u32),
    /// Outside its range.
    Priority(u8),
    /// How it is operated cannot be kept.
    #[error(transparent)]
    Operation(#[from] Unsuitable),
    /// Each slot caught up would cancel the one before.
    CancelsItself,
    /// About firings, and there are none.
    NotForMonitors(&'static str),
    /// Not an address that can be called.
    Address(&'static str),
    /// Stored by a version that knows more.
    Unreadable {
        /// Where and why.
        why: String,
    },
}

impl Say for Unfit {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Name { given } => say!(lang;
                "schedule name `{given}` must start with a letter or digit and have at most {NAME_BYTES_MAX} letters, digits, `.`, `_` or `-`",
                "日程名称 `{given}` 必须以字母或数字开头，最多 {NAME_BYTES_MAX} 个字母、数字、`.`、`_` 或 `-`"),
            Self::Expression { expression, error } => {
                let error = error.say(lang);
                say!(lang; "expression `{expression}`: {error}", "表达式 `{expression}`：{error}")
            }
            Self::NeverFires { expression } => say!(lang;
                "expression `{expression}` never fires",
                "表达式 `{expression}` 永远不会触发"),
            Self::Zone { tz } => say!(lang;
                "unknown time zone `{tz}`; write an IANA name such as Europe/Berlin",
                "未知的时区 `{tz}`；请写 IANA 名称，如 Europe/Berlin"),
            Self::Calendar { calendar } => say!(lang;
                "unknown calendar `{calendar}`; write it as [[calendar]] or by `almanack calendar put`",
                "未知的日历 `{calendar}`；请用 [[calendar]] 或 `almanack calendar put` 定义它"),
            Self::UnreadableCalendar { calendar, why } => {
                let why = why.say(lang);
                say!(lang;
                    "calendar `{calendar}` cannot be read: {why}",
                    "无法读取日历 `{calendar}`：{why}")
            }
            Self::CannotMove { expression } => say!(lang;
                "`move` needs fixed times of day; `{expression}` names an interval: write its hours and minutes as values, or leave `move` out",
                "`move` 需要固定的时刻；`{expression}` 表示间隔：请写出具体的时和分，或去掉 `move`"),
            Self::MovesFromNothing => say!(lang;
                "`move` needs calendars to move slots away from: add `except` or `only`",
                "`move` 需要有可避开的日历：请添加 `except` 或 `only`"),
            Self::TooManyExpressions => say!(lang;
                "`also` has at most {ALSO_MAX} expressions",
                "`also` 最多包含 {ALSO_MAX} 个表达式"),
            Self::Runs => say!(lang; "`runs` must be at least 1", "`runs` 至少为 1"),
            Self::EndsBeforeItStarts => say!(lang;
                "`ends_at` is before `starts_at`",
                "`ends_at` 早于 `starts_at`"),
            Self::OutOfTime => say!(lang;
                "no slot lies between `starts_at` and `ends_at`",
                "`starts_at` 与 `ends_at` 之间没有任何时点"),
            Self::Past { last } => say!(lang;
                "it would never fire: its last time was {last}",
                "永远不会触发：最后一个时间是 {last}"),
            Self::Target(it) => it.say(lang),
            Self::OutOfBounds { what, min_s, max } => say!(lang;
                "{what} must be between {min_s}s and {}h",
                "{what} 必须在 {min_s}s 到 {}h 之间", max.as_hours()),
            Self::MaxCatchUp(it) => say!(lang;
                "max_catch_up must be 1 to {MAX_CATCH_UP_MAX}, not {it}",
                "max_catch_up 必须为 1 到 {MAX_CATCH_UP_MAX}，不能是 {it}"),
            Self::Priority(it) => say!(lang;
                "priority must be 0 to 9 (9 first), not {it}",
                "priority 必须为 0 到 9（9 最先），不能是 {it}"),
            Self::Operation(it) => it.say(lang),
            Self::CancelsItself => say!(lang;
                "catch_up = \"all\" and overlap = \"cancel_running\" contradict each other: every missed slot would cancel the one before it",
                "catch_up = \"all\" 与 overlap = \"cancel_running\" 相互矛盾：每个错过的时点都会取消前一个"),
            Self::NotForMonitors(it) => say!(lang;
                "{it} has no effect on a ping target, which fires nothing; remove it",
                "{it} 对 ping 目标无效（它不触发任何工作）；请去掉"),
            Self::Address(it) => say!(lang;
                "pings.{it} must be an http or https address of at most {ADDRESS_BYTES_MAX} bytes, without user name or password, in which `{{env:NAME}}` or `{{file:/PATH}}` stands for a secret",
                "pings.{it} 必须是不含用户名和密码的 http 或 https 地址，最多 {ADDRESS_BYTES_MAX} 字节；其中 `{{env:NAME}}` 或 `{{file:/PATH}}` 代表密钥"),
            Self::Unreadable { why } => say!(lang;
                "the stored definition cannot be read: {why}",
                "无法读取已保存的定义：{why}"),
        }
    }
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
