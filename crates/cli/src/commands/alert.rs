//! `almanack alert list|test`

use almanack_core::{
    alert::{
        Alert, Severity,
        port::{Answer, Outcome},
        words,
    },
    store::AlertFilter,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Desk, Errand, checked};
use crate::{
    args::AlertCommand,
    config::{self, Inputs, Need},
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    when::Relative,
    wiring,
};

/// More are never open.
const LISTED_MAX: usize = 1_000;

/// Does what was asked with alerts.
pub(super) async fn run(
    inputs: &Inputs,
    command: &AlertCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        AlertCommand::List { all } => {
            let desk = Desk::open(inputs, Errand::Existing).await?;
            list(&desk, *all, output).await
        }
        AlertCommand::Test { channel } => test(inputs, channel.as_deref(), output).await,
    }
}

async fn list(desk: &Desk, all: bool, output: &mut Output) -> Result<Exit, Failure> {
    let filter = AlertFilter {
        closed_from: if all { Timestamp::MIN } else { Timestamp::MAX },
        limit: LISTED_MAX,
    };
    let mut alerts = desk.store.load_alerts(filter).await?;
    alerts.retain(|alert| all || alert.is_open());
    if output.json {
        let views: Vec<Value> = alerts.iter().map(view).collect();
        output.value(&json!({ "alerts": views }))?;
        return Ok(Exit::Ok);
    }
    if alerts.is_empty() {
        output.note(if all {
            "no alerts\n"
        } else {
            "nothing is wrong\n"
        });
        return Ok(Exit::Ok);
    }
    let now = desk.clock.now();
    let rows: Vec<Vec<Cell>> = alerts.iter().map(|alert| row(alert, now)).collect();
    output.table(&["STATE", "RULE", "SINCE", "TOLD", "WHAT"], &rows)?;
    Ok(Exit::Ok)
}

fn row(alert: &Alert, now: Timestamp) -> Vec<Cell> {
    let state = match (alert.is_open(), alert.severity) {
        (false, _) => Cell::new("over").ink(Ink::Good),
        (true, Severity::Critical) => Cell::new("critical").ink(Ink::Bad),
        (true, Severity::Warning) => Cell::new("warning").ink(Ink::Notable),
    };
    let told = match alert.news() {
        None => "yes",
        Some(_) if alert.tell_at.is_some() => "waits",
        Some(_) => "no",
    };
    let at = alert.opened_at;
    vec![
        state,
        Cell::new(alert.key.rule.as_str()),
        Cell::new(Relative { at, now }.to_string()),
        Cell::new(told),
        Cell::new(format!("{} ({})", words::english(alert), alert.detail)),
    ]
}

fn view(alert: &Alert) -> Value {
    json!({
        "rule": alert.key.rule.as_str(),
        "about": alert.key.about.to_string(),
        "severity": alert.severity.as_str(),
        "sentence": words::english(alert),
        "detail": alert.detail,
        "open": alert.is_open(),
        "opened_at": alert.opened_at,
        "calm_since": alert.calm_since,
        "closed_at": alert.closed_at,
        "returns": alert.returns,
        "open_told_at": alert.open_told_at,
        "close_told_at": alert.close_told_at,
    })
}

/// Needs no database: whether people can be reached must be known before anything runs.
async fn test(inputs: &Inputs, only: Option<&str>, output: &mut Output) -> Result<Exit, Failure> {
    let settings = checked(config::load(inputs, Need::Everything))?;
    let outbound = wiring::Outbound::new(&settings)?;
    let clock = wiring::machine_clock();
    let channels = wiring::alerts::channels(&settings, &inputs.environment, &outbound, &clock)?;
    let names: Vec<String> = channels.names().map(str::to_owned).collect();
    if names.is_empty() {
        return Err(
            Failure::new(Exit::NotFound, "no channel is configured").hint(
                "add one to the configuration, for example [alerts.ntfy] with its url; the guide \
             `alerts.md` has all of them",
            ),
        );
    }
    if let Some(unknown) = only.filter(|only| !names.iter().any(|name| name == only)) {
        let what = format!("no channel `{unknown}` is configured");
        let hint = format!("these are: {}", names.join(", "));
        return Err(Failure::new(Exit::NotFound, what).hint(hint));
    }
    let answers = channels.test(only).await;
    tell(&answers, output)?;
    let all_took = answers
        .iter()
        .all(|it| matches!(it.outcome, Outcome::Taken(_)));
    Ok(if all_took { Exit::Ok } else { Exit::Failed })
}

fn tell(answers: &[Answer], output: &mut Output) -> Result<(), Failure> {
    if output.json {
        let view = |answer: &Answer| {
            json!({
                "channel": answer.channel,
                "outcome": answer.outcome.as_str(),
                "answer": answer.outcome.detail(),
            })
        };
        let views: Vec<Value> = answers.iter().map(view).collect();
        return output.value(&json!({ "answers": views }));
    }
    let rows: Vec<Vec<Cell>> = answers
        .iter()
        .map(|answer| {
            let ink = match answer.outcome {
                Outcome::Taken(_) => Ink::Good,
                Outcome::Refused(_) | Outcome::Failed(_) => Ink::Bad,
            };
            vec![
                Cell::new(&*answer.channel),
                Cell::new(answer.outcome.as_str()).ink(ink),
                Cell::new(answer.outcome.detail()),
            ]
        })
        .collect();
    output.table(&["CHANNEL", "OUTCOME", "ANSWER"], &rows)
}
