//! Bringing the store in line with `[[source]]` of the configuration file.
//!
//! The file owns the sources it names, by their addresses: it adds them, changes them in place, and
//! takes over one that a person added. What it no longer names is released, not deleted, because a
//! source's entries went through nobody's file: it is paused with a note, belongs to people again,
//! and comes back when the file names it again. A pause by a person holds whatever the file says.
//!
//! Each source is synchronised separately. One that cannot be kept is reported and changes nothing.

use std::collections::BTreeSet;

use almanack_core::{
    source::{Definition, Source, SourceId, entry::canonical_address},
    store::Added,
};

use super::{
    Error, Sources,
    change::adopt,
    standing::{rest_by_file, rests_by_file, wake},
};

/// Sources of the file that are listed at once.
const PAGE: usize = 200;

/// What became of the sources of a file, by address.
#[derive(Debug, Default)]
pub struct Synced {
    pub added: Vec<String>,
    /// Those that were changed or taken over.
    pub changed: Vec<String>,
    pub unchanged: usize,
    /// No longer in the file: paused.
    pub released: Vec<String>,
    /// Those that were refused, and why.
    pub refused: Vec<(String, Error)>,
}

impl Synced {
    /// Whether the store is unchanged.
    pub fn is_quiet(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.released.is_empty()
    }
}

impl Sources {
    /// Makes the sources of the file those that are wanted. `keep` holds addresses that the file
    /// names but whose tables could not be read: they are neither changed nor released.
    pub async fn sync(
        &self,
        wanted: Vec<Definition>,
        keep: &BTreeSet<String>,
        by: &str,
    ) -> Result<Synced, Error> {
        let mut synced = Synced::default();
        let mut named: BTreeSet<String> = keep.iter().map(|it| canonical_address(it)).collect();
        let mut new = Vec::new();
        for definition in wanted {
            let definition = owned(definition);
            let address = definition.address.clone();
            named.insert(address.clone());
            if let Err(error) = self.check(&definition) {
                synced.refused.push((address, error));
            } else if let Some(there) = self.store.load_source_at(&address).await? {
                match self.bring_in_line(&there, &definition, by).await {
                    Ok(true) => synced.changed.push(address),
                    Ok(false) => synced.unchanged += 1,
                    Err(error @ Error::Store(_)) => return Err(error),
                    Err(error) => synced.refused.push((address, error)),
                }
            } else {
                new.push(definition);
            }
        }
        self.add_new(new, &mut synced, by).await?;
        self.release(&named, &mut synced, by).await?;
        Ok(synced)
    }

    /// Adds them together, so that their first looks are spread.
    async fn add_new(
        &self,
        new: Vec<Definition>,
        synced: &mut Synced,
        by: &str,
    ) -> Result<(), Error> {
        let addresses: Vec<String> = new.iter().map(|it| it.address.clone()).collect();
        let added = self.add(new, by).await?;
        for (address, added) in addresses.into_iter().zip(added) {
            match added {
                Added::New(_) => synced.added.push(address),
                // Another node was faster.
                Added::Exists(_) => synced.unchanged += 1,
            }
        }
        Ok(())
    }

    /// Whether anything about the source had to be changed.
    async fn bring_in_line(
        &self,
        there: &Source,
        wanted: &Definition,
        by: &str,
    ) -> Result<bool, Error> {
        if there.definition == named_as(wanted, there) && !rests_by_file(there) {
            return Ok(false);
        }
        let now = self.clock.now();
        self.redefine(there.id, by, |source, terms| {
            if rests_by_file(source) {
                wake(source, now);
            }
            let definition = named_as(wanted, source);
            adopt(source, definition, (terms, now), by);
            Ok(())
        })
        .await?;
        Ok(true)
    }

    /// Leaves sources to people that the file no longer names.
    async fn release(
        &self,
        named: &BTreeSet<String>,
        synced: &mut Synced,
        by: &str,
    ) -> Result<(), Error> {
        let mut after = SourceId(0);
        loop {
            let page = self.store.load_file_sources(after, PAGE).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = last.id;
            for source in page {
                let address = source.definition.address;
                if named.contains(&address) {
                    continue;
                }
                match self.leave_to_people(source.id, by).await {
                    Ok(()) => synced.released.push(address),
                    // It was removed meanwhile.
                    Err(Error::Unknown { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    async fn leave_to_people(&self, id: SourceId, by: &str) -> Result<(), Error> {
        let now = self.clock.now();
        self.edit(id, |source| {
            source.definition.options.from_file = false;
            rest_by_file(source, now);
            Ok(())
        })
        .await?;
        self.withdraw(id, by).await
    }
}

/// A definition as the file owns it.
fn owned(mut definition: Definition) -> Definition {
    definition.address = canonical_address(&definition.address);
    definition.options.from_file = true;
    definition
}

/// Where the file gives no name, the source keeps the one it has.
fn named_as(wanted: &Definition, there: &Source) -> Definition {
    let mut wanted = wanted.clone();
    if wanted.name.is_empty() {
        wanted.name.clone_from(&there.definition.name);
    }
    wanted
}
