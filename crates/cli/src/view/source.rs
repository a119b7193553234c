//! Sources and their entries as `--json` shows them: the names are the API's.

use almanack_core::{
    source::{
        Attention, Source, SourceType, State,
        check::{Candidate, FailureClass},
        entry::{Entry, Found},
        policy::cadence::{Cadence, Frequency},
        recent::{Brought, PastLook},
        settle::Believed,
        why,
    },
    store::SourceNumbers,
    task::Task,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// One source, by its row.
pub(crate) fn source(source: &Source) -> Value {
    source_due(source, source.stats.next_due_at)
}

/// One source, and when it is looked at next by its task.
pub(crate) fn source_due(source: &Source, next_due_at: Option<Timestamp>) -> Value {
    let (definition, stats) = (&source.definition, &source.stats);
    let mut view = json!({
        "source_id": source.id,
        "name": definition.name,
        "address": definition.address,
        "reading": definition.reading,
        "source_type": definition.reading.source_type(),
        "category": definition.category,
        "policy": definition.policy,
        "cadence_by_hand": definition.cadence.map(Cadence::as_str),
        "state": source.state.as_str(),
        "attention": source.attention.map(Attention::as_str),
        "frequency_type": stats.frequency_type.map(Frequency::as_str),
        "cadence": stats.cadence.map(Cadence::as_str),
        "avg_publish_hour": stats.avg_publish_hour.map(hundredths),
        "std_publish_hour": stats.std_publish_hour.map(hundredths),
        "next_due_at": next_due_at,
        "reason": source.reason,
        "last_check_at": stats.last_check_at,
        "last_article_at": stats.last_article_at,
        "fail_count": stats.fail_count,
        "backoff_until": stats.backoff_until,
        "last_error": stats.last_error,
        "last_error_class": stats.last_error_class.map(FailureClass::as_str),
        "check_count": stats.check_count,
        "hit_count": stats.hit_count,
        "hit_rate": source.hit_rate().map(percent),
        "created_at": source.created_at,
        "updated_at": source.updated_at,
    });
    match &source.state {
        State::Active => {}
        State::Paused { since, note } => {
            view["paused"] = json!({ "since": since, "note": note });
        }
        State::Ended { since, reason } => {
            view["ended"] = json!({ "since": since, "reason": reason });
        }
    }
    view
}

/// A part of one as percent, with one decimal.
fn percent(part: f64) -> f64 {
    (part * 1000.0).round() / 10.0
}

fn hundredths(hour: f64) -> f64 {
    (hour * 100.0).round() / 100.0
}

/// One look that was made.
pub(crate) fn look(look: &PastLook) -> Value {
    let mut view = json!({
        "at": look.at,
        "took_ms": look.took_ms,
        "brought": look.brought.as_str(),
    });
    if let Brought::New(count) = look.brought {
        view["entries"] = json!(count);
    }
    view
}

/// One entry as it is kept.
pub(crate) fn entry(entry: &Entry) -> Value {
    let mut view = found(&entry.found);
    view["entry_id"] = json!(entry.id);
    view["source_id"] = json!(entry.source);
    view["key"] = json!(entry.key);
    view["seen_at"] = json!(entry.seen_at);
    view
}

/// One entry as a document shows it.
pub(crate) fn found(found: &Found) -> Value {
    json!({
        "link": found.link,
        "title": found.title,
        "published_at": found.published_at,
        "author": found.author,
        "summary": found.summary,
        "content": found.content,
    })
}

/// A feed that a page leads to.
pub(crate) fn candidate(candidate: &Candidate) -> Value {
    json!({
        "address": candidate.address,
        "title": candidate.title,
        "format": candidate.format,
    })
}

/// Why a source is looked at when it is, and what is believed of it.
pub(crate) fn why_source(
    source: &Source,
    task: Option<&Task>,
    believed: &Believed,
    now: Timestamp,
) -> Value {
    let stats = &source.stats;
    let silent_at = stats.last_article_at.zip(believed.silent_after);
    let silent_at = silent_at.and_then(|(newest, after)| newest.checked_add(after).ok());
    let mut view = json!({
        "source_id": source.id,
        "sentence": why::next_look(source, task, now),
        "next_due_at": why::next_look_at(source, task),
        "policy": believed.policy,
        "entries_per_day": believed.entries_per_day,
        "week": believed.week.as_slice(),
        "silent_after_seconds": believed.silent_after.map(|after| after.as_secs()),
        "silent_at": silent_at,
        "wishes": why::wishes(&source.memory.hints),
        "damaged": believed.damaged,
    });
    if let Some(detail) = &stats.last_error {
        view["last_error"] = json!({
            "class": stats.last_error_class.map(FailureClass::as_str),
            "meaning": stats.last_error_class.map(why::meaning),
            "detail": detail,
            "times": stats.fail_count,
        });
    }
    view
}

/// Sources counted.
pub(crate) fn source_numbers(source_type: Option<SourceType>, numbers: &SourceNumbers) -> Value {
    let counts = |counts: Vec<(&str, u64)>| -> Map<String, Value> {
        let counts = counts.into_iter();
        counts
            .map(|(name, count)| (name.to_owned(), json!(count)))
            .collect()
    };
    let cadences = numbers.cadence_distribution.iter();
    let states = numbers.states.iter();
    let attention = numbers.attention.iter();
    json!({
        "source_type": source_type,
        "total_sources": numbers.total_sources,
        "total_with_stats": numbers.total_with_stats,
        "cadence_distribution": counts(cadences.map(|(it, count)| (it.as_str(), *count)).collect()),
        "states": counts(states.map(|(it, count)| (it.as_str(), *count)).collect()),
        "attention": counts(attention.map(|(it, count)| (it.as_str(), *count)).collect()),
        "due_now": numbers.due_now,
        "in_backoff": numbers.in_backoff,
        "avg_hit_rate": percent(numbers.avg_hit_rate),
    })
}
