//! `almanack subscription list`

use crate::commands::prelude::*;

const LIST: &[Column] = &[
    column("NAME", "/name", plain),
    column("TO", "/to", plain).or("(not configured here)"),
    column("WAITING", "/waiting", plain),
    column("FAILED", "/failed", |failed, now| {
        let ink = if failed.as_u64() > Some(0) {
            Ink::Bad
        } else {
            Ink::Plain
        };
        plain(failed, now).ink(ink)
    }),
    column("EVENTS", "", |it, _| {
        Cell::new(if it["to"].is_null() {
            String::new()
        } else {
            wants(it)
        })
    }),
];

/// Runs a command of `almanack subscription`.
pub(super) async fn run(
    at: &Connector<'_>,
    command: &SubscriptionCommand,
    output: &mut Output,
) -> Done {
    let SubscriptionCommand::List = command;
    let client = at.open(DatabaseNeed::Existing).await?;
    let answer = client.call(Call::get(&["subscriptions"])).await?;
    let none = "no subscriptions; docs/guide/event-subscriptions.md shows how to add one";
    output.all(&answer, ("subscriptions", LIST), none)?;
    if answer.value()["counted_some"] == true {
        output.note("more deliveries than can be counted\n");
    }
    Ok(Exit::Ok)
}

/// Its filter in a few words.
fn wants(subscription: &Value) -> String {
    let events = text(&subscription["events"]);
    let mut words = if events.is_empty() {
        "everything".to_owned()
    } else {
        events
    };
    let kinds = text(&subscription["kinds"]);
    if !kinds.is_empty() {
        words = format!("{words}; of kinds {kinds}");
    }
    let categories = text(&subscription["categories"]);
    if !categories.is_empty() {
        words = format!("{words}; of sources in {categories}");
    }
    if let Some(prefix) = subscription["subject_prefix"].as_str() {
        words = format!("{words}; about {prefix}…");
    }
    words
}
