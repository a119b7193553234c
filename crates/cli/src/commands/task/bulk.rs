//! `almanack task bulk cancel|retry|move|list|show|stop`
//!
//! A change asks first, with the exact number of tasks it would change, and then changes no others.

use std::{collections::BTreeMap, sync::Arc};

use almanack_adapters::clock::{ClockSleeper, SystemClock};
use almanack_core::time::{Clock, Sleeper as _};

use super::super::progress::progress;
use super::find::{filter, suggest_kind};
use crate::commands::prelude::*;

/// How often a bulk change is asked how far it got.
const LOOK_EVERY: SignedDuration = SignedDuration::from_millis(200);

const LIST: &[Column] = &[
    column("BULK", "/bulk_id", plain),
    column("STATE", "/state", plain),
    column("ACTION", "/action", plain),
    column("CHANGED", "/changed", plain),
    column("MATCHED", "/matched", plain),
    column("CREATED", "/created_at", at),
    column("", "/created_at", ago),
    column("REQUESTED BY", "/requested_by", plain),
];

const PAGE: &[Column] = &[
    column("state", "/state", plain),
    column("action", "/action", plain),
    column("by (seconds)", "/by_s", plain),
    column("to", "/to", moment),
    column("filter", "/filter", |filter, _| filter.to_string().into()),
    column("matched", "/matched", plain),
    column("changed", "/changed", plain),
    column("skipped", "/skipped", |skipped, _| reasons(skipped).into()),
    column("requested by", "/requested_by", plain),
    column("created", "/created_at", moment),
    column("ended", "/ended_at", moment),
    column("stopped by", "/cancelled_by", plain),
];

/// Runs a command of `almanack task bulk`.
pub(super) async fn run(client: &Client, command: &BulkCommand, output: &mut Output) -> Done {
    match command {
        BulkCommand::Cancel(given) => change(client, ("cancel", given), json!({}), output).await,
        BulkCommand::Retry(given) => change(client, ("retry", given), json!({}), output).await,
        BulkCommand::Move { bulk, by, to } => {
            let shift = match (by, to) {
                (Some(by), _) => json!({ "by_s": shifted(by)?.as_secs() }),
                (None, Some(to)) => json!({ "to": when::parse_at(to, client.now())? }),
                (None, None) => json!({}),
            };
            change(client, ("move", bulk), shift, output).await
        }
        BulkCommand::List(many) => {
            let list = List::new(Call::get(&["bulk"]), ("bulks", LIST), "no bulk changes");
            list.limit_or_all(many.limit()).write(client, output).await
        }
        BulkCommand::Show(given) => {
            let id = given.id.to_string();
            let answer = client.call(Call::get(&["bulk", &id])).await?;
            output.show(&answer, |output, bulk| {
                output.line(&format!("bulk change {id}"))?;
                output.page(PAGE, &bulk, answer.now)
            })
        }
        BulkCommand::Stop(given) => {
            let id = given.id.to_string();
            let answer = client.call(Call::post(&["bulk", &id, "cancel"])).await?;
            output.report(&answer, |bulk| format!("stopped {}", sentence(bulk)))
        }
    }
}

/// A duration that may be negative.
fn shifted(text: &str) -> Result<SignedDuration> {
    match text.strip_prefix('-') {
        Some(back) => duration("--by", back).map(|by| -by),
        None => duration("--by", text.strip_prefix('+').unwrap_or(text)),
    }
}

async fn change(
    client: &Client,
    (action, given): (&str, &BulkArguments),
    mut body: Value,
    output: &mut Output,
) -> Done {
    let fields: BTreeMap<&str, Value> = filter(&given.filter, client)?.into_iter().collect();
    body["action"] = json!(action);
    body["filter"] = json!(fields);
    body["dry_run"] = json!(true);
    let path = ["tasks", "bulk"];
    let counted = client.call(Call::post(&path).json(&body).long()).await?;
    let dry_run = counted.value();
    if dry_run["matched"] == 0 {
        suggest_kind(client, &given.filter, output).await;
    }
    if given.dry_run {
        return output.report(&counted, |dry_run| {
            format!("would {}", counts(action, dry_run))
        });
    }
    let question = format!("This will {}.", counts(action, &dry_run));
    let hint = "see what would change with --dry-run";
    if !confirmed(given.yes, (&question, "Continue?"), hint, output)? {
        output.note("nothing changed\n");
        return Ok(Exit::Ok);
    }
    body["dry_run"] = json!(false);
    body["through_task_id"] = dry_run["through_task_id"].clone();
    let begun = client.call(Call::post(&path).json(&body)).await?;
    let id = text(&begun.value()["bulk_id"]);
    if !given.wait {
        return output.report(&begun, |_| started(&id));
    }
    follow(client, &id, dry_run["matched"].as_u64(), output).await
}

fn started(id: &str) -> String {
    format!("bulk change {id} has begun; `almanack task bulk show {id}` shows how far it got")
}

/// Waits until it has ended.
async fn follow(client: &Client, id: &str, total: Option<u64>, output: &mut Output) -> Done {
    let bar = progress(total, output);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let sleeper = ClockSleeper::new(Arc::clone(&clock));
    loop {
        let answer = client.call(Call::get(&["bulk", id])).await?;
        let bulk = answer.value();
        bar.set_position(bulk["matched"].as_u64().unwrap_or_default());
        bar.set_message(format!("{} changed", bulk["changed"]));
        if bulk["state"] != "running" {
            bar.finish_and_clear();
            return output.report(&answer, sentence);
        }
        sleeper.until(clock.now() + LOOK_EVERY).await;
    }
}

/// `cancel 12 of 13 tasks (1 ended)`
fn counts(action: &str, dry_run: &Value) -> String {
    let matched = dry_run["matched"].as_u64().unwrap_or_default();
    let least = if dry_run["exact"] == true {
        ""
    } else {
        "at least "
    };
    let changed = text(&dry_run["would_change"]);
    let of = counted(matched, "matching task", "matching tasks");
    format!("{action} {least}{changed} of {of}{}", skipped(dry_run))
}

fn sentence(bulk: &Value) -> String {
    let (id, state, changed) = (
        text(&bulk["bulk_id"]),
        text(&bulk["state"]),
        &bulk["changed"],
    );
    let matched = bulk["matched"].as_u64().unwrap_or_default();
    let of = counted(matched, "matching task", "matching tasks");
    format!(
        "bulk change {id} ({state}): changed {changed} of {of}{}",
        skipped(bulk)
    )
}

fn skipped(it: &Value) -> String {
    let reasons = reasons(&it["skipped"]);
    if reasons.is_empty() {
        return reasons;
    }
    format!("; skipped: {reasons}")
}

fn reasons(skipped: &Value) -> String {
    let reasons = skipped.as_object().into_iter().flatten();
    let reasons: Vec<String> = reasons.map(|(reason, n)| format!("{n} {reason}")).collect();
    reasons.join(", ")
}
