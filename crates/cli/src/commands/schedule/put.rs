//! `almanack schedule put NAME EXPR --target-…`
//!
//! The flags are gathered as the JSON of a definition, so that what is left out gets the same
//! defaults as in the file and over the API.

use almanack_adapters::clock::SystemClock;
use almanack_core::{
    plan::{Definition, unknown_channels},
    time::Clock as _,
};

use super::{check_name, next_of};
use crate::{
    commands::{next::pointed, prelude::*},
    suggest,
};

pub(super) async fn run(
    client: &Client,
    given: &SchedulePutArguments,
    output: &mut Output,
) -> Done {
    let name = given.name.as_str();
    check_name(name)?;
    let definition = definition(given)?;
    let path = ["schedules", name];
    let before = client
        .find(Call::get(&path))
        .await?
        .map(|found| found.value());
    let answer = client.try_call(Call::put(&path).json(&definition)).await?;
    let answer = answer.map_err(|refusal| refused(&refusal, given))?;
    if output.json {
        output.line(answer.text())?;
    } else {
        warn_of(&answer, output);
        let after = client.call(Call::get(&path)).await?;
        let now = after.value();
        let words = text(&now["timetable"]["words"]);
        let tz = text(&now["definition"]["tz"]);
        let done_as = match &before {
            Some(before) if before["revision"] == now["revision"] => {
                output.line(&format!("No change: {name} is already in that state"))?;
                return Ok(Exit::Ok);
            }
            Some(before) if before["state"] != "removed" => "changed",
            _ => "created",
        };
        output.line(&format!(
            "{done_as} {name}: {words} ({tz}){}",
            next_of(&after)
        ))?;
    }
    warn_of_idle(client, definition, output);
    Ok(Exit::Ok)
}

/// What is worth knowing about what was written.
pub(in crate::commands) fn warn_of(answer: &Answer, output: &mut Output) {
    for warning in items(&answer.value()["warnings"]) {
        let (path, message) = (text(&warning["path"]), text(&warning["message"]));
        output.warn(&format!("{path}: {message}"));
    }
}

/// Warns of a target that this node cannot fire at, by its configuration.
fn warn_of_idle(client: &Client, definition: Value, output: &mut Output) {
    let read = serde_json::from_value::<Definition>(definition);
    let Some((settings, read)) = client.settings().zip(read.ok()) else {
        return;
    };
    if let Some((what, hint)) = config::idle_target(&read.target, settings) {
        output.note(&format!("warning: {what}\nhint: {hint}\n"));
    }
    let channels = settings.alerts.channels.iter();
    let known: Vec<String> = channels.map(|channel| channel.name.clone()).collect();
    for advice in unknown_channels(&read, &known) {
        output.warn(&format!("{}: {}", advice.path, advice.lint));
    }
}

/// A refusal with its place in the expression.
fn refused(refusal: &Refusal, given: &SchedulePutArguments) -> Failure {
    if let Some(misread) = refusal.expression() {
        let mut what = text(&misread["message"]);
        if let Ok(span) = serde_json::from_value(misread["span"].clone()) {
            what = format!("{what}\n{}", pointed(&given.expression, span));
        }
        return Failure::usage(what).hinted(misread["hint"].as_str());
    }
    match (refusal.place(), &given.policies.tz) {
        ("tz", Some(tz)) => refusal.failure().hint(suggest::zone(tz)),
        _ => refusal.failure(),
    }
}

fn definition(given: &SchedulePutArguments) -> Result<Value> {
    let mut definition = json!(given.policies);
    for (key, flag) in [
        ("grace", "--grace"),
        ("catch_up_pace", "--catch-up-pace"),
        ("splay", "--splay"),
        ("jitter", "--jitter"),
        ("retry_for", "--retry-for"),
        ("run_timeout", "--run-timeout"),
        ("timeout", "--timeout"),
    ] {
        read_duration(&mut definition[key], flag)?;
    }
    for (key, flag) in [("backoff", "--backoff"), ("backoff_max", "--backoff-max")] {
        read_duration(&mut definition["retry"][key], flag)?;
    }
    if given.policies.alerts.as_deref() == Some(&["none".to_owned()]) {
        definition["alerts"] = json!([]);
    }
    let now = SystemClock.now();
    for (key, flag) in [("starts_at", "--starts-at"), ("ends_at", "--ends-at")] {
        if let Some(text) = definition[key].as_str() {
            let at = when::parse_at(text, now).map_err(|unclear| unclear.of(flag))?;
            definition[key] = json!(at);
        }
    }
    definition["also"] = given.policies.also.iter().map(|text| also(text)).collect();
    definition["expression"] = json!(given.expression);
    definition["target"] = target(given)?;
    definition["pings"] = pings(given);
    // What is left out gets its default.
    if let Some(map) = definition.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
    Ok(definition)
}

/// Whom to call about firings; nothing, where nobody is.
fn pings(given: &SchedulePutArguments) -> Value {
    let named = [
        ("start", &given.ping_start),
        ("success", &given.ping_success),
        ("failure", &given.ping_failure),
    ];
    let named = named
        .into_iter()
        .filter_map(|(name, address)| Some((name, address.as_ref()?)));
    let named: serde_json::Map<String, Value> = named
        .map(|(name, address)| (name.to_owned(), json!(address)))
        .collect();
    if named.is_empty() {
        Value::Null
    } else {
        named.into()
    }
}

/// `0 9 * * *@Asia/Tokyo`; a nickname has its `@` in front.
fn also(text: &str) -> Value {
    match text
        .rsplit_once('@')
        .filter(|(before, _)| !before.is_empty())
    {
        Some((expression, tz)) => json!({ "expression": expression.trim(), "tz": tz.trim() }),
        None => json!({ "expression": text }),
    }
}

/// A duration as the API reads it, or what is wrong with its flag.
fn read_duration(value: &mut Value, flag: &str) -> Result<()> {
    if let Some(text) = value.as_str() {
        *value = when::show_duration(duration(flag, text)?).into();
    }
    Ok(())
}

/// The command line takes exactly one of the targets.
fn target(given: &SchedulePutArguments) -> Result<Value> {
    let payload = given
        .target_payload
        .as_deref()
        .map(|text| json_of("--target-payload", text));
    let payload = payload.transpose()?;
    refuse_strays(given)?;
    let mut target = if let Some(text) = &given.target {
        json_of("--target", text)?
    } else if let Some(url) = &given.target_webhook {
        webhook(url, given)?
    } else if let Some(path) = &given.target_workflow {
        workflow(path, given)?
    } else if let Some([kind, subject]) = given.target_task.as_deref() {
        json!({ "type": "task", "kind": kind, "subject": subject })
    } else {
        json!({ "type": "command", "argv": given.target_command })
    };
    let key = match target["type"].as_str() {
        Some("webhook") => "body",
        _ => "payload",
    };
    if let (Some(payload), Some(map)) = (payload, target.as_object_mut()) {
        map.insert(key.to_owned(), payload);
    }
    Ok(target)
}

/// Refuses flags that would silently be ignored. The parser's own rule does not apply beside the
/// group of targets.
fn refuse_strays(given: &SchedulePutArguments) -> Result<()> {
    let of_workflow = (given.target_workflow.is_some(), "--target-workflow");
    let of_webhook = (given.target_webhook.is_some(), "--target-webhook");
    let flags = [
        ("--target-ref", given.target_ref.is_some(), of_workflow),
        (
            "--target-input",
            !given.target_input.is_empty(),
            of_workflow,
        ),
        ("--target-method", given.target_method.is_some(), of_webhook),
        (
            "--target-header",
            !given.target_header.is_empty(),
            of_webhook,
        ),
        (
            "--target-report-within",
            given.target_report_within.is_some(),
            of_webhook,
        ),
        (
            "--target-template",
            given.target_template.is_some(),
            of_webhook,
        ),
    ];
    let stray = flags
        .into_iter()
        .find(|(_, given, (is_there, _))| *given && !is_there);
    let Some((flag, _, (_, needed))) = stray else {
        return Ok(());
    };
    let what = format!("{flag} needs {needed}");
    Err(Failure::usage(what).hint("remove it, or see `almanack schedule put --help`"))
}

fn webhook(url: &str, given: &SchedulePutArguments) -> Result<Value> {
    let mut target = json!({ "type": "webhook", "url": url });
    if let Some(method) = &given.target_method {
        target["method"] = json!(method);
    }
    if !given.target_header.is_empty() {
        let headers = given.target_header.iter();
        let headers = headers.map(|(name, value)| (name.clone(), json!(value)));
        target["headers"] = Value::Object(headers.collect());
    }
    if let Some(within) = &given.target_report_within {
        let within = duration("--target-report-within", within)?;
        target["report_within"] = when::show_duration(within).into();
    }
    if let Some(template) = &given.target_template {
        target["template"] = json_of("--target-template", template)?;
    }
    Ok(target)
}

fn json_of(flag: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        let what = format!("{flag}: this is not JSON: {error}");
        Failure::usage(what).hint("put it in single quotes")
    })
}

fn workflow(path: &str, given: &SchedulePutArguments) -> Result<Value> {
    let Some((repository, file)) = path.rsplit_once('/') else {
        let what = "--target-workflow: the repository is missing";
        return Err(Failure::usage(what).hint("write owner/name/daily.yml"));
    };
    let mut target = json!({ "type": "workflow", "repository": repository, "workflow": file });
    if let Some(git_ref) = &given.target_ref {
        target["ref"] = json!(git_ref);
    }
    if !given.target_input.is_empty() {
        let inputs = given.target_input.iter();
        let inputs = inputs.map(|(key, value)| (key.clone(), json!(value)));
        target["inputs"] = Value::Object(inputs.collect());
    }
    Ok(target)
}
