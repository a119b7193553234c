//! `almanack edition status`: everything that is known of one edition.

use almanack_core::edition::delivery::IN_DOUBT;

use super::{day, desk, identified, is_published};
use crate::{commands::prelude::*, when::Relative};

const HEAD: &[Column] = &[
    column("edition", "", |it, _| identified(it).into()),
    column("state", "/state", state),
    column("stories", "/counts", |it, _| {
        let sum = format!(
            "{} completed, {} failed, {} pending, {} in progress, of {}",
            it["completed"], it["failed"], it["pending"], it["processing"], it["total"]
        );
        sum.into()
    }),
    column("batches", "/plan", |plan, _| {
        format!("{} of {}", plan["batches_done"], plan["batches_planned"]).into()
    }),
    column("requests", "/requests", plain),
    column("source", "/story_source", plain),
    column("begun", "/started_at", moment),
    column("published", "/published_at", moment),
    column("expected", "/plan/expected_finish_at", moment),
    column("due", "/due_at", moment),
    column("degraded", "/degraded", degraded),
    column("held", "/hold", held),
    column("reason", "/reason", plain),
    column("approval", "/hold", desk::hold),
    column("retracted", "/retraction", desk::retracted),
];

const FAILED: &[Column] = &[
    column("STORY", "", |it, _| {
        format!("{}. {}", it["rank"], text(&it["original_title"])).into()
    }),
    column("RETRIES", "/retry_count", times),
    column("ERROR", "/error", bad),
];

const BATCHES: &[Column] = &[
    column("BATCH", "/index", plain),
    column("STATUS", "/status", plain),
    column("STORIES", "/story_count", plain),
    column("REQUESTS", "/requests", plain),
    column("TOKENS", "", |it, _| {
        format!("{} in, {} out", it["tokens_in"], it["tokens_out"]).into()
    }),
    column("TOOK", "/duration_ms", |ms, _| format!("{ms} ms").into()),
    column("NODE", "/node", plain),
];

const DELIVERIES: &[Column] = &[
    column("DESTINATION", "/destination", plain),
    column("PART", "/part", plain),
    column("STATE", "/state", state),
    column("SENT", "/attempts", times),
    column("DETAIL", "", delivered),
];

const ALERTS: &[Column] = &[
    column("ALERT", "", |it, now| {
        let ink = if it["closed_at"].is_null() {
            Ink::Bad
        } else {
            Ink::Faint
        };
        plain(&it["rule"], now).ink(ink)
    }),
    column("SINCE", "/opened_at", at),
    column("UNTIL", "/closed_at", at),
    column("DETAIL", "/detail", plain),
];

/// Stories that have less than they could, by cause.
fn degraded(causes: &Value, _: Timestamp) -> Cell {
    let causes = causes.as_object().into_iter().flatten();
    let causes: Vec<String> = causes
        .map(|(cause, count)| format!("{count} by {cause}"))
        .collect();
    Cell::new(causes.join(", "))
}

/// Why it is held; nothing once that was decided.
fn held(hold: &Value, now: Timestamp) -> Cell {
    if hold["decision"].is_null() && !hold.is_null() {
        let since = instant_of(&hold["since"]);
        return format!("for {}, since {since}", text(&hold["reason"])).into();
    }
    plain(&Value::Null, now)
}

fn times(count: &Value, _: Timestamp) -> Cell {
    format!("{count}×").into()
}

/// Shows the status of an edition.
pub(super) async fn run(client: &Client, given: &EditionArguments, output: &mut Output) -> Done {
    let date = day(client, given).await?;
    let edition = load(client, &date).await?;
    show(&edition, output)
}

/// An edition with everything that belongs to it.
pub(super) async fn load(client: &Client, date: &str) -> Result<Answer> {
    client.call(Call::get(&["editions", date])).await
}

/// Prints everything, the most important first.
pub(super) fn show(edition: &Answer, output: &mut Output) -> Done {
    let now = edition.now;
    output.show(edition, |output, it| {
        output.page(HEAD, &it, now)?;
        let mut failed = items(&it["stories"]).to_vec();
        failed.retain(|story| story["status"] == "failed");
        output.section(FAILED, &failed, now)?;
        output.section(BATCHES, items(&it["batches"]), now)?;
        output.section(DELIVERIES, items(&it["deliveries"]), now)?;
        output.section(ALERTS, items(&it["alerts"]), now)
    })
}

/// When something that failed is tried again.
pub(super) fn again(it: &Value, now: Timestamp) -> Option<String> {
    let at = time(&it["retry_at"]).filter(|at| *at > now)?;
    Some(format!("again {}", Relative { at, now }))
}

fn delivered(delivery: &Value, now: Timestamp) -> Cell {
    let again = again(delivery, now);
    let held = is_held(delivery).then(|| "resend or skip it".to_owned());
    let field = |name: &str| delivery[name].as_str().map(str::to_owned);
    let parts = [field("detail"), field("receipt"), again, held];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Cell::new(parts.join("; "))
}

/// Whether it is not sent again without a `resend`.
fn is_held(delivery: &Value) -> bool {
    let ended = matches!(delivery["state"].as_str(), Some("failed" | "unknown"));
    ended && delivery["retry_at"].is_null()
}

/// Published or not, and which destinations lack it.
pub(super) fn ending(edition: &Value, output: &mut Output) -> Exit {
    let deliveries = edition["deliveries"].as_array().into_iter().flatten();
    let is = |it: &Value, state: &str| it["state"] == state;
    if is_published(edition) {
        let doubtful = deliveries.filter(|it| is(it, "skipped") && it["detail"] == IN_DOUBT);
        doubtful.for_each(|delivery| output.note(&in_doubt(delivery)));
        return Exit::Ok;
    }
    let (date, state) = (identified(edition), text(&edition["state"]));
    output.note(&format!(
        "the edition of {date} is not published: it is {state}\n"
    ));
    if desk::is_waiting(edition) {
        output.note("it waits for approval: `almanack edition approve` publishes it\n");
        return Exit::Failed;
    }
    if let Some(reason) = edition["reason"].as_str() {
        output.note(&format!("reason: {reason}\n"));
    }
    let open = deliveries.filter(|it| !is(it, "confirmed") && !is(it, "skipped"));
    open.for_each(|delivery| output.note(&undelivered(delivery)));
    Exit::Failed
}

fn undelivered(delivery: &Value) -> String {
    let of = |name: &str| text(&delivery[name]);
    let why = delivery["detail"].as_str().unwrap_or("not sent yet");
    let next = if !delivery["retry_at"].is_null() {
        format!("; next try {}", instant_of(&delivery["retry_at"]))
    } else if is_held(delivery) {
        "; no more attempts: run `almanack edition resend` or `skip`".to_owned()
    } else {
        String::new()
    };
    format!(
        "{}, part {}, is {}: {why}{next}\n",
        of("destination"),
        of("part"),
        of("state")
    )
}

fn in_doubt(delivery: &Value) -> String {
    let (destination, part) = (text(&delivery["destination"]), &delivery["part"]);
    format!(
        "{destination} may lack part {part}: its delivery was not confirmed; `almanack edition \
         resend {destination} --part {part}` sends it again, `skip` accepts it\n"
    )
}
