//! `almanack edition approve|reject|drop|move|edit|retract|restore|history` (ED-42).

use almanack_core::edition::turn::KEEPS_IT;

use super::{GOES_ON, day};
use crate::commands::prelude::*;

const REVISIONS: &[Column] = &[
    column("REVISION", "/revision", plain),
    column("MADE", "/made_at", at),
    column("BY", "/by", plain),
    column("CHANGE", "/summary", plain),
];

/// Whether an edition waits for a person.
pub(super) fn is_waiting(edition: &Value) -> bool {
    let held = &edition["hold"];
    edition["state"] == "aggregating" && held.is_object() && held["decision"].is_null()
}

/// What an edition waits for, in a list.
pub(super) fn waits(edition: &Value, _: Timestamp) -> Cell {
    match (edition["retraction"].is_null(), is_waiting(edition)) {
        (false, _) => Cell::new("retracted".to_owned()),
        (_, true) => Cell::new("approval".to_owned()).ink(Ink::Bad),
        _ => Cell::new(String::new()),
    }
}

/// Why an edition waits or waited, and what was decided.
pub(super) fn hold(held: &Value, _: Timestamp) -> Cell {
    let decision = &held["decision"];
    if decision.is_object() {
        let (verdict, by) = (text(&decision["verdict"]), text(&decision["by"]));
        let at = instant_of(&decision["at"]);
        return Cell::new(format!("{verdict} by {by}, {at}"));
    }
    let until = instant_of(&held["until"]);
    let then = match (held["until"].is_null(), held["on_silence"].as_str()) {
        (true, _) => "until a person decides".to_owned(),
        (_, Some("publish")) => format!("published without an answer {until}"),
        _ => format!("dropped without an answer {until}"),
    };
    Cell::new(format!("waits; {then}")).ink(Ink::Bad)
}

/// Who took an edition back, and why.
pub(super) fn retracted(retraction: &Value, _: Timestamp) -> Cell {
    let (by, at) = (text(&retraction["by"]), instant_of(&retraction["at"]));
    let note = retraction["note"].as_str();
    let note = note.map_or_else(String::new, |note| format!(": {note}"));
    Cell::new(format!("by {by}, {at}{note}"))
}

/// Approves or rejects.
pub(super) async fn decide(
    client: &Client,
    given: &DecisionArguments,
    approves: bool,
    output: &mut Output,
) -> Done {
    let date = day(client, &given.edition).await?;
    let act = if approves { "approve" } else { "reject" };
    let body = json!({ "revision": given.revision });
    let call = Call::post(&["editions", &date, act]).json(&body);
    let answer = client.call(call).await?;
    output.report(&answer, |done| {
        let revision = &done["edition"]["revision"];
        match (approves, done["changed"] == true) {
            (true, true) => format!("Approved revision {revision} of {date}; {GOES_ON}"),
            (true, false) => format!("No change: {date} was approved before"),
            (false, true) => format!("Rejected revision {revision} of {date}; nothing is sent"),
            (false, false) => format!("No change: {date} was rejected before"),
        }
    })
}

/// Leaves a story out.
pub(super) async fn drop_story(
    client: &Client,
    of: &CorrectionArguments,
    output: &mut Output,
) -> Done {
    let wanted = json!({ "type": "drop", "story": of.story });
    correct(client, of, &wanted, output).await
}

pub(super) async fn move_story(
    client: &Client,
    of: &CorrectionArguments,
    to: u32,
    output: &mut Output,
) -> Done {
    let wanted = json!({ "type": "move", "story": of.story, "to": to });
    correct(client, of, &wanted, output).await
}

pub(super) async fn edit(client: &Client, given: &EditArguments, output: &mut Output) -> Done {
    let wanted = json!({
        "type": "edit",
        "story": given.of.story,
        "title": given.title,
        "summary": given.summary,
        "comments": given.comments,
    });
    correct(client, &given.of, &wanted, output).await
}

async fn correct(
    client: &Client,
    of: &CorrectionArguments,
    wanted: &Value,
    output: &mut Output,
) -> Done {
    let date = day(client, &of.edition).await?;
    let body = json!({ "correction": wanted, "revision": of.revision });
    let call = Call::post(&["editions", &date, "correct"]).json(&body);
    let answer = client.call(call).await?;
    output.report(&answer, |edition| revised("Corrected", &date, edition))
}

/// Takes an edition back. Readers see that, so this asks for confirmation.
pub(super) async fn retract(
    client: &Client,
    given: &EditionArguments,
    (note, yes): (Option<&str>, bool),
    output: &mut Output,
) -> Done {
    let date = day(client, given).await?;
    let question = format!("retract the edition of {date}?");
    let why =
        "Its page says so, feeds leave it out, and destinations that can replace it get a note.";
    let hint = "`almanack edition drop` removes one story";
    if !confirmed(yes, (&question, why), hint, output)? {
        output.note("nothing was retracted\n");
        return Ok(Exit::Failed);
    }
    let call = Call::post(&["editions", &date, "retract"]).json(&json!({ "note": note }));
    let answer = client.call(call).await?;
    let kept = super::status::load(client, &date).await?.value();
    let done = output.report(&answer, |edition| revised("Retracted", &date, edition));
    for delivery in items(&kept["deliveries"]) {
        if delivery["detail"] == KEEPS_IT {
            let name = text(&delivery["destination"]);
            output.note(&format!("{name} keeps it: {KEEPS_IT}\n"));
        }
    }
    done
}

pub(super) async fn restore(
    client: &Client,
    given: &EditionArguments,
    output: &mut Output,
) -> Done {
    let date = day(client, given).await?;
    let call = Call::post(&["editions", &date, "restore"]);
    let answer = client.call(call).await?;
    output.report(&answer, |edition| revised("Restored", &date, edition))
}

fn revised(what: &str, date: &str, edition: &Value) -> String {
    let revision = &edition["revision"];
    let next = if edition["hold"].is_object() && edition["hold"]["decision"].is_null() {
        "it waits for approval"
    } else {
        GOES_ON
    };
    format!("{what} the edition of {date}: revision {revision}; {next}")
}

/// Lists the revisions.
pub(super) async fn history(
    client: &Client,
    given: &EditionArguments,
    output: &mut Output,
) -> Done {
    let date = day(client, given).await?;
    let answer = client
        .call(Call::get(&["editions", &date, "revisions"]))
        .await?;
    output.all(
        &answer,
        ("revisions", REVISIONS),
        "no document was made yet",
    )
}
