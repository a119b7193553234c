//! `almanack edition list`

use almanack_core::store::{EditionFilter, EditionLine};
use almanack_engine::editions::Editions;
use jiff::Timestamp;

use super::state_cell;
use crate::{
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view,
    when::Relative,
};

/// Lists editions, newest day first.
pub(super) async fn run(
    desk: &Desk,
    editions: &Editions,
    limit: usize,
    output: &mut Output,
) -> Result<Exit, Failure> {
    // One more than wanted, to know whether there are more.
    let filter = EditionFilter {
        limit: limit.saturating_add(1),
        ..EditionFilter::default()
    };
    let mut lines = editions.list(&filter).await?;
    let more = lines.len() > limit;
    lines.truncate(limit);
    if output.json {
        lines
            .iter()
            .try_for_each(|line| output.value(&view::edition_line(line)))?;
        return Ok(Exit::Ok);
    }
    let now = desk.clock.now();
    let rows: Vec<Vec<Cell>> = lines.iter().map(|line| row(line, now)).collect();
    if rows.is_empty() {
        output.note("no editions\n");
        return Ok(Exit::Ok);
    }
    let head = [
        "DATE",
        "STATE",
        "STORIES",
        "FAILED",
        "BATCHES",
        "REVISION",
        "PUBLISHED",
    ];
    output.table(&head, &rows)?;
    if more {
        let twice = limit.saturating_mul(2);
        output.note(&format!("there are more: --limit {twice}\n"));
    }
    Ok(Exit::Ok)
}

fn row(line: &EditionLine, now: Timestamp) -> Vec<Cell> {
    let EditionLine {
        edition,
        counts,
        batches,
    } = line;
    let stories = format!("{} of {}", counts.completed, counts.total);
    let published = edition
        .published_at
        .map(|at| Relative { at, now }.to_string());
    vec![
        Cell::new(edition.date.to_string()),
        state_cell(edition.state),
        Cell::new(stories),
        Cell::new(counts.failed.to_string()),
        Cell::new(batches.to_string()),
        Cell::new(edition.revision.to_string()),
        Cell::new(published.unwrap_or_default()),
    ]
}
