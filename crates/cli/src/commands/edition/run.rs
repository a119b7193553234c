//! `almanack edition run`: runs an edition to its end and shows its progress (ED-21).

use std::{pin::pin, time::Duration};

use almanack_adapters::clock::pause;
use almanack_core::edition::{EditionId, EditionName, State, hold::HoldReason, plan::Waiting};
use almanack_engine::editions::{Editions, End, Ran};
use indicatif::ProgressBar;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::{
    Meant, alert, day, meant,
    progress::{Onlooker, Progress},
    status,
};
use crate::{
    commands::{prelude::*, progress::drawn},
    process,
    wiring::editions::Purpose,
};

/// How often the bar is redrawn.
const DRAWN_EVERY: Duration = Duration::from_millis(200);

/// Continues an edition from its current state as far as possible.
pub(super) async fn run(at: &Connector<'_>, given: &EditionArguments, output: &mut Output) -> Done {
    if at.server.is_some() {
        return run_there(&at.open(DatabaseNeed::New).await?, given, output).await;
    }
    let context = CommandContext::open_for(at.inputs, DatabaseNeed::New, Need::Everything).await?;
    let all = context.editions(Purpose::Make, output.json)?;
    let (name, id) = match given.date.as_deref().map(meant).transpose()? {
        Some(Meant::Day(id)) => (id.name, Some(id)),
        Some(Meant::Today(name)) => (name, None),
        None => (EditionName::default(), None),
    };
    let editions = all.get(name).cloned().ok_or_else(|| {
        let hint = format!("write [editions.{name}] in the configuration, or name another edition");
        Failure::usage(format!("this node makes no edition named `{name}`")).hint(hint)
    })?;
    let id = editions.day(id)?;
    let stop = process::stop_signal()?;
    editions.take_up(id).await?;
    let ran = watched(&context, &editions, (id, &stop), output).await?;
    alert(context.watch()?).await;
    let client = Client::on(context, all).await?;
    let exit = report_end(&client, &id.to_string(), output).await?;
    if exit != Exit::Ok {
        output.note(&advice(&ran.end, &stop));
    }
    Ok(exit)
}

/// On a node, which continues if this command ends.
async fn run_there(client: &Client, given: &EditionArguments, output: &mut Output) -> Done {
    let date = day(client, given).await?;
    let call = Call::post(&["editions", &date, "run"]).json(&json!({ "wait": true }));
    client.call(call.long()).await?;
    report_end(client, &date, output).await
}

async fn report_end(client: &Client, date: &str, output: &mut Output) -> Done {
    let edition = status::load(client, date).await?;
    status::show(&edition, output)?;
    Ok(status::ending(&edition.value(), output))
}

/// Runs, and shows how far it is.
async fn watched(
    context: &CommandContext,
    editions: &Editions,
    (id, stop): (EditionId, &CancellationToken),
    output: &mut Output,
) -> Result<Ran> {
    let rules = &editions.settings.rules;
    let (onlooker, mut lines) = Onlooker::new(context.clock.clone(), rules);
    // The remaining time is the forecast's, not the bar's own guess.
    let bar = drawn(Some(1), "{bar:20} {pos}/{len} stories  {wide_msg}", output);
    let mut running = pin!(editions.run(id, &onlooker));
    // Without a first signal there is no second one to wait for.
    let (mut stopping, mut again) = (false, CancellationToken::new());
    let ran = loop {
        tokio::select! {
            biased;
            ran = &mut running => break ran,
            () = stop.cancelled(), if !stopping => {
                (stopping, again) = (true, process::stop_signal()?);
                onlooker.stop();
                bar.suspend(|| output.note("stopping after this step; press Ctrl-C again to stop now\n"));
            }
            () = again.cancelled() => {
                bar.finish_and_clear();
                return Err(left());
            }
            Some(line) = lines.recv() => report(&line, output),
            () = pause(DRAWN_EVERY) => draw(&bar, onlooker.progress()),
        }
    };
    bar.finish_and_clear();
    drain(&mut lines, output);
    Ok(ran?)
}

/// Stops immediately: another process takes up the step once its lease has expired.
fn left() -> Failure {
    Failure::failed("stopped in the middle of a step")
        .hint("a tick or another run takes up the step again after some minutes")
}

/// A line per step, where there is no bar.
fn report(line: &str, output: &mut Output) {
    if !output.watched && !output.json {
        output.note(&format!("{line}\n"));
    }
}

fn drain(lines: &mut UnboundedReceiver<String>, output: &mut Output) {
    while let Ok(line) = lines.try_recv() {
        report(&line, output);
    }
}

fn draw(bar: &ProgressBar, progress: Option<Progress>) {
    if let Some(Progress { done, total, words }) = progress {
        bar.set_length(total.max(1));
        bar.set_position(done);
        bar.set_message(words);
    }
}

/// What to do about an edition that is not published.
fn advice(end: &End, stop: &CancellationToken) -> String {
    let next = match end {
        End::More if stop.is_cancelled() => {
            "stopped; the next tick or another run continues".to_owned()
        }
        End::More | End::Failed => "the next tick or another run tries again".to_owned(),
        End::Waits(waiting @ Waiting::Held(HoldReason::Approval, _)) => {
            format!("{waiting}; `almanack edition approve` publishes it, `reject` sends nothing")
        }
        End::Waits(waiting @ Waiting::Held(HoldReason::Quality, _)) => {
            format!("{waiting}; `almanack edition publish` publishes it as it is")
        }
        End::Waits(waiting) => format!("{waiting}, with a tick or another run"),
        End::Rests(State::Aggregating) => {
            "`almanack edition resend DESTINATION` sends it again, `skip` skips it".to_owned()
        }
        End::Rests(_) => {
            "`almanack edition retry` retries failed stories, `reset` restarts the edition"
                .to_owned()
        }
    };
    format!("hint: {next}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_42_a_hold_for_approval_is_ended_by_approving() {
        let held = |reason| {
            let end = End::Waits(Waiting::Held(reason, None));
            advice(&end, &CancellationToken::new())
        };
        for (reason, command) in [
            (HoldReason::Approval, "edition approve"),
            (HoldReason::Quality, "edition publish"),
        ] {
            let advice = held(reason);
            assert!(advice.contains(command), "{advice}");
        }
    }
}
