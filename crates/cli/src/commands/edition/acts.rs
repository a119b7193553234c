//! What is done to an edition: published by force, put back to work, begun anew.

use std::io::{BufRead, IsTerminal};

use almanack_core::edition::{Account, delivery::Delivery};
use almanack_engine::editions::Editions;
use jiff::civil::Date;

use super::{counted, day, instant};
use crate::{
    args::EditionArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::Output,
    view,
};

/// Publishes what is completed (ED-23).
pub(super) async fn publish(
    desk: &Desk,
    editions: &Editions,
    given: &EditionArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let date = day(editions, given)?;
    let forced = editions.force_publish(date, &desk.origin).await?;
    let account = &forced.account;
    if output.json {
        let mut view = view::account(account);
        view["left_out"] = forced.left_out.into();
        view["spent"] = forced.requests.into();
        output.value(&view)?;
    } else if account.edition.is_published() {
        let stories = counted(account.counts().completed, "story", "stories");
        output.line(&format!("published the edition of {date}: {stories}"))?;
    }
    if forced.left_out > 0 {
        let left_out = counted(forced.left_out, "story", "stories");
        output.note(&format!("left out: {left_out} that were not completed\n"));
    }
    Ok(ending(account, output))
}

/// Puts failed stories back (ED-24).
pub(super) async fn retry(
    desk: &Desk,
    editions: &Editions,
    (given, max): (&EditionArguments, Option<u32>),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let date = day(editions, given)?;
    let retried = editions.retry(date, max, &desk.origin).await?;
    if output.json {
        let mut view = view::account(&retried.account);
        view["put_back"] = retried.stories.into();
        output.value(&view)?;
    } else if retried.stories == 0 {
        output.line(&format!(
            "nothing changed: no failed story of {date} has tries left"
        ))?;
    } else {
        let stories = counted(retried.stories, "story", "stories");
        output.line(&format!(
            "put back {stories} of {date}; {}",
            who_goes_on(editions, date)
        ))?;
    }
    Ok(Exit::Ok)
}

/// Begins anew. What was written is written again, and paid for again, so this is asked for twice.
pub(super) async fn reset(
    desk: &Desk,
    editions: &Editions,
    (given, yes): (&EditionArguments, bool),
    output: &mut Output,
) -> Result<Exit, Failure> {
    let date = day(editions, given)?;
    if !yes && !confirmed(date, output)? {
        output.note("nothing was reset\n");
        return Ok(Exit::Failed);
    }
    let account = editions.reset(date, &desk.origin).await?;
    if output.json {
        output.value(&view::account(&account))?;
    } else {
        let stories = counted(account.counts().total, "story", "stories");
        let next = who_goes_on(editions, date);
        output.line(&format!("reset the edition of {date}: {stories}; {next}"))?;
    }
    Ok(Exit::Ok)
}

pub(super) fn who_goes_on(editions: &Editions, date: Date) -> &'static str {
    if date == editions.today() {
        "the next tick goes on, or `almanack edition run`"
    } else {
        "a node goes on, or `almanack edition run` with its day"
    }
}

fn confirmed(date: Date, output: &mut Output) -> Result<bool, Failure> {
    let input = std::io::stdin();
    if !input.is_terminal() || !output.watched {
        let what = format!("begin the edition of {date} anew?");
        return Err(Failure::new(Exit::Usage, what)
            .hint("--yes says so; `almanack edition retry` puts only failed stories back"));
    }
    output.note(&format!(
        "begin the edition of {date} anew? Every story is read and written again. [y/N] "
    ));
    let mut answer = String::new();
    let read = input.lock().read_line(&mut answer);
    read.map_err(|error| Failure::new(Exit::Failed, format!("read the answer: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Published or not, and who did not take it.
pub(super) fn ending(account: &Account, output: &mut Output) -> Exit {
    if account.edition.is_published() {
        let doubtful = account.deliveries.iter().filter(|one| one.is_doubtful());
        doubtful.for_each(|delivery| output.note(&in_doubt(delivery)));
        return Exit::Ok;
    }
    let (date, state) = (account.edition.date, account.edition.state);
    output.note(&format!(
        "the edition of {date} is not published: it is {state}\n"
    ));
    let reason = account.edition.reason.iter();
    reason.for_each(|reason| output.note(&format!("reason: {reason}\n")));
    let open = account.deliveries.iter();
    for delivery in open.filter(|delivery| !delivery.state.is_settled()) {
        output.note(&undelivered(delivery));
    }
    Exit::Failed
}

fn undelivered(delivery: &Delivery) -> String {
    let (destination, part) = (&delivery.destination, delivery.part);
    let state = delivery.state.as_str();
    let why = delivery.detail.as_deref().unwrap_or("not sent yet");
    let next = match delivery.retry_at {
        Some(at) => format!("; next try {}", instant(at)),
        None if delivery.is_held() => {
            "; not tried again: `almanack edition resend` or `skip` it".to_owned()
        }
        None => String::new(),
    };
    format!("{destination}, part {part}, is {state}: {why}{next}\n")
}

fn in_doubt(delivery: &Delivery) -> String {
    let (destination, part) = (&delivery.destination, delivery.part);
    format!(
        "{destination} may lack part {part}: nobody knows whether it arrived; `almanack edition resend {destination} --part {part}` sends it again, `skip` accepts it\n"
    )
}
