//! The way in for people: sources added, checked now, paused, resumed, changed, removed.
//!
//! A source's row says what it is; its task says when it is looked at. Every request is written to
//! the row first and then put to the task as a reschedule like any other (RS-01…RS-07). Who dies
//! between the two leaves a row without a task, which the [`keeper`] finds, or a task without an
//! active row, which ends by itself.

mod change;
pub mod check;
mod courtesy;
mod error;
mod filters;
pub mod fleet;
mod full_text;
pub mod keeper;
mod ping;
pub mod push;
mod standing;
pub mod sync;

use std::sync::Arc;

use almanack_core::{
    both,
    reschedule::{Cancel, Put, Receipt, Request},
    source::{
        Definition, NAME_BYTES_MAX, Source, SourceId, State,
        check::{Ask, Candidate, Checker, Document, Failure, FailureClass, Look},
        entry::{FoundEntry, LINK_BYTES_MAX, canonical_address},
        filter::Filters,
        options::Options,
        settle::{Believed, believed},
    },
    store::{Added, SourceWrite, Store, Written},
    task::{MAX_RETRY_MAX, Task},
    time::Clock,
};
use jiff::Timestamp;

use crate::{
    current::load_each,
    reschedule::{self, Rescheduler},
};
pub use change::Changes;
pub use error::Error;
use fleet::Fleet;
use standing::{new_source, rest_by_hand, wake};

/// How often a lost race is decided again.
const ROUNDS_MAX: usize = 50;
/// Longest note about a pause, in bytes.
pub const NOTE_BYTES_MAX: usize = 500;
/// Sources that are written together. A source and its task are kilobytes until they are written: a
/// list of 10,000 at once took 30 MB, which the allocator keeps for as long as the process runs.
const ADDED_AT_ONCE: usize = 500;
/// Entries that a preview shows.
const PREVIEWED_MAX: usize = 200;

/// Carries out what people want of sources.
pub struct Sources {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub rescheduler: Arc<Rescheduler>,
    pub checker: Arc<dyn Checker>,
    pub fleet: Arc<Fleet>,
}

impl Sources {
    /// A source.
    pub async fn load(&self, id: SourceId) -> Result<Source, Error> {
        let mut found = self.store.load_sources(&[id]).await?;
        found.pop().flatten().ok_or(Error::Unknown { id })
    }

    /// The tasks of sources, in the order asked: what they say about the next look is the truth.
    /// One that cannot be read says nothing.
    pub async fn tasks(&self, ids: &[SourceId]) -> Result<Vec<Option<Task>>, Error> {
        let identities: Result<Vec<_>, _> = ids.iter().map(|id| id.identity()).collect();
        let found = load_each(&*self.store, &identities?).await?;
        Ok(found.into_iter().map(|row| row.ok().flatten()).collect())
    }

    /// What is believed of a source's rhythm.
    pub fn believed(&self, source: &Source) -> Believed {
        believed(source, &self.fleet.terms(), self.clock.now())
    }

    /// Feeds that a site's address leads to, requested with these options.
    pub async fn discover(
        &self,
        address: &str,
        options: &Options,
    ) -> Result<Vec<Candidate>, Error> {
        let (address, now) = (canonical_address(address), self.clock.now());
        let found = self.checker.discover(&address, options, now).await;
        found.map_err(Error::Unreachable)
    }

    /// What a source would show if it were added; nothing is kept.
    pub async fn preview(&self, definition: &Definition) -> Result<Document, Error> {
        self.check(definition)?;
        let ask = Ask {
            address: canonical_address(&definition.address),
            reading: definition.reading.clone(),
            options: definition.options.clone(),
            ..Ask::default()
        };
        match self.checker.look(&ask, self.clock.now()).await {
            Look::Document(document) => Ok(previewed(*document)),
            Look::Failed(failure) => Err(Error::Unreachable(failure)),
            Look::Unchanged(_) | Look::Wait(_) => {
                let class = FailureClass::Connection;
                let failure = Failure::new(class, "the address returned no document");
                Err(Error::Unreachable(failure))
            }
        }
    }

    /// The rule that would drop each of these entries of a source, in their order.
    pub fn dropped_by(
        &self,
        definition: &Definition,
        entries: &[FoundEntry],
    ) -> Result<Vec<Option<String>>, Error> {
        let own = Filters::parse(&definition.options.filters)?;
        let judge = filters::Judge::of(&self.fleet, own);
        let dropped = |found| judge.dropped_by(found).map(str::to_owned);
        Ok(entries.iter().map(dropped).collect())
    }

    /// Adds sources, each unless its address is taken; the answers are in the order given. One that
    /// cannot be is refused before anything is written.
    pub async fn add(&self, definitions: Vec<Definition>, by: &str) -> Result<Vec<Added>, Error> {
        for definition in &definitions {
            self.check(definition)?;
        }
        let mut added = Vec::with_capacity(definitions.len());
        let mut left = definitions.into_iter().peekable();
        while left.peek().is_some() {
            let piece = left.by_ref().take(ADDED_AT_ONCE).collect();
            added.extend(self.add_after(added.len(), piece, by).await?);
        }
        Ok(added)
    }

    /// The same with a piece of the list, behind so many that were added just before.
    async fn add_after(
        &self,
        before: usize,
        definitions: Vec<Definition>,
        by: &str,
    ) -> Result<Vec<Added>, Error> {
        let now = self.clock.now();
        let sources: Vec<Source> = (before..)
            .zip(definitions)
            .map(|(index, definition)| new_source(definition, index, now))
            .collect();
        let dues: Vec<Option<Timestamp>> = sources.iter().map(|s| s.stats.next_due_at).collect();
        let added = self.store.add_sources(sources).await?;
        let new = added
            .iter()
            .zip(dues)
            .filter_map(|(added, due)| match added {
                Added::New(id) => Some((*id, due?)),
                Added::Exists(_) => None,
            });
        self.put(new.collect(), by).await?;
        Ok(added)
    }

    /// Looks at a source as soon as a node has room. One that is paused or has ended stays so: only
    /// [`Self::resume`] ends that (SS-22).
    pub async fn check_now(&self, id: SourceId, by: &str) -> Result<Receipt, Error> {
        let now = self.clock.now();
        self.edit(id, |source| {
            if source.state != State::Active {
                let state = source.state.as_str();
                return Err(Error::NotActive { id, state });
            }
            source.stats.next_due_at = Some(now);
            source.stats.backoff_until = None;
            source.reason = Some(both!("{by} requested it", "{by} 请求检查"));
            Ok(())
        })
        .await?;
        self.put_one(id, now, by).await
    }

    /// Stops looking at a source.
    pub async fn pause(
        &self,
        id: SourceId,
        note: Option<String>,
        by: &str,
    ) -> Result<Source, Error> {
        fits("note", note.as_deref().unwrap_or_default(), NOTE_BYTES_MAX)?;
        let since = self.clock.now();
        let pause = |source: &mut Source| {
            rest_by_hand(source, note.clone(), since);
            Ok(())
        };
        let paused = self.edit(id, pause).await?;
        self.withdraw(id, by).await?;
        Ok(paused)
    }

    /// Looks at a source again, at once, whatever kept it from being looked at.
    pub async fn resume(&self, id: SourceId, by: &str) -> Result<Source, Error> {
        let source = self.load(id).await?;
        if source.state == State::Active {
            return Ok(source);
        }
        let now = self.clock.now();
        let resume = |source: &mut Source| {
            wake(source, now);
            source.reason = Some(both!("{by} requested it", "{by} 请求检查"));
            Ok(())
        };
        let resumed = self.edit(id, resume).await?;
        self.put_one(id, now, by).await?;
        Ok(resumed)
    }

    /// Forgets a source with its entries.
    pub async fn remove(&self, id: SourceId, by: &str) -> Result<(), Error> {
        if self.load(id).await?.definition.options.from_file {
            return Err(Error::Managed { id });
        }
        let existed = self.store.remove_source(id).await?;
        self.withdraw(id, by).await?;
        if existed {
            Ok(())
        } else {
            Err(Error::Unknown { id })
        }
    }

    /// Whether a definition can be, before it is written.
    pub fn check(&self, definition: &Definition) -> Result<(), Error> {
        fits("name", &definition.name, NAME_BYTES_MAX)?;
        fits("category", &definition.category, NAME_BYTES_MAX)?;
        // As it is kept: writing an address in the one way can make it longer.
        let address = canonical_address(&definition.address);
        fits("address", &address, LINK_BYTES_MAX)?;
        definition.options.check()?;
        if let Some(text) = &definition.policy {
            text.parse::<almanack_core::source::policy::Policy>()?;
        }
        Filters::parse(&definition.options.filters)?;
        let refused = self.checker.problem(&address, &definition.reading);
        refused.map_or(Ok(()), |why| Err(Error::Unreadable { why: why.into() }))
    }

    /// Changes a row as it is now; decides again when another writer was faster.
    async fn edit(
        &self,
        id: SourceId,
        change: impl Fn(&mut Source) -> Result<(), Error>,
    ) -> Result<Source, Error> {
        for _ in 0..ROUNDS_MAX {
            let mut source = self.load(id).await?;
            let at = self.clock.now();
            change(&mut source)?;
            source.updated_at = at;
            let write = SourceWrite {
                event_tasks: Vec::new(),
                source: source.clone(),
                entries: Vec::new(),
                edited: Vec::new(),
                at,
            };
            match self.store.write_sources(vec![write]).await?.pop() {
                Some(Written::Done) => return Ok(source),
                Some(Written::Taken(other)) => return Err(Error::AddressTaken { other }),
                Some(Written::Lost) | None => {}
            }
        }
        Err(Error::Contended { id })
    }

    async fn put_one(&self, id: SourceId, at: Timestamp, by: &str) -> Result<Receipt, Error> {
        let mut receipts = self.put(vec![(id, at)], by).await?;
        receipts.pop().ok_or(Error::Contended { id })
    }

    /// Has sources checked at these times.
    pub async fn put(
        &self,
        dues: Vec<(SourceId, Timestamp)>,
        by: &str,
    ) -> Result<Vec<Receipt>, Error> {
        let puts: Result<Vec<Request>, Error> = dues
            .into_iter()
            .map(|(id, at)| {
                Ok(Request::Put(Put {
                    // A node that dies with a check is no reason to give a source up.
                    max_retry: Some(MAX_RETRY_MAX),
                    ..Put::at(id.identity()?, at)
                }))
            })
            .collect();
        let answers = self.rescheduler.ask_all_own(puts?, by).await?;
        Ok(answers.into_iter().collect::<Result<_, _>>()?)
    }

    async fn withdraw(&self, id: SourceId, by: &str) -> Result<(), Error> {
        let cancel = Request::Cancel(Cancel {
            identity: id.identity()?,
            revision: None,
        });
        match self.rescheduler.ask_own(cancel, by).await {
            Ok(_) | Err(reschedule::Error::NothingThere(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The part of a document that people are shown.
fn previewed(mut document: Document) -> Document {
    document.left_out += document.entries.len().saturating_sub(PREVIEWED_MAX);
    document.entries.truncate(PREVIEWED_MAX);
    document
}

fn fits(what: &'static str, text: &str, limit: usize) -> Result<(), Error> {
    if text.len() > limit {
        return Err(Error::TooLong { what, limit });
    }
    if text.chars().any(char::is_control) {
        return Err(Error::Unprintable { what });
    }
    Ok(())
}
