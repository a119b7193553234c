//! The data of each event, and the id by which it is known.
//!
//! An id names what happened: a task and the claim it ended under, a source or a monitor and the
//! version of its row, an edition and where it went. It never depends on which node delivers it or when, so a
//! repetition has the same one. Ids have no dots: where they are signed, a dot separates them.

use jiff::Timestamp;
use serde::Serialize;

use super::{Type, end::TaskFinished};
use crate::{
    edition::{
        Account, EditionId,
        account::Change,
        delivery::{Delivery, State},
    },
    plan::{DownCause, ScheduleWrite},
    source::{Source, entry::FoundEntry},
    store::{EntryChange, SourceWrite},
};

/// Entries named in one event; of more only the number is given.
pub const ENTRIES_REPORTED_MAX: usize = 20;
/// Receipts named in one event.
pub const RECEIPTS_REPORTED_MAX: usize = 50;
/// Longest part of an id that is a name, in bytes.
const NAMED_BYTES_MAX: usize = 60;

/// An event, before it is matched with subscriptions.
pub(super) struct EventDraft<'a> {
    pub(super) id: String,
    pub(super) what: Type,
    pub(super) subject: String,
    pub(super) at: Timestamp,
    pub(super) data: Data<'a>,
}

/// The rest, by type.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Data<'a> {
    Task(TaskFinished<'a>),
    Source(SourceEntries<'a>),
    Edition(EditionPublished),
    Monitor(MonitorChanged<'a>),
}

/// Without its address: there may be a key in it.
#[derive(Serialize)]
pub(super) struct SourceEntries<'a> {
    source_id: i64,
    name: &'a str,
    /// Whether this is what the source's first document showed: history, not news.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    initial: bool,
    entries: Vec<EventEntry<'a>>,
    /// How many came beside those.
    more: usize,
}

#[derive(Serialize)]
struct EventEntry<'a> {
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published_at: Option<Timestamp>,
    /// Of an edited entry: which version of it this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u32>,
}

#[derive(Serialize)]
pub(super) struct EditionPublished {
    #[serde(flatten)]
    edition: EditionId,
    revision: u32,
    destination: String,
    stories: u32,
    parts: usize,
    receipts: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct MonitorChanged<'a> {
    name: &'a str,
    cause: DownCause,
    detail: &'a str,
    down_since: Timestamp,
    /// Of one that is well again.
    #[serde(skip_serializing_if = "Option::is_none")]
    up_at: Option<Timestamp>,
    /// When the job last ended, well or badly.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_ping_at: Option<Timestamp>,
}

/// The event of a write after which a monitor is down that was not, or the other way round. One
/// that goes down and comes up in one write was never seen down.
pub(super) fn monitor_changed(write: &ScheduleWrite) -> Option<EventDraft<'_>> {
    let change = write.monitor.as_ref()?;
    let (what, down, up_at) = match (&change.down_before, &change.monitor.down) {
        (None, Some(down)) => (Type::MonitorDown, down, None),
        (Some(down), None) => (Type::MonitorUp, down, Some(write.decided_at)),
        (None, None) | (Some(_), Some(_)) => return None,
    };
    let schedule = &write.schedule;
    let name = schedule.name.as_str();
    Some(EventDraft {
        id: format!("monitor-{}-{}", schedule.id.0, schedule.version),
        what,
        subject: format!("monitor:{name}"),
        at: write.decided_at,
        data: Data::Monitor(MonitorChanged {
            name,
            cause: down.cause,
            detail: &down.detail,
            down_since: down.since,
            up_at,
            last_ping_at: change.monitor.last_ping_at,
        }),
    })
}

/// The events of a look: what is new, and what was edited; none of a look that found neither.
pub(super) fn source_looked<'a>(
    before: &Source,
    write: &'a SourceWrite,
) -> impl Iterator<Item = EventDraft<'a>> {
    let new = write.entries.iter();
    let new = new.map(|(key, found)| event_entry(key, found, None));
    let edited = write.edited.iter().filter_map(edited_entry);
    let initial = before.is_unread();
    let new = of_entries(write, Type::SourceEntries, new.collect(), initial);
    let edited = of_entries(write, Type::SourceEntryUpdated, edited.collect(), false);
    [new, edited].into_iter().flatten()
}

/// An event about entries, of which the newest are named: they come last.
fn of_entries<'a>(
    write: &'a SourceWrite,
    what: Type,
    mut entries: Vec<EventEntry<'a>>,
    initial: bool,
) -> Option<EventDraft<'a>> {
    if entries.is_empty() {
        return None;
    }
    let source = &write.source;
    let kind = if what == Type::SourceEntryUpdated {
        "-updated"
    } else {
        ""
    };
    let more = entries.len().saturating_sub(ENTRIES_REPORTED_MAX);
    Some(EventDraft {
        id: format!("source-{}-{}{kind}", source.id, source.version),
        what,
        subject: format!("source:{}", source.id),
        at: write.at,
        data: Data::Source(SourceEntries {
            source_id: source.id.0,
            name: &source.definition.name,
            initial,
            entries: entries.split_off(more),
            more,
        }),
    })
}

fn edited_entry(change: &EntryChange) -> Option<EventEntry<'_>> {
    let edit = change.edit.as_ref()?;
    Some(event_entry(&change.key, &edit.found, Some(edit.revision)))
}

fn event_entry<'a>(key: &'a str, found: &'a FoundEntry, revision: Option<u32>) -> EventEntry<'a> {
    EventEntry {
        id: key,
        title: &found.title,
        url: found.link.as_deref(),
        published_at: found.published_at,
        revision,
    }
}

/// The event of a change after which a destination has all of an edition that it will ever get, and
/// some of it arrived.
pub(super) fn editions_published(before: &Account, change: &Change) -> Vec<EventDraft<'static>> {
    let settles = |delivery: &&Delivery| delivery.state.is_settled();
    let mut destinations: Vec<&str> = change
        .deliveries
        .iter()
        .filter(settles)
        .map(|delivery| delivery.destination.as_str())
        .collect();
    destinations.sort_unstable();
    destinations.dedup();
    // A note that it was taken back is no edition.
    if destinations.is_empty() || change.edition.retraction.is_some() {
        return Vec::new();
    }
    let after = change.clone().apply(before.clone());
    let has_it = |account: &Account, destination: &str| {
        let mut parts = parts(account, after.edition.revision, destination).peekable();
        parts.peek().is_some() && parts.all(|part| part.state.is_settled())
    };
    destinations.retain(|destination| !has_it(before, destination) && has_it(&after, destination));
    let arrived = |destination: &&str| {
        parts(&after, after.edition.revision, destination)
            .any(|part| part.state == State::Confirmed)
    };
    let delivered = destinations.into_iter().filter(arrived);
    delivered
        .map(|destination| edition_published(&after, destination))
        .collect()
}

fn parts<'a>(
    account: &'a Account,
    revision: u32,
    destination: &'a str,
) -> impl Iterator<Item = &'a Delivery> {
    account
        .deliveries
        .iter()
        .filter(move |part| part.revision == revision && part.destination == destination)
}

fn edition_published(account: &Account, destination: &str) -> EventDraft<'static> {
    let (edition, revision) = (account.edition.id, account.edition.revision);
    let confirmed =
        || parts(account, revision, destination).filter(|part| part.state == State::Confirmed);
    let receipts = confirmed().filter_map(|part| part.receipt.clone());
    EventDraft {
        id: format!(
            "edition-{}-{revision}-{}",
            named(&edition.to_string()),
            named(destination)
        ),
        what: Type::EditionPublished,
        subject: format!("edition:{edition}"),
        at: account.edition.updated_at,
        data: Data::Edition(EditionPublished {
            edition,
            revision,
            destination: destination.to_owned(),
            stories: account.counts().completed,
            parts: confirmed().count(),
            receipts: receipts.take(RECEIPTS_REPORTED_MAX).collect(),
        }),
    }
}

/// A name as a part of an id.
fn named(name: &str) -> String {
    let plain = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-");
    plain.chars().take(NAMED_BYTES_MAX).collect()
}
