//! One question about an expression, and its answer.

use std::collections::BTreeMap;

use almanack_core::{
    lang::Lang,
    schedule::{Expression, Mode, Timetable, Zone},
};
use jiff::{Timestamp, tz::TimeZone};
use serde::Serialize;

use crate::suggest;

/// More times than are useful; a larger number is a typing error.
const COUNT_MAX: usize = 10_000;

/// What to find out.
pub(super) struct Question<'a> {
    pub(super) expression: &'a str,
    /// Where the expression does not name a zone itself.
    pub(super) zone: &'a str,
    pub(super) name: &'a str,
    /// Whether other programs' syntax is accepted.
    pub(super) lenient: bool,
    /// Neither the next nor the previous occurrence is here.
    pub(super) from: Timestamp,
    pub(super) count: usize,
    pub(super) previous: usize,
}

pub(super) struct Answer {
    pub(super) expression: Expression,
    pub(super) timetable: Timetable,
    pub(super) zone: Zone,
    pub(super) next: Vec<Timestamp>,
    pub(super) previous: Vec<Timestamp>,
    /// Whether there are no more.
    pub(super) exhausted: bool,
}

/// Why there is no answer.
#[derive(Serialize)]
pub(super) struct Refusal {
    pub(super) stage: Stage,
    pub(super) message: String,
    /// Where in the expression: the first byte, and one past the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) span: Option<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// An expression that will not fire again may have fired before.
    #[serde(skip)]
    pub(super) previous: Option<Vec<Timestamp>>,
}

/// How far a question came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stage {
    /// The question itself is not understood.
    Question,
    /// The expression is refused.
    Parse,
    /// The zone is unknown.
    #[serde(rename = "tz")]
    Zone,
    Next,
}

/// Zones that were asked for, unrolled once.
#[derive(Default)]
pub(super) struct Zones(BTreeMap<String, Zone>);

impl Question<'_> {
    pub(super) fn ask(&self, zones: &mut Zones) -> Result<Answer, Refusal> {
        for count in [self.count, self.previous] {
            if count > COUNT_MAX {
                let message = format!("{count} times are more than {COUNT_MAX}");
                return Err(Refusal::at(Stage::Question, message));
            }
        }
        let mode = if self.lenient {
            Mode::Import
        } else {
            Mode::Strict
        };
        let expression = Expression::parse(self.expression, mode).map_err(|error| Refusal {
            span: Some([error.span.start, error.span.end]),
            hint: error.hint(Lang::English),
            ..Refusal::at(Stage::Parse, error.to_string())
        })?;
        let zone = zones.get(expression.zone().unwrap_or(self.zone))?.clone();
        let timetable = expression.compile(self.name);
        let previous = walk(self.previous, self.from, |at| {
            timetable.previous_before(at, &zone)
        });
        // One more than asked for shows whether there are more.
        let mut next = walk(self.count + 1, self.from, |at| {
            timetable.next_after(at, &zone)
        });
        if next.is_empty() {
            return Err(self.silent(&timetable, previous));
        }
        let exhausted = next.len() <= self.count;
        next.truncate(self.count);
        Ok(Answer {
            expression,
            timetable,
            zone,
            next,
            previous,
            exhausted,
        })
    }

    fn silent(&self, timetable: &Timetable, previous: Vec<Timestamp>) -> Refusal {
        let text = self.expression.trim();
        let message = if timetable.never_fires() {
            format!("`{text}` never fires: no date matches")
        } else {
            format!("`{text}` does not fire after {}", self.from)
        };
        Refusal {
            previous: Some(previous),
            ..Refusal::at(Stage::Next, message)
        }
    }
}

fn walk(
    count: usize,
    from: Timestamp,
    step: impl Fn(Timestamp) -> Option<Timestamp>,
) -> Vec<Timestamp> {
    let found = std::iter::successors(step(from), |at| step(*at));
    found.take(count).collect()
}

impl Zones {
    fn get(&mut self, name: &str) -> Result<&Zone, Refusal> {
        if !self.0.contains_key(name) {
            let time_zone = TimeZone::get(name).map_err(|_| unknown(name))?;
            self.0.insert(name.to_owned(), Zone::new(time_zone));
        }
        self.0.get(name).ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> Refusal {
    Refusal {
        hint: Some(suggest::zone(name)),
        ..Refusal::at(Stage::Zone, format!("there is no time zone `{name}`"))
    }
}

impl Refusal {
    pub(super) fn at(stage: Stage, message: String) -> Self {
        Self {
            stage,
            message,
            span: None,
            hint: None,
            previous: None,
        }
    }
}
