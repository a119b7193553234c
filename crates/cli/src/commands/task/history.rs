//! `almanack task history`: what happened to a task, as a timeline.

use super::segments;
use crate::{commands::prelude::*, when::Relative};

const COLUMNS: &[Column] = &[
    column("WHEN", "", |it, _| Cell::new(instant_of(happened(it)))),
    column("", "", |it, now| {
        let at = time(happened(it));
        let shown = at.map_or_else(String::new, |at| Relative { at, now }.to_string());
        Cell::new(shown).ink(Ink::Faint)
    }),
    column("TASK", "/task_id", plain),
    column("BY", "", |it, now| {
        let by = if it["what"] == "attempt" {
            "node"
        } else {
            "origin"
        };
        plain(&it[by], now)
    }),
    column("WHAT", "", what),
];

/// Prints the newest part of an identity's history, or an earlier one, oldest first.
pub(super) async fn run(client: &Client, given: &HistoryArguments, output: &mut Output) -> Done {
    let call = Call::get(&segments(&given.identity, &["history"])?)
        .query("limit", Some(given.limit))
        .query("cursor", given.before.as_deref());
    let answer = client.call(call).await?;
    output.show(&answer, |output, history| {
        if let Some(cursor) = history["next_cursor"].as_str() {
            output.note(&format!("older ones: --before {cursor}\n"));
        }
        let IdentityArguments { kind, subject } = &given.identity;
        output.line(&format!("{kind} {subject}"))?;
        output.columns(COLUMNS, items(&history["events"]), answer.now, true)
    })
}

fn happened(it: &Value) -> &Value {
    match it["what"].as_str() {
        Some("attempt") => &it["started_at"],
        _ => &it["decided_at"],
    }
}

fn what(it: &Value, _: Timestamp) -> Cell {
    if it["what"] == "attempt" {
        let ink = match it["outcome"].as_str().unwrap_or_default() {
            "done" => Ink::Good,
            "retry" | "give_up" | "failed" | "lease_expired" | "expired" => Ink::Bad,
            _ => Ink::Notable,
        };
        return Cell::new(tried(it)).ink(ink);
    }
    let ink = match it["rule"].as_str().unwrap_or_default() {
        "ignored_done" | "ignored_stale" | "unchanged" => Ink::Faint,
        _ => Ink::Plain,
    };
    Cell::new(decided(it)).ink(ink)
}

fn decided(decision: &Value) -> String {
    let at = instant_of(&decision["execute_at"]);
    let old = instant_of(&decision["old_execute_at"]);
    let is_first = text(&decision["receipt"]).ends_with(".0");
    match decision["rule"].as_str().unwrap_or_default() {
        "created" => format!("created for {at}"),
        "reinserted" if is_first => format!("created again for {at}"),
        "updated" if old.is_empty() => format!("moved to {at}"),
        "updated" if decision["old_execute_at"] == decision["execute_at"] => {
            format!("changed, still for {at}")
        }
        "updated" => format!("moved from {old} to {at}"),
        "cancelled_and_inserted" | "reinserted" => match decision["new_task_id"].as_i64() {
            Some(id) => format!("replaced by task {id}"),
            None => "replaced".to_owned(),
        },
        "cancelled" => "cancelled".to_owned(),
        "ignored_done" => format!("{}no change: already done", asked(decision)),
        "ignored_stale" => format!("{}no change: old revision", asked(decision)),
        _ => format!("{}no change: already in that state", asked(decision)),
    }
}

/// What was requested if nothing changed, and how often.
fn asked(decision: &Value) -> String {
    let requested = &decision["requested"];
    if requested.is_null() {
        return "requested again, ".to_owned();
    }
    let what = if requested["execute_at"].is_null() {
        "requested to cancel it".to_owned()
    } else {
        format!("requested for {}", instant_of(&requested["execute_at"]))
    };
    let revision = requested["revision"].as_i64();
    let revision = revision.map_or_else(String::new, |number| format!(" (revision {number})"));
    let last = instant_of(&decision["last_at"]);
    let again = if last.is_empty() {
        String::new()
    } else {
        format!(", {} times until {last}", decision["times"])
    };
    format!("{what}{revision}{again}, ")
}

fn tried(attempt: &Value) -> String {
    let in_words = |name: &str| text(&attempt[name]).replace('_', " ");
    let mut parts = vec![format!(
        "attempt {}: {}",
        attempt["attempt"],
        in_words("outcome")
    )];
    let of = |name: &str| time(&attempt[name]);
    if let (Some(started_at), Some(due_at)) = (of("started_at"), of("due_at")) {
        let took = of("finished_at").map(|finished_at| finished_at.duration_since(started_at));
        parts.extend(took.map(|took| format!("took {}", when::took(took))));
        let late = started_at.duration_since(due_at);
        if late.as_millis() >= 1_000 {
            parts.push(format!("started {} late", when::took(late)));
        }
    }
    if !attempt["late_outcome"].is_null() {
        parts.push(format!("late result: {}", in_words("late_outcome")));
    }
    let line = parts.join(", ");
    match attempt["detail"].as_str() {
        Some(detail) => format!("{line}: {detail}"),
        None => line,
    }
}
