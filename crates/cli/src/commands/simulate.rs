//! `almanack simulate`: what the configuration would do, by the planner itself (DP-14).

mod picture;

use std::path::Path;

use almanack_adapters::clock::{Stopwatch, SystemClock};
use almanack_core::{
    plan::{Reason, Slot, Verdict},
    target::Target,
    time::Clock,
};
use almanack_engine::{
    schedules::Wanted,
    simulation::{Part, Simulation, SimulationReport, simulate},
    zones::Zones,
};
use jiff::{ToSpan, civil::Time, tz::TimeZone};

use crate::{
    commands::{
        calendar::{UNREAD_HINT, ask_stored},
        prelude::*,
    },
    config::{
        Loaded,
        calendar::FileCalendars,
        dispatch,
        report::{Problem, Report, Severity},
        schedule::advice,
    },
};

/// Simulates what the configuration has.
pub(super) fn run(at: &Connector<'_>, arguments: &SimulateArguments, output: &mut Output) -> Done {
    let simulation = simulation(arguments, SystemClock.now())?;
    let (wanted, zones, left_out) = wanted(at, simulation.from, output)?;
    let watch = Stopwatch::start();
    let simulated = simulate(&zones, wanted, &simulation);
    let seconds = watch.seconds();
    for (name, error) in &simulated.refused {
        output.note(&format!("warning: skipped `{name}`: {error}\n"));
    }
    if let Some(file) = &arguments.svg {
        draw(file, &simulated, &simulation)?;
    }
    show(&simulated, &simulation, arguments.limit, output)?;
    let (fired, skipped) = simulated.counts();
    let (schedules, period) = (simulated.parts.len(), simulation_period(&simulation));
    let plural = if schedules == 1 { "" } else { "s" };
    output.note(&format!(
        "{schedules} schedule{plural}, {period}: {fired} fired, {skipped} skipped; simulated in {seconds:.2} s\n"
    ));
    let left_out = left_out + simulated.refused.len();
    if left_out > 0 {
        let errors = counted(left_out as u64, "error", "errors");
        output.note(&format!(
            "{errors}: the schedules named above were left out\n"
        ));
    }
    Ok(Exit::usage_if(left_out > 0))
}

fn simulation_period(simulation: &Simulation) -> String {
    when::show_duration(simulation.until.duration_since(simulation.from))
}

/// The schedules of the file, and those of DISPATCH, with what they read their times from; and how
/// many of them cannot be kept. Those are named with position and reason.
fn wanted(
    at: &Connector<'_>,
    now: Timestamp,
    output: &mut Output,
) -> Result<(Vec<Wanted>, Zones, usize)> {
    let loaded = config::load(at.inputs, Need::Database);
    let mut reports = vec![Report {
        problems: of_schedules(&loaded, now),
        source: loaded.report.source.clone(),
    }];
    let mut wanted = loaded.schedules.wanted.clone();
    let mut calendars = loaded.calendars.clone();
    let settings = super::checked(loaded)?;
    let text = dispatch::read(&settings, &at.inputs.environment).map_err(Failure::usage)?;
    if let Some(mut text) = text {
        advice::add_to_dispatch(&mut text, now);
        wanted.extend(text.wanted);
        reports.push(text.report);
    }
    output.complain(&reports);
    let errors = |report: &Report| report.of(Severity::Error).count();
    let mut left_out: usize = reports.iter().map(errors).sum();
    left_out += leave_out_unread(at, &mut wanted, &mut calendars, output)?;
    let zones = Zones::with_calendars(calendars.compiled());
    let is_monitor = |it: &Wanted| matches!(it.definition.target, Target::Ping { .. });
    let monitors = wanted.extract_if(.., |it| is_monitor(it));
    let monitors: Vec<String> = monitors.map(|it| it.name.to_string()).collect();
    if !monitors.is_empty() {
        let names = joined(monitors.into_iter());
        output.note(&format!(
            "monitors are not simulated, since nothing here knows when they are pinged: {names}\n"
        ));
    }
    if wanted.is_empty() {
        let hint = "write `[[schedule]]` tables into the configuration, or a DISPATCH file";
        return Err(Failure::not_found("no schedules to simulate").hint(hint));
    }
    Ok((wanted, zones, left_out))
}

/// Leaves out schedules by calendars whose addresses nobody has read, and says why; returns how
/// many. A node or a database is asked only where an address matters.
fn leave_out_unread(
    at: &Connector<'_>,
    wanted: &mut Vec<Wanted>,
    calendars: &mut FileCalendars,
    output: &mut Output,
) -> Result<usize> {
    let unread_of = |it: &Wanted, calendars: &FileCalendars| {
        let unread = calendars
            .unread()
            .find(|name| it.definition.calendars().any(|it| it == *name));
        unread.map(str::to_owned)
    };
    if wanted.iter().all(|it| unread_of(it, calendars).is_none()) {
        return Ok(0);
    }
    let why = match ask_stored(at) {
        Ok(stored) => {
            calendars.copies = stored.copies;
            "no node has read it yet".to_owned()
        }
        Err(failure) if at.server.is_some() => return Err(failure),
        Err(failure) => failure.parts().0,
    };
    let before = wanted.len();
    wanted.retain(|it| {
        let unread = unread_of(it, calendars);
        if let Some(calendar) = &unread {
            output.note(&format!(
                "warning: skipped `{}`: the days of calendar `{calendar}` are at an address: {why}\n",
                it.name
            ));
        }
        unread.is_none()
    });
    let left_out = before - wanted.len();
    if left_out > 0 {
        output.note(&format!("hint: {UNREAD_HINT}\n"));
    }
    Ok(left_out)
}

/// What to say about the schedules of a file; settings are for `almanack check`.
fn of_schedules(loaded: &Loaded, now: Timestamp) -> Vec<Problem> {
    let settings = loaded.readable.as_deref();
    let source = loaded.report.source.as_ref();
    let mut problems = loaded.schedules.problems.clone();
    problems.extend(advice::of_file(
        (&loaded.schedules, &loaded.calendars),
        source,
        settings,
        now,
    ));
    problems.sort_by_key(Problem::reading_order);
    problems
}

fn simulation(arguments: &SimulateArguments, now: Timestamp) -> Result<Simulation> {
    let from = when::parse_at(&arguments.from, now).map_err(|unclear| unclear.of("--from"))?;
    let period = when::parse_duration(&arguments.period).map_err(|unclear| unclear.of("--for"))?;
    let takes = when::parse_duration(&arguments.takes).map_err(|unclear| unclear.of("--takes"))?;
    let until = from.saturating_add(period).unwrap_or(Timestamp::MAX);
    let mut outages = Vec::new();
    for text in &arguments.outage {
        outages.extend(outage(text, from, until).ok_or_else(|| {
            Failure::usage(format!("--outage: `{text}` is not a span of a day"))
                .hint("write 02:00-05:00, or 23:00-01:00 across midnight")
        })?);
    }
    Ok(Simulation {
        from,
        until,
        takes,
        outages,
    })
}

/// The same hours of every day, in UTC.
fn outage(text: &str, from: Timestamp, until: Timestamp) -> Option<Vec<(Timestamp, Timestamp)>> {
    let (start, end) = text.split_once('-')?;
    let time = |text: &str| Time::strptime("%H:%M", text.trim()).ok();
    let (start, end) = (time(start)?, time(end)?);
    let mut date = TimeZone::UTC
        .to_datetime(from)
        .date()
        .checked_sub(1.day())
        .ok()?;
    let last = TimeZone::UTC.to_datetime(until).date();
    let mut outages = Vec::new();
    while date <= last {
        let over = if end > start {
            date
        } else {
            date.tomorrow().ok()?
        };
        let at = |date: jiff::civil::Date, time| TimeZone::UTC.to_timestamp(date.to_datetime(time));
        outages.push((at(date, start).ok()?, at(over, end).ok()?));
        date = date.tomorrow().ok()?;
    }
    (start != end).then_some(outages)
}

fn show(
    simulated: &SimulationReport,
    simulation: &Simulation,
    limit: usize,
    output: &mut Output,
) -> Result<()> {
    let mut lines: Vec<(&Part, &Slot)> = Vec::new();
    for part in &simulated.parts {
        lines.extend(part.rows.iter().map(|row| (part, row)));
    }
    lines.sort_by(|a, b| (a.1.slot_at, &a.0.name).cmp(&(b.1.slot_at, &b.0.name)));
    if output.json {
        for (part, row) in lines {
            output.value(&json_of(part, row))?;
        }
        let (fired, skipped) = simulated.counts();
        return output.value(&json!({
            "from": simulation.from, "until": simulation.until,
            "schedules": simulated.parts.len(), "fired": fired, "skipped": skipped,
        }));
    }
    let shown: Vec<Vec<Cell>> = lines.iter().take(limit).map(cells).collect();
    output.table(&["SLOT", "SCHEDULE", "VERDICT", "DECIDED"], &shown)?;
    if lines.len() > limit {
        let left = lines.len() - limit;
        output.note(&format!(
            "and {left} more lines; --limit shows more, --json shows all\n"
        ));
    }
    Ok(())
}

fn json_of(part: &Part, row: &Slot) -> Value {
    json!({
        "schedule": part.name, "slot": row.slot_at, "last": row.last_at, "slots": row.slots,
        "verdict": row.verdict.as_str(), "detail": row.detail, "decided_at": row.decided_at,
    })
}

fn cells((part, row): &(&Part, &Slot)) -> Vec<Cell> {
    let clock = |at: Timestamp| at.strftime("%F %H:%M:%SZ").to_string();
    let slots = match row.slots {
        1 => clock(row.slot_at),
        slots => format!(
            "{} to {} ({slots} slots)",
            clock(row.slot_at),
            clock(row.last_at)
        ),
    };
    let ink = if row.verdict.is_fired() {
        Ink::Plain
    } else {
        Ink::Faint
    };
    let late = row.decided_at.duration_since(row.last_at);
    let decided = if late < SignedDuration::from_secs(1) {
        "on time".to_owned()
    } else {
        format!("{} later", when::rounded(late))
    };
    let verdict = match row.verdict {
        Verdict::Skipped(reason @ Reason::Excluded) => {
            let why = row.detail.as_deref().unwrap_or_default();
            format!("{reason}: {why}")
        }
        verdict => verdict.as_str().to_owned(),
    };
    vec![
        Cell::new(slots),
        Cell::new(part.name.to_string()),
        Cell::new(verdict).ink(ink),
        Cell::new(decided).ink(Ink::Faint),
    ]
}

fn draw(file: &Path, simulated: &SimulationReport, simulation: &Simulation) -> Result<()> {
    let picture = picture::draw(&simulated.parts, simulation);
    std::fs::write(file, picture)
        .map_err(|error| Failure::failed(format!("write `{}`: {error}", file.display())))
}
