//! `almanack schedule log NAME [SLOT]`: what a run printed, and with `--follow` what it prints.
//!
//! The output of the run is data; everything about it is a note, so that a file gets nothing but
//! what was printed. For people, what a terminal would obey is taken out.

use std::time::Duration;

use almanack_adapters::clock::pause;
use almanack_core::run_log::harmless;

use super::Named;
use crate::commands::prelude::*;

/// Bytes asked for at once.
const PART_BYTES: usize = 1024 * 1024;
/// How long the server may wait for more, in seconds.
const WAIT_S: u64 = 20;
/// How soon to look for the next attempt of a firing that is retried.
const NEXT_ATTEMPT: Duration = Duration::from_secs(1);

pub(super) async fn run(client: &Client, given: &LogArguments, output: &mut Output) -> Done {
    let name = &given.schedule.name;
    let schedule = Named::load(client, name).await?;
    let slot = given
        .slot
        .as_deref()
        .map(|text| schedule.time("SLOT", text));
    let call = Call::get(&["schedules", name, "log"]).query("slot", slot.transpose()?);
    let first = client.call(call.query("limit", Some(1))).await?.value();
    let mut log = Log {
        client,
        firing: text(&first["task_id"]),
        shown: 0,
    };
    let attempts = items(&first["attempts"]);
    match given.attempt {
        Some(number) => {
            let chosen = number.checked_sub(1).and_then(|at| attempts.get(at));
            let chosen = chosen.ok_or_else(|| no_attempt(number, attempts.len()))?;
            log.print(&chosen["term"], Follow::No, output).await?;
        }
        None if given.follow => log.follow(output).await?,
        None => {
            log.print(&first["term"], Follow::No, output).await?;
            mention_others(attempts, &first["term"], output);
        }
    }
    Ok(Exit::Ok)
}

fn no_attempt(number: usize, attempts: usize) -> Failure {
    let what = format!("this firing has no attempt {number}");
    match attempts {
        0 => Failure::failed(what).hint("it has not been tried yet"),
        1 => Failure::failed(what).hint("it has 1 attempt"),
        count => Failure::failed(what).hint(format!("it has {count} attempts")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    Yes,
    No,
}

/// All parts of an attempt's log in one.
#[derive(Default)]
struct Whole {
    text: String,
    left_out: u64,
}

struct Log<'a> {
    client: &'a Client,
    /// The number of the firing.
    firing: String,
    /// The last attempt that was printed to its end.
    shown: i64,
}

impl Log<'_> {
    fn call(&self) -> Call {
        Call::get(&["firings", &self.firing, "log"])
    }

    /// Prints attempt after attempt until the firing has ended.
    async fn follow(&mut self, output: &mut Output) -> Result<()> {
        loop {
            let now = self.call().query("limit", Some(1));
            let now = self.client.call(now).await?.value();
            let attempts = items(&now["attempts"]).iter();
            let next = attempts.filter(|it| term_of(it) > self.shown);
            let next: Vec<Value> = next.map(|it| it["term"].clone()).collect();
            for term in &next {
                self.print(term, Follow::Yes, output).await?;
            }
            if next.is_empty() && now["live"] != true {
                return Ok(());
            }
            if next.is_empty() {
                pause(NEXT_ATTEMPT).await;
            }
        }
    }

    /// Prints an attempt from its beginning, as far as it is, or to its end.
    async fn print(&mut self, term: &Value, follow: Follow, output: &mut Output) -> Result<()> {
        let mut offset = 0;
        let mut whole = Whole::default();
        loop {
            let wait = (follow == Follow::Yes).then_some(WAIT_S);
            let call = self.call().query("term", term.as_i64());
            let call = call.query("offset", Some(offset)).query("wait", wait);
            let answer = self
                .client
                .call(call.query("limit", Some(PART_BYTES)))
                .await?;
            let part = answer.value();
            let printed = part["text"].as_str().unwrap_or_default();
            if output.json && (output.lines || follow == Follow::Yes) {
                output.line(answer.text())?;
            } else if output.json {
                whole.text.push_str(printed);
                whole.left_out += part["left_out"].as_u64().unwrap_or_default();
            } else {
                show(&part, offset, output)?;
            }
            output.flush()?;
            offset = part["next_offset"].as_u64().unwrap_or(offset);
            let is_end = part["ended"] == true || (follow == Follow::No && printed.is_empty());
            if is_end {
                self.shown = part["term"].as_i64().unwrap_or(self.shown);
                return end(part, whole, follow, output);
            }
        }
    }
}

/// Which attempt was shown.
fn mention_others(attempts: &[Value], shown: &Value, output: &mut Output) {
    let place = attempts.iter().position(|it| it["term"] == *shown);
    let (Some(place), true, false) = (place, attempts.len() > 1, output.json) else {
        return;
    };
    output.note(&format!(
        "attempt {} of {}; --attempt NUMBER shows another\n",
        place + 1,
        attempts.len()
    ));
}

fn term_of(attempt: &Value) -> i64 {
    attempt["term"].as_i64().unwrap_or_default()
}

/// One part, with what is missing before it.
fn show(part: &Value, offset: u64, output: &mut Output) -> Result<()> {
    if offset == 0 {
        head(part, output);
    }
    if let Some(missing) = part["left_out"].as_u64().filter(|missing| *missing > 0) {
        output.note(&format!("\n… {missing} bytes are left out …\n"));
    }
    output.raw(&harmless(part["text"].as_str().unwrap_or_default()))
}

fn attempt_of(part: &Value) -> Option<&Value> {
    let attempts = items(&part["attempts"]).iter();
    attempts.into_iter().find(|it| it["term"] == part["term"])
}

fn head(part: &Value, output: &mut Output) {
    let (name, slot) = (text(&part["schedule"]), instant_of(&part["slot_at"]));
    let node = attempt_of(part).and_then(|it| it["node"].as_str());
    let node = node.map(|node| format!(" on {node}")).unwrap_or_default();
    output.note(&format!(
        "{name}, slot {slot}, firing {}{node}\n",
        part["task_id"]
    ));
    if let (Some(kind), Some(subject)) = (
        part["work"]["kind"].as_str(),
        part["work"]["subject"].as_str(),
    ) {
        output.note(&format!(
            "its work is the task {kind} {subject}: see `almanack task history {kind} {subject}`\n"
        ));
    }
}

/// What is written behind the last part.
fn end(mut part: Value, whole: Whole, follow: Follow, output: &mut Output) -> Result<()> {
    if output.json {
        if !output.lines && follow == Follow::No {
            part["offset"] = 0.into();
            part["left_out"] = whole.left_out.into();
            part["text"] = whole.text.into();
            output.value(&part)?;
        }
        return Ok(());
    }
    let ending = attempt_of(&part).and_then(|it| it["ending"].as_str());
    match ending {
        Some(ending) => output.note(&format!("{ending}\n")),
        None if part["term"].is_null() => output.note("it has not been tried yet\n"),
        None => output.note("it is still running; --follow waits for more\n"),
    }
    Ok(())
}
