//! `almanack task list`

use almanack_core::{
    store::TaskFilter,
    task::{Kind, Status, Task},
};
use jiff::Timestamp;

use super::{Desk, instant, refused, status_cell};
use crate::{
    args::ListArguments,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view::TaskView,
    when::Relative,
};

/// Rows asked for at once.
const PAGE_ROWS: usize = 500;

/// Lists tasks, newest first.
pub(super) async fn run(
    desk: &Desk,
    given: &ListArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut filter = filter(given)?;
    let wanted = if given.all { usize::MAX } else { given.limit };
    let mut shown = 0;
    while shown < wanted {
        filter.limit = PAGE_ROWS.min(wanted - shown);
        let page = desk.store.list_tasks(&filter).await?;
        filter.before = page.next;
        if !page.rows.is_empty() {
            write(&page.rows, shown == 0, desk.clock.now(), output)?;
        }
        shown += page.rows.len();
        if filter.before.is_none() {
            break;
        }
        if shown >= wanted {
            output.note(&format!(
                "there are more: --limit {} or --all\n",
                wanted.saturating_mul(2)
            ));
        }
    }
    if shown == 0 && !output.json {
        output.note("no tasks\n");
    }
    Ok(Exit::Ok)
}

fn filter(given: &ListArguments) -> Result<TaskFilter, Failure> {
    let kind = given.kind.as_deref().map(Kind::parse).transpose();
    let status = given.status.as_deref().map(Status::parse).transpose();
    Ok(TaskFilter {
        kind: kind.map_err(refused)?,
        status: status.map_err(refused)?,
        subject_prefix: given.subject.clone(),
        limit: PAGE_ROWS,
        ..TaskFilter::default()
    })
}

/// One page. JSON comes a task per line, so that a million rows need no more memory than one.
fn write(page: &[Task], first: bool, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        return page
            .iter()
            .try_for_each(|task| output.value(&TaskView::from(task)));
    }
    let rows: Vec<Vec<Cell>> = page.iter().map(|task| row(task, now)).collect();
    let head = [
        "TASK",
        "STATUS",
        "KIND",
        "SUBJECT",
        "EXECUTE AT",
        "",
        "ATTEMPT",
    ];
    if first {
        output.table(&head, &rows)
    } else {
        output.rows(&rows)
    }
}

fn row(task: &Task, now: Timestamp) -> Vec<Cell> {
    vec![
        Cell::new(task.id.to_string()),
        status_cell(task),
        Cell::new(task.identity.kind.as_str()),
        Cell::new(task.identity.subject.as_str()),
        Cell::new(instant(task.execute_at)),
        Cell::new(
            Relative {
                at: task.execute_at,
                now,
            }
            .to_string(),
        ),
        Cell::new(format!(
            "{}/{}",
            task.attempt,
            task.attempt.max(task.max_retry + 1)
        )),
    ]
}
