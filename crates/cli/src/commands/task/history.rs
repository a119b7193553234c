//! `almanack task history`: what happened to a task, as a timeline.

use almanack_core::{
    history::{Attempt, Decision, Happening, HistoryCursor, Page, page},
    reschedule::{NothingThere, Rule},
    store::HistoryPage,
};
use jiff::Timestamp;
use serde_json::json;

use super::{Desk, identity, instant};
use crate::{
    args::HistoryArguments,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    view::HappeningView,
    when::{self, Relative},
};

/// Tells the newest part of an identity's story, or an earlier one, oldest first.
pub(super) async fn run(
    desk: &Desk,
    given: &HistoryArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let identity = identity(&given.identity)?;
    let before = given.before.as_deref().map(cursor).transpose()?;
    let limit = usize::from(given.limit);
    let wanted = HistoryPage { before, limit };
    let records = desk.store.load_history(&identity, wanted).await?;
    if records.tasks.is_empty() {
        return Err(NothingThere { identity }.into());
    }
    let Page {
        happenings: story,
        before: earlier,
    } = page(records, before, limit);
    if output.json {
        let happenings: Vec<HappeningView<'_>> = story.iter().map(HappeningView::from).collect();
        output.value(&json!({
            "subject": identity.subject,
            "kind": identity.kind,
            "happenings": happenings,
            "next_cursor": earlier.map(|cursor| cursor.to_string()),
        }))?;
        return Ok(Exit::Ok);
    }
    if let Some(cursor) = earlier {
        output.note(&format!("there is more before this: --before {cursor}\n"));
    }
    output.line(&format!("{} {}", identity.kind, identity.subject))?;
    let now = desk.clock.now();
    let rows: Vec<Vec<Cell>> = story.iter().map(|happening| row(happening, now)).collect();
    output.table(&["WHEN", "", "TASK", "WHAT", "BY"], &rows)?;
    Ok(Exit::Ok)
}

fn cursor(text: &str) -> Result<HistoryCursor, Failure> {
    HistoryCursor::parse(text).ok_or_else(|| {
        let what = format!("--before: `{text}` is no place in a history");
        Failure::new(Exit::Usage, what).hint("leave it out to begin with the newest")
    })
}

fn row(happening: &Happening, now: Timestamp) -> Vec<Cell> {
    let at = happening.at();
    let (task_id, what, ink, by) = match happening {
        Happening::Decision(decision) => {
            let ink = if decision.rule.changes_nothing() {
                Ink::Faint
            } else {
                Ink::Plain
            };
            (
                decision.id.task_id,
                decided(decision),
                ink,
                decision.origin.as_str(),
            )
        }
        Happening::Attempt(attempt) => {
            let by = attempt.node.as_deref().unwrap_or("");
            (
                attempt.task_id,
                tried(attempt),
                ink_of(&attempt.outcome),
                by,
            )
        }
    };
    vec![
        Cell::new(instant(at)),
        Cell::new(Relative { at, now }.to_string()).ink(Ink::Faint),
        Cell::new(task_id.to_string()),
        Cell::new(what).ink(ink),
        Cell::new(by),
    ]
}

fn ink_of(outcome: &str) -> Ink {
    match outcome {
        "done" => Ink::Good,
        "retry" | "give_up" | "failed" | "lease_expired" => Ink::Bad,
        _ => Ink::Notable,
    }
}

fn decided(decision: &Decision) -> String {
    let at = instant(decision.execute_at);
    match (decision.rule, decision.old_execute_at) {
        (Rule::Created, _) => format!("created for {at}"),
        (Rule::Reinserted, _) if decision.id.number == 0 => format!("put again for {at}"),
        (Rule::Updated, Some(old)) if old == decision.execute_at => {
            format!("changed, still for {at}")
        }
        (Rule::Updated, Some(old)) => format!("moved from {} to {at}", instant(old)),
        (Rule::Updated, None) => format!("moved to {at}"),
        (Rule::CancelledAndInserted | Rule::Reinserted, _) => match decision.new_task_id {
            Some(id) => format!("replaced by task {id}"),
            None => "replaced".to_owned(),
        },
        (Rule::Cancelled, _) => "withdrawn".to_owned(),
        (Rule::IgnoredDone, _) => format!("{}already done: nothing changed", asked(decision)),
        (Rule::IgnoredStale, _) => {
            format!("{}an old revision: nothing changed", asked(decision))
        }
        (Rule::Unchanged, _) => format!("{}it was so: nothing changed", asked(decision)),
    }
}

/// What was asked for where nothing changed, and how often.
fn asked(decision: &Decision) -> String {
    let Some(requested) = decision.requested else {
        return "asked again, ".to_owned();
    };
    let what = match requested.execute_at {
        Some(at) => format!("asked for {}", instant(at)),
        None => "asked to withdraw it".to_owned(),
    };
    let revision = requested.revision.map_or_else(String::new, |revision| {
        format!(" (revision {})", revision.0)
    });
    let again = decision.last_at.map_or_else(String::new, |last| {
        format!(", {} times until {}", decision.times, instant(last))
    });
    format!("{what}{revision}{again}, ")
}

fn tried(attempt: &Attempt) -> String {
    let mut parts = vec![format!(
        "attempt {}: {}",
        attempt.attempt,
        in_words(&attempt.outcome)
    )];
    parts.extend(attempt.finished_at.map(|finished_at| {
        format!(
            "took {}",
            when::took(finished_at.duration_since(attempt.started_at))
        )
    }));
    let late = attempt.started_at.duration_since(attempt.due_at);
    if late.as_millis() >= 1_000 {
        parts.push(format!("started {} late", when::took(late)));
    }
    let too_late = attempt.late_outcome.as_deref();
    parts.extend(too_late.map(|outcome| format!("answered {} too late", in_words(outcome))));
    let told = parts.join(", ");
    match &attempt.detail {
        Some(detail) => format!("{told}: {detail}"),
        None => told,
    }
}

fn in_words(outcome: &str) -> String {
    outcome.replace('_', " ")
}
