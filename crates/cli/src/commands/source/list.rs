//! `almanack source list`

use almanack_core::{
    source::{Attention, Source, SourceType},
    store::SourceFilter,
};
use jiff::Timestamp;

use super::{attention_cell, cadence, called, state_cell};
use crate::{
    args::SourceListArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view,
    when::Relative,
};

/// Rows asked for at once.
const PAGE_ROWS: usize = 500;

/// Lists sources by number.
pub(super) async fn run(
    desk: &Desk,
    given: &SourceListArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    if given.due {
        return due(desk, given, output).await;
    }
    let mut filter = filter(given)?;
    let wanted = if given.all { usize::MAX } else { given.limit };
    let mut shown = 0;
    while shown < wanted {
        filter.limit = PAGE_ROWS.min(wanted - shown);
        let page = desk.store.list_sources(&filter).await?;
        filter.after = page.next;
        if !page.rows.is_empty() {
            write(&page.rows, shown == 0, desk.clock.now(), output)?;
        }
        shown += page.rows.len();
        if filter.after.is_none() {
            break;
        }
        if shown >= wanted {
            let twice = wanted.saturating_mul(2);
            output.note(&format!("there are more: --limit {twice} or --all\n"));
        }
    }
    none_found(shown, "no sources\n", output);
    Ok(Exit::Ok)
}

/// Those whose time has come.
async fn due(
    desk: &Desk,
    given: &SourceListArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source_type = given.source_type.as_deref().and_then(SourceType::parse);
    let now = desk.clock.now();
    let found = desk.store.load_due_sources(source_type, now, given.limit);
    let found = found.await?;
    write(&found, true, now, output)?;
    none_found(found.len(), "no source is due\n", output);
    Ok(Exit::Ok)
}

fn none_found(shown: usize, words: &str, output: &mut Output) {
    if shown == 0 && !output.json {
        output.note(words);
    }
}

fn filter(given: &SourceListArguments) -> Result<SourceFilter, Failure> {
    let attention = given.attention.as_deref();
    Ok(SourceFilter {
        source_type: given.source_type.as_deref().and_then(SourceType::parse),
        state: given.state.clone(),
        cadence: given.cadence.as_deref().map(cadence).transpose()?,
        attention: attention.and_then(Attention::parse),
        needs_attention: attention.is_some(),
        containing: given.containing.clone(),
        limit: PAGE_ROWS,
        ..SourceFilter::default()
    })
}

/// One page. JSON comes a source per line, so that many rows need no more memory than one page.
fn write(page: &[Source], first: bool, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        let mut sources = page.iter();
        return sources.try_for_each(|source| output.value(&view::source(source)));
    }
    let rows: Vec<Vec<Cell>> = page.iter().map(|source| row(source, now)).collect();
    let head = [
        "SOURCE", "STATE", "NAME", "TYPE", "CADENCE", "NEXT", "LAST", "HITS", "NEEDS",
    ];
    if rows.is_empty() {
        Ok(())
    } else if first {
        output.table(&head, &rows)
    } else {
        output.rows(&rows)
    }
}

fn row(source: &Source, now: Timestamp) -> Vec<Cell> {
    let stats = &source.stats;
    let relative = |at: Option<Timestamp>| at.map(|at| Relative { at, now }.to_string());
    let hits = source
        .hit_rate()
        .map(|rate| format!("{:.0} %", rate * 100.0));
    vec![
        Cell::new(source.id.to_string()),
        state_cell(source),
        Cell::new(called(source)),
        Cell::new(source.definition.reading.source_type().as_str()),
        Cell::new(stats.cadence.map_or("", |cadence| cadence.as_str())),
        Cell::new(relative(stats.next_due_at).unwrap_or_default()),
        Cell::new(relative(stats.last_check_at).unwrap_or_else(|| "never".to_owned())),
        Cell::new(hits.unwrap_or_default()),
        attention_cell(source.attention),
    ]
}
