//! The same question with calendars: what fires, and what is left out.

use std::{path::Path, sync::Arc};

use almanack_core::{
    calendar::{self, Calendar, Calendars},
    lang::{Lang, reader::in_english},
    plan::{Definition, Ready, ScheduleName},
    target::Target,
};
use almanack_engine::zones::Zones;

use super::{ROUND_S, local};
use crate::{
    commands::{
        calendar::{UNREAD_HINT, ask_stored},
        prelude::*,
    },
    config::calendar::FileCalendars,
};

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
    at: &Connector<'_>,
    arguments: &NextArguments,
    now: Timestamp,
    output: &mut Output,
) -> Done {
    let from = when::parse_at(&arguments.from, now).map_err(|unclear| unclear.of("--from"))?;
    let ready = ready(at, arguments)?;
    let zone = ready.zone().time_zone().clone();
    let mut next = Vec::new();
    let mut fires = 0;
    for (at, skipped) in ready.slots_after(from).take(LOOKED_THROUGH_MAX) {
        if fires == arguments.count {
            break;
        }
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
            "en": ready.describe(Lang::English),
            "zh": ready.describe(Lang::Chinese),
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

fn ready(at: &Connector<'_>, arguments: &NextArguments) -> Result<Ready> {
    let mut known = Known::new(at);
    let except = arguments.except.iter().map(|given| known.find(given));
    let except: Vec<String> = except.collect::<Result<_>>()?;
    let only = arguments.only.iter().map(|given| known.find(given));
    let only: Vec<String> = only.collect::<Result<_>>()?;
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
    let definition: Definition =
        serde_json::from_value(definition).map_err(|error| Failure::usage(in_english(&error)))?;
    let name = match arguments.name.as_str() {
        "" => "schedule",
        name => name,
    };
    let name = ScheduleName::parse(name).map_err(Failure::usage)?;
    let zones = Zones::with_calendars(known.found);
    zones.ready(&name, definition).map_err(Failure::usage)
}

/// The calendars that are known here, and those that were asked for.
struct Known<'a> {
    at: &'a Connector<'a>,
    file: FileCalendars,
    /// Whether what is stored has been added.
    is_asked: bool,
    found: Calendars,
}

impl<'a> Known<'a> {
    fn new(at: &'a Connector<'a>) -> Self {
        Self {
            at,
            file: config::load(at.inputs, Need::Database).calendars,
            is_asked: false,
            found: Calendars::new(),
        }
    }

    /// An iCalendar file, a calendar of the configuration, or one that is stored; its name.
    fn find(&mut self, given: &str) -> Result<String> {
        let path = Path::new(given);
        let (name, calendar) = if path.is_file() {
            of_file(path)?
        } else {
            (given.to_owned(), self.named(given)?)
        };
        self.found.insert(name.clone(), Ok(Arc::new(calendar)));
        Ok(name)
    }

    fn named(&mut self, name: &str) -> Result<Calendar> {
        let mut unread = None;
        if !self.is_asked && !self.is_read(name) {
            self.is_asked = true;
            match ask_stored(self.at) {
                Ok(stored) => self.file.add_stored(stored),
                Err(failure) if self.at.server.is_some() => return Err(failure),
                Err(failure) => unread = Some(failure.parts().0),
            }
        }
        let Some(compiled) = self.file.compiled().remove(name) else {
            let asked = unread.map(|why| format!("; none is stored here: {why}"));
            let asked = asked.unwrap_or_default();
            let what = format!("there is no file and no calendar `{name}`{asked}");
            return Err(Failure::usage(what).hint(
                "write a path to an iCalendar file, or name the configuration with --config or a node with --server",
            ));
        };
        if !self.is_read(name) {
            let why = unread.unwrap_or_else(|| "no node has read it yet".to_owned());
            let what = format!("the days of calendar `{name}` are at an address: {why}");
            return Err(Failure::usage(what).hint(UNREAD_HINT));
        }
        let compiled = compiled.map_err(|error| unfit(name, &error))?;
        Ok(Arc::unwrap_or_clone(compiled))
    }

    /// Whether its days are known without asking anybody.
    fn is_read(&self, name: &str) -> bool {
        self.file.wanted.contains_key(name) && !self.file.unread().any(|it| it == name)
    }
}

fn of_file(path: &Path) -> Result<(String, Calendar)> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", path.display())))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let definition = calendar::Definition {
        ical: Some(text),
        ..calendar::Definition::default()
    };
    let read = Calendar::new(&name, &definition, None).map_err(|error| unfit(&name, &error))?;
    Ok((name.into_owned(), read))
}

fn unfit(name: &str, error: &calendar::Unfit) -> Failure {
    Failure::usage(format!("calendar `{name}`: {error}"))
}
