//! `almanack source entries`

use almanack_core::{source::entry::Entry, store::EntryFilter};
use jiff::Timestamp;

use super::{duration, instant, load};
use crate::{
    args::EntriesArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view, when,
};

/// Rows asked for at once.
const PAGE_ROWS: usize = 500;

/// Lists entries, newest first.
pub(super) async fn run(
    desk: &Desk,
    given: &EntriesArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let now = desk.clock.now();
    let source = match &given.id {
        Some(id) => Some(load(desk, id).await?.id),
        None => None,
    };
    let mut filter = EntryFilter {
        source,
        seen_from: given
            .since
            .as_deref()
            .map(|text| since(text, now))
            .transpose()?,
        limit: PAGE_ROWS,
        ..EntryFilter::default()
    };
    let wanted = if given.all { usize::MAX } else { given.limit };
    let mut shown = 0;
    while shown < wanted {
        filter.limit = PAGE_ROWS.min(wanted - shown);
        let page = desk.store.list_entries(&filter).await?;
        filter.before = page.next;
        if !page.rows.is_empty() {
            write(&page.rows, shown == 0, output)?;
        }
        shown += page.rows.len();
        if filter.before.is_none() {
            break;
        }
        if shown >= wanted {
            let twice = wanted.saturating_mul(2);
            output.note(&format!("there are more: --limit {twice} or --all\n"));
        }
    }
    if shown == 0 && !output.json {
        output.note("no entries\n");
    }
    Ok(Exit::Ok)
}

/// A distance back from now, or a time.
fn since(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let back = text.trim_start_matches('-');
    if back.starts_with(|c: char| c.is_ascii_digit()) && when::parse_duration(back).is_ok() {
        let back = duration("--since", back)?;
        return Ok(now.saturating_sub(back).unwrap_or(Timestamp::MIN));
    }
    when::parse_at_in(text, now, "UTC").map_err(|unclear| {
        Failure::new(Exit::Usage, format!("--since: {}", unclear.what))
            .hint("write how long ago, like 2h or 7d, or a time, like 2026-01-05T08:00Z")
    })
}

fn write(page: &[Entry], first: bool, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        let mut entries = page.iter();
        return entries.try_for_each(|entry| output.value(&view::entry(entry)));
    }
    let rows: Vec<Vec<Cell>> = page.iter().map(row).collect();
    if first {
        output.table(
            &["ENTRY", "SOURCE", "SEEN", "PUBLISHED", "TITLE", "LINK"],
            &rows,
        )
    } else {
        output.rows(&rows)
    }
}

fn row(entry: &Entry) -> Vec<Cell> {
    let found = &entry.found;
    vec![
        Cell::new(entry.id.to_string()),
        Cell::new(entry.source.to_string()),
        Cell::new(instant(entry.seen_at)),
        Cell::new(
            found
                .published_at
                .map_or_else(|| "no time".to_owned(), instant),
        ),
        Cell::new(&*found.title),
        Cell::new(found.link.clone().unwrap_or_default()),
    ]
}
