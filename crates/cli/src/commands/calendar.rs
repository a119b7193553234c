//! `almanack calendar list | show | put | remove`

use crate::{commands::prelude::*, config::calendar::FileCalendars};

const LIST: &[Column] = &[
    column("NAME", "/name", plain),
    column("DAYS", "/days", plain),
    column("WEEKDAYS", "/weekdays", plain).or("none"),
    column("NEXT", "/next/0", day),
    column("LAST", "/last_on", plain).or("never"),
    column("ORIGIN", "/origin", plain),
    column("PROBLEM", "", |it, now| {
        let error = &it["reading"]["error"];
        let problem = if error.is_null() {
            &it["problem"]
        } else {
            error
        };
        plain(problem, now).ink(Ink::Bad)
    }),
];

const DAYS: &[Column] = &[
    column("DAY", "/on", plain),
    column("NAME", "/name", plain).or(""),
];

fn day(day: &Value, _: Timestamp) -> Cell {
    let name = day["name"].as_str();
    let on = text(&day["on"]);
    Cell::new(name.map_or_else(|| on.clone(), |name| format!("{on} {name}")))
}

/// What to do where the answers of addresses are not known.
pub(super) const UNREAD_HINT: &str = "nodes read the addresses of calendars: name a node with --server, or the database of one \
     with --config or --database";

/// The calendars that are stored, with what their addresses last answered.
pub(super) async fn stored(client: &Client) -> Result<FileCalendars> {
    let listed = client.call(Call::get(&["calendars"])).await?.value();
    let mut stored = FileCalendars::default();
    for listed in items(&listed["calendars"]) {
        let name = text(&listed["name"]);
        // One that was removed meanwhile is not there.
        let Some(shown) = client.find(Call::get(&["calendars", &name])).await? else {
            continue;
        };
        let mut shown = shown.value();
        let (url, copy) = (text(&shown["definition"]["url"]), shown["copy"].as_str());
        stored
            .copies
            .extend(copy.map(|copy| (url, copy.to_owned())));
        let read = serde_json::from_value(shown["definition"].take());
        stored.wanted.extend(read.ok().map(|read| (name, read)));
    }
    Ok(stored)
}

/// The same, of the node or the database that a command on this machine may ask.
pub(super) fn ask_stored(at: &Connector<'_>) -> Result<FileCalendars> {
    wait_for(async { stored(&at.open(DatabaseNeed::Existing).await?).await })
}

/// Runs a command of `almanack calendar`.
pub(super) async fn run(
    at: &Connector<'_>,
    command: &CalendarCommand,
    output: &mut Output,
) -> Done {
    match command {
        CalendarCommand::List => {
            let client = at.open(DatabaseNeed::Existing).await?;
            let answer = client.call(Call::get(&["calendars"])).await?;
            let none = "no calendars; docs/guide/calendars.md shows how to add one";
            output.all(&answer, ("calendars", LIST), none)
        }
        CalendarCommand::Show(CalendarArguments { name }) => {
            let client = at.open(DatabaseNeed::Existing).await?;
            let answer = client.call(Call::get(&["calendars", name])).await?;
            if output.json {
                return output.line(answer.text()).map(|()| Exit::Ok);
            }
            show(&answer.value(), client.now(), output)
        }
        CalendarCommand::Put(given) => put(at, given, output).await,
        CalendarCommand::Remove(CalendarArguments { name }) => {
            let client = at.open(DatabaseNeed::Existing).await?;
            let answer = client.call(Call::delete(&["calendars", name])).await?;
            output.report(&answer, |_| format!("removed {name}"))
        }
    }
}

async fn put(at: &Connector<'_>, given: &CalendarPutArguments, output: &mut Output) -> Done {
    let definition = definition(given)?;
    let client = at.open(DatabaseNeed::New).await?;
    let call = Call::put(&["calendars", &given.name]).json(&definition);
    let answer = client.call(call).await?;
    output.report(&answer, |after| {
        let used = items(&after["used_by"]).len();
        let (days, used_by) = (count(&after["days"], "day"), counted(used, "schedule"));
        format!("wrote {}: {days}; used by {used_by}", given.name)
    })
}

fn definition(given: &CalendarPutArguments) -> Result<Value> {
    let date = |text: &String| match text.split_once('=') {
        Some((on, name)) => json!({ "on": on.trim(), "name": name.trim() }),
        None => json!({ "on": text.trim() }),
    };
    let dates: Vec<Value> = given.date.iter().map(date).collect();
    let weekdays = given.weekday.iter().map(|it| it.to_lowercase());
    let mut definition = json!({ "dates": dates, "weekdays": weekdays.collect::<Vec<_>>() });
    if let Some(path) = &given.ical {
        let read = std::fs::read_to_string(path);
        definition["ical"] = json!(read.map_err(|error| {
            Failure::usage(format!("--ical: cannot read `{}`: {error}", path.display()))
        })?);
    }
    if let Some(url) = &given.url {
        definition["url"] = json!(url);
    }
    Ok(definition)
}

fn show(calendar: &Value, now: Timestamp, output: &mut Output) -> Done {
    let name = text(&calendar["name"]);
    let days = count(&calendar["days"], "day");
    output.line(&format!("{name}: {days}, of {}", text(&calendar["origin"])))?;
    let weekdays = text(&calendar["weekdays"]);
    if !weekdays.is_empty() {
        output.line(&format!("every week: {weekdays}"))?;
    }
    output.columns(DAYS, items(&calendar["next"]), now, true)?;
    let used_by = text(&calendar["used_by"]);
    if !used_by.is_empty() {
        output.line(&format!("used by: {used_by}"))?;
    }
    for problem in [&calendar["problem"], &calendar["reading"]["error"]] {
        if let Some(problem) = problem.as_str() {
            output.warn(problem);
        }
    }
    Ok(Exit::Ok)
}

pub(super) fn count(number: &Value, noun: &str) -> String {
    counted(
        usize::try_from(number.as_u64().unwrap_or(0)).unwrap_or(0),
        noun,
    )
}

fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
