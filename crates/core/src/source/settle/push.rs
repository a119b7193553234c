//! What a push does to its source.
//!
//! A hub pushes a part of the document, usually the new entries alone, and says nothing of the
//! server behind the address. So a push adds entries and teaches the rhythm; what the last document
//! showed, validators, failures, attention and the time of the next check stay as checks left them.

use jiff::Timestamp;

use super::learn::read;
use crate::{
    source::{Source, entry::FoundEntry},
    time::to_micros,
};

/// Decides what a push of these new entries at `now` does to its source.
pub fn settle_push(source: &Source, fresh: &[(String, FoundEntry)], now: Timestamp) -> Source {
    let now = to_micros(now);
    let mut after = source.clone();
    if let Some(hub) = &mut after.memory.publisher.hub {
        hub.note_pushed(fresh.len(), now);
    }
    let times = fresh.iter().map(|(_, found)| found.published_at);
    let newest = times.clone().map(|at| at.map_or(now, |at| at.min(now)));
    after.stats.last_article_at = after.stats.last_article_at.max(newest.max());
    let published: Vec<Timestamp> = times.flatten().collect();
    // What is damaged is learned again from a whole document, at the next check.
    if let Some(mut history) = read(&source.learned).filter(|_| !published.is_empty()) {
        history.observe(now, &published, source.definition.cadence);
        after.learned = history.encode();
    }
    after.updated_at = now;
    after
}
