//! `almanack source check`: a check now, made by a node.

use std::time::Duration;

use almanack_adapters::clock::pause;

use super::{NamedSource, PUBLISHED, called, load};
use crate::{commands::prelude::*, when::Relative};

/// How often to poll for the result.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const SHOWN: u64 = 20;

const ENTRIES: &[Column] = &[PUBLISHED, column("TITLE", "/title", plain)];

/// Requests a check, and waits for it with `--wait`.
pub(super) async fn run(
    client: &Client,
    given: &SourceArguments,
    timeout: Option<&str>,
    output: &mut Output,
) -> Done {
    let wait_max = timeout
        .map(|text| duration("--timeout", text))
        .transpose()?;
    let before = load(client, &given.id).await?;
    let answer = client.call(before.post("check")).await?;
    let Some(wait_max) = wait_max else {
        let (id, name) = (before.id, called(&before.now));
        let message = format!(
            "source {id} is due: the check starts as soon as a node has a free slot: {name}"
        );
        return output.report(&answer, |_| message);
    };
    let until = client
        .now()
        .saturating_add(wait_max)
        .unwrap_or(Timestamp::MAX);
    let checks = |source: &NamedSource| source.now["check_count"].as_u64();
    let looked = loop {
        let source = load(client, &before.id.to_string()).await?;
        if checks(&source) > checks(&before) {
            break source;
        }
        if client.now() >= until {
            return Err(not_checked(before.id, wait_max));
        }
        pause(LOOK_EVERY).await;
    };
    report(client, &looked, output).await
}

fn not_checked(id: i64, wait_max: SignedDuration) -> Failure {
    let wait_max = when::show_duration(wait_max);
    let what = format!("no node checked source {id} within {wait_max}; it stays due");
    Failure::failed(what).hint(
        "check that a node runs on this database (`almanack serve`); the host may also be busy",
    )
}

/// The result of the last check.
async fn report(client: &Client, source: &NamedSource, output: &mut Output) -> Done {
    let look = &source.now["recent"][0];
    let result = look["outcome"].as_str().unwrap_or_default();
    let exit = match result {
        "new" | "nothing" | "unchanged" => Exit::Ok,
        _ => Exit::Failed,
    };
    if output.json {
        output.line(source.answer.text())?;
        return Ok(exit);
    }
    output.line(&sentence(&source.now, look))?;
    if let Some(new) = look["entries"].as_u64().filter(|new| *new > 0) {
        let call = source.get("entries").query("limit", Some(new.min(SHOWN)));
        let entries = client.call(call).await?.value();
        let entries = items(&entries["entries"]).to_vec();
        output.columns(ENTRIES, &entries, source.answer.now, false)?;
    }
    if let Some(at) = time(&source.now["next_due_at"]) {
        let (now, why) = (source.answer.now, text(&source.now["reason"]));
        output.line(&format!("next check {}: {why}", Relative { at, now }))?;
    }
    Ok(exit)
}

/// A check in words.
fn sentence(source: &Value, look: &Value) -> String {
    let took = look["took_ms"].as_i64().unwrap_or_default();
    let took = when::took(SignedDuration::from_millis(took));
    let name = called(source);
    match look["outcome"].as_str().unwrap_or_default() {
        "new" => {
            let new = look["entries"].as_u64().unwrap_or_default();
            let new = counted(new, "new entry", "new entries");
            format!("{name}: {new} ({took})")
        }
        "nothing" => format!("{name}: nothing new ({took})"),
        "unchanged" => format!("{name}: not modified ({took})"),
        _ => {
            let why = source["last_error"].as_str().unwrap_or("failed");
            format!("{name}: {why} ({took})")
        }
    }
}
