//! Warnings: expressions that are well-formed and perhaps not what their writer meant.
//!
//! None of these refuses anything. Each is a difference between implementations, or a day on which
//! people will ask why nothing, or too much, has run.

use std::fmt;

use jiff::Timestamp;

use super::{
    error::Span,
    expression::{Expression, Fields, List, Rule, Term},
    field::Field,
    timetable::{DayRule, Pace, Plan, Timetable},
    zone::Zone,
};
use crate::{
    lang::{Lang, Say},
    say,
};

/// A warning and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub lint: Lint,
    /// Where, if a part of the expression is to blame.
    pub span: Option<Span>,
}

/// What to know about an expression.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Lint {
    /// Both day fields are restricted, and one is enough.
    EitherDay,
    /// As [`Lint::EitherDay`], and one of them begins with `*`, which elsewhere means both.
    StepIsRestriction {
        field: Field,
    },
    /// The last step before the field begins again is shorter.
    UnevenStep {
        field: Field,
        step: u16,
    },
    /// The step is larger than the field, so only its first value is left.
    LargeStep {
        field: Field,
        step: u16,
    },
    /// A day that some months do not have.
    SkipsMonths {
        /// The first such day.
        day: u16,
    },
    /// The clocks skip an occurrence in the coming year.
    InGap {
        /// When the gap ends.
        at: Timestamp,
        /// Whether it then takes place at the end of the gap.
        moved: bool,
    },
    /// Every minute, every day.
    EveryMinute,
    /// More often than the host looks.
    Frequent {
        /// How often it looks, in seconds.
        round_s: u32,
    },
    /// A year that has passed is among the years.
    PastYear {
        year: u16,
    },
    NeverFires,
}

/// The coming year, with a day to spare.
const AHEAD_S: i64 = 367 * 86_400;

impl Expression {
    /// What is worth knowing. `from` begins the year in which changes of the clocks are looked
    /// for; `round_s` is how often the host looks for due occurrences.
    pub fn lints(
        &self,
        timetable: &Timetable,
        zone: &Zone,
        from: Timestamp,
        round_s: u32,
    ) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if let Rule::Fields(fields) = &self.rule {
            warnings.extend(day_warnings(fields));
            warnings.extend(
                Field::ALL
                    .into_iter()
                    .flat_map(|field| step_warnings(fields, field)),
            );
            warnings.extend(short_months(fields));
            warnings.extend(past_year(fields, zone, from));
        }
        warnings.extend(timetable.in_gap(zone, from));
        warnings.extend(timetable.load(round_s));
        if timetable.never_fires() {
            warnings.push(everywhere(Lint::NeverFires));
        }
        warnings
    }
}

impl Expression {
    /// What is worth knowing about two day fields, where both are restricted.
    pub(crate) fn day_lint(&self) -> Option<Lint> {
        match &self.rule {
            Rule::Fields(fields) => day_warnings(fields).map(|warning| warning.lint),
            Rule::Every(_) => None,
        }
    }
}

fn everywhere(lint: Lint) -> Warning {
    Warning { lint, span: None }
}

fn day_warnings(fields: &Fields) -> Option<Warning> {
    let (of_month, of_week) = (fields.list(Field::Day), fields.list(Field::Weekday));
    if fields.both_days || of_month.is_open() || of_week.is_open() {
        return None;
    }
    let begins_with_star = |list: &List| {
        let first = list.items.first().map(|item| item.term);
        matches!(first, Some(Term::All | Term::AllStep(_)))
    };
    let at = |list: &List, lint| Warning {
        lint,
        span: Some(list.span),
    };
    if begins_with_star(of_month) {
        let field = Field::Day;
        return Some(at(of_month, Lint::StepIsRestriction { field }));
    }
    if begins_with_star(of_week) {
        let field = Field::Weekday;
        return Some(at(of_week, Lint::StepIsRestriction { field }));
    }
    Some(at(of_week, Lint::EitherDay))
}

fn step_warnings(fields: &Fields, field: Field) -> impl Iterator<Item = Warning> {
    let choices = field.last() - field.min() + 1;
    fields.list(field).items.iter().filter_map(move |item| {
        let Term::AllStep(step) = item.term else {
            return None;
        };
        let lint = match step {
            1 => return None,
            _ if step >= choices => Lint::LargeStep { field, step },
            // Days of the month and years end unevenly whatever the step.
            _ if field == Field::Year || choices.is_multiple_of(step) => return None,
            _ => Lint::UnevenStep { field, step },
        };
        let span = Some(item.span);
        Some(Warning { lint, span })
    })
}

/// Days that are missing in some of the months listed. A list that reaches them from smaller days
/// (`*/2`, `25-31`) says nothing in particular about them.
fn short_months(fields: &Fields) -> Option<Warning> {
    let list = fields.list(Field::Day);
    let either = !fields.list(Field::Weekday).is_open() && !fields.both_days;
    let days = list.items.iter().map(|item| match item.term {
        Term::Value(day) | Term::NearestWorkday(day) if day > 28 => Some((day, item.span)),
        _ => None,
    });
    let days: Option<Vec<(u16, Span)>> = days.collect();
    let (day, span) = days?.into_iter().min_by_key(|found| found.0)?;
    let months = fields.list(Field::Month);
    let lacks = |month: u16| match month {
        2 => true,
        4 | 6 | 9 | 11 => day > 30,
        _ => false,
    };
    let listed = months
        .items
        .iter()
        .flat_map(|item| super::compile::values(Field::Month, item.term, 0));
    let all: Vec<u16> = listed.collect();
    let some = all.iter().any(|month| lacks(*month)) && !all.iter().all(|month| lacks(*month));
    let leap = day == 29 && all == [2];
    let span = Some(span);
    (!either && (some || leap)).then_some(Warning {
        lint: Lint::SkipsMonths { day },
        span,
    })
}

/// The first year that is written and has passed. A range that reaches the present is meant so.
fn past_year(fields: &Fields, zone: &Zone, from: Timestamp) -> Option<Warning> {
    let now = zone.time_zone().to_datetime(from).year();
    fields.list(Field::Year).items.iter().find_map(|item| {
        let (Term::Value(year) | Term::Range { last: year, .. }) = item.term else {
            return None;
        };
        let span = Some(item.span);
        let lint = Lint::PastYear { year };
        (i32::from(year) < i32::from(now)).then_some(Warning { lint, span })
    })
}

impl Timetable {
    /// The first gap in the coming year that swallows an occurrence.
    fn in_gap(&self, zone: &Zone, from: Timestamp) -> Option<Warning> {
        let Plan::Table(table) = &self.plan else {
            return None;
        };
        // A schedule that runs every hour misses nothing worth a warning.
        if table.pace == Pace::Interval && table.hours.count_ones() == 24 {
            return None;
        }
        let (first, last) = (from.as_second(), from.as_second().saturating_add(AHEAD_S));
        let mut ended = i64::MIN;
        for span in zone.spans() {
            let gap = ended..span.local_start();
            ended = span.local_end();
            let ahead = (first..last).contains(&span.start);
            if ahead && !gap.is_empty() && gap.contains(&table.at_or_after(gap.start)) {
                let at = Timestamp::from_second(span.start).ok()?;
                let moved = table.pace == Pace::Fixed;
                return Some(everywhere(Lint::InGap { at, moved }));
            }
        }
        None
    }

    fn load(&self, round_s: u32) -> Option<Warning> {
        let frequent = everywhere(Lint::Frequent { round_s });
        let table = match &self.plan {
            Plan::Every(every) => return (every.period_s < round_s).then_some(frequent),
            Plan::Table(table) => table,
        };
        if table.seconds.count_ones() > 60 / round_s.clamp(1, 60) {
            return Some(frequent);
        }
        let always = table.minutes.count_ones() == 60
            && table.hours.count_ones() == 24
            && table.rule == DayRule::Any;
        always.then(|| everywhere(Lint::EveryMinute))
    }
}

impl Lint {
    /// A name for programs.
    pub fn code(&self) -> &'static str {
        self.into()
    }
}

impl Say for Lint {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::EitherDay => say!(lang;
                "both day fields are restricted: a day that fits either one counts (`+` before the weekday asks for both)",
                "“日”和“星期”都有限制：满足其一即触发（在星期前加 `+` 表示两者都要满足）"),
            Self::StepIsRestriction { field } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: a step counts as a restriction here, so a day that fits either field counts; other crons ask for both",
                    "{field}：步长在这里算作限制，满足其一即触发；其他 cron 要求两者都满足")
            }
            Self::UnevenStep { field, step } => {
                let field = field.say(lang);
                say!(lang;
                    "{field}: {step} does not divide the field evenly, so the last step is shorter",
                    "{field}：{step} 不能整除该字段，最后一步较短")
            }
            Self::LargeStep { field, step } => {
                let field = field.say(lang);
                say!(lang; "{field}: a step of {step} leaves only the first value",
                    "{field}：步长 {step} 只剩下第一个值")
            }
            Self::SkipsMonths { day } => say!(lang;
                "months without a day {day} are skipped (`L` is a month's last day)",
                "没有 {day} 日的月份会被跳过（`L` 表示当月最后一天）"),
            Self::InGap { at, moved: true } => say!(lang;
                "the clocks skip this time once and it moves to the end of the gap, {at}",
                "调整时钟时会跳过该时间一次，改在跳变结束时（{at}）触发"),
            Self::InGap { at, moved: false } => say!(lang;
                "the clocks skip some of these times; the gap ends {at}",
                "调整时钟时会跳过其中一些时间；跳变结束于 {at}"),
            Self::EveryMinute => {
                say!(lang; "this runs every minute of every day", "每天每分钟都会触发")
            }
            Self::Frequent { round_s } => say!(lang;
                "this is due more often than every {round_s} s", "触发间隔短于 {round_s} 秒"),
            Self::PastYear { year } => {
                say!(lang; "the year {year} has passed", "{year} 年已经过去")
            }
            Self::NeverFires => say!(lang;
                "no date fits: this never fires", "没有符合的日期：永远不会触发"),
        }
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Lang::English))
    }
}

#[cfg(test)]
mod tests;
