//! The same question with calendars: what fires, and what is left out.

use std::{path::Path, sync::Arc};

use almanack_core::{
    calendar::{self, Calendar, Calendars},
    plan::{Definition, Ready, ScheduleName},
    schedule::Language,
    target::Target,
};
use almanack_engine::zones::Zones;

use super::{ROUND_S, local};
use crate::commands::prelude::*;

/// Slots looked at for the times asked for.
const LOOKED_THROUGH_MAX: usize = 100_000;

const SLOTS: &[Column] = &[
    column("LOCAL", "/local", local),
    column("UTC", "/at", super::utc),
    column("", "/skipped", |why, now| {
        let why = plain(why, now);
        why.ink(Ink::Faint)
    }),
];

pub(super) fn run(
    arguments: &NextArguments,
    inputs: &Inputs,
    now: Timestamp,
    output: &mut Output,
) -> Done {
    let from = when::parse_at(&arguments.from, now).map_err(|unclear| unclear.of("--from"))?;
    let ready = ready(arguments, inputs)?;
    let zone = ready.zone().time_zone().clone();
    let mut next = Vec::new();
    let mut fires = 0;
    let slots = std::iter::successors(ready.next_after(from), |at| ready.next_after(*at));
    for at in slots.take(LOOKED_THROUGH_MAX) {
        if fires == arguments.count {
            break;
        }
        let skipped = ready.exclusion(at);
        fires += usize::from(skipped.is_none());
        let local = at.to_zoned(zone.clone()).strftime("%FT%H:%M:%S%:z");
        let skipped = skipped.map(|why| format!("skipped: {why}"));
        next.push(json!({ "at": at, "local": local.to_string(), "skipped": skipped }));
    }
    let warnings = ready.advice(from, ROUND_S).into_iter();
    let warnings = warnings.filter(|it| !it.path.starts_with("target"));
    let warnings = warnings.map(|it| {
        let span = it.span.map(|span| [span.start, span.end]);
        json!({ "code": it.lint.code(), "message": it.lint.to_string(), "span": span })
    });
    let firing = next.iter().filter(|it| it["skipped"].is_null());
    let firing = firing.map(|it| json!({ "at": it["at"], "local": it["local"] }));
    // As without calendars, and beside it what is left out.
    let answer = json!({
        "expression": ready.definition.expression,
        "tz": ready.definition.tz,
        "words": {
            "en": ready.describe(Language::English),
            "zh": ready.describe(Language::Chinese),
        },
        "next": firing.collect::<Vec<_>>(),
        "slots": next,
        "exhausted": fires < arguments.count,
        "warnings": warnings.collect::<Vec<_>>(),
    });
    output.print(&answer, |output| {
        let words = match arguments.lang {
            Words::En => &answer["words"]["en"],
            Words::Zh => &answer["words"]["zh"],
        };
        let (words, tz) = (text(words), text(&answer["tz"]));
        output.line(&format!("{words} ({tz})"))?;
        output.columns(SLOTS, items(&answer["slots"]), now, true)?;
        if fires < arguments.count {
            output.note("no more times\n");
        }
        for warning in items(&answer["warnings"]) {
            output.warn(&text(&warning["message"]));
        }
        Ok(())
    })
}

fn ready(arguments: &NextArguments, inputs: &Inputs) -> Result<Ready> {
    let mut calendars = Calendars::new();
    let mut find = |given: &String| -> Result<String> {
        let (name, calendar) = calendar_of(given, inputs)?;
        calendars.insert(name.clone(), Ok(Arc::new(calendar)));
        Ok(name)
    };
    let except = arguments.except.iter().map(&mut find);
    let except: Vec<String> = except.collect::<Result<_>>()?;
    let only: Vec<String> = arguments.only.iter().map(find).collect::<Result<_>>()?;
    // The target does not affect the times.
    let nowhere = Target::Task {
        kind: "NEXT".to_owned(),
        subject: "next".to_owned(),
        payload: None,
    };
    let expression = arguments.expression.clone().unwrap_or_default();
    let definition = serde_json::to_value(Definition::new(expression, nowhere));
    let mut definition = definition.unwrap_or_default();
    definition["tz"] = json!(arguments.tz);
    definition["except"] = json!(except);
    definition["only"] = json!(only);
    definition["move"] = json!(arguments.moves);
    definition["quiet"] = json!(arguments.quiet);
    let definition: Definition = serde_json::from_value(definition).map_err(Failure::usage)?;
    let name = match arguments.name.as_str() {
        "" => "schedule",
        name => name,
    };
    let name = ScheduleName::parse(name).map_err(Failure::usage)?;
    let zones = Zones::with_calendars(calendars);
    zones.ready(&name, definition).map_err(Failure::usage)
}

/// An iCalendar file, or a calendar of the configuration.
fn calendar_of(given: &str, inputs: &Inputs) -> Result<(String, Calendar)> {
    let path = Path::new(given);
    let unfit =
        |name: &str, error: calendar::Unfit| Failure::usage(format!("calendar `{name}`: {error}"));
    if path.is_file() {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("cannot read `{}`: {error}", path.display()))
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let definition = calendar::Definition {
            ical: Some(text),
            ..calendar::Definition::default()
        };
        let read = Calendar::new(&name, &definition, None);
        let read = read.map_err(|error| unfit(&name, error))?;
        return Ok((name.into_owned(), read));
    }
    let loaded = config::load(inputs, Need::Database);
    let Some(definition) = loaded.calendars.wanted.get(given) else {
        let what = format!("there is no file and no [[calendar]] `{given}`");
        return Err(Failure::usage(what)
            .hint("write a path to an iCalendar file, or name the configuration with --config"));
    };
    let read = Calendar::new(given, definition, None);
    Ok((given.to_owned(), read.map_err(|error| unfit(given, error))?))
}
