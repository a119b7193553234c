//! Changes that hold only if the schedule is what the requester believes it to be: of the revision
//! that was seen, and the requester's own. Checked where the change is decided, so nothing can come
//! between.

use almanack_core::lang::{Lang, Say};
use almanack_core::plan::{
    Definition, Edited, Origin, Ready, Schedule, ScheduleName, State, Unfit,
};
use almanack_core::say;
use jiff::Timestamp;

use super::{Changed, Error, Schedules, error::REMOVED, new};

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writer<'a> {
    /// Its owner: only the owner changes a schedule.
    pub origin: Origin,
    /// Whom the history names.
    pub by: &'a str,
}

/// What must be there for a change to be wanted. A removed schedule is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Whatever there is, or nothing.
    Anything,
    /// No schedule of this name.
    Nothing,
    /// Some schedule of this name.
    Something,
    /// The schedule, at this revision.
    Revision(i64),
}

impl Say for Expected {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Anything => say!(lang, "anything", "任意"),
            Self::Nothing => say!(lang, "absent", "不存在"),
            Self::Something => say!(lang, "present", "存在"),
            Self::Revision(revision) => say!(lang, "at revision {revision}", "修订 {revision}"),
        }
    }
}

impl Schedules {
    /// [`Self::put`], if what is there is as expected.
    pub async fn put_expecting(
        &self,
        name: &ScheduleName,
        definition: Definition,
        writer: Writer<'_>,
        expected: Expected,
    ) -> Result<Changed, Error> {
        if definition.uses_calendars() {
            self.refresh().await?;
        }
        let ready = &self.check(name, definition)?;
        self.check_reach(ready, writer.origin).await?;
        self.decide(name, |found, now| {
            Box::pin(async move {
                check(name, found.as_ref(), expected)?;
                let Writer { origin, by } = writer;
                check_ahead(ready, found.as_ref(), origin, now)?;
                match found {
                    None => Ok(Some((new(name, ready, origin, by, now), Edited::Created))),
                    Some(found) => self.rewritten(found, ready, origin, by, now).await,
                }
            })
        })
        .await
    }

    /// [`Self::remove`], if it is the writer's own and as expected.
    pub async fn remove_own(
        &self,
        name: &ScheduleName,
        writer: Writer<'_>,
        expected: Expected,
    ) -> Result<Changed, Error> {
        let refused = |found: &Schedule| {
            check(name, Some(found), expected)?;
            if found.origin == writer.origin {
                return Ok(());
            }
            let (name, origin) = (found.name.clone(), found.origin);
            Err(Error::Managed { name, origin })
        };
        self.change(name, REMOVED, |found, now| match refused(&found) {
            Ok(()) => Box::pin(self.removed(found, writer.by, now)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        })
        .await
    }
}

/// Refuses what would never fire: all its times have passed. What is there already stays as it is,
/// and a file may go on naming what is over.
fn check_ahead(
    ready: &Ready,
    found: Option<&Schedule>,
    origin: Origin,
    now: Timestamp,
) -> Result<(), Error> {
    let is_kept = |found: &Schedule| {
        let removed = matches!(found.state, State::Removed { .. });
        !removed
            && found
                .definition
                .read()
                .is_ok_and(|it| *it == ready.definition)
    };
    let refused =
        origin == Origin::Api && ready.next_after(now).is_none() && !found.is_some_and(is_kept);
    if refused {
        let last = ready.previous_before(now).unwrap_or(now);
        return Err(Unfit::Past { last }.into());
    }
    Ok(())
}

fn check(name: &ScheduleName, found: Option<&Schedule>, expected: Expected) -> Result<(), Error> {
    let found = found.filter(|found| !matches!(found.state, State::Removed { .. }));
    let found = found.map_or(Expected::Nothing, |found| {
        Expected::Revision(found.revision)
    });
    let holds = match expected {
        Expected::Anything => true,
        Expected::Something => found != Expected::Nothing,
        Expected::Nothing | Expected::Revision(_) => found == expected,
    };
    if holds {
        return Ok(());
    }
    Err(Error::Moved {
        name: name.clone(),
        expected,
        found,
    })
}
