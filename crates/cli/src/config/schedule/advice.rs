//! Valid schedules that are perhaps not what their writer meant: the warnings of `core::plan`, where
//! they are written.

use almanack_core::{
    dispatch,
    plan::{Advice, Lint, Ready, ScheduleName, unknown_channels},
};
use almanack_engine::{schedules::Wanted, zones::Zones};
use jiff::Timestamp;

use super::{
    super::{
        calendar::FileCalendars,
        dispatch::DispatchText,
        report::{Place, Problem, Report},
        settings::Settings,
        source::Source,
    },
    FileSchedules, fault,
};

/// How often a host looks for due times by default.
pub(crate) const ROUND_S: u32 = 10;

/// Everything worth knowing about a schedule, by this configuration where it is known.
pub(crate) fn of(ready: &Ready, settings: Option<&Settings>, now: Timestamp) -> Vec<Advice> {
    let mut advice = ready.advice(now, ROUND_S);
    if let Some(settings) = settings {
        let channels = settings.alerts.channels.iter();
        let known: Vec<String> = channels.map(|channel| channel.name.clone()).collect();
        advice.extend(unknown_channels(&ready.definition, &known));
    }
    advice
}

/// Warnings about the schedules of the file.
pub(crate) fn of_file(
    (schedules, calendars): (&FileSchedules, &FileCalendars),
    source: Option<&Source>,
    settings: Option<&Settings>,
    now: Timestamp,
) -> Vec<Problem> {
    let zones = Zones::with_calendars(calendars.compiled());
    let unread: Vec<&str> = calendars.unread().collect();
    let mut found = Vec::new();
    for Wanted { name, definition } in &schedules.wanted {
        let Ok(ready) = zones.ready(name, definition.clone()) else {
            continue;
        };
        // The days of an address are not known here, so nothing is said about what they leave.
        let is_known = !definition.calendars().any(|it| unread.contains(&it));
        let mut advice = of(&ready, settings, now);
        advice.retain(|it| is_known || it.lint != Lint::AllLeftOut);
        for advice in advice {
            let what = format!("schedule `{name}`: {}: {}", advice.path, advice.lint);
            let place = place(schedules, name, &advice, &ready, source);
            found.push(Problem::warning(what, place));
        }
    }
    found
}

/// Where it is written: the part of the expression, if that can be pointed at.
fn place(
    schedules: &FileSchedules,
    name: &ScheduleName,
    advice: &Advice,
    ready: &Ready,
    source: Option<&Source>,
) -> Option<Place> {
    let places = schedules.places.get(name)?;
    let parent = advice.path.split('.').next().unwrap_or(advice.path);
    let whole = places.get(advice.path).or_else(|| places.get(parent))?;
    let expression = ready.definition.expression.as_str();
    let part = advice
        .span
        .zip(source)
        .and_then(|(span, source)| fault::inside(source.text(), whole, expression, span));
    let span = part.unwrap_or_else(|| whole.clone());
    Some(Place::File { span })
}

/// Adds the warnings about its lines to the report of a DISPATCH text. That a chain does not follow
/// `overlap=` is said once.
pub(crate) fn add_to_dispatch(text: &mut DispatchText, now: Timestamp) {
    let zones = Zones::default();
    let mut found = Vec::new();
    for line in &text.lines {
        let Ok(ready) = zones.ready(&line.name, line.definition.clone()) else {
            continue;
        };
        let warnings = ready.advice(now, ROUND_S).into_iter();
        found.extend(warnings.map(|advice| {
            let span = line.place.span.start..line.place.span.end;
            Problem::warning(dispatch::words(&advice), Some(Place::File { span }))
        }));
    }
    if let Some(place) = text.lines.iter().find_map(|line| line.overlap) {
        let span = place.span.start..place.span.end;
        let what = dispatch::OVERLAP_IGNORED;
        found.push(Problem::warning(what, Some(Place::File { span })));
    }
    let Report { problems, .. } = &mut text.report;
    problems.extend(found);
    problems.sort_by_key(Problem::reading_order);
}
