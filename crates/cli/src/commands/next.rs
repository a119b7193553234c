//! `almanack next EXPR`: when an expression fires, in words and in times.

use std::io;

use almanack_adapters::clock::SystemClock;
use almanack_core::{lang::Lang, time::Clock};
use jiff::fmt::strtime;

use self::question::{Answer, Question, Refusal, Zones};
use crate::commands::prelude::*;

mod batch;
mod calendar;
mod question;

/// How often a host looks for due times by default.
pub(super) const ROUND_S: u32 = 10;

/// Answers one question, or a stream of them.
pub(super) fn run(at: &Connector<'_>, arguments: &NextArguments, output: &mut Output) -> Done {
    let now = SystemClock.now();
    if arguments.leaves_out() {
        return calendar::run(at, arguments, now, output);
    }
    if arguments.batch {
        return batch::run(io::BufReader::new(io::stdin()), now, output);
    }
    let expression = arguments.expression.as_deref().unwrap_or_default();
    let question = Question {
        expression,
        zone: &arguments.tz,
        name: &arguments.name,
        lenient: arguments.lenient,
        from: when::parse_at(&arguments.from, now).map_err(|unclear| unclear.of("--from"))?,
        count: arguments.count,
        previous: 0,
    };
    let asked = question.ask(&mut Zones::default());
    let answer = asked.map_err(|refusal| failure(&refusal, expression, output.json))?;
    let answer = json_of(&answer, question.from);
    output.print(&answer, |output| show(&answer, arguments, now, output))
}

const TIMES: &[Column] = &[column("LOCAL", "/local", local), column("UTC", "/at", utc)];

/// A local time as the API writes it, with its weekday.
pub(super) fn local(local: &Value, now: Timestamp) -> Cell {
    let shown = strtime::parse("%FT%H:%M:%S%:z", local.as_str().unwrap_or_default());
    let shown = shown.and_then(|it| it.to_string("%a %F %H:%M:%S %:z"));
    shown.map_or_else(|_| plain(local, now), Cell::from)
}

pub(super) fn utc(instant: &Value, now: Timestamp) -> Cell {
    at(instant, now).ink(Ink::Faint)
}

fn show(
    answer: &Value,
    arguments: &NextArguments,
    now: Timestamp,
    output: &mut Output,
) -> Result<()> {
    let words = match arguments.lang {
        Words::En => &answer["words"]["en"],
        Words::Zh => &answer["words"]["zh"],
    };
    let zone = answer["tz"].as_str().unwrap_or("UTC");
    output.line(&format!("{} ({zone})", text(words)))?;
    let next = items(&answer["next"]);
    output.columns(TIMES, next, now, true)?;
    if next.len() < arguments.count {
        output.note("no more times before the year 2200\n");
    }
    for warning in items(&answer["warnings"]) {
        output.warn(&text(&warning["message"]));
    }
    Ok(())
}

fn json_of(answer: &Answer, from: Timestamp) -> Value {
    let zone = answer.zone.time_zone();
    let next = answer.next.iter().map(|at| {
        let local = at.to_zoned(zone.clone());
        json!({ "at": at, "local": local.strftime("%FT%H:%M:%S%:z").to_string() })
    });
    let expression = &answer.expression;
    let warnings = expression.lints(&answer.timetable, &answer.zone, from, ROUND_S);
    let warnings = warnings.into_iter().map(|warning| {
        let span = warning.span.map(|span| [span.start, span.end]);
        json!({ "code": warning.lint.code(), "message": warning.lint.to_string(), "span": span })
    });
    json!({
        "expression": expression.to_string(),
        "tz": zone.iana_name(),
        "words": {
            "en": answer.timetable.describe(Lang::English),
            "zh": answer.timetable.describe(Lang::Chinese),
        },
        "next": next.collect::<Vec<_>>(),
        "exhausted": answer.exhausted,
        "warnings": warnings.collect::<Vec<_>>(),
    })
}

/// The refusal as people get it: the sentence, and the place in the expression.
fn failure(refusal: &Refusal, text: &str, json: bool) -> Failure {
    let exit = match refusal.stage {
        question::Stage::Next => Exit::Failed,
        _ => Exit::Usage,
    };
    let what = match refusal.span {
        Some(span) if !json => format!("{}\n{}", refusal.message, pointed(text, span)),
        _ => refusal.message.clone(),
    };
    Failure::new(exit, what).hinted(refusal.hint.as_deref())
}

/// The expression with the place underlined.
pub(super) fn pointed(text: &str, [start, end]: [usize; 2]) -> String {
    let plain = |text: &str| -> String {
        let plain = text.chars().map(|c| if c.is_control() { '·' } else { c });
        plain.collect()
    };
    let count = |range: Option<&str>| range.map_or(0, |text| text.chars().count());
    let before = " ".repeat(count(text.get(..start)));
    let carets = "^".repeat(count(text.get(start..end)).max(1));
    format!("  {}\n  {before}{carets}", plain(text))
}
