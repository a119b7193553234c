//! `almanack schedule show NAME`: everything about one schedule on one screen.

use std::sync::Arc;

use almanack_core::calendar::Calendar;
use almanack_core::follow::RUN_TIMEOUT_DEFAULT;
use almanack_core::plan::{CatchUp, Definition, Ready, Retry, ScheduleName};
use almanack_engine::zones::Zones;

use super::{SLOTS, check_name};
use crate::commands::{
    next::{local, utc},
    prelude::*,
};

/// People's changes that are shown.
const EDITS_MAX: usize = 10;

const HEAD: &[Column] = &[
    column("state", "", standing),
    column("when", "/timetable/words", plain),
    column("expression", "/definition/expression", plain),
    column("zone", "/definition/tz", plain),
    column("target", "/definition/target", |it, _| {
        Cell::new(it.to_string()).whole()
    }),
    column("not before", "/definition/starts_at", moment),
    column("not after", "/definition/ends_at", moment),
    column("runs done", "/runs_done", plain),
    column("jitter", "/definition/jitter", plain),
    column("catch up", "/in_force/catch_up", plain),
    column("overlap", "/definition/overlap", plain),
    column("time limit", "/in_force/run_timeout", plain),
    column("on resume", "/definition/on_resume", plain),
    column("retries for", "/in_force/retry_for", plain),
    column("retry", "/in_force/retry", plain),
    column("timeout", "/definition/timeout", plain),
    column("at once", "/definition/firings_max", plain),
    column("splay", "/in_force/splay", plain),
    column("priority", "/definition/priority", plain),
    column("pings", "/definition/pings", pings),
    column("waits", "/waits_since", |since, _| {
        Cell::new(format!("for its predecessor, since {}", instant_of(since)))
    }),
    column("tags", "/definition/tags", plain),
    column("owner", "/definition/owner", plain),
    column("alerts", "/in_force/alerts", plain),
    column("origin", "/origin", plain),
    column("revision", "/revision", plain),
    column("last firing", "/last_firing", plain),
    column("", "/task", outcome),
];

const NEXT: &[Column] = &[
    column("NEXT", "/local", local),
    column("UTC", "/at", utc),
    column("", "/at", ago),
];

const EDITS: &[Column] = &[
    column("REVISION", "/revision", plain),
    column("EDIT", "/edited", plain),
    column("AT", "/at", at),
    column("BY", "/by", plain),
    column("NOTE", "/note", plain),
];

/// Whom it calls about firings, without what is secret about the addresses.
fn pings(pings: &Value, _: Timestamp) -> Cell {
    let called = pings
        .as_object()
        .into_iter()
        .flatten()
        .map(|(phase, address)| {
            let address = text(address);
            let (scheme, rest) = address.split_once("://").unwrap_or_default();
            let host = rest.split(['/', '?']).next().unwrap_or_default();
            format!("{phase} {scheme}://{host}/…")
        });
    Cell::new(joined(called))
}

pub(super) async fn run(client: &Client, given: &str, output: &mut Output) -> Done {
    let name = check_name(given)?;
    let answer = client.call(Call::get(&["schedules", given])).await?;
    if output.is_reported(&answer)? {
        return Ok(Exit::Ok);
    }
    let mut schedule = answer.value();
    schedule["in_force"] = in_force(&name, &schedule);
    client
        .add_firings(std::slice::from_mut(&mut schedule), "last_firing")
        .await?;
    output.line(given)?;
    output.page(HEAD, &schedule, answer.now)?;
    let next = items(&schedule["timetable"]["next"]);
    output.section(NEXT, next, answer.now)?;
    if next.is_empty() && !schedule["timetable"].is_null() {
        let waits = schedule["state"] == "paused" && schedule["paused"]["until"].is_null();
        output.line("")?;
        output.line(if waits {
            "it does not fire until it is resumed"
        } else {
            "it will not fire again"
        })?;
    }
    output.section(SLOTS, items(&schedule["slots"]), answer.now)?;
    let call = Call::get(&["schedules", given, "edits"]).query("limit", Some(EDITS_MAX));
    let edits = client.call(call).await?.value();
    let newest: Vec<Value> = items(&edits["edits"]).iter().rev().cloned().collect();
    output.section(EDITS, &newest, answer.now)?;
    for warning in items(&schedule["timetable"]["warnings"]) {
        output.warn(&text(&warning["message"]));
    }
    Ok(Exit::Ok)
}

fn standing(schedule: &Value, _: Timestamp) -> Cell {
    let since = |it: &Value| instant_of(&it["since"]);
    let (paused, parked) = (&schedule["paused"], &schedule["parked"]);
    Cell::new(match schedule["state"].as_str().unwrap_or_default() {
        "paused" => {
            let until = time(&paused["until"]);
            let until = until.map_or_else(String::new, |at| format!(" until {}", instant(at)));
            let note = paused["note"].as_str().map(|note| format!(": {note}"));
            let (by, note) = (text(&paused["by"]), note.unwrap_or_default());
            format!("paused by {by} since {}{until}{note}", since(paused))
        }
        "parked" => {
            let (since, reason) = (since(parked), text(&parked["reason"]));
            format!("parked since {since}: {reason}")
        }
        "removed" => format!("removed at {}", instant_of(&schedule["removed_at"])),
        "done" => format!("Done since {}", instant_of(&schedule["done_at"])),
        state => state.to_owned(),
    })
}

/// What the policies come to for the next slot.
fn in_force(name: &ScheduleName, schedule: &Value) -> Value {
    let definition = Definition::from_json(&schedule["definition"].to_string()).ok();
    let ready = definition.and_then(|it| {
        // No policy depends on which days its calendars have.
        let named = it.calendars().map(str::to_owned);
        let calendars = named.map(|it| (it.clone(), Ok(Arc::new(Calendar::unread(&it)))));
        let zones = Zones::with_calendars(calendars.collect());
        zones.ready(name, it).ok()
    });
    let Some(ready) = ready else {
        return Value::Null;
    };
    let next_at = time(&schedule["next_at"]);
    let retry_for = next_at.map(|slot| when::rounded(ready.retry_for(slot)));
    json!({
        "catch_up": catch_up(&ready, next_at, &schedule["definition"]),
        "retry_for": retry_for,
        "run_timeout": when::rounded(ready.definition.run_timeout.unwrap_or(RUN_TIMEOUT_DEFAULT)),
        "retry": retry(ready.definition.retry),
        "alerts": ready.definition.alerts.as_ref().map(|channels| match channels.as_slice() {
            [] => "nobody is notified".to_owned(),
            channels => channels.join(", "),
        }),
        "splay": splay(&ready, next_at),
    })
}

fn catch_up(ready: &Ready, next_at: Option<Timestamp>, definition: &Value) -> String {
    let mut words = text(&definition["catch_up"]);
    if let Some(slot) = next_at {
        words = format!("{words}, grace {}", when::rounded(ready.grace(slot)));
    }
    let it = &ready.definition;
    if it.catch_up == CatchUp::All {
        let pace = when::show_duration(it.catch_up_pace);
        words = format!("{words}, at most {}, {pace} apart", it.max_catch_up);
    }
    words
}

/// How its attempts follow each other, where it says so.
fn retry(retry: Retry) -> Option<String> {
    let waits = retry.waits();
    let (first, most) = (
        when::show_duration(waits.base),
        when::show_duration(waits.cap),
    );
    let count = retry.count.map(|count| format!("at most {count}, "));
    let shown = format!("{}waits {first} to {most}", count.unwrap_or_default());
    (retry != Retry::default()).then_some(shown)
}

fn splay(ready: &Ready, next_at: Option<Timestamp>) -> Option<String> {
    let splay = ready.definition.splay;
    let own = next_at.map(|slot| ready.delay_of(slot).splay);
    let own = own.map(|own| format!(", its own part {}", when::rounded(own)));
    let shown = format!("{}{}", when::show_duration(splay), own.unwrap_or_default());
    (!splay.is_zero()).then_some(shown)
}
