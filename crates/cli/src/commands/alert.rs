//! `almanack alert list|test`

use almanack_core::alert::port::Notifier as _;

use crate::commands::prelude::*;

const LIST: &[Column] = &[
    column("STATE", "", |it, now| {
        let ink = if it["severity"] == "critical" {
            Ink::Bad
        } else {
            Ink::Notable
        };
        if it["open"] == true {
            plain(&it["severity"], now).ink(ink)
        } else {
            Cell::new("over").ink(Ink::Good)
        }
    }),
    column("RULE", "/rule", plain),
    column("SINCE", "/opened_at", ago),
    column("NOTIFIED", "", |it, _| {
        let notified_at = if it["open"] == true {
            "open_notified_at"
        } else {
            "close_notified_at"
        };
        let waits = !it["notify_at"].is_null();
        let unsent = if waits { "waits" } else { "no" };
        Cell::new(if it[notified_at].is_null() {
            unsent
        } else {
            "yes"
        })
    }),
    column("WHAT", "", |it, _| {
        format!("{} ({})", text(&it["sentence"]), text(&it["detail"])).into()
    }),
];

/// Runs a command of `almanack alert`.
pub(super) async fn run(at: &Connector<'_>, command: &AlertCommand, output: &mut Output) -> Done {
    match command {
        AlertCommand::List { all } => {
            let client = at.open(DatabaseNeed::Existing).await?;
            let call = Call::get(&["alerts"]).query("all", all.then_some(true));
            let answer = client.call(call).await?;
            let none = if *all { "no alerts" } else { "no open alerts" };
            output.all(&answer, ("alerts", LIST), none)
        }
        AlertCommand::Test { channel } => {
            let answers = match at.server {
                Some(_) => test_there(at, channel.as_deref()).await?,
                None => test(at.inputs, channel.as_deref()).await?,
            };
            let now = wiring::machine_clock().now();
            output.print(&json!({ "answers": answers }), |output| {
                output.columns(ANSWERS, &answers, now, true)
            })?;
            Ok(Exit::failed_if(!answers.iter().all(is_taken)))
        }
    }
}

/// Tests the channels of a node.
async fn test_there(at: &Connector<'_>, only: Option<&str>) -> Result<Vec<Value>> {
    let client = at.open(DatabaseNeed::Existing).await?;
    let call = Call::post(&["alerts", "test"]).json(&json!({ "channel": only }));
    let answer = client.call(call).await?;
    Ok(answer.value()["answers"]
        .as_array()
        .cloned()
        .unwrap_or_default())
}

/// Needs no database: you can test the channels before anything runs.
async fn test(inputs: &Inputs, only: Option<&str>) -> Result<Vec<Value>> {
    let settings = checked(config::load(inputs, Need::Everything))?;
    let outbound = wiring::Outbound::new(&settings)?;
    let clock = wiring::machine_clock();
    let channels = wiring::alerts::channels(&settings, &inputs.environment, &outbound, &clock)?;
    let names: Vec<String> = channels.names().map(str::to_owned).collect();
    if names.is_empty() {
        return Err(Failure::not_found("no channel is configured").hint(
            "add one to the configuration, for example [alerts.ntfy] with its url; the guide \
             `alerts.md` has all of them",
        ));
    }
    if let Some(unknown) = only.filter(|only| !names.iter().any(|name| name == only)) {
        let what = format!("no channel `{unknown}` is configured");
        let hint = format!("configured channels: {}", names.join(", "));
        return Err(Failure::not_found(what).hint(hint));
    }
    let answers = channels.test(only).await;
    Ok(answers.iter().map(|answer| json!(answer)).collect())
}

const ANSWERS: &[Column] = &[
    column("CHANNEL", "/channel", plain),
    column("OUTCOME", "", |it, now| {
        let ink = if is_taken(it) { Ink::Good } else { Ink::Bad };
        plain(&it["outcome"], now).ink(ink)
    }),
    column("ANSWER", "/answer", plain),
];

fn is_taken(answer: &Value) -> bool {
    answer["outcome"] == "taken"
}
