//! Rows of sources and entries, and the columns a source is written to.
//!
//! What a source remembers for itself (its last looks, what its document showed, its publisher's
//! requests) is read as far as it can be: none of it is worth losing a source over. What was
//! learned is kept as it is; whether it can be read is the policy's question.

use almanack_core::{
    source::{
        Attention, Definition, Memory, Moving, Source, SourceId, State, Stats,
        check::{FailureClass, Validators},
        entry::{Entry, FoundEntry},
        policy::cadence::{Cadence, Frequency},
        recent::Recent,
    },
    store::{Fleet, Result},
};
use jiff::Timestamp;

use super::{Row, Value, count, instant, many, maybe_instant, small, unreadable, values};

/// What an entry that is known by its publisher's name for it has before that name in its key.
const NAMED: &str = "id:";

/// Reads the columns of a source listed in `source.rs`.
pub(crate) fn source(row: &Row<'_>) -> Result<Source> {
    Ok(Source {
        id: SourceId(row.big(0)?),
        version: row.big(1)?,
        definition: definition(row)?,
        state: state(row)?,
        attention: attention_or_null(row, 11)?,
        stats: stats(row)?,
        memory: memory(row)?,
        recent: Recent::decode(&row.bytes(32)?),
        learned: row.bytes(33)?,
        reason: row.text_or_null(34)?,
        created_at: instant(row.big(35)?)?,
        updated_at: instant(row.big(36)?)?,
    })
}

fn definition(row: &Row<'_>) -> Result<Definition> {
    Ok(Definition {
        name: row.text(2)?,
        address: row.text(3)?,
        reading: serde_json::from_str(&row.text(4)?).map_err(unreadable)?,
        category: row.text(5)?,
        policy: row.text_or_null(6)?,
        cadence: cadence_or_null(row, 7)?,
    })
}

fn state(row: &Row<'_>) -> Result<State> {
    let name = row.text(8)?;
    let since = maybe_instant(row.big_or_null(9)?)?;
    let note = row.text_or_null(10)?;
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
    let frequency = |name: String| {
        let known = Frequency::ALL.into_iter();
        let found = known.into_iter().find(|known| known.as_str() == name);
        found.ok_or_else(|| unreadable(format!("frequency `{name}`")))
    };
    Ok(Stats {
        frequency_type: row.text_or_null(12)?.map(frequency).transpose()?,
        cadence: cadence_or_null(row, 13)?,
        avg_publish_hour: row.real_or_null(14)?,
        std_publish_hour: row.real_or_null(15)?,
        next_due_at: maybe_instant(row.big_or_null(16)?)?,
        last_check_at: maybe_instant(row.big_or_null(17)?)?,
        last_article_at: maybe_instant(row.big_or_null(18)?)?,
        fail_count: count(row.int(19)?)?,
        backoff_until: maybe_instant(row.big_or_null(20)?)?,
        last_error: row.text_or_null(21)?,
        last_error_class: class_or_null(row, 22)?,
        check_count: u64::try_from(row.big(23)?).map_err(unreadable)?,
        hit_count: u64::try_from(row.big(24)?).map_err(unreadable)?,
    })
}

fn memory(row: &Row<'_>) -> Result<Memory> {
    let hints = row.text_or_null(27)?;
    let times = count(row.int(29)?)?;
    Ok(Memory {
        validators: Validators {
            etag: row.text_or_null(25)?,
            last_modified: row.text_or_null(26)?,
        },
        hints: hints
            .and_then(|hints| serde_json::from_str(&hints).ok())
            .unwrap_or_default(),
        moving: row
            .text_or_null(28)?
            .map(|address| Moving { address, times }),
        shown: hashes(&row.bytes(30)?),
        pruned_before: maybe_instant(row.big_or_null(31)?)?,
    })
}

pub(crate) fn cadence_or_null(row: &Row<'_>, index: usize) -> Result<Option<Cadence>> {
    let name = row.text_or_null(index)?;
    name.map(|name| name.parse().map_err(unreadable))
        .transpose()
}

pub(crate) fn attention_or_null(row: &Row<'_>, index: usize) -> Result<Option<Attention>> {
    let read = |name: String| {
        Attention::parse(&name).ok_or_else(|| unreadable(format!("attention `{name}`")))
    };
    row.text_or_null(index)?.map(read).transpose()
}

pub(crate) fn class_or_null(row: &Row<'_>, index: usize) -> Result<Option<FailureClass>> {
    let read = |name: String| {
        FailureClass::parse(&name).ok_or_else(|| unreadable(format!("failure class `{name}`")))
    };
    row.text_or_null(index)?.map(read).transpose()
}

/// Hashes of keys, as far as they are whole.
pub(crate) fn hashes(bytes: &[u8]) -> Vec<u64> {
    let (hashes, _) = bytes.as_chunks::<8>();
    hashes
        .iter()
        .map(|hash| u64::from_be_bytes(*hash))
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
        &source.reason,
        at,
        &definition.address,
        definition.reading.source_type().as_str(),
        source.state.as_str(),
        stats.cadence.map(Cadence::as_str),
        source.attention.map(Attention::as_str),
    ])
}

/// What an entry is written with, found at `at`.
pub(crate) fn entry_values(
    source: SourceId,
    at: Timestamp,
    (key, found): &(String, FoundEntry),
) -> Vec<Value<'_>> {
    values![
        source.0,
        key,
        at,
        &found.link,
        &found.title,
        found.published_at,
        &found.author,
        &found.summary,
        &found.content,
    ]
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
        id: row.big(0)?,
        source: SourceId(row.big(1)?),
        seen_at: instant(row.big(3)?)?,
        found: FoundEntry {
            id: key.strip_prefix(NAMED).map(str::to_owned),
            link: row.text_or_null(4)?,
            title: row.text(5)?,
            published_at: maybe_instant(row.big_or_null(6)?)?,
            author: row.text_or_null(7)?,
            summary: row.text_or_null(8)?,
            content: row.text_or_null(9)?,
        },
        key,
    })
}

/// Reads the fleet's row.
pub(crate) fn fleet(row: &Row<'_>) -> Result<Fleet> {
    let price = row.real_or_null(0)?;
    Ok(Fleet {
        price: price.ok_or_else(|| unreadable("no price"))?,
        counted_from: instant(row.big(1)?)?,
        checks: u64::try_from(row.big(2)?).map_err(unreadable)?,
        version: row.big(3)?,
    })
}
