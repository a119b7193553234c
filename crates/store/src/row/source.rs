//! Rows of sources and entries, and the columns a source is written to.
//!
//! What a source remembers for itself (its last looks, what its document showed, its publisher's
//! requests) is read as far as it can be: none of it is worth losing a source over. What was
//! learned is kept as it is; whether it can be read is the policy's question.

use almanack_core::{
    lang::Sentence,
    source::{
        Attention, Definition, Memory, Moving, Source, SourceId, State, Stats,
        check::{FailureClass, Validators},
        entry::{Entry, FoundEntry, link_hash},
        options::Options,
        policy::cadence::{Cadence, Frequency},
        reading::Reading,
        recent::Recent,
        search::words_of,
    },
    store::{EntryChange, Fleet, KnownEntry, Result},
};
use jiff::Timestamp;

use super::{Row, Value, many, small, unreadable, values};

/// What an entry that is known by its publisher's name for it has before that name in its key.
const NAMED: &str = "id:";

/// Reads the columns of a source listed in `source.rs`.
pub(crate) fn source(row: &Row<'_>) -> Result<Source> {
    Ok(Source {
        id: row.get(0)?,
        version: row.get(1)?,
        definition: definition(row)?,
        state: row.or_instead(state(row), || Some(State::Active))?,
        attention: row.get(11)?,
        stats: stats(row)?,
        memory: memory(row)?,
        recent: Recent::decode(&row.get::<Vec<u8>>(32)?),
        learned: row.get(33)?,
        reason: row.get(34)?,
        created_at: row.get(35)?,
        updated_at: row.get(36)?,
    })
}

fn definition(row: &Row<'_>) -> Result<Definition> {
    let reading = serde_json::from_str(&row.text(4)?).map_err(unreadable);
    let options = serde_json::from_str(&row.text(37)?).map_err(unreadable);
    Ok(Definition {
        name: row.get(2)?,
        address: row.get(3)?,
        reading: row.or_instead(reading, || Some(Reading::Feed))?,
        category: row.get(5)?,
        policy: row.get(6)?,
        cadence: row.get(7)?,
        options: row.or_instead(options, || Some(Options::default()))?,
    })
}

fn state(row: &Row<'_>) -> Result<State> {
    let name = row.text(8)?;
    let since: Option<Timestamp> = row.get(9)?;
    let note: Option<String> = row.get(10)?;
    let missing = || unreadable(format!("state `{name}` without its facts"));
    Ok(match name.as_str() {
        "active" => State::Active,
        "paused" => State::Paused {
            since: since.ok_or_else(missing)?,
            note,
        },
        "ended" => State::Ended {
            since: since.ok_or_else(missing)?,
            reason: note.ok_or_else(missing)?,
        },
        _ => return Err(unreadable(format!("state `{name}`"))),
    })
}

fn stats(row: &Row<'_>) -> Result<Stats> {
    Ok(Stats {
        frequency_type: row.get(12)?,
        cadence: row.get(13)?,
        avg_publish_hour: row.get(14)?,
        std_publish_hour: row.get(15)?,
        next_due_at: row.get(16)?,
        last_check_at: row.get(17)?,
        last_article_at: row.get(18)?,
        fail_count: row.get(19)?,
        backoff_until: row.get(20)?,
        last_error: row.get(21)?,
        last_error_class: row.get(22)?,
        check_count: row.get(23)?,
        hit_count: row.get(24)?,
    })
}

fn memory(row: &Row<'_>) -> Result<Memory> {
    let hints: Option<String> = row.get(27)?;
    let times = row.get(29)?;
    Ok(Memory {
        validators: Validators {
            etag: row.get(25)?,
            last_modified: row.get(26)?,
        },
        hints: hints
            .and_then(|hints| serde_json::from_str(&hints).ok())
            .unwrap_or_default(),
        moving: row
            .get::<Option<String>>(28)?
            .map(|address| Moving { address, times }),
        shown: hashes(&row.get::<Vec<u8>>(30)?),
        prints: prints(&row.get::<Vec<u8>>(38)?),
        publisher: serde_json::from_str(&row.text(39)?).unwrap_or_default(),
        pruned_before: row.get(31)?,
    })
}

/// Hashes of keys, as far as they are whole.
pub(crate) fn hashes(bytes: &[u8]) -> Vec<u64> {
    let (hashes, _) = bytes.as_chunks::<8>();
    hashes
        .iter()
        .map(|hash| u64::from_be_bytes(*hash))
        .collect()
}

/// Fingerprints of entries, as far as they are whole.
fn prints(bytes: &[u8]) -> Vec<u32> {
    let (prints, _) = bytes.as_chunks::<4>();
    prints
        .iter()
        .map(|print| u32::from_be_bytes(*print))
        .collect()
}

/// What `source` is written with, as it is at `at`; in the order of `source.rs`.
pub(crate) fn source_values(source: &Source, at: Timestamp) -> Result<Vec<Value<'_>>> {
    let Source {
        definition,
        stats,
        memory,
        ..
    } = source;
    let (state_since, state_note) = facts(&source.state);
    let hints = (!memory.hints.is_empty()).then(|| serde_json::to_string(&memory.hints));
    let moving = memory.moving.as_ref();
    let prints = memory.prints.iter().flat_map(|print| print.to_be_bytes());
    let shown = memory.shown.iter().flat_map(|hash| hash.to_be_bytes());
    Ok(values![
        &definition.name,
        serde_json::to_string(&definition.reading).map_err(unreadable)?,
        &definition.category,
        &definition.policy,
        definition.cadence.map(Cadence::as_str),
        state_since,
        state_note,
        stats.frequency_type.map(Frequency::as_str),
        stats.avg_publish_hour,
        stats.std_publish_hour,
        stats.next_due_at,
        stats.last_check_at,
        stats.last_article_at,
        small(stats.fail_count),
        stats.backoff_until,
        &stats.last_error,
        stats.last_error_class.map(FailureClass::as_str),
        many(stats.check_count),
        many(stats.hit_count),
        &memory.validators.etag,
        &memory.validators.last_modified,
        hints.transpose().map_err(unreadable)?,
        moving.map(|moving| moving.address.as_str()),
        moving.map_or(0, |moving| small(moving.times)),
        shown.collect::<Vec<u8>>(),
        memory.pruned_before,
        source.recent.encode(),
        source.learned.as_slice(),
        source.reason.as_ref().map(Sentence::to_stored),
        at,
        prints.collect::<Vec<u8>>(),
        serde_json::to_string(&memory.publisher).map_err(unreadable)?,
        &definition.address,
        definition.reading.source_type().as_str(),
        source.state.as_str(),
        stats.cadence.map(Cadence::as_str),
        source.attention.map(Attention::as_str),
        serde_json::to_string(&definition.options).map_err(unreadable)?,
    ])
}

/// What an entry is written with, found at `at`.
pub(crate) fn entry_values(
    source: SourceId,
    at: Timestamp,
    (key, found): &(String, FoundEntry),
) -> Vec<Value<'_>> {
    let mut values = values![source.0, key, at];
    values.extend(found_values(found));
    values.push(words_of(found).into());
    values
}

/// What an entry of `source` is edited with, as it was found at `at`; nothing where only its key
/// changes.
pub(crate) fn entry_edit_values(
    source: SourceId,
    at: Timestamp,
    change: &EntryChange,
) -> Option<Vec<Value<'_>>> {
    let found = &change.edit.as_ref()?.found;
    let mut values = values![change.row, source.0, at];
    values.extend(found_values(found));
    Some(values)
}

/// What a document says of an entry, in the order in which both statements take it.
fn found_values(found: &FoundEntry) -> Vec<Value<'_>> {
    values![
        &found.link,
        &found.title,
        found.published_at,
        &found.author,
        &found.summary,
        &found.content,
        found.link.as_deref().map(link_hash),
        listed(&found.enclosures),
        listed(&found.categories),
    ]
}

/// What its key is renewed with; nothing where it was edited.
pub(crate) fn entry_renewal_values(
    source: SourceId,
    change: &EntryChange,
) -> Option<Vec<Value<'_>>> {
    let renews = change.edit.is_none();
    renews.then(|| values![change.row, source.0, &change.key])
}

/// A list as JSON; none where it is empty.
fn listed<T: serde::Serialize>(list: &[T]) -> Option<String> {
    (!list.is_empty()).then(|| serde_json::to_string(list).unwrap_or_default())
}

/// A list that was kept as JSON, as far as it can be read.
fn list<T: serde::de::DeserializeOwned>(row: &Row<'_>, index: usize) -> Result<Vec<T>> {
    let text: Option<String> = row.get(index)?;
    Ok(text
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

fn facts(state: &State) -> (Option<Timestamp>, Option<&str>) {
    match state {
        State::Active => (None, None),
        State::Paused { since, note } => (Some(*since), note.as_deref()),
        State::Ended { since, reason } => (Some(*since), Some(reason)),
    }
}

/// Reads the columns of an entry listed in `entry.rs`. What its publisher calls it is in its
/// key.
pub(crate) fn entry(row: &Row<'_>) -> Result<Entry> {
    let key = row.text(2)?;
    Ok(Entry {
        id: row.get(0)?,
        source: row.get(1)?,
        seen_at: row.get(3)?,
        found: FoundEntry {
            id: key.strip_prefix(NAMED).map(str::to_owned),
            link: row.get(4)?,
            title: row.get(5)?,
            published_at: row.get(6)?,
            author: row.get(7)?,
            summary: row.get(8)?,
            content: row.get(9)?,
            enclosures: list(row, 10)?,
            categories: list(row, 11)?,
            print: 0,
        },
        revision: row.get(12)?,
        updated_at: row.get(13)?,
        key,
    })
}

/// Reads what identity asks about an entry.
pub(crate) fn known_entry(row: &Row<'_>) -> Result<KnownEntry> {
    Ok(KnownEntry {
        row: row.get(0)?,
        key: row.text(1)?,
        link_hash: row.get(2)?,
        title: row.get(3)?,
        published_at: row.get(4)?,
        revision: row.get(5)?,
        updated_at: row.get(6)?,
    })
}

/// Reads the fleet's row.
pub(crate) fn fleet(row: &Row<'_>) -> Result<Fleet> {
    Ok(Fleet {
        price: row.get(0)?,
        counted_from: row.get(1)?,
        checks: row.get(2)?,
        version: row.get(3)?,
    })
}
