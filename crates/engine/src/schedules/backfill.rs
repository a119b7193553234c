//! Backfill: slots of the past, fired on request, at a pace.
//!
//! A slot's firing has one identity, for every requester. So a slot that fired is left alone, one
//! that was skipped fires now, and asking twice fires once. The cursor and the ledger stay as they
//! are: the ledger records what the schedule did, the task records what a person did later. What is
//! no longer known is not fired again ([`forgotten`]).

mod forgotten;

use almanack_core::{
    both,
    plan::{NewFiring, Ready, Schedule, ScheduleName, Trigger, slot_identity},
    reschedule::{Put, Request, decide},
    store::Applied,
    task::{Identity, Priority, Status},
};
use jiff::{SignedDuration, Timestamp};

use super::{Error, Schedules, firing::refuse_monitor};

/// Slots one backfill may name.
pub(super) const BACKFILL_MAX: usize = 10_000;

/// Which slots to fire, and how fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backfill {
    /// The first slot is at or after this.
    pub from: Timestamp,
    /// The last slot is before this; not later than now.
    pub to: Timestamp,
    pub pace: SignedDuration,
}

/// One slot of a backfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotOfBackfill {
    pub slot: Timestamp,
    pub identity: Identity,
    /// When it is to fire; `None` if it is left alone.
    pub execute_at: Option<Timestamp>,
    /// What its firing already is, if there was one.
    pub found: Option<Status>,
}

/// What a backfill does, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backfilled {
    /// Every slot of the range, oldest first.
    pub slots: Vec<SlotOfBackfill>,
}

impl Backfilled {
    /// How many fire.
    pub fn fires(&self) -> usize {
        let fires = self.slots.iter().filter(|slot| slot.execute_at.is_some());
        fires.count()
    }
}

impl Schedules {
    /// What [`Self::backfill`] would do now.
    pub async fn plan_backfill(
        &self,
        name: &ScheduleName,
        request: Backfill,
    ) -> Result<Backfilled, Error> {
        let schedule = self.load(name).await?;
        let ready = self.ready(&schedule)?;
        self.slots_of(&schedule, &ready, request).await
    }

    /// Fires the slots of a range that have not fired.
    pub async fn backfill(
        &self,
        name: &ScheduleName,
        request: Backfill,
        by: &str,
    ) -> Result<Backfilled, Error> {
        let schedule = self.load(name).await?;
        let ready = self.ready(&schedule)?;
        let mut planned = self.slots_of(&schedule, &ready, request).await?;
        let now = self.clock.now();
        let mut changes = Vec::new();
        for slot in &planned.slots {
            if let Some(execute_at) = slot.execute_at {
                let put = put(&schedule, &ready, slot, execute_at)?;
                // Nothing is there: that is what makes it part of the backfill.
                if let Ok(change) = decide(None, &Request::Put(put), by, now) {
                    changes.push(change);
                }
            }
        }
        let applied = self.store.apply(changes).await?;
        let asked = planned.slots.iter_mut().filter(|s| s.execute_at.is_some());
        for (slot, applied) in asked.zip(applied) {
            if applied == Applied::Lost {
                // Another node has fired it meanwhile.
                (slot.execute_at, slot.found) = (None, Some(Status::Init));
            }
        }
        Ok(planned)
    }

    async fn slots_of(
        &self,
        schedule: &Schedule,
        ready: &Ready,
        request: Backfill,
    ) -> Result<Backfilled, Error> {
        refuse_monitor(schedule, ready, ("backfilled", "回填"))?;
        let now = self.clock.now();
        check(request, now)?;
        let mut slots = Vec::new();
        let mut next = ready.next_from(request.from);
        while let Some(slot) = next.filter(|slot| *slot < request.to) {
            if slots.len() == BACKFILL_MAX {
                return Err(Error::Range {
                    why: both!(
                        "the range has more than {BACKFILL_MAX} slots; ask for a part of it",
                        "该范围包含超过 {BACKFILL_MAX} 个时点；请缩小范围"
                    ),
                });
            }
            // What a calendar leaves out is no slot to make up for.
            if ready.exclusion(slot).is_none() {
                slots.push((slot, slot_identity(&schedule.name, slot)?));
            }
            next = ready.next_after(slot);
        }
        let identities: Vec<Identity> = slots.iter().map(|(_, id)| id.clone()).collect();
        let found = self.store.load_current(&identities).await?;
        let known: Vec<(Timestamp, bool)> = slots
            .iter()
            .zip(&found)
            .map(|((slot, _), task)| (*slot, task.is_some()))
            .collect();
        self.refuse_forgotten(schedule, &known).await?;
        Ok(paced(
            slots,
            found.iter().map(|task| task.as_ref().map(|t| t.status)),
            request,
            now,
        ))
    }
}

fn paced(
    slots: Vec<(Timestamp, Identity)>,
    found: impl Iterator<Item = Option<Status>>,
    request: Backfill,
    now: Timestamp,
) -> Backfilled {
    let mut execute_at = now;
    let pace = |(slot, identity): (Timestamp, Identity), found: Option<Status>| {
        let mine = execute_at;
        if found.is_none() {
            execute_at = execute_at
                .saturating_add(request.pace)
                .unwrap_or(execute_at);
        }
        SlotOfBackfill {
            slot,
            identity,
            execute_at: found.is_none().then_some(mine),
            found,
        }
    };
    let mut pace = pace;
    let slots = slots.into_iter().zip(found);
    Backfilled {
        slots: slots.map(|(slot, found)| pace(slot, found)).collect(),
    }
}

fn check(request: Backfill, now: Timestamp) -> Result<(), Error> {
    let refuse = |why| Err(Error::Range { why });
    if request.from >= request.to {
        return refuse(both!(
            "the range is empty: its start must be before its end",
            "范围为空：开始必须早于结束"
        ));
    }
    if request.to > now {
        return refuse(both!(
            "the range reaches into the future, where the schedule fires by itself",
            "范围延伸到将来，而将来的时点会由日程自行触发"
        ));
    }
    if request.pace.is_negative() {
        return refuse(both!("the pace must not be negative", "间隔不能为负"));
    }
    Ok(())
}

fn put(
    schedule: &Schedule,
    ready: &Ready,
    slot: &SlotOfBackfill,
    execute_at: Timestamp,
) -> Result<Put, Error> {
    let firing = NewFiring {
        identity: slot.identity.clone(),
        execute_at,
        nominal_at: slot.slot,
        trigger: Trigger::Backfill,
        caught_up: true,
    };
    let task = firing.task(&schedule.name, ready)?;
    Ok(Put {
        payload: Some(task.payload),
        max_retry: Some(task.max_retry),
        priority: Some(Priority::new(i64::from(ready.definition.priority))?),
        ..Put::at(slot.identity.clone(), execute_at)
    })
}
