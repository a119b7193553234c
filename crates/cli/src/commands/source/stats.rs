//! `almanack source stats`: all sources in numbers (SS-09).

use almanack_core::{source::SourceType, store::SourceNumbers};

use super::faint;
use crate::{
    commands::Desk,
    failure::{Exit, Failure},
    output::{Cell, Output},
    view,
};

/// Counts sources.
pub(super) async fn run(
    desk: &Desk,
    source_type: Option<&str>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let source_type = source_type.and_then(SourceType::parse);
    let now = desk.clock.now();
    let numbers = desk.store.count_sources(source_type, now).await?;
    if output.json {
        output.value(&view::source_numbers(source_type, &numbers))?;
        return Ok(Exit::Ok);
    }
    let rows = lines(&numbers);
    let rows: Vec<Vec<Cell>> = rows
        .into_iter()
        .map(|(name, text)| vec![faint(name), Cell::new(text)])
        .collect();
    output.rows(&rows)?;
    Ok(Exit::Ok)
}

fn lines(numbers: &SourceNumbers) -> Vec<(&'static str, String)> {
    let states = numbers.states.iter();
    let states = states.map(|(state, count)| format!("{count} {state}"));
    let cadences = numbers.cadence_distribution.iter();
    let cadences = cadences.map(|(cadence, count)| format!("{count} {cadence}"));
    let attention = numbers.attention.iter();
    let attention = attention.map(|(attention, count)| format!("{count} {attention}"));
    vec![
        ("sources", numbers.total_sources.to_string()),
        ("", listed(states)),
        ("checked so far", numbers.total_with_stats.to_string()),
        ("by cadence", listed(cadences)),
        ("due now", numbers.due_now.to_string()),
        ("waiting after failures", numbers.in_backoff.to_string()),
        ("need a person", listed(attention)),
        (
            "checks that find something",
            format!("{:.1} %", numbers.avg_hit_rate * 100.0),
        ),
    ]
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        "none".to_owned()
    } else {
        parts.join(", ")
    }
}
