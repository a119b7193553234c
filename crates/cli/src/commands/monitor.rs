//! `almanack monitor …`: jobs that run elsewhere, watched by their pings.
//!
//! A monitor is a schedule, so it is written, paused and removed by the commands of schedules.

use super::schedule;
use crate::commands::prelude::*;

const LIST: &[Column] = &[
    column("NAME", "/name", plain),
    column("STATUS", "/status", status),
    column("WHEN", "/definition/expression", plain),
    column("ZONE", "/definition/tz", plain),
    column("LAST PING", "/heard/last_ping_at", ago).or("never"),
    column("TOOK", "/heard/last_took", plain),
    column("EXPECTED", "/expected_at", ago),
    column("ORIGIN", "/origin", plain),
];

const HEAD: &[Column] = &[
    column("status", "/status", status),
    column("down", "/heard/down/detail", bad),
    column("when", "/definition/expression", plain),
    column("zone", "/definition/tz", plain),
    column("grace", "/definition/grace", plain),
    column("note", "/definition/target/note", plain),
    column("last ping", "/heard/last_ping_at", moment).or("never"),
    column("reported", "/heard/last_ping", plain),
    column("took", "/heard/last_took", plain),
    column("running since", "/heard/started/at", moment),
    column("expected", "/expected_at", moment),
    column("missing from", "/missing_at", moment),
    column("ping address", "/has_ping_key", |has, _| {
        Cell::new(if has == true {
            "exists (hidden)"
        } else {
            "none yet"
        })
    }),
    column("badge", "/badge_path", |path, _| {
        Cell::new(format!("{}.svg", text(path)))
    }),
    column("origin", "/origin", plain),
];

const PINGS: &[Column] = &[
    column("NUMBER", "/number", plain),
    column("AT", "/at", at),
    column("REPORTED", "/kind", reported),
    column("EXIT", "/exit_status", plain),
    column("TOOK", "/took", plain),
    column("BODY", "/body", |body, _| {
        let line = text(body);
        let line = line.lines().next().unwrap_or_default();
        Cell::new(line.chars().take(60).collect::<String>())
    }),
];

fn status(status: &Value, now: Timestamp) -> Cell {
    plain(status, now).ink(match status.as_str().unwrap_or_default() {
        "up" | "started" => Ink::Good,
        "down" => Ink::Bad,
        "late" => Ink::Notable,
        _ => Ink::Faint,
    })
}

fn reported(kind: &Value, now: Timestamp) -> Cell {
    plain(kind, now).ink(match kind.as_str().unwrap_or_default() {
        "success" => Ink::Good,
        "fail" => Ink::Bad,
        _ => Ink::Plain,
    })
}

/// Runs a command of `almanack monitor`.
pub(super) async fn run(at: &Connector<'_>, command: &MonitorCommand, output: &mut Output) -> Done {
    if let Some(command) = of_schedule(command) {
        return schedule::run(at, &command, output).await;
    }
    let writes = matches!(command, MonitorCommand::Put(_));
    let client = &at.open(DatabaseNeed::new_if(writes)).await?;
    match command {
        MonitorCommand::Show(given) => show(client, &given.name, output).await,
        MonitorCommand::Put(given) => put(client, given, output).await,
        MonitorCommand::Pings { monitor, limit } => {
            let call = Call::get(&["monitors", &monitor.name, "pings"]);
            let answer = client.call(call.query("limit", Some(limit))).await?;
            output.all(&answer, ("pings", PINGS), "no ping has come yet")
        }
        MonitorCommand::Key { monitor, key } => {
            let call = new_key(&monitor.name, key.as_deref());
            let answer = client.call(call).await?;
            output.report(&answer, |made| address(&monitor.name, made))
        }
        MonitorCommand::Badge { monitor, off } => {
            let path = ["monitors", &monitor.name, "badge"];
            let call = if *off {
                Call::delete(&path)
            } else {
                Call::put(&path)
            };
            let answer = client.call(call).await?;
            output.report(&answer, |it| match it["badge_path"].as_str() {
                Some(path) => format!(
                    "{path}.svg and {path}.json show the status of {}",
                    monitor.name
                ),
                None => format!("the badge of {} is not shown", monitor.name),
            })
        }
        _ => {
            let call = Call::get(&["monitors"]);
            let list = List::new(call, ("monitors", LIST), "no monitors");
            list.write(client, output).await
        }
    }
}

/// What a monitor is as a schedule.
fn of_schedule(command: &MonitorCommand) -> Option<ScheduleCommand> {
    let named = |given: &NameArguments| NameArguments {
        name: given.name.clone(),
    };
    match command {
        MonitorCommand::Pause {
            monitor,
            until,
            note,
        } => Some(ScheduleCommand::Pause {
            schedule: named(monitor),
            until: until.clone(),
            note: note.clone(),
        }),
        MonitorCommand::Resume(given) => Some(ScheduleCommand::Resume(named(given))),
        MonitorCommand::Remove(given) => Some(ScheduleCommand::Remove(named(given))),
        _ => None,
    }
}

async fn show(client: &Client, name: &str, output: &mut Output) -> Done {
    let answer = client.call(Call::get(&["monitors", name])).await?;
    if output.is_reported(&answer)? {
        return Ok(Exit::Ok);
    }
    output.line(name)?;
    output.page(HEAD, &answer.value(), answer.now)?;
    let call = Call::get(&["monitors", name, "pings"]).query("limit", Some(10));
    let pings = client.call(call).await?.value();
    output.section(PINGS, items(&pings["pings"]), answer.now)?;
    Ok(Exit::Ok)
}

async fn put(client: &Client, given: &MonitorPutArguments, output: &mut Output) -> Done {
    let name = given.name.as_str();
    let definition = definition(given)?;
    let path = ["schedules", name];
    let answer = client.call(Call::put(&path).json(&definition)).await?;
    if !output.json {
        super::schedule::warn_of(&answer, output);
    }
    let monitor = client.call(Call::get(&["monitors", name])).await?.value();
    if monitor["has_ping_key"] == true {
        return output.report(&answer, |_| format!("changed {name}"));
    }
    // Without an address it could hear nothing.
    let made = client.call(new_key(name, None)).await?;
    output.report(&made, |made| address(name, made))
}

fn definition(given: &MonitorPutArguments) -> Result<Value> {
    let mut definition = json!({
        "expression": given.expression,
        "tz": given.tz,
        "target": { "type": "ping", "note": given.note },
    });
    if let Some(grace) = &given.grace {
        definition["grace"] = when::show_duration(duration("--grace", grace)?).into();
    }
    if let Some(map) = definition.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    Ok(definition)
}

pub(super) fn new_key(name: &str, key: Option<&str>) -> Call {
    let call = Call::post(&["monitors", name, "ping-key"]);
    match key {
        Some(key) => call.json(&json!({ "key": key })),
        None => call,
    }
}

fn address(name: &str, made: &Value) -> String {
    let path = text(&made["path"]);
    let whole = made["url"].as_str().map(str::to_owned);
    let at = whole.unwrap_or_else(|| format!("{path} (behind your node's own address)"));
    format!("ping address of {name}, shown once: {at}")
}
