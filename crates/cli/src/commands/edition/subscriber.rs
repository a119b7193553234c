//! `almanack edition subscriber …`

use std::path::Path;

use super::ledger;
use crate::commands::prelude::*;

const MEDIA_TYPE: &str = "text/csv";

const LIST: &[Column] = &[
    column("ID", "/id", plain),
    column("ADDRESS", "/address", plain),
    column("STATE", "/state", state),
    column("EDITION", "/edition", plain),
    column("LANGUAGE", "/language", plain),
    column("BOUNCES", "/bounces", plain),
    column("CONFIRMED", "/confirmed_at", ago),
];

const COUNTS: &[Column] = &[
    column("EDITION", "/edition", plain),
    column("CONFIRMED", "/confirmed", plain),
    column("PENDING", "/pending", plain),
    column("UNSUBSCRIBED", "/unsubscribed", plain),
    column("BOUNCED", "/bounced", plain),
];

const MAILINGS: &[Column] = &[
    column("DATE", "/date", plain),
    column("EDITION", "/name", plain),
    column("STATE", "/state", state),
    column("SENT", "/messages/confirmed", plain),
    column("WAITING", "/messages/waiting", plain),
    column("UNKNOWN", "/messages/unknown", plain),
    column("FAILED", "/messages/failed", plain),
    column("SKIPPED", "/messages/skipped", plain),
    column("ERROR", "/error", plain),
];

/// Runs a command of `almanack edition subscriber`.
pub(super) async fn run(client: &Client, command: &SubscriberCommand, output: &mut Output) -> Done {
    match command {
        SubscriberCommand::List { which, limit } => {
            let call = filtered(Call::get(&["subscribers"]), which);
            let list = List::new(call, ("subscribers", LIST), "no subscribers");
            list.limit(*limit).write(client, output).await
        }
        SubscriberCommand::Status => status(client, output).await,
        SubscriberCommand::Add {
            address,
            edition,
            language,
            confirm,
        } => {
            let body = json!({ "address": address, "edition": edition, "language": language, "confirm": confirm });
            let answer = client
                .call(Call::post(&["subscribers"]).json(&body))
                .await?;
            output.report(&answer, added)
        }
        SubscriberCommand::Show { id, limit } => {
            ledger::of_subscriber(client, *id, *limit, output).await
        }
        SubscriberCommand::Ask { id } => {
            let call = Call::post(&["subscribers", &id.to_string(), "confirmation"]);
            output.report(&client.call(call).await?, added)
        }
        SubscriberCommand::Remove { id } => {
            let call = Call::delete(&["subscribers", &id.to_string()]);
            let answer = client.call(call).await?;
            output.report(&answer, |gone| {
                format!("Deleted {}", text(&gone["address"]))
            })
        }
        SubscriberCommand::Unsubscribe { id } => {
            let call = Call::post(&["subscribers", &id.to_string(), "unsubscribe"]);
            let answer = client.call(call).await?;
            output.report(&answer, |it| {
                format!("Unsubscribed {}", text(&it["address"]))
            })
        }
        SubscriberCommand::Import { file, edition } => {
            import(client, file, edition.as_deref(), output).await
        }
        SubscriberCommand::Export { file, which } => {
            export(client, file.as_deref(), which, output).await
        }
    }
}

fn filtered(call: Call, which: &SubscriberFilterArguments) -> Call {
    call.query("edition", which.edition.as_deref())
        .query("state", which.state.as_deref())
}

fn added(answer: &Value) -> String {
    let address = text(&answer["subscriber"]["address"]);
    match answer["added"].as_str() {
        Some("asked") => format!("A mail with a link is on its way to {address}"),
        Some("waiting") => format!(
            "No change: {address} got a mail with a link within the hour, or five in a month"
        ),
        Some("existing") => format!("No change: {address} is subscribed already"),
        Some("ended") => format!(
            "No change: {address} is {}; only its holder can subscribe again",
            text(&answer["subscriber"]["state"])
        ),
        _ => format!("Subscribed {address}"),
    }
}

async fn status(client: &Client, output: &mut Output) -> Done {
    let answer = client.call(Call::get(&["newsletter"])).await?;
    if output.json {
        output.line(answer.text())?;
        return Ok(Exit::Ok);
    }
    output.all(&answer, ("subscribers", COUNTS), "no subscribers")?;
    output.line("")?;
    output.all(&answer, ("mailings", MAILINGS), "no mailings")
}

/// Adds the people of a file; `-` is standard input.
async fn import(client: &Client, file: &str, edition: Option<&str>, output: &mut Output) -> Done {
    let list = read_text(file, "read subscribers from", FILE_BYTES_MAX)?;
    let call = Call::post(&["subscribers", "csv"]).query("edition", edition);
    let answer = client
        .call(call.content(MEDIA_TYPE, list.into_bytes()))
        .await?;
    let done = answer.value();
    let number = |name: &str| done[name].as_u64().unwrap_or_default();
    let problems = done["problems"].as_array().into_iter().flatten();
    if !output.json {
        problems.for_each(|problem| output.note(&format!("error: {}\n", text(problem))));
    }
    output.report(&answer, |_| {
        let added = counted(number("added"), "subscriber", "subscribers");
        format!(
            "{added} added, {} existed, {} stay unsubscribed, {} refused",
            number("existing"),
            number("ended"),
            number("refused")
        )
    })?;
    Ok(Exit::failed_if(number("refused") > 0))
}

async fn export(
    client: &Client,
    file: Option<&Path>,
    which: &SubscriberFilterArguments,
    output: &mut Output,
) -> Done {
    let call = filtered(Call::get(&["subscribers", "csv"]), which);
    let answer = client.call(call).await?;
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        output.raw(answer.text())?;
        return Ok(Exit::Ok);
    };
    let name = file.display();
    std::fs::write(file, answer.text())
        .map_err(|error| Failure::failed(format!("write `{name}`: {error}")))?;
    let people = answer.text().lines().count().saturating_sub(1);
    let count = counted(people as u64, "subscriber", "subscribers");
    let sentence = format!("{count} written to {name}");
    output.say(&json!({ "file": file, "subscribers": people }), &sentence)
}
