//! `almanack source add`: an address becomes a source, or is shown as one.
//!
//! People know sites, not feeds: on a page that is not a feed, the feeds it links to are looked up.
//! One is used, several are listed, none is a failure; nothing is guessed.

use super::{called, options, preview, rules};
use crate::commands::prelude::*;

/// A new source as it was described.
pub(super) struct Described<'a> {
    address: &'a str,
    reading: Value,
    options: Option<Value>,
    /// Whether to look for a feed at the address.
    discover: bool,
}

impl<'a> Described<'a> {
    pub(super) fn new(
        address: &'a str,
        given: &DescriptionArguments,
        no_discover: bool,
    ) -> Result<Self> {
        let reading = rules::reading(&given.rules, None)?;
        let reading = reading.unwrap_or_else(|| json!({ "how": "feed" }));
        Ok(Self {
            address,
            discover: !no_discover && reading["how"] == "feed",
            reading: options::without_null(reading),
            options: options::patch(&given.options)?.map(options::without_null),
        })
    }

    /// The description with the address that is used, or several feeds to choose from.
    pub(super) async fn found(&self, client: &Client) -> Result<Result<Value, Value>> {
        let mut body = json!({
            "address": with_scheme(self.address),
            "reading": self.reading,
            "options": self.options,
        });
        if self.discover {
            let found = discover(client, &text(&body["address"])).await?;
            match found["candidates"].as_array().map(Vec::as_slice) {
                Some([only]) => body["address"] = only["address"].clone(),
                _ => return Ok(Err(found)),
            }
        }
        Ok(Ok(body))
    }

    /// Reports that another address than the given one is used.
    pub(super) fn say_where(&self, body: &Value, output: &mut Output) {
        let taken = text(&body["address"]);
        if taken != with_scheme(self.address) {
            output.note(&format!("found its feed: {taken}\n"));
        }
    }
}

/// Stores a source, or shows what would be read.
pub(super) async fn run(client: &Client, given: &SourceAddArguments, output: &mut Output) -> Done {
    let new = Described::new(&given.address, &given.description, given.no_discover)?;
    let mut body = match new.found(client).await? {
        Ok(body) => body,
        Err(found) => return several(&given.address, &found, output),
    };
    if given.dry_run {
        new.say_where(&body, output);
        return preview::show(client, &body, output).await;
    }
    body["name"] = json!(given.name);
    body["category"] = json!(given.category);
    body["policy"] = json!(given.policy);
    body["cadence"] = json!(given.cadence);
    let answer = client.call(Call::post(&["sources"]).json(&body)).await?;
    new.say_where(&body, output);
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
pub(super) fn with_scheme(address: &str) -> String {
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

const CANDIDATES: &[Column] = &[
    column("FEED", "/address", plain),
    column("FORMAT", "/format", plain),
    column("TITLE", "/title", plain),
];

/// Lists feeds to choose from.
pub(super) fn several(address: &str, found: &Value, output: &mut Output) -> Done {
    if output.json {
        output.value(found)?;
        return Ok(Exit::Usage);
    }
    let feeds = items(&found["candidates"]);
    let Some(first) = feeds.first() else {
        return Err(Failure::not_found("no feed was found"));
    };
    output.columns(CANDIDATES, feeds, jiff::Timestamp::UNIX_EPOCH, true)?;
    let address = with_scheme(address);
    let what = format!("{address} links to several feeds; choose one");
    let hint = format!("almanack source add {}", text(&first["address"]));
    Err(Failure::usage(what).hint(hint))
}
