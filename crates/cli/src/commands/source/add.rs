//! `almanack source add`: an address becomes a source, or is shown as one.
//!
//! People know sites, not feeds: on a page that is not a feed, the feeds it links to are looked up.
//! One is used, several are listed, none is a failure; nothing is guessed.

use super::{PUBLISHED, called, rules};
use crate::commands::prelude::*;

/// Entries shown of what would be read.
const SHOWN: usize = 20;

/// Stores a source, or shows what would be read.
pub(super) async fn run(client: &Client, given: &SourceAddArguments, output: &mut Output) -> Done {
    let mut body = json!({
        "address": with_scheme(&given.address),
        "name": given.name,
        "category": given.category,
        "policy": given.policy,
        "cadence": given.cadence,
        "reading": rules::reading(&given.rules)?,
    });
    if !given.no_discover && body["reading"]["how"] == "feed" {
        let found = discover(client, &text(&body["address"])).await?;
        match found["candidates"].as_array().map(Vec::as_slice) {
            Some([only]) => body["address"] = only["address"].clone(),
            _ => return several(given, &found, output),
        }
    }
    let taken = text(&body["address"]);
    if given.dry_run {
        return preview(client, given, &body, output).await;
    }
    let answer = client.call(Call::post(&["sources"]).json(&body)).await?;
    say_where(given, &taken, output);
    let result = output.report(&answer, |source| {
        let (id, name) = (&source["source_id"], called(source));
        match answer.status {
            201 => format!("added source {id}: {name}"),
            _ => format!("No change: source {id} already exists: {name}"),
        }
    });
    if answer.status == 201 && !output.json {
        let id = &answer.value()["source_id"];
        output.note(&format!(
            "a node checks it next; `almanack source check {id} --wait` waits for the result\n"
        ));
    }
    result
}

/// An address without a scheme is a web address.
fn with_scheme(address: &str) -> String {
    let address = address.trim();
    if address.contains("://") {
        address.to_owned()
    } else {
        format!("https://{address}")
    }
}

/// The feeds that an address leads to.
async fn discover(client: &Client, address: &str) -> Result<Value> {
    let call = Call::post(&["sources", "discover"]).json(&json!({ "address": address }));
    match client.try_call(call).await? {
        Ok(answer) => Ok(answer.value()),
        Err(refusal) => Err(no_feed(address, &refusal)),
    }
}

/// Why an address led to no feed, and what to do about it.
fn no_feed(address: &str, refusal: &Refusal) -> Failure {
    let failure = refusal
        .failure()
        .during(&format!("look for a feed at {address}"));
    match (refusal.code(), refusal.place()) {
        ("not_a_feed", _) => failure.exiting(Exit::NotFound),
        ("invalid_value", "address") => refusal
            .failure()
            .hint("sources.allow lists the private networks that sources may be in"),
        ("unreachable", _) => failure
            .hint("--no-discover adds the address unchanged; nodes then retry until it answers"),
        _ => failure,
    }
}

/// Reports that another address than the given one is used.
fn say_where(given: &SourceAddArguments, taken: &str, output: &mut Output) {
    if taken != with_scheme(&given.address) {
        output.note(&format!("found its feed: {taken}\n"));
    }
}

const CANDIDATES: &[Column] = &[
    column("FEED", "/address", plain),
    column("FORMAT", "/format", plain),
    column("TITLE", "/title", plain),
];

fn several(given: &SourceAddArguments, found: &Value, output: &mut Output) -> Done {
    if output.json {
        output.value(found)?;
        return Ok(Exit::Usage);
    }
    let feeds = items(&found["candidates"]);
    let Some(first) = feeds.first() else {
        return Err(Failure::not_found("no feed was found"));
    };
    output.columns(CANDIDATES, feeds, jiff::Timestamp::UNIX_EPOCH, true)?;
    let what = format!(
        "{} links to several feeds; choose one",
        with_scheme(&given.address)
    );
    let hint = format!("almanack source add {}", text(&first["address"]));
    Err(Failure::usage(what).hint(hint))
}

const ENTRIES: &[Column] = &[
    PUBLISHED,
    column("TITLE", "/title", plain),
    column("LINK", "/link", plain),
];

async fn preview(
    client: &Client,
    given: &SourceAddArguments,
    body: &Value,
    output: &mut Output,
) -> Done {
    let answer = client
        .call(Call::post(&["sources", "preview"]).json(body))
        .await?;
    say_where(given, &text(&body["address"]), output);
    output.show(&answer, |output, shown| {
        let entries = items(&shown["entries"]);
        let title = shown["title"].as_str().map(str::to_owned);
        let title = title.unwrap_or_else(|| text(&shown["address"]));
        let count = counted(entries.len() as u64, "entry", "entries");
        output.line(&format!("{title}: {count}"))?;
        let first = &entries[..entries.len().min(SHOWN)];
        output.columns(ENTRIES, first, answer.now, true)?;
        let left_out = shown["left_out"].as_u64().unwrap_or_default();
        let more = entries.len().saturating_sub(SHOWN) as u64 + left_out;
        if more > 0 {
            output.note(&format!("and {more} more\n"));
        }
        output.note("nothing was stored\n");
        Ok(())
    })
}
