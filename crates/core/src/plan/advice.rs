//! Warnings about a schedule: it can be kept, and perhaps it is not what its writer meant.
//!
//! The same wherever a schedule is accepted: the configuration, the API, the command line, the
//! dashboard, imports and simulations. None of these refuses anything.

use std::fmt;

use jiff::Timestamp;

use super::{Definition, Ready};
use crate::{
    edition::EDITION_TICK,
    follow::RUN_TIMEOUT_DEFAULT,
    lang::{Lang, Say},
    say,
    schedule::{self, Span},
    source::SOURCE_CHECK,
    target::Target,
};

/// Slots that are compared to see whether two of them share a day.
const COMPARED: usize = 50;

/// A warning and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub lint: Lint,
    /// The path of what it is about: `target.subject`.
    pub path: &'static str,
    /// Where in it, if a part of it is meant.
    pub span: Option<Span>,
}

/// What to know about a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lint {
    /// About its expression alone.
    Expression(schedule::Lint),
    /// It has no slot to come.
    Over,
    /// Calendars and quiet hours leave out every slot to come.
    AllLeftOut,
    /// The time limit ends its work before a report is due.
    ReportAfterTimeLimit,
    /// All its firings ask for one task.
    SameTask,
    /// All its firings of a day ask for one task.
    SameTaskOfDay,
    /// No retry fits into the time there is for them.
    NoTimeToRetry,
    /// Its alerts go to a channel that is not configured.
    UnknownChannel { name: String },
}

impl Lint {
    /// A name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Expression(lint) => lint.code(),
            Self::Over => "over",
            Self::AllLeftOut => "all_left_out",
            Self::ReportAfterTimeLimit => "report_after_time_limit",
            Self::SameTask => "same_task",
            Self::SameTaskOfDay => "same_task_of_day",
            Self::NoTimeToRetry => "no_time_to_retry",
            Self::UnknownChannel { .. } => "unknown_channel",
        }
    }
}

impl Say for Lint {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Expression(lint) => lint.say(lang),
            Self::Over => say!(lang;
                "it has no time to come: it will not fire again", "没有未来的时间：不会再触发"),
            Self::AllLeftOut => say!(lang;
                "its calendars and quiet hours leave out every time to come: it will not fire",
                "日历与静默时段排除了今后的所有时点：不会触发"),
            Self::ReportAfterTimeLimit => say!(lang;
                "report_within is longer than run_timeout, which ends the firing first; raise run_timeout",
                "report_within 比 run_timeout 长，触发会先因时限而结束；请增大 run_timeout"),
            Self::SameTask => say!(lang;
                "every firing asks for the same task: a waiting one is moved, a running one is started anew, and once it has succeeded every further firing fails; put {{slot}} or {{date}} into the subject",
                "每次触发都请求同一个任务：等待中的会被改期，运行中的会重新开始，一旦成功，之后的触发都会失败；请在主体中加入 {{slot}} 或 {{date}}"),
            Self::SameTaskOfDay => say!(lang;
                "all firings of a day ask for the same task, and once it has succeeded the further firings of that day fail; put {{slot}} into the subject",
                "同一天的触发都请求同一个任务，一旦成功，当天之后的触发都会失败；请在主体中加入 {{slot}}"),
            Self::NoTimeToRetry => say!(lang;
                "retry.backoff is longer than retry_for, so a failed firing may never be tried again; raise retry_for",
                "retry.backoff 比 retry_for 长，失败的触发可能不会重试；请增大 retry_for"),
            Self::UnknownChannel { name } => say!(lang;
                "there is no alert channel `{name}` in the configuration; while none of the named channels is there, all get its alerts",
                "配置中没有告警渠道 `{name}`；所列渠道都不存在时，其告警发往所有渠道"),
        }
    }
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Lang::English))
    }
}

/// The channels in `alerts` that are not among those that are configured.
pub fn unknown_channels(definition: &Definition, known: &[String]) -> Vec<Advice> {
    let named = definition.alerts.iter().flatten();
    let unknown = named.filter(|name| !known.contains(name));
    let advice = unknown.map(|name| Advice {
        lint: Lint::UnknownChannel { name: name.clone() },
        path: "alerts",
        span: None,
    });
    advice.collect()
}

impl Ready {
    /// What is worth knowing. `from` is now; `round_s` is how often the host looks for due slots.
    pub fn advice(&self, from: Timestamp, round_s: u32) -> Vec<Advice> {
        let about = |path, lint| Advice {
            lint,
            path,
            span: None,
        };
        let of_expression = self.lints(from, round_s).into_iter();
        let mut advice: Vec<Advice> = of_expression
            .map(|(key, warning)| Advice {
                span: warning.span,
                ..about(key, Lint::Expression(warning.lint))
            })
            .collect();
        let next = self.next_after(from);
        if next.is_none() {
            advice.push(about("expression", Lint::Over));
        } else if self.leaves_out() && self.next_firing_after(from).is_none() {
            advice.push(about(self.left_out_by(), Lint::AllLeftOut));
        }
        if self.reports_too_late() {
            advice.push(about("target.report_within", Lint::ReportAfterTimeLimit));
        }
        advice.extend(self.same_task(from).map(|it| about("target.subject", it)));
        let first_wait = self.definition.retry.backoff;
        if let (Some(wait), Some(slot)) = (first_wait, next)
            && wait >= self.retry_for(slot)
        {
            advice.push(about("retry.backoff", Lint::NoTimeToRetry));
        }
        advice
    }

    /// The key by which it leaves slots out.
    fn left_out_by(&self) -> &'static str {
        let definition = &self.definition;
        if !definition.only.is_empty() {
            "only"
        } else if definition.except.is_empty() {
            "quiet"
        } else {
            "except"
        }
    }

    /// Whether the time limit ends the work before its report is missed.
    fn reports_too_late(&self) -> bool {
        let limit = self.definition.run_timeout.unwrap_or(RUN_TIMEOUT_DEFAULT);
        let within = self.definition.target.report_within();
        within.is_some_and(|within| within > limit)
    }

    /// Whether two firings ask for one task, which is done once.
    fn same_task(&self, from: Timestamp) -> Option<Lint> {
        let Target::Task { kind, subject, .. } = &self.definition.target else {
            return None;
        };
        // A check is a task that comes again, and a tick is done in the firing itself.
        let comes_again = [SOURCE_CHECK, EDITION_TICK].contains(&kind.as_str());
        if comes_again || subject.contains("{slot}") {
            return None;
        }
        let slots = std::iter::successors(self.next_after(from), |slot| self.next_after(*slot));
        let slots: Vec<Timestamp> = slots.take(COMPARED).collect();
        if !subject.contains("{date}") {
            return (slots.len() > 1).then_some(Lint::SameTask);
        }
        let day = |slot: Timestamp| slot.as_second().div_euclid(86_400);
        let same = slots.windows(2).any(|pair| day(pair[0]) == day(pair[1]));
        same.then_some(Lint::SameTaskOfDay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ScheduleName;

    fn codes(json: &str) -> Vec<&'static str> {
        let definition = Definition::from_json(json).unwrap();
        let name = ScheduleName::parse("x").unwrap();
        let zone = std::sync::Arc::new(schedule::Zone::utc());
        let ready = Ready::new(&name, definition, &zone).unwrap();
        let from = "2026-01-05T08:00:00Z".parse().unwrap();
        ready
            .advice(from, 10)
            .iter()
            .map(|it| it.lint.code())
            .collect()
    }

    fn of_task(expression: &str, kind: &str, subject: &str) -> Vec<&'static str> {
        codes(&format!(
            r#"{{"expression":"{expression}","target":{{"type":"task","kind":"{kind}","subject":"{subject}"}}}}"#
        ))
    }

    #[test]
    fn dp_11_firings_that_ask_for_one_task_are_warned_of() {
        for (expression, kind, subject, expected) in [
            ("@daily", "AUDIT", "all", Some("same_task")),
            ("@daily", "AUDIT", "of {date}", None),
            ("@hourly", "AUDIT", "of {date}", Some("same_task_of_day")),
            ("@hourly", "AUDIT", "of {slot}", None),
            ("0 0 0 1 1 * 2030", "AUDIT", "all", None),
            ("@hourly", "SOURCE_CHECK", "source:17", None),
            ("@hourly", "EDITION_TICK", "edition", None),
        ] {
            let found = of_task(expression, kind, subject);
            assert_eq!(
                found,
                Vec::from_iter(expected),
                "{expression} {kind} {subject}"
            );
        }
    }

    #[test]
    fn dp_17_a_year_that_has_passed_is_warned_of() {
        let of = |expression| of_task(expression, "AUDIT", "of {slot}");
        assert_eq!(of("0 0 0 1 1 * 2020"), ["past_year", "over"]);
        assert_eq!(of("0 0 0 1 1 * 2020,2030"), ["past_year"]);
        assert_eq!(of("0 0 0 1 1 * 2026-2027"), [""; 0]);
    }

    #[test]
    fn dp_22_a_warning_names_the_expression_it_is_about() {
        let json = r#"{"expression":"@daily","also":[{"expression":"0 9 1 * 1"}],
            "target":{"type":"webhook","url":"https://x.test"}}"#;
        let definition = Definition::from_json(json).unwrap();
        let name = ScheduleName::parse("x").unwrap();
        let zone = std::sync::Arc::new(schedule::Zone::utc());
        let ready = Ready::new(&name, definition, &zone).unwrap();
        let from = "2026-01-05T08:00:00Z".parse().unwrap();
        let advice = ready.advice(from, 10);
        let paths: Vec<_> = advice.iter().map(|it| (it.path, it.span)).collect();
        assert_eq!(paths, [("also", None)], "{advice:?}");
    }

    #[test]
    fn dp_19_a_report_after_the_time_limit_is_warned_of() {
        let of = |within: &str, rest: &str| {
            codes(&format!(
                r#"{{"expression":"@daily","target":{{"type":"webhook","url":"https://x.test","report_within":"{within}"}}{rest}}}"#
            ))
        };
        assert_eq!(
            of("2h", r#","run_timeout":"1h""#),
            ["report_after_time_limit"]
        );
        assert_eq!(of("1h", r#","run_timeout":"1h""#), [""; 0]);
        assert_eq!(of("25h", ""), ["report_after_time_limit"]);
        assert_eq!(of("25h", r#","run_timeout":"26h""#), [""; 0]);
    }

    #[test]
    fn dp_21_quiet_hours_over_all_times_are_warned_of() {
        let of = |quiet: &str| {
            codes(&format!(
                r#"{{"expression":"0 23 * * *","quiet":["{quiet}"],"target":{{"type":"webhook","url":"https://x.test"}}}}"#
            ))
        };
        assert_eq!(of("22:00-06:00"), ["all_left_out"]);
        assert_eq!(of("23:30-06:00"), [""; 0]);
    }

    #[test]
    fn dp_12_retries_that_never_come_are_warned_of() {
        let of = |rest: &str| {
            codes(&format!(
                r#"{{"expression":"@hourly","target":{{"type":"webhook","url":"https://x.test"}}{rest}}}"#
            ))
        };
        assert_eq!(of(r#","retry":{"backoff":"2h"}"#), ["no_time_to_retry"]);
        assert_eq!(of(r#","retry":{"backoff":"2h"},"retry_for":"3h""#), [""; 0]);
    }
}
