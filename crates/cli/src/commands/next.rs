//! `almanack next EXPR`: when an expression fires, in words and in times.

use std::io;

use almanack_adapters::clock::SystemClock;
use almanack_core::{
    schedule::{Language, Warning},
    time::Clock,
};

use self::question::{Answer, Question, Refusal, Zones};
use crate::commands::prelude::*;

mod batch;
mod question;

/// How often a host looks for due times by default.
pub(super) const ROUND_S: u32 = 10;

/// Answers one question, or a stream of them.
pub(super) fn run(arguments: &NextArguments, output: &mut Output) -> Done {
    let now = SystemClock.now();
    if arguments.batch {
        return batch::run(io::BufReader::new(io::stdin()), now, output);
    }
    let text = arguments.expression.as_deref().unwrap_or_default();
    let question = Question {
        expression: text,
        zone: &arguments.tz,
        name: &arguments.name,
        lenient: arguments.lenient,
        from: when::parse_at(&arguments.from, now).map_err(|unclear| unclear.of("--from"))?,
        count: arguments.count,
        previous: 0,
    };
    match question.ask(&mut Zones::default()) {
        Ok(answer) if output.json => output.value(&json_of(&answer, question.from))?,
        Ok(answer) => show(&answer, &question, arguments.lang, output)?,
        Err(refusal) => return Err(failure(&refusal, text, output.json)),
    }
    Ok(Exit::Ok)
}

fn show(
    answer: &Answer,
    question: &Question<'_>,
    words: Words,
    output: &mut Output,
) -> Result<(), Failure> {
    let language = match words {
        Words::En => Language::English,
        Words::Zh => Language::Chinese,
    };
    let zone = answer.zone.time_zone();
    let name = zone.iana_name().unwrap_or("UTC");
    output.line(&format!("{} ({name})", answer.timetable.describe(language)))?;
    let shown = |at: &Timestamp| {
        let local = at.to_zoned(zone.clone());
        let utc = at.strftime("%F %H:%M:%SZ").to_string();
        let local = local.strftime("%a %F %H:%M:%S %:z").to_string();
        vec![Cell::new(local), Cell::new(utc).ink(Ink::Faint)]
    };
    let rows: Vec<Vec<Cell>> = answer.next.iter().map(shown).collect();
    output.table(&["LOCAL", "UTC"], &rows)?;
    if answer.next.len() < question.count {
        output.note("no more times before the year 2200\n");
    }
    for warning in warnings(answer, question.from) {
        output.note(&format!("warning: {}\n", warning.lint));
    }
    Ok(())
}

fn warnings(answer: &Answer, from: Timestamp) -> Vec<Warning> {
    let expression = &answer.expression;
    expression.lints(&answer.timetable, &answer.zone, from, ROUND_S)
}

fn json_of(answer: &Answer, from: Timestamp) -> Value {
    let zone = answer.zone.time_zone();
    let next = answer.next.iter().map(|at| {
        let local = at.to_zoned(zone.clone());
        json!({ "at": at, "local": local.strftime("%FT%H:%M:%S%:z").to_string() })
    });
    let warnings = warnings(answer, from).into_iter().map(|warning| {
        let span = warning.span.map(|span| [span.start, span.end]);
        json!({ "code": warning.lint.code(), "message": warning.lint.to_string(), "span": span })
    });
    json!({
        "expression": answer.expression.to_string(),
        "tz": zone.iana_name(),
        "words": {
            "en": answer.timetable.describe(Language::English),
            "zh": answer.timetable.describe(Language::Chinese),
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
