//! `almanack task put|get|list|count|cancel|retry|bulk|history|why`

use std::collections::BTreeMap;

use almanack_core::task::{Invalid, Kind, MAX_RETRY_MAX, Subject};
use serde::Serialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::commands::prelude::*;

mod batch;
mod bulk;
mod find;
mod history;

/// Runs a command of `almanack task`.
pub(super) async fn run(at: &Connector<'_>, command: &TaskCommand, output: &mut Output) -> Done {
    // Cancelling with a revision leaves a tombstone even without a task; the others need a task.
    let writes = matches!(command, TaskCommand::Put(_) | TaskCommand::Cancel { .. });
    let client = at.open(DatabaseNeed::new_if(writes)).await?;
    match command {
        TaskCommand::Put(given) => match &given.batch {
            Some(file) => batch::run(&client, file, output).await,
            None => put(&client, given, output).await,
        },
        TaskCommand::Get(given) => get(&client, given, output).await,
        TaskCommand::List(given) => {
            let list = list(given, &client)?;
            if list.write_counted(&client, output).await? == 0 {
                find::suggest_kind(&client, &given.filter, output).await;
            }
            Ok(Exit::Ok)
        }
        TaskCommand::Count(given) => find::count(&client, given, output).await,
        TaskCommand::Bulk(command) => bulk::run(&client, command, output).await,
        TaskCommand::Cancel { identity, revision } => {
            cancel(&client, identity, *revision, output).await
        }
        TaskCommand::Retry(given) => retry(&client, given, output).await,
        TaskCommand::History(given) => history::run(&client, given, output).await,
        TaskCommand::Why(given) => {
            let answer = client.call(Call::get(&segments(given, &["why"])?)).await?;
            output.report(&answer, |why| text(&why["sentence"]))
        }
    }
}

/// The path of a task and what is below it. A mistake in its name is reported in the order of the
/// command line.
fn segments<'a>(given: &'a IdentityArguments, below: &[&'a str]) -> Result<Vec<&'a str>> {
    let checked = Kind::parse(&given.kind).and(Subject::parse(&given.subject));
    checked.map_err(refused)?;
    let of_task = ["tasks", &given.kind, &given.subject];
    Ok([&of_task[..], below].concat())
}

/// A value on the command line that breaks its rule.
fn refused(invalid: Invalid) -> Failure {
    let failure = Failure::usage(&invalid);
    match invalid {
        Invalid::Kind { given } if given.contains(':') => {
            failure.hint("the kind comes first, then the subject: ARTICLE_PUBLISH article:42")
        }
        _ => failure,
    }
}

const LIST: &[Column] = &[
    column("TASK", "/task_id", plain),
    column("STATUS", "", status),
    column("KIND", "/kind", plain),
    column("SUBJECT", "/subject", plain),
    column("EXECUTE AT", "/execute_at", at),
    column("", "/execute_at", ago),
    column("ATTEMPT", "", attempt),
];

fn list(given: &ListArguments, client: &Client) -> Result<List> {
    let call = find::query(Call::get(&["tasks"]), &given.filter, client)?;
    let list = List::new(call, ("tasks", LIST), "no tasks");
    Ok(list.limit_or_all(given.many.limit()))
}

/// A status in words. A failure shows whether it is final; its day is in another column.
fn status(task: &Value, _: Timestamp) -> Cell {
    let shown = match (text(&task["status"]).as_str(), task["live"] == true) {
        ("FAIL", true) => {
            let at = time(&task["execute_at"]).map(|at| at.strftime("%H:%M:%SZ").to_string());
            format!("Failed (retry at {})", at.unwrap_or_default())
        }
        ("FAIL", false) => "Failed (final)".to_owned(),
        (status, _) => status_word(status).to_owned(),
    };
    Cell::new(shown).ink(status_ink(task))
}

fn attempt(task: &Value, _: Timestamp) -> Cell {
    attempt_in_short(task).into()
}

fn attempt_in_short(task: &Value) -> String {
    let attempt = task["attempt"].as_u64().unwrap_or_default();
    match bounded(task["max_retry"].as_u64().unwrap_or_default()) {
        Some(all) => format!("{attempt}/{}", attempt.max(all)),
        None => attempt.to_string(),
    }
}

fn attempt_of(task: &Value) -> String {
    match bounded(task["max_retry"].as_u64().unwrap_or_default()) {
        Some(of) => format!("{} of {of}", task["attempt"]),
        None => task["attempt"].to_string(),
    }
}

/// How many attempts there may be. Almanack's own tasks are tried for a time, not so many times:
/// their count is a bound that nobody is meant to see.
fn bounded(max_retry: u64) -> Option<u64> {
    (max_retry <= u64::from(MAX_RETRY_MAX)).then_some(max_retry + 1)
}

const PAGE: &[Column] = &[
    column("task", "/task_id", plain),
    column("status", "", |task, _| {
        let left = match (task["status"].as_str(), task["live"] == true) {
            (Some("FAIL"), true) => ", will be retried",
            (Some("FAIL"), false) => ", no retries left",
            _ => "",
        };
        let status = task["status"].as_str().unwrap_or_default();
        format!("{}{left}", status_word(status)).into()
    }),
    column("execute at", "/execute_at", moment),
    column("attempt", "", |task, _| attempt_of(task).into()),
    column("priority", "/priority", plain),
    column("expires", "/expires_at", moment),
    column("revision", "/revision", plain),
    column("origin", "/origin", plain),
    column("created", "/created_at", moment),
    column("started", "/started_at", moment),
    column("finished", "/finished_at", moment),
    column("lease until", "/lease_until", moment),
    column("node", "/node", plain),
    column("callback", "/callback/url", plain),
    column("method", "/callback/method", plain),
    column("timeout (seconds)", "/callback/timeout_s", plain),
    // Names only: a value may say where a secret is kept.
    column("headers", "/callback/headers", |headers, _| {
        let names = headers.as_object().into_iter().flatten();
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        names.join(", ").into()
    }),
    column("tags", "/tags", plain),
    column("replaces", "/replaces", |id, _| format!("task {id}").into()),
    column("detail", "/detail", plain),
    column("payload", "/payload", |raw, _| Cell::new(text(raw)).whole()),
];

async fn get(client: &Client, given: &IdentityArguments, output: &mut Output) -> Done {
    let answer = client.call(Call::get(&segments(given, &[])?)).await?;
    output.show(&answer, |output, mut task| {
        // As given, blanks included.
        task["payload"] = answer.raw("payload").into();
        output.line(&format!("{} {}", given.kind, given.subject))?;
        output.page(PAGE, &task, answer.now)
    })
}

/// What the API takes for a task; what is left out stays, or gets its default.
#[derive(Clone, Serialize)]
struct PutBody<'a> {
    execute_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callback: Option<Callback<'a>>,
    max_retry: Option<i64>,
    priority: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_after_s: Option<i64>,
    revision: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<&'a str>>,
}

#[derive(Clone, Default, PartialEq, Serialize)]
struct Callback<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<&'a str, &'a str>>,
}

impl<'a> Callback<'a> {
    fn of(given: &'a PutArguments) -> Result<Option<Self>> {
        let headers = given.callback_header.iter().map(|line| {
            let parts = line.split_once(':');
            let parts = parts.map(|(name, value)| (name.trim(), value.trim()));
            parts.ok_or_else(|| {
                Failure::usage("a header has no colon")
                    .hint("write --callback-header 'X-Tenant: 9'")
            })
        });
        let headers = headers.collect::<Result<BTreeMap<_, _>>>()?;
        let callback = Self {
            url: given.callback_url.as_deref(),
            method: given
                .callback_method
                .as_deref()
                .map(str::to_ascii_uppercase),
            timeout_s: given.callback_timeout,
            headers: Some(headers).filter(|headers| !headers.is_empty()),
        };
        Ok((callback != Self::default()).then_some(callback))
    }
}

async fn put(client: &Client, given: &PutArguments, output: &mut Output) -> Done {
    let identity = IdentityArguments {
        kind: given.kind.clone().unwrap_or_default(),
        subject: given.subject.clone().unwrap_or_default(),
    };
    let segments = segments(&identity, &[])?;
    let written = given.at.as_deref().unwrap_or("now");
    let expires_at = given.expires_at.as_deref();
    let expires_at = expires_at.map(|at| when::parse_at(at, client.now()));
    let body = PutBody {
        execute_at: when::parse_at(written, client.now())?,
        payload: given.payload.as_deref().map(payload).transpose()?,
        callback: Callback::of(given)?,
        max_retry: given.max_retry,
        priority: given.priority,
        expires_at: expires_at.transpose()?,
        expires_after_s: given.expires_after,
        revision: given.revision,
        tags: tags(&given.tag),
    };
    let key = given.idempotency_key.as_deref();
    let digest = key.map(|_| digest(&body, written));
    let call = Call::put(&segments)
        .json(&body)
        .header("idempotency-key", key)
        .header("idempotency-digest", digest.as_deref());
    let answer = client.call(call).await?;
    output.report(&answer, |receipt| sentence(receipt, answer.now))
}

/// None given keeps them; one that is empty removes them.
fn tags(given: &[String]) -> Option<Vec<&str>> {
    let tags = given.iter().map(String::as_str);
    (!given.is_empty()).then(|| tags.filter(|tag| !tag.is_empty()).collect())
}

/// The time counts as written: `+10m` sent again a minute later is the same request.
fn digest(body: &PutBody<'_>, written: &str) -> String {
    let body = PutBody {
        execute_at: Timestamp::MIN,
        ..body.clone()
    };
    let request = serde_json::to_vec(&(body, written)).unwrap_or_default();
    format!("{:x}", Sha256::digest(request))
}

/// The payload itself, from `@FILE` or standard input where that was asked for.
fn payload(given: &str) -> Result<Box<RawValue>> {
    let text = match given.strip_prefix('@') {
        Some(path) => read_text(path, "read payload from", FILE_BYTES_MAX)?,
        None if given == "-" => read_text("-", "read payload from", FILE_BYTES_MAX)?,
        None => given.to_owned(),
    };
    RawValue::from_string(text.trim_ascii_end().to_owned()).map_err(|error| {
        Failure::usage(format!("payload is not JSON: {error}"))
            .hint("put JSON text in double quotes: --payload '{\"lang\":\"en\"}'")
    })
}

/// The status just before a change, for warnings about its consequences. Another change may come in
/// between; then the warning is wrong, never the change.
async fn status_before(client: &Client, segments: &[&str]) -> Result<String> {
    let found = client.find(Call::get(segments)).await?;
    Ok(found.map_or_else(String::new, |task| text(&task.value()["status"])))
}

async fn cancel(
    client: &Client,
    given: &IdentityArguments,
    revision: Option<i64>,
    output: &mut Output,
) -> Done {
    let segments = segments(given, &[])?;
    let before = status_before(client, &segments).await?;
    let call = Call::delete(&segments).query("revision", revision);
    let answer = client.call(call).await?;
    let result = output.report(&answer, |receipt| sentence(receipt, answer.now));
    if before == "RUNNING" && answer.value()["rule"] == "cancelled" {
        output.warn("the task was running; its call is not aborted and may still take effect");
    }
    result
}

async fn retry(client: &Client, given: &IdentityArguments, output: &mut Output) -> Done {
    let before = status_before(client, &segments(given, &[])?).await?;
    let call = Call::post(&segments(given, &["retry"])?);
    let answer = client.call(call).await?;
    let result = output.report(&answer, |receipt| sentence(receipt, answer.now));
    match (before.as_str(), answer.value()["rule"].as_str()) {
        ("CANCELLED", Some("reinserted")) => {
            output.warn("the task had been cancelled; it is scheduled again");
        }
        (_, Some("cancelled_and_inserted")) => {
            output.warn("the running call is not aborted; the new one runs in parallel");
        }
        _ => {}
    }
    result
}

/// A receipt as a sentence.
fn sentence(receipt: &Value, now: Timestamp) -> String {
    let of = |name: &str| text(&receipt[name]);
    let (task, who) = (
        format!("task {}", of("task_id")),
        format!("{} {}", of("kind"), of("subject")),
    );
    let moved = time(&receipt["execute_at"]);
    let at = moved.map_or_else(String::new, |at| moment_of(at, now));
    match receipt["rule"].as_str().unwrap_or_default() {
        "created" => format!("created {task}: {who} at {at}"),
        "reinserted" => format!("created again as {task}: {who} at {at}"),
        "updated" => match time(&receipt["old_execute_at"]) {
            Some(_) if receipt["old_execute_at"] == receipt["execute_at"] => {
                format!("changed {task}: {who}, still at {at}")
            }
            Some(_) => {
                let old = instant_of(&receipt["old_execute_at"]);
                format!("moved {task}: {who} from {old} to {at}")
            }
            None => format!("moved {task}: {who} to {at}"),
        },
        "cancelled_and_inserted" => {
            let old = of("cancelled_task_id");
            format!("cancelled the running task {old}, and created {task}: {who} at {at}")
        }
        // A cancellation that wrote a row found no task.
        "cancelled" if of("receipt").ends_with(".0") => format!(
            "nothing to cancel yet: {who}; later changes up to revision {} will be ignored",
            of("revision")
        ),
        "cancelled" => format!("cancelled {task}: {who}"),
        "ignored_done" => format!("No change: {task} is already done: {who}"),
        "ignored_stale" => {
            format!(
                "No change: revision {} of {who} is already known",
                of("revision")
            )
        }
        _ => format!("No change: {who} is already in that state"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_nobody_is_meant_to_see_is_not_shown() {
        for (task, cell, line) in [
            (json!({ "attempt": 1, "max_retry": 3 }), "1/4", "1 of 4"),
            (json!({ "attempt": 9, "max_retry": 3 }), "9/9", "9 of 4"),
            (
                json!({ "attempt": 0, "max_retry": 100 }),
                "0/101",
                "0 of 101",
            ),
            (json!({ "attempt": 1, "max_retry": 1_000_000 }), "1", "1"),
            (json!({ "attempt": 2, "max_retry": u32::MAX }), "2", "2"),
        ] {
            assert_eq!(attempt_in_short(&task), cell, "{task}");
            assert_eq!(attempt_of(&task), line, "{task}");
        }
    }
}
