//! `almanack source why`: what was learned about a source, and the reason of its next check.

use std::path::Path;

use super::{called, clock_off, load, week};
use crate::commands::prelude::*;

pub(super) async fn run(
    client: &Client,
    given: &str,
    svg: Option<&Path>,
    output: &mut Output,
) -> Done {
    let source = load(client, given).await?;
    if let Some(file) = svg {
        let picture = client.call(source.get("week.svg")).await?;
        std::fs::write(file, picture.text()).map_err(|error| {
            let what = format!("--svg: write `{}`: {error}", file.display());
            Failure::failed(what)
        })?;
    }
    let answer = client.call(source.get("why")).await?;
    output.show(&answer, |output, why| {
        output.line(&called(&source.now))?;
        output.line(&text(&why["sentence"]))?;
        for sentence in further(&source.now, &why) {
            output.line(&sentence)?;
        }
        let hours = items(&why["week"]).iter();
        let hours: Vec<f64> = hours.filter_map(Value::as_f64).collect();
        if hours.iter().all(|expected| *expected <= 0.0) {
            return output.line("\nNothing is known about its week yet.");
        }
        output.line("\nEntries expected in each hour of the week:")?;
        output.rows(&week::rows(&hours))
    })
}

/// The rest of the answer, a sentence a line.
fn further(source: &Value, why: &Value) -> Vec<String> {
    let mut sentences = vec![policy(source, &text(&why["policy"]))];
    let often = (why["frequency_type"].as_str(), why["cadence"].as_str());
    if let (Some(frequency), Some(cadence)) = often {
        sentences.push(format!("It publishes {frequency}: cadence {cadence}."));
    }
    if let Some(ahead_s) = why["clock_ahead_s"].as_i64() {
        let off = clock_off(ahead_s);
        sentences.push(format!(
            "Its clock is {off}; times of new entries are corrected."
        ));
    }
    sentences.extend(why["requests"].as_array().into_iter().flatten().map(text));
    sentences.extend(why["push"].as_str().map(str::to_owned));
    let error = &why["last_error"];
    if !error.is_null() {
        let (detail, meaning) = (text(&error["detail"]), text(&error["meaning"]));
        sentences.push(format!("Its last check failed: {detail}; {meaning}."));
    }
    if why["damaged"] == true {
        sentences.push(
            "What was learned about it is damaged; learning starts again, and the fixed interval applies \
             until then."
                .to_owned(),
        );
    }
    if let Some(quiet) = why["silent_after_seconds"].as_i64() {
        let quiet = when::rounded(SignedDuration::from_secs(quiet));
        sentences.push(format!(
            "It counts as silent after {quiet} without new entries."
        ));
    }
    sentences
}

fn policy(source: &Value, policy: &str) -> String {
    match (
        source["cadence_by_hand"].as_str(),
        source["policy"].as_str(),
    ) {
        (Some(cadence), _) => {
            format!("Its cadence is set to {cadence} manually, which makes its policy {policy}.")
        }
        (None, Some(_)) => format!("Its own policy is {policy}."),
        (None, None) => format!("Its policy is the default: {policy}."),
    }
}
