//! The handler of `SOURCE_CHECK` tasks: looks at a source, keeps what is new, and says when to come
//! again.
//!
//! The look is made once per attempt; what it does to the source is decided on the row as it is
//! when it is written, and decided again if the row changed meanwhile. A source whose host is busy
//! comes again when the host has room, without holding a slot: it never delays the others (SS-08).

use std::sync::Arc;

use almanack_core::{
    event::outgoing::Subscriptions,
    finish::Outcome,
    handler::Handler,
    source::{
        Source, SourceId, State,
        check::{Ask, Checker, Failure, FailureClass, Look},
        clock,
        hub::Hubs,
        identity::{Known, Recognised, question, recognise},
        settle::{CompletedCheck, Notice, Settled, settle},
    },
    store::{self, SourceWrite, Store, Written},
    task::ClaimedTask,
    time::Clock,
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::{courtesy, filters::drop_blocked, fleet::Fleet, full_text::ArticleReader};
use crate::{reloadable::Reloadable, wake::later};

/// How often a lost write is decided again.
pub(super) const ROUNDS_MAX: usize = 10;
/// Shortest wait for a host that the row is written for.
const WAIT_WRITTEN_MIN: SignedDuration = SignedDuration::from_mins(1);
/// When to come again if the store did not answer.
const STORE_AGAIN: SignedDuration = SignedDuration::from_secs(30);
/// When to come again if the store takes nothing at all about this source.
const REFUSED_AGAIN: SignedDuration = SignedDuration::from_hours(1);

/// Checks sources.
pub struct SourceHandler {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    /// What looks.
    pub checker: Arc<dyn Checker>,
    /// What decides when the next look is.
    pub fleet: Arc<Fleet>,
    /// Whom to report new entries to.
    pub subscriptions: Reloadable<Subscriptions>,
    /// What asks hubs, and reads what they push.
    pub hubs: Arc<dyn Hubs>,
}

/// What ended an attempt before its time.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    /// Why a source is not looked at any more.
    #[error("{0}")]
    NotLookedAt(String),
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// A look that was made, and how long it took.
struct LookMade {
    look: Look,
    at: Timestamp,
    took: SignedDuration,
}

impl SourceHandler {
    async fn check(&self, id: SourceId) -> Result<Option<Timestamp>, Stopped> {
        let source = self.load(id).await?;
        let started_at = self.clock.now();
        let look = self.checker.look(&ask(&source), started_at).await;
        let at = self.clock.now().max(started_at);
        courtesy::count(self.fleet.courtesy(), &source, &look, started_at);
        if let Look::Wait(until) = look {
            return self.wait(source, until, at).await.map(Some);
        }
        self.fleet.count();
        let made = LookMade {
            look,
            at,
            took: at.duration_since(started_at),
        };
        let settled = self.keep(source, &made).await?;
        self.articles().catch_up(&settled.source).await;
        Ok(settled.next_at)
    }

    /// Waits for the host. The row says so, because lists are in its order (SS-08); a moment's wait
    /// for a busy host is not worth a write.
    async fn wait(
        &self,
        source: Source,
        until: Timestamp,
        at: Timestamp,
    ) -> Result<Timestamp, Stopped> {
        if until.duration_since(at) < WAIT_WRITTEN_MIN {
            return Ok(until);
        }
        let made = LookMade {
            look: Look::Wait(until),
            at,
            took: SignedDuration::ZERO,
        };
        let settled = self.keep(source, &made).await?;
        Ok(settled.next_at.unwrap_or(until))
    }

    /// Writes what the look did to the source, and then asks its hub if it is time.
    async fn keep(&self, mut source: Source, made: &LookMade) -> Result<Settled, Stopped> {
        let mut moved_onto = None;
        for _ in 0..ROUNDS_MAX {
            self.check_reach(&mut source);
            let mut recognised = self.recognise(&source, &made.look, made.at).await?;
            let corrected = clock::correct(&source, &mut recognised.fresh, made.at);
            let check = CompletedCheck {
                look: &made.look,
                fresh: &recognised.fresh,
                remembered: &recognised.remembered,
                took: made.took,
                moved_onto,
            };
            let mut settled = settle(&corrected, check, &self.fleet.terms(), made.at);
            let asks_hub = self.tend(&mut settled, &made.look, made.at);
            let entries = recognised.fresh.len();
            let mut write = SourceWrite {
                source: settled.source.clone(),
                entries: recognised.fresh,
                edited: recognised.edited,
                at: made.at,
                event_tasks: Vec::new(),
            };
            write.event_tasks = self.subscriptions.get().of_source(&source, &write);
            match self.store.write_sources(vec![write]).await?.pop() {
                Some(Written::Done) => {
                    if !matches!(made.look, Look::Wait(_)) {
                        measure(&settled, entries, made.took);
                    }
                    report(&settled);
                    if asks_hub {
                        self.ask_hub(&settled.source).await;
                    }
                    return Ok(settled);
                }
                Some(Written::Taken(other)) => moved_onto = Some(other),
                Some(Written::Lost) | None => source = self.load(source.id).await?,
            }
        }
        Err(Stopped::NotLookedAt(
            "the source kept changing meanwhile".to_owned(),
        ))
    }

    /// Separates the entries of a look: what is new, what was edited, what is known.
    pub(super) async fn recognise(
        &self,
        source: &Source,
        look: &Look,
        at: Timestamp,
    ) -> Result<Recognised, store::Error> {
        let Look::Document(document) = look else {
            return Ok(Recognised::default());
        };
        let asked = question(source, document);
        let rows = if asked.is_empty() {
            Vec::new()
        } else {
            self.store.known_entries(source.id, &asked).await?
        };
        let mut recognised = recognise(source, document, &rows, at);
        drop_blocked(&self.fleet, source, &mut recognised.fresh);
        oldest_first(&mut recognised.fresh, |(_, found)| found.published_at);
        oldest_first(&mut recognised.edited, |change| {
            change
                .edit
                .as_ref()
                .and_then(|edit| edit.found.published_at)
        });
        Ok(recognised)
    }

    /// A store that did not answer is asked again soon. One that refuses the look's entries would
    /// refuse them again, and the host would be asked for nothing: that is a failure like any
    /// other, and waits like one.
    async fn after_store_error(&self, id: SourceId, error: &store::Error) -> Outcome {
        tracing::warn!(source.id = %id, error = error.chain(), "could not store what a check found");
        let now = self.clock.now();
        if error.is_transient() {
            return Outcome::again(later(now, STORE_AGAIN));
        }
        // Without the database's own words: they may quote an address.
        let detail = format!("could not store what the check found: {error}");
        let made = LookMade {
            look: Look::Failed(Failure::new(FailureClass::Malformed, detail)),
            at: now,
            took: SignedDuration::ZERO,
        };
        let failed = async { self.keep(self.load(id).await?, &made).await };
        match failed.await {
            Ok(settled) => Outcome::again(settled.next_at.unwrap_or(now)),
            Err(Stopped::NotLookedAt(why)) => Outcome::give_up(why),
            Err(Stopped::Store(_)) => Outcome::again(later(now, REFUSED_AGAIN)),
        }
    }

    fn articles(&self) -> ArticleReader<'_> {
        ArticleReader {
            store: &*self.store,
            checker: &*self.checker,
            clock: &*self.clock,
        }
    }

    pub(super) async fn load(&self, id: SourceId) -> Result<Source, Stopped> {
        let found = self.store.load_sources(&[id]).await?.pop().flatten();
        let why = match found {
            None => format!("there is no source {id}"),
            Some(source) => match source.state {
                State::Active => return Ok(source),
                State::Paused { .. } => "the source is paused".to_owned(),
                State::Ended { reason, .. } => reason,
            },
        };
        Err(Stopped::NotLookedAt(why))
    }
}

/// Most documents show the newest entry first. Rows are listed newest first, so it is written last.
fn oldest_first<T>(entries: &mut [T], published_at: impl Fn(&T) -> Option<Timestamp>) {
    entries.reverse();
    entries.sort_by_key(|entry| published_at(entry).unwrap_or(Timestamp::MAX));
}

pub(super) fn ask(source: &Source) -> Ask {
    Ask {
        address: source.definition.address.clone(),
        reading: source.definition.reading.clone(),
        validators: source.memory.validators.clone(),
        options: source.definition.options.clone(),
        known: Arc::new(Known::of(&source.memory)),
    }
}

#[async_trait]
impl Handler for SourceHandler {
    async fn attempt(&self, task: &ClaimedTask) -> Outcome {
        let Some(id) = SourceId::of(&task.identity) else {
            return Outcome::give_up("not a check of a source");
        };
        match self.check(id).await {
            Ok(Some(at)) => Outcome::again(at),
            Ok(None) => Outcome::give_up("the source has ended"),
            // A task that succeeded could not be put again; this one can.
            Err(Stopped::NotLookedAt(why)) => Outcome::give_up(why),
            // A source is tried for ever: retries must not run out on the store's account.
            Err(Stopped::Store(error)) => self.after_store_error(id, &error).await,
        }
    }
}

/// Off the record: the source's own row records its looks.
fn measure(settled: &Settled, entries: usize, took: SignedDuration) {
    if let Some(look) = settled.source.recent.looks().last() {
        let result = look.outcome.as_str();
        metrics::counter!("almanack_source_checks_total", "result" => result).increment(1);
    }
    metrics::counter!("almanack_source_entries_total").increment(entries as u64);
    metrics::histogram!("almanack_source_check_seconds").record(took.as_secs_f64());
}

/// Logs once what an operator should know.
fn report(settled: &Settled) {
    let id = settled.source.id;
    let name = settled.source.definition.name.as_str();
    for notice in &settled.notices {
        match notice {
            Notice::Wants(attention) => {
                let error = settled
                    .source
                    .stats
                    .last_error
                    .as_deref()
                    .unwrap_or_default();
                metrics::counter!("almanack_source_alerts_total", "attention" => attention.as_str()).increment(1);
                tracing::warn!(source.id = %id, source.name = name, %attention, error, "a source needs attention");
            }
            Notice::Recovered(attention) => {
                tracing::info!(source.id = %id, source.name = name, %attention, "a source has recovered");
            }
            Notice::Moved(_) => {
                tracing::info!(source.id = %id, source.name = name, "a source has moved; using its new address from now on");
            }
            Notice::LearningLost => {
                tracing::warn!(source.id = %id, source.name = name, "what was learned about a source is damaged; using the fixed interval while learning restarts");
            }
            Notice::PolicyUnreadable(why) => {
                tracing::warn!(source.id = %id, source.name = name, why, "a source's policy cannot be read; using the node's");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::source::entry::FoundEntry;

    use super::*;

    #[test]
    fn the_newest_entry_is_written_last_whichever_way_a_document_shows_them() {
        let shown = |title: &str, second: Option<i64>| {
            let found = FoundEntry {
                title: title.to_owned(),
                published_at: second.map(|second| Timestamp::from_second(second).unwrap()),
                ..FoundEntry::default()
            };
            (title.to_owned(), found)
        };
        for (document, expected) in [
            (vec![shown("b", Some(2)), shown("a", Some(1))], ["a", "b"]),
            (vec![shown("a", Some(1)), shown("b", Some(2))], ["a", "b"]),
            // Without times only the order is known, and the newest comes first.
            (vec![shown("b", None), shown("a", None)], ["a", "b"]),
        ] {
            let mut fresh = document;
            oldest_first(&mut fresh, |(_, found)| found.published_at);
            let titles: Vec<&str> = fresh.iter().map(|(title, _)| title.as_str()).collect();
            assert_eq!(titles, expected);
        }
    }
}
