//! `almanack edition status`: everything that is known of one edition.

use almanack_core::edition::{
    Account,
    alert::Alert,
    batch::Batch,
    delivery::{self, Delivery},
    story::{self, Story},
};
use almanack_engine::editions::{Editions, Error, Status};
use jiff::Timestamp;

use super::{day, instant, state_cell};
use crate::{
    args::EditionArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    view,
    when::Relative,
};

/// Shows how an edition stands.
pub(super) async fn run(
    desk: &Desk,
    editions: &Editions,
    given: &EditionArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let date = day(editions, given)?;
    let status = editions.status(date).await?;
    let status = status.ok_or(Error::Unknown(date))?;
    if output.json {
        output.value(&view::edition(&status))?;
    } else {
        show(&status, desk.clock.now(), output)?;
    }
    Ok(Exit::Ok)
}

/// Tells everything, the important first.
pub(super) fn show(status: &Status, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    output.rows(&head(status, now))?;
    let account = &status.account;
    let failed: Vec<&Story> = stories(account, story::Status::Failed);
    section(
        output,
        &["STORY", "PUT BACK", "WHY IT FAILED"],
        &failed,
        failed_row,
    )?;
    let batches: Vec<&Batch> = account.batches.iter().collect();
    let titles = [
        "BATCH", "STATUS", "STORIES", "REQUESTS", "TOKENS", "TOOK", "NODE",
    ];
    section(output, &titles, &batches, batch_row)?;
    let deliveries: Vec<&Delivery> = account.deliveries.iter().collect();
    let titles = ["DESTINATION", "PART", "STATE", "SENT", "DETAIL"];
    section(output, &titles, &deliveries, |it| delivery_row(it, now))?;
    let alerts: Vec<&Alert> = account.alerts.iter().collect();
    section(
        output,
        &["ALERT", "SINCE", "UNTIL", "DETAIL"],
        &alerts,
        alert_row,
    )
}

fn section<T>(
    output: &mut Output,
    titles: &[&str],
    items: &[&T],
    row: impl Fn(&T) -> Vec<Cell>,
) -> Result<(), Failure> {
    if items.is_empty() {
        return Ok(());
    }
    let rows: Vec<Vec<Cell>> = items.iter().map(|item| row(item)).collect();
    output.line("")?;
    output.table(titles, &rows)
}

fn stories(account: &Account, status: story::Status) -> Vec<&Story> {
    let all = account.stories.iter();
    all.filter(|story| story.status == status).collect()
}

fn head(status: &Status, now: Timestamp) -> Vec<Vec<Cell>> {
    let Status { account, forecast } = status;
    let (edition, counts) = (&account.edition, account.counts());
    let line = |name: &str, cell: Cell| vec![Cell::new(name).ink(Ink::Faint), cell];
    let told = |name: &str, text: String| line(name, Cell::new(text));
    let at = |at: Timestamp| format!("{} ({})", instant(at), Relative { at, now });
    let mut rows = vec![
        told("edition", edition.date.to_string()),
        line("state", state_cell(edition.state)),
        told(
            "stories",
            format!(
                "{} completed, {} failed, {} pending, {} in progress, of {}",
                counts.completed, counts.failed, counts.pending, counts.processing, counts.total
            ),
        ),
        told(
            "batches",
            format!("{} of {}", forecast.batches_done, forecast.batches_planned),
        ),
        told("requests", account.requests().to_string()),
    ];
    let source = edition.story_source.clone();
    rows.extend(source.map(|name| told("source", name)));
    rows.push(told("begun", at(edition.started_at)));
    rows.extend(edition.published_at.map(|then| told("published", at(then))));
    rows.extend(forecast.finish_at.map(|then| told("expected", at(then))));
    rows.extend(edition.reason.clone().map(|why| told("reason", why)));
    rows
}

fn failed_row(story: &Story) -> Vec<Cell> {
    let named = format!("{}. {}", story.rank, story.listed.title);
    let why = story.error_message.clone().unwrap_or_default();
    vec![
        Cell::new(named),
        Cell::new(format!("{}×", story.retry_count)),
        Cell::new(why).ink(Ink::Bad),
    ]
}

fn batch_row(batch: &Batch) -> Vec<Cell> {
    let took = batch.duration_ms().map(|ms| format!("{ms} ms"));
    let spend = &batch.spend;
    vec![
        Cell::new(batch.index.to_string()),
        Cell::new(batch.status.as_str()),
        Cell::new(batch.story_count.to_string()),
        Cell::new(spend.requests.to_string()),
        Cell::new(format!("{} in, {} out", spend.tokens_in, spend.tokens_out)),
        Cell::new(took.unwrap_or_default()),
        Cell::new(&batch.node),
    ]
}

fn delivery_row(delivery: &Delivery, now: Timestamp) -> Vec<Cell> {
    let ink = match delivery.state {
        delivery::State::Confirmed => Ink::Good,
        delivery::State::Failed | delivery::State::Unknown => Ink::Bad,
        delivery::State::Skipped => Ink::Faint,
        delivery::State::Intended | delivery::State::Sent => Ink::Notable,
    };
    let again = delivery.retry_at.filter(|at| *at > now);
    let again = again.map(|at| format!("again {}", Relative { at, now }));
    let held = delivery.is_held().then(|| "resend or skip it".to_owned());
    let told = [
        delivery.detail.clone(),
        delivery.receipt.clone(),
        again,
        held,
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    vec![
        Cell::new(&delivery.destination),
        Cell::new(delivery.part.to_string()),
        Cell::new(delivery.state.as_str()).ink(ink),
        Cell::new(format!("{}×", delivery.attempts)),
        Cell::new(told.join("; ")),
    ]
}

fn alert_row(alert: &Alert) -> Vec<Cell> {
    let (ink, until) = match alert.closed_at {
        None => (Ink::Bad, String::new()),
        Some(at) => (Ink::Faint, instant(at)),
    };
    vec![
        Cell::new(alert.rule.name()).ink(ink),
        Cell::new(instant(alert.opened_at)),
        Cell::new(until),
        Cell::new(&alert.detail),
    ]
}
