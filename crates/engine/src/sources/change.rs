//! Changing a source in place: its address, how it is requested and read, and when (SS-21).
//!
//! Its entries, its statistics and its rhythm stay. What was remembered of its last document is
//! dropped as far as the change makes it useless: validators of another address or another request,
//! and the keys that other rules found. Nothing doubles by that, because what has a row already is
//! not new. A source that was repaired is looked at at once, unless it is paused.

use almanack_core::both;
use almanack_core::source::{
    Definition, Source, SourceId, State,
    check::Validators,
    entry::canonical_address,
    hints::Hints,
    options::patch,
    policy::cadence::Cadence,
    reading::Reading,
    settle::{Terms, replan},
};
use jiff::Timestamp;

use super::{
    Error, Sources,
    standing::{forget_failures, is_disabled, rest_by_cadence, rests_by_cadence, wake},
};

/// What to change about a source; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Where it is.
    pub address: Option<String>,
    /// What people call it.
    pub name: Option<String>,
    /// Where people put it.
    pub category: Option<String>,
    /// Its own policy; `Some(None)` goes back to the node's.
    pub policy: Option<Option<String>>,
    /// Its cadence by hand; `Some(None)` takes it back.
    pub cadence: Option<Option<Cadence>>,
    /// How it is read.
    pub reading: Option<Reading>,
    /// How it is requested, and what else was set.
    pub options: Option<patch::Change>,
}

impl Changes {
    /// The definition after them; whether it can be stored is not checked.
    pub fn apply(&self, before: &Definition) -> Result<Definition, Error> {
        let mut after = before.clone();
        if let Some(address) = &self.address {
            after.address = canonical_address(address);
        }
        if let Some(name) = &self.name {
            after.name.clone_from(name);
        }
        if let Some(category) = &self.category {
            after.category.clone_from(category);
        }
        if let Some(policy) = &self.policy {
            after.policy.clone_from(policy);
        }
        if let Some(cadence) = self.cadence {
            after.cadence = cadence;
        }
        if let Some(reading) = &self.reading {
            after.reading.clone_from(reading);
        }
        if let Some(options) = &self.options {
            after.options = options.apply(&before.options)?;
        }
        Ok(after)
    }
}

impl Sources {
    /// Changes what people say about a source, and with it when it is looked at.
    pub async fn change(&self, id: SourceId, changes: &Changes, by: &str) -> Result<Source, Error> {
        let definition = |source: &Source| {
            if source.definition.options.from_file {
                return Err(Error::Managed { id });
            }
            changes.apply(&source.definition)
        };
        let now = self.clock.now();
        self.redefine(id, by, |source, terms| {
            adopt(source, definition(source)?, (terms, now), by);
            Ok(())
        })
        .await
    }

    /// Gives a source another definition, and puts its task accordingly.
    pub(super) async fn redefine(
        &self,
        id: SourceId,
        by: &str,
        change: impl Fn(&mut Source, &Terms) -> Result<(), Error>,
    ) -> Result<Source, Error> {
        let terms = self.fleet.terms();
        let before = self.load(id).await?;
        let after = self
            .edit(id, |source| {
                change(source, &terms)?;
                self.check(&source.definition)
            })
            .await?;
        if after.state != State::Active {
            self.withdraw(id, by).await?;
        }
        if let (State::Active, Some(due_at)) = (&after.state, after.stats.next_due_at)
            && after.stats.next_due_at != before.stats.next_due_at
        {
            self.put_one(id, due_at, by).await?;
        }
        Ok(after)
    }
}

/// Makes `definition` the source's own, and plans its next look.
pub(super) fn adopt(
    source: &mut Source,
    definition: Definition,
    (terms, now): (&Terms, Timestamp),
    by: &str,
) {
    let repair = Repair::between(&source.definition, &definition);
    let rested_by_cadence = rests_by_cadence(source);
    source.definition = definition;
    repair.forget(source);
    if is_disabled(&source.definition) {
        rest_by_cadence(source, now);
    } else if rested_by_cadence {
        wake(source, now);
    } else if repair != Repair::None && !matches!(source.state, State::Paused { .. }) {
        wake(source, now);
        source.reason = Some(both!("{by} changed it", "{by} 修改了它"));
    } else if source.state == State::Active {
        *source = replan(source, terms, now);
    }
}

/// How much of what was remembered a change makes useless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Repair {
    None,
    /// It is requested differently: what the server said about its last answer is of no use.
    Request,
    /// Other entries of the same document are kept.
    Content,
    /// It is another document.
    Address,
}

impl Repair {
    fn between(before: &Definition, after: &Definition) -> Self {
        let (old, new) = (&before.options, &after.options);
        if before.address != after.address {
            Self::Address
        } else if before.reading != after.reading || old.filters != new.filters {
            Self::Content
        } else if old.fetch != new.fetch || old.error_texts != new.error_texts {
            Self::Request
        } else {
            Self::None
        }
    }

    fn forget(self, source: &mut Source) {
        let memory = &mut source.memory;
        if self >= Self::Address {
            memory.hints = Hints::default();
            memory.moving = None;
            memory.publisher.hub = None;
        }
        if self >= Self::Content {
            memory.shown.clear();
            memory.prints.clear();
        }
        if self >= Self::Request {
            memory.validators = Validators::default();
            forget_failures(source);
        }
    }
}
