//! `almanack kind list | show | pause | resume`

use almanack_core::task::Kind;

use super::calendar::count;
use crate::commands::prelude::*;

const LIST: &[Column] = &[
    column("KIND", "/kind", plain),
    column("STATE", "", state),
    column("WAITING", "/waiting", plain),
    column("DUE", "/due", plain),
    column("RUNNING", "/running", plain),
    column("FIRST DUE", "/first_due_at", ago).or(""),
    column("RATE", "", rate),
];

const PAGE: &[Column] = &[
    column("state", "", state),
    column("deliver", "/deliver", plain),
    column("paused since", "/paused/since", moment),
    column("paused until", "/paused/until", moment),
    column("paused by", "/paused/by", plain),
    column("note", "/paused/note", plain),
    column("waiting", "/waiting", plain),
    column("due", "/due", plain),
    column("running", "/running", plain),
    column("first due", "/first_due_at", moment),
    column("rate", "/rate", plain),
    column("rate by", "/rate_by", plain),
    column("share by", "/share_by", plain),
    column("burst", "/burst", plain),
];

fn state(kind: &Value, _: Timestamp) -> Cell {
    let paused = &kind["paused"];
    if paused.is_null() {
        return Cell::new("active");
    }
    let until = time(&paused["until"]).map(|at| format!(" until {}", instant(at)));
    Cell::new(format!("paused{}", until.unwrap_or_default())).ink(Ink::Bad)
}

fn rate(kind: &Value, _: Timestamp) -> Cell {
    let by = kind["rate_by"].as_str();
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    Cell::new(format!("{}{by}", kind["rate"].as_str().unwrap_or_default()))
}

/// Runs a command of `almanack kind`.
pub(super) async fn run(at: &Connector<'_>, command: &KindCommand, output: &mut Output) -> Done {
    let writes = !matches!(command, KindCommand::List | KindCommand::Show(_));
    let client = at.open(DatabaseNeed::new_if(writes)).await?;
    match command {
        KindCommand::List => {
            let answer = client.call(Call::get(&["kinds"])).await?;
            output.all(&answer, ("kinds", LIST), "no kinds")
        }
        KindCommand::Show(given) => show(&client, &checked_kind(given)?, output).await,
        KindCommand::Pause { kind, until, note } => {
            let kind = checked_kind(kind)?;
            let until = until.as_deref().map(|at| when::parse_at(at, client.now()));
            let until = until.transpose()?;
            let call = Call::post(&["kinds", &kind, "pause"]);
            let call = call.json(&json!({ "until": until, "note": note }));
            let answer = client.call(call).await?;
            output.report(&answer, |after| {
                let ends = until.map(|at| format!(" until {}", instant(at)));
                let waits = count(&after["waiting"], "task");
                format!("paused {kind}{}: {waits} waiting", ends.unwrap_or_default())
            })
        }
        KindCommand::Resume(given) => {
            let kind = checked_kind(given)?;
            let answer = client.call(Call::post(&["kinds", &kind, "resume"])).await?;
            output.report(&answer, |after| {
                format!(
                    "resumed {kind}: {} waiting",
                    count(&after["waiting"], "task")
                )
            })
        }
    }
}

fn checked_kind(given: &KindArguments) -> Result<String> {
    Kind::parse(&given.kind).map_err(Failure::usage)?;
    Ok(given.kind.clone())
}

async fn show(client: &Client, kind: &str, output: &mut Output) -> Done {
    let answer = client.call(Call::get(&["kinds"])).await?;
    let all = answer.value();
    let found = items(&all["kinds"]).iter().find(|it| it["kind"] == kind);
    let Some(found) = found else {
        let what = format!("no kind {kind}: it is not configured, and no task of it waits or runs");
        let failure = Failure::usage(what).hint("`almanack kind list` lists all");
        return Err(match client.near_kind(kind).await {
            Some(near) => failure.suggesting(&near),
            None => failure,
        });
    };
    if output.json {
        return output.line(&found.to_string()).map(|()| Exit::Ok);
    }
    output.line(kind)?;
    output.page(PAGE, found, answer.now)?;
    Ok(Exit::Ok)
}
