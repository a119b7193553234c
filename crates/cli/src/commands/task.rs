//! `almanack task put|get|list|cancel|retry|history`
//!
//! Works on the database itself, not on a running server: the same rules apply because the same
//! [`Rescheduler`](almanack_engine::reschedule::Rescheduler) carries the wishes out.

use almanack_core::{
    reschedule::{Cancel, NothingThere, Receipt, Request, Rule},
    task::{Identity, Status, Task, parse_revision},
};
use jiff::Timestamp;

use super::{Desk, Errand, identity, refused};
use crate::{
    args::{IdentityArguments, TaskCommand},
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    view::{ReceiptView, TaskView},
    when::Relative,
};

mod batch;
mod history;
mod list;
mod put;

/// Who withdraws with a revision leaves a mark even where nothing is; the others need a task.
pub(super) fn errand(command: &TaskCommand) -> Errand {
    match command {
        TaskCommand::Put(_) | TaskCommand::Cancel { .. } => Errand::New,
        TaskCommand::Get(_)
        | TaskCommand::List(_)
        | TaskCommand::Retry(_)
        | TaskCommand::History(_) => Errand::Existing,
    }
}

/// Does what was asked with tasks.
pub(super) async fn run(
    desk: &Desk,
    command: &TaskCommand,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match command {
        TaskCommand::Put(put) => match &put.batch {
            Some(file) => batch::run(desk, file, output).await,
            None => put::run(desk, put, output).await,
        },
        TaskCommand::Get(given) => get(desk, given, output).await,
        TaskCommand::List(given) => list::run(desk, given, output).await,
        TaskCommand::Cancel { identity, revision } => {
            cancel(desk, identity, *revision, output).await
        }
        TaskCommand::Retry(given) => retry(desk, given, output).await,
        TaskCommand::History(given) => history::run(desk, given, output).await,
    }
}

async fn get(desk: &Desk, given: &IdentityArguments, output: &mut Output) -> Result<Exit, Failure> {
    let identity = identity(given)?;
    let Some(task) = current(desk, &identity).await? else {
        return Err(NothingThere { identity }.into());
    };
    if output.json {
        output.value(&TaskView::from(&task))?;
    } else {
        show(&task, desk.clock.now(), output)?;
    }
    Ok(Exit::Ok)
}

async fn current(desk: &Desk, identity: &Identity) -> Result<Option<Task>, Failure> {
    let identity = std::slice::from_ref(identity);
    let rows = desk.store.load_current(identity).await?;
    Ok(rows.into_iter().flatten().next())
}

/// The status an identity had just before a change, so that its consequences can be told. Another
/// may come between; then the telling is off, never the change.
async fn status_before(desk: &Desk, identity: &Identity) -> Result<Option<Status>, Failure> {
    Ok(current(desk, identity).await?.map(|task| task.status))
}

async fn cancel(
    desk: &Desk,
    given: &IdentityArguments,
    revision: Option<i64>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let identity = identity(given)?;
    let revision = revision.map(parse_revision).transpose().map_err(refused)?;
    let request = Request::Cancel(Cancel {
        identity: identity.clone(),
        revision,
    });
    let before = status_before(desk, &identity).await?;
    let receipt = desk.rescheduler().ask(request, &desk.origin).await;
    let receipt = receipt.map_err(|error| Failure::from(error).during("cancel task"))?;
    let told = tell(desk, &identity, &receipt, output)?;
    if before == Some(Status::Running) && receipt.rule == Rule::Cancelled {
        warn(
            "it was running; its call is not recalled and may still take effect",
            output,
        );
    }
    Ok(told)
}

async fn retry(
    desk: &Desk,
    given: &IdentityArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let identity = identity(given)?;
    let before = status_before(desk, &identity).await?;
    let receipt = desk.rescheduler().retry(&identity, &desk.origin).await;
    let receipt = receipt.map_err(|error| Failure::from(error).during("retry task"))?;
    let told = tell(desk, &identity, &receipt, output)?;
    match (before, receipt.rule) {
        (Some(Status::Cancelled), Rule::Reinserted) => {
            warn("it had been withdrawn; now it runs again", output);
        }
        (_, Rule::CancelledAndInserted) => {
            warn(
                "the call under way is not recalled; the new one goes out beside it",
                output,
            );
        }
        _ => {}
    }
    Ok(told)
}

/// Something that was done as asked, but may not be what was meant.
fn warn(what: &str, output: &mut Output) {
    if !output.json {
        output.note(&format!("warning: {what}\n"));
    }
}

/// Writes a receipt.
fn tell(
    desk: &Desk,
    identity: &Identity,
    receipt: &Receipt,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if output.json {
        output.value(&ReceiptView::of(identity, receipt))?;
    } else {
        let told = sentence(identity, receipt, desk.clock.now());
        output.line(&told)?;
    }
    Ok(Exit::Ok)
}

/// A receipt as a sentence.
fn sentence(identity: &Identity, receipt: &Receipt, now: Timestamp) -> String {
    let task = format!("task {}", receipt.task_id);
    let who = format!("{} {}", identity.kind, identity.subject);
    let at = format!(
        "{} ({})",
        instant(receipt.execute_at),
        Relative {
            at: receipt.execute_at,
            now
        }
    );
    match receipt.rule {
        Rule::Created => format!("created {task}: {who} at {at}"),
        Rule::Reinserted => format!("put again as {task}: {who} at {at}"),
        Rule::Updated => match receipt.old_execute_at {
            Some(old) if old == receipt.execute_at => {
                format!("changed {task}: {who}, still at {at}")
            }
            Some(old) => format!("moved {task}: {who} from {} to {at}", instant(old)),
            None => format!("moved {task}: {who} to {at}"),
        },
        Rule::CancelledAndInserted => {
            let old = receipt
                .cancelled_task_id
                .map(|id| format!("task {id}"))
                .unwrap_or_default();
            format!("cancelled {old}, which was running, and put {task}: {who} at {at}")
        }
        // A withdrawal that wrote a row itself found none.
        Rule::Cancelled if receipt.decision.number == 0 => format!(
            "left a mark: {who} is not there, and revisions up to {} will not bring it",
            receipt.revision.0
        ),
        Rule::Cancelled => format!("withdrew {task}: {who}"),
        Rule::IgnoredDone => format!("nothing changed: {task} is already done: {who}"),
        Rule::IgnoredStale => format!(
            "nothing changed: revision {} of {who} is already known",
            receipt.revision.0
        ),
        Rule::Unchanged => format!("nothing changed: {who} was already so"),
    }
}

/// An instant for people: to the second, in UTC.
fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// How a status looks. A failure says whether it is the last word; its day stands beside it.
fn status_cell(task: &Task) -> Cell {
    let ink = match task.status {
        Status::Success => Ink::Good,
        Status::Fail if !task.is_live() => Ink::Bad,
        Status::Running | Status::Fail => Ink::Notable,
        Status::Cancelled => Ink::Faint,
        Status::Init => Ink::Plain,
    };
    let text = match task.status {
        Status::Fail if task.is_live() => {
            format!("FAIL (retry at {})", task.execute_at.strftime("%H:%M:%SZ"))
        }
        Status::Fail => "FAIL (final)".to_owned(),
        status => status.as_str().to_owned(),
    };
    Cell::new(text).ink(ink)
}

fn show(task: &Task, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    let moment = |at| format!("{} ({})", instant(at), Relative { at, now });
    let left = match task.status {
        Status::Fail if task.is_live() => ", will be tried again",
        Status::Fail => ", no retries left",
        _ => "",
    };
    let mut lines = vec![
        ("task", task.id.to_string()),
        ("status", format!("{}{left}", task.status)),
        ("execute at", moment(task.execute_at)),
        (
            "attempt",
            format!("{} of {}", task.attempt, task.max_retry + 1),
        ),
        ("priority", task.priority.level().to_string()),
        ("revision", task.revision.0.to_string()),
        ("origin", task.origin.clone()),
        ("created", moment(task.created_at)),
    ];
    lines.extend(task.started_at.map(|at| ("started", moment(at))));
    lines.extend(task.finished_at.map(|at| ("finished", moment(at))));
    lines.extend(task.lease_until.map(|at| ("lease until", moment(at))));
    lines.extend(task.node.clone().map(|node| ("node", node)));
    lines.extend(task.callback_url.clone().map(|url| ("callback", url)));
    lines.extend(task.replaces.map(|id| ("replaces", format!("task {id}"))));
    lines.extend(task.detail.clone().map(|detail| ("detail", detail)));
    lines.push(("payload", task.payload.as_str().to_owned()));
    let title = format!("{} {}", task.identity.kind, task.identity.subject);
    let cells =
        |(name, text): (&str, String)| vec![Cell::new(name).ink(Ink::Faint), Cell::new(text)];
    let rows: Vec<Vec<Cell>> = lines.into_iter().map(cells).collect();
    output.line(&title)?;
    output.rows(&rows)
}
