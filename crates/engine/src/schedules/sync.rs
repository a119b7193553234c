//! Bringing the store in line with a file: `[[schedule]]` in the configuration, or DISPATCH.
//!
//! Each schedule is synchronised separately. One that cannot be kept is reported and changes
//! nothing: what it was before goes on, and so do all others (DP-18). What the file no longer names
//! is removed; what another owner has is left alone.

use std::collections::BTreeSet;

use almanack_core::{
    plan::{Definition, Edited, Origin, ScheduleName},
    store::ScheduleFilter,
};

use super::{Error, Expected, Schedules, Writer};

/// Schedules listed at once.
const PAGE: usize = 500;

/// A schedule as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// What it is called there.
    pub name: ScheduleName,
    /// What is written there.
    pub definition: Definition,
}

/// What became of the schedules of a file.
#[derive(Debug, Default)]
pub struct Synced {
    /// Written for the first time.
    pub created: Vec<ScheduleName>,
    pub changed: Vec<ScheduleName>,
    pub unchanged: usize,
    /// No longer in the file.
    pub removed: Vec<ScheduleName>,
    /// Those that were refused, and why.
    pub refused: Vec<(ScheduleName, Error)>,
}

impl Synced {
    /// Whether the store is unchanged.
    pub fn is_quiet(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

impl Schedules {
    /// Makes the schedules of `origin` those that are wanted. `keep` names schedules that the file
    /// has but that could not be read: they are neither changed nor removed.
    pub async fn sync(
        &self,
        origin: Origin,
        wanted: Vec<Wanted>,
        keep: &BTreeSet<ScheduleName>,
        by: &str,
    ) -> Result<Synced, Error> {
        let mut synced = Synced::default();
        let mut named = keep.clone();
        for Wanted { name, definition } in wanted {
            named.insert(name.clone());
            match self.put(&name, definition, origin, by).await {
                Ok(changed) => match changed.edited {
                    Some(Edited::Created) => synced.created.push(name),
                    Some(_) => synced.changed.push(name),
                    None => synced.unchanged += 1,
                },
                Err(Error::Store(error)) => return Err(error.into()),
                Err(error) => synced.refused.push((name, error)),
            }
        }
        for name in self.others(origin, &named).await? {
            let writer = Writer { origin, by };
            match self.remove_own(&name, writer, Expected::Anything).await {
                Ok(_) => synced.removed.push(name),
                // Another node has removed it meanwhile, or another owner has taken the name.
                Err(Error::Unknown { .. } | Error::Managed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(synced)
    }

    /// The schedules of `origin` that are not named.
    async fn others(
        &self,
        origin: Origin,
        named: &BTreeSet<ScheduleName>,
    ) -> Result<Vec<ScheduleName>, Error> {
        let mut others = Vec::new();
        let mut filter = ScheduleFilter {
            origin: Some(origin),
            limit: PAGE,
            ..ScheduleFilter::default()
        };
        loop {
            let page = self.store.list_schedules(&filter).await?;
            let unnamed = page.rows.into_iter().map(|schedule| schedule.name);
            others.extend(unnamed.filter(|name| !named.contains(name)));
            filter.after = page.next;
            if filter.after.is_none() {
                return Ok(others);
            }
        }
    }
}
