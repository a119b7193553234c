//! The ledger of a newsletter: what became of each message, and of those that came back (ED-43).

use super::{day, status::again};
use crate::commands::prelude::*;

const MAILING: &[Column] = &[
    column("edition", "", |it, _| super::identified(it).into()),
    column("state", "/state", state),
    column("revision", "/revision", plain),
    column("begun", "/created_at", moment),
    column("ended", "/ended_at", moment),
    column("messages", "/messages", |it, _| {
        let sum = format!(
            "{} sent, {} waiting, {} in doubt, {} failed, {} skipped",
            it["confirmed"], it["waiting"], it["unknown"], it["failed"], it["skipped"]
        );
        sum.into()
    }),
    column("error", "/error", bad),
];

const TO_SUBSCRIBERS: &[Column] = &[
    column("ID", "/subscriber_id", plain),
    column("ADDRESS", "/address", plain),
    column("STATE", "/state", state),
    column("TRIES", "/attempts", plain),
    column("CHANGED", "/updated_at", ago),
    column("DETAIL", "", detail),
];

const SUBSCRIBER: &[Column] = &[
    column("address", "/address", plain),
    column("edition", "/edition", plain),
    column("state", "/state", state),
    column("language", "/language", plain),
    column("bounces", "/bounces", plain),
    column("added", "/created_at", moment),
    column("confirmed", "/confirmed_at", moment),
    column("ended", "/ended_at", moment),
];

const OF_EDITIONS: &[Column] = &[
    column("EDITION", "", |it, _| super::identified(it).into()),
    column("STATE", "/state", state),
    column("TRIES", "/attempts", plain),
    column("CHANGED", "/updated_at", ago),
    column("DETAIL", "", detail),
];

fn detail(mail: &Value, now: Timestamp) -> Cell {
    let parts = [mail["detail"].as_str().map(str::to_owned), again(mail, now)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Cell::new(parts.join("; "))
}

/// Messages in one answer.
const PAGE_MAX: usize = 500;

/// Shows a mailing.
pub(super) async fn of_mailing(
    client: &Client,
    edition: &EditionArguments,
    (state, limit): (Option<&str>, usize),
    output: &mut Output,
) -> Done {
    let day = day(client, edition).await?;
    let call = Call::get(&["newsletter", "mailings", &day]).query("state", state);
    show(client, call, (MAILING, TO_SUBSCRIBERS, limit), output).await
}

/// Shows a subscriber.
pub(super) async fn of_subscriber(
    client: &Client,
    id: i64,
    limit: usize,
    output: &mut Output,
) -> Done {
    let call = Call::get(&["subscribers", &id.to_string()]);
    show(client, call, (SUBSCRIBER, OF_EDITIONS, limit), output).await
}

async fn show(
    client: &Client,
    call: Call,
    (head, rows, limit): (&[Column], &[Column], usize),
    output: &mut Output,
) -> Done {
    let answer = client
        .call(call.query("limit", Some(limit.min(PAGE_MAX))))
        .await?;
    let now = answer.now;
    let done = output.show(&answer, |output, it| {
        output.page(head, &it, now)?;
        output.section(rows, items(&it["ledger"]), now)
    })?;
    if answer.next_cursor().is_some() {
        output.aside(&format!(
            "only the first {limit} messages; --limit shows up to {PAGE_MAX}\n"
        ));
    }
    Ok(done)
}

/// Takes a mail that may be a report of a failed delivery.
pub(super) async fn bounce(client: &Client, file: &str, output: &mut Output) -> Done {
    // Mail may be in any encoding; only its headers are read.
    let mail = read_bytes(file, "read the mail from", FILE_BYTES_MAX)?;
    let call = Call::post(&["newsletter", "bounces"]);
    let call = call.content("message/rfc822", mail);
    output.report(&client.call(call).await?, |it| {
        let (reason, subscriber) = (text(&it["reason"]), &it["subscriber"]);
        let address = text(&subscriber["address"]);
        match (it["is_report"] == true, it["effect"].as_str()) {
            (false, _) => "No change: the mail reports no failed delivery".to_owned(),
            (_, Some("counted")) if subscriber["state"] == "bounced" => {
                format!("{address} gets no more mail: {reason}")
            }
            (_, Some("counted")) => {
                format!("Bounce {} of {address}: {reason}", subscriber["bounces"])
            }
            (_, Some("noted")) => {
                format!("Noted, not counted: it is not about {address}: {reason}")
            }
            _ if subscriber.is_null() => "No change: nobody known is named".to_owned(),
            _ => format!("No change: the message to {address} is known to have failed"),
        }
    })
}
