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
        // One more than wanted, to know whether there are more.
        filter.limit = PAGE_ROWS.min((wanted - shown).saturating_add(1));
        let mut page = desk.store.list_tasks(&filter).await?;
        let complete = page.len() < filter.limit;
        let more = page.len() > wanted - shown;
        page.truncate(wanted - shown);
        let Some(last) = page.last() else {
            break;
        };
        filter.before = Some(last.id);
        write(&page, shown == 0, desk.clock.now(), output)?;
        shown += page.len();
        if more {
            output.note(&format!(
                "there are more: --limit {} or --all\n",
                wanted.saturating_mul(2)
            ));
        }
        if complete || more {
            break;
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
        before: None,
        limit: PAGE_ROWS,
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
