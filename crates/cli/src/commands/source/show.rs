//! `almanack source show`: everything about one source on one screen.

use almanack_core::{
    source::{
        Source, State,
        entry::Entry,
        recent::{Brought, PastLook},
        why,
    },
    store::EntryFilter,
    task::{Status, Task},
};
use jiff::Timestamp;
use serde_json::json;

use super::{called, faint, instant, load_one};
use crate::{
    args::SourceArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Ink, Output},
    view,
    when::Relative,
};

/// Entries shown.
const ENTRIES: usize = 10;

/// Shows a source.
pub(super) async fn run(
    desk: &Desk,
    given: &SourceArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source = load_one(desk, given).await?;
    let sources = desk.sources().await?;
    let task = sources
        .tasks(&[source.id])
        .await?
        .into_iter()
        .flatten()
        .next();
    let filter = EntryFilter {
        source: Some(source.id),
        limit: ENTRIES,
        ..EntryFilter::default()
    };
    let entries = desk.store.list_entries(&filter).await?.rows;
    if output.json {
        let looks: Vec<_> = source.recent.looks().iter().rev().map(view::look).collect();
        let entries: Vec<_> = entries.iter().map(view::entry).collect();
        output.value(&json!({
            "source": view::source_due(&source, why::next_look_at(&source, task.as_ref())),
            "task": task.as_ref().map(view::TaskView::from),
            "recent": looks,
            "entries": entries,
        }))?;
        return Ok(Exit::Ok);
    }
    let now = desk.clock.now();
    output.line(called(&source))?;
    let mut rows = facts(&source, now);
    rows.push(next(&source, task.as_ref(), now));
    output.rows(&rows)?;
    show_looks(source.recent.looks(), now, output)?;
    show_entries(&entries, output)?;
    Ok(Exit::Ok)
}

type Row = Vec<Cell>;

fn row(name: &str, text: impl Into<String>) -> Row {
    vec![faint(name), Cell::new(text)]
}

fn facts(source: &Source, now: Timestamp) -> Vec<Row> {
    let (definition, stats) = (&source.definition, &source.stats);
    let mut rows = vec![
        row("source", source.id.to_string()),
        row("address", &*definition.address),
        row("read as", definition.reading.to_string()),
        row("state", state(&source.state)),
    ];
    if let Some(attention) = source.attention {
        let cell = Cell::new(attention.as_str()).ink(Ink::Bad);
        rows.push(vec![faint("needs a person"), cell]);
    }
    if !definition.category.is_empty() {
        rows.push(row("category", &*definition.category));
    }
    if let Some(policy) = &definition.policy {
        rows.push(row("policy", format!("{policy} (its own)")));
    }
    rows.push(row("publishes", publishes(source)));
    if let Some(at) = stats.last_article_at {
        rows.push(row("newest entry", when_and_ago(at, now)));
    }
    rows.push(row("last check", last_check(source, now)));
    if let Some(error) = &stats.last_error {
        let times = match stats.fail_count {
            1 => "once".to_owned(),
            times => format!("{times} times in a row"),
        };
        rows.push(row("failed", format!("{times}: {error}")));
    }
    if let Some(until) = stats.backoff_until {
        rows.push(row("waits until", when_and_ago(until, now)));
    }
    if let Some(moving) = &source.memory.moving {
        let told = format!("to {} (told {} times)", moving.address, moving.times);
        rows.push(row("moves", told));
    }
    rows.push(row("added", instant(source.created_at)));
    rows
}

fn state(state: &State) -> String {
    match state {
        State::Active => "active".to_owned(),
        State::Paused { since, note } => {
            let note = note.as_ref().map(|note| format!(": {note}"));
            format!(
                "paused since {}{}",
                instant(*since),
                note.unwrap_or_default()
            )
        }
        State::Ended { since, reason } => format!("ended at {}: {reason}", instant(*since)),
    }
}

/// How often and when, in the classic words.
fn publishes(source: &Source) -> String {
    let stats = &source.stats;
    let by_hand = if source.definition.cadence.is_some() {
        " by hand"
    } else {
        ""
    };
    let (Some(frequency), Some(cadence)) = (stats.frequency_type, stats.cadence) else {
        let set = source.definition.cadence;
        return set.map_or_else(
            || "not known yet".to_owned(),
            |cadence| format!("not known yet; cadence {cadence} by hand"),
        );
    };
    let hour = match (stats.avg_publish_hour, stats.std_publish_hour) {
        (Some(mean), Some(spread)) => format!(", around {} UTC ± {spread:.1} h", clock(mean)),
        _ => String::new(),
    };
    format!("{frequency}, cadence {cadence}{by_hand}{hour}")
}

/// An hour of the day as a clock shows it.
pub(super) fn clock(hour: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an hour of the day is small and not negative"
    )]
    let minutes = (hour * 60.0).round() as u32 % 1_440;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

fn last_check(source: &Source, now: Timestamp) -> String {
    let stats = &source.stats;
    let Some(at) = stats.last_check_at else {
        return "never".to_owned();
    };
    let rate = source.hit_rate().unwrap_or_default() * 100.0;
    format!(
        "{}; {} so far, {} found something ({rate:.0} %)",
        when_and_ago(at, now),
        stats.check_count,
        stats.hit_count
    )
}

fn when_and_ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", instant(at), Relative { at, now })
}

/// The next check; the task knows best.
fn next(source: &Source, task: Option<&Task>, now: Timestamp) -> Row {
    let live = task.filter(|task| task.is_live());
    let at = live.map(|task| task.execute_at);
    let why = source.reason.as_deref();
    let why = why.map(|why| format!("; {why}")).unwrap_or_default();
    let told = match (&source.state, live.map(|task| task.status), at) {
        (State::Active, Some(Status::Running), _) => "it is being checked now".to_owned(),
        (State::Active, Some(_), Some(at)) => format!("{}{why}", when_and_ago(at, now)),
        (State::Active, ..) => "soon: a node gives it a task again".to_owned(),
        (State::Paused { .. }, ..) => "when it is resumed".to_owned(),
        (State::Ended { .. }, ..) => "never, unless it is resumed".to_owned(),
    };
    row("next check", told)
}

/// The last looks as a strip, a mark each, newest at the right.
fn show_looks(looks: &[PastLook], now: Timestamp, output: &mut Output) -> Result<(), Failure> {
    let Some(first) = looks.first() else {
        return Ok(());
    };
    output.line("")?;
    let mut strip = String::new();
    for look in looks {
        let (mark, ink) = mark(look.brought);
        strip += &output.paint(ink, mark);
    }
    let since = Relative { at: first.at, now };
    let told = match looks.len() {
        1 => "the last check".to_owned(),
        many => format!("the last {many} checks, since"),
    };
    output.line(&format!("{strip}  {told} {since}"))?;
    let legend = "+ new entries  · nothing new  - not modified  ! failed";
    output.line(&output.paint(Ink::Faint, legend))
}

fn mark(brought: Brought) -> (&'static str, Ink) {
    match brought {
        Brought::New(_) => ("+", Ink::Good),
        Brought::Nothing => ("·", Ink::Plain),
        Brought::Unchanged => ("-", Ink::Faint),
        Brought::Failed(_) => ("!", Ink::Bad),
    }
}

fn show_entries(entries: &[Entry], output: &mut Output) -> Result<(), Failure> {
    if entries.is_empty() {
        return Ok(());
    }
    output.line("")?;
    let row = |entry: &Entry| {
        let published = entry.found.published_at;
        vec![
            Cell::new(instant(entry.seen_at)),
            Cell::new(published.map_or_else(|| "no time".to_owned(), instant)),
            Cell::new(&*entry.found.title),
        ]
    };
    let rows: Vec<Vec<Cell>> = entries.iter().map(row).collect();
    output.table(&["SEEN", "PUBLISHED", "NEWEST ENTRIES"], &rows)
}
