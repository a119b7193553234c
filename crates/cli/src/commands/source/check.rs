//! `almanack source check`: a look now, made by a node.

use std::time::Duration;

use almanack_adapters::clock::pause;
use almanack_core::{
    source::{
        Source,
        recent::{Brought, PastLook},
    },
    store::EntryFilter,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{called, counted, duration, instant, load_one};
use crate::{
    args::SourceArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view,
    when::{self, Relative},
};

/// How often the store is asked whether somebody has looked.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// New entries shown.
const SHOWN: usize = 20;

/// Asks for a look.
pub(super) async fn ask(
    desk: &Desk,
    given: &SourceArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source = load_one(desk, given).await?;
    let sources = desk.sources().await?;
    let receipt = sources.check_now(source.id, &desk.origin).await?;
    if output.json {
        let identity = source.id.identity();
        let identity = identity.map_err(crate::commands::refused)?;
        output.value(&view::ReceiptView::of(&identity, &receipt))?;
    } else {
        let (id, name) = (source.id, called(&source));
        output.line(&format!(
            "source {id} is checked as soon as a node has room: {name}"
        ))?;
    }
    Ok(Exit::Ok)
}

/// Asks for a look and waits for it.
pub(super) async fn wait(
    desk: &Desk,
    given: &SourceArguments,
    timeout: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let patience = duration("--timeout", timeout)?;
    let before = load_one(desk, given).await?;
    let sources = desk.sources().await?;
    sources.check_now(before.id, &desk.origin).await?;
    let until = desk.clock.now().saturating_add(patience);
    let until = until.unwrap_or(Timestamp::MAX);
    let looked = loop {
        let source = sources.load(before.id).await?;
        if source.stats.check_count > before.stats.check_count {
            break source;
        }
        if desk.clock.now() >= until {
            return Err(nobody(&before, patience));
        }
        pause(LOOK_EVERY).await;
    };
    tell(desk, &looked, output).await
}

fn nobody(source: &Source, patience: SignedDuration) -> Failure {
    let (id, patience) = (source.id, when::show_duration(patience));
    Failure::new(
        Exit::Failed,
        format!("nobody has looked at source {id} within {patience}; it stays due"),
    )
    .hint("does a node run on this database? `almanack serve` is one; its host may also be busy")
}

/// What the last look brought.
async fn tell(desk: &Desk, source: &Source, output: &mut Output) -> Result<Exit, Failure> {
    let Some(look) = source.recent.looks().last() else {
        return Err(Failure::new(Exit::Failed, "the look left no trace"));
    };
    let new = match look.brought {
        Brought::New(count) => usize::from(count),
        _ => 0,
    };
    let filter = EntryFilter {
        source: Some(source.id),
        limit: new.min(SHOWN),
        ..EntryFilter::default()
    };
    let entries = match new {
        0 => Vec::new(),
        _ => desk.store.list_entries(&filter).await?.rows,
    };
    let failed = matches!(look.brought, Brought::Failed(_));
    if output.json {
        let entries: Vec<_> = entries.iter().map(view::entry).collect();
        output.value(&json!({
            "look": view::look(look),
            "entries": entries,
            "source": view::source(source),
        }))?;
    } else {
        output.line(&sentence(source, look))?;
        let rows = entries.iter().map(|entry| {
            let published = entry.found.published_at;
            vec![
                Cell::new(published.map_or_else(|| "no time".to_owned(), instant)),
                Cell::new(&*entry.found.title),
            ]
        });
        output.rows(&rows.collect::<Vec<_>>())?;
        if let Some(at) = source.stats.next_due_at {
            let now = desk.clock.now();
            let why = source.reason.as_deref().unwrap_or_default();
            output.line(&format!("next check {}: {why}", Relative { at, now }))?;
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Ok })
}

/// A look in words.
fn sentence(source: &Source, look: &PastLook) -> String {
    let took = when::took(SignedDuration::from_millis(i64::from(look.took_ms)));
    let name = called(source);
    match look.brought {
        Brought::New(count) => {
            let new = counted(u64::from(count), "new entry", "new entries");
            format!("{name}: {new} ({took})")
        }
        Brought::Nothing => format!("{name}: nothing new ({took})"),
        Brought::Unchanged => format!("{name}: nothing new, its server says ({took})"),
        Brought::Failed(_) => {
            let why = source.stats.last_error.as_deref().unwrap_or("failed");
            format!("{name}: {why} ({took})")
        }
    }
}
