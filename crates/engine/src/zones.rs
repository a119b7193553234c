//! What schedules are computed by: time zones and calendars by name, each built once.
//!
//! A zone is a table of some hundred changes of the clocks, made from the zone database; a calendar
//! is a set of days, made from what the store keeps. Schedules are many and these are few, so all
//! schedules share them. Zones never change while a node runs. Calendars do: whoever is about to
//! compute by them asks first whether they are still what is stored ([`Zones::refresh`]).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    calendar::{CalendarVersion, Calendars},
    locked,
    plan::{
        Definition, Ready, Schedule, ScheduleName, State, StoredDefinition, Surroundings, Unfit,
    },
    schedule::Zone,
    store::{self, Store},
};
use jiff::{Timestamp, tz::TimeZone};

/// The zones asked for so far, and the calendars there are.
#[derive(Debug, Default)]
pub struct Zones {
    known: Mutex<BTreeMap<String, Arc<Zone>>>,
    calendars: Mutex<Compiled>,
}

/// Calendars, and what they were compiled from.
#[derive(Debug, Default)]
struct Compiled {
    versions: Vec<CalendarVersion>,
    calendars: Arc<Calendars>,
}

impl Surroundings for Zones {
    fn zone(&self, tz: &str) -> Result<Arc<Zone>, Unfit> {
        self.get(tz)
    }

    fn calendars(&self) -> Arc<Calendars> {
        Arc::clone(&locked(&self.calendars).calendars)
    }
}

impl Zones {
    /// Zones, with calendars that are not from a store.
    pub fn with_calendars(calendars: Calendars) -> Self {
        let zones = Self::default();
        locked(&zones.calendars).calendars = Arc::new(calendars);
        zones
    }

    /// Makes the calendars those that are stored. One short question, unless they have changed.
    pub async fn refresh(&self, store: &dyn Store) -> store::Result<()> {
        let versions = store.load_calendar_versions().await?;
        if same(&locked(&self.calendars).versions, &versions) {
            return Ok(());
        }
        let stored = store.load_calendars().await?;
        let versions = stored.iter().map(|it| CalendarVersion {
            name: it.name.clone(),
            version: it.version,
            applied: it.applied,
            reading: it.reading.clone(),
        });
        let versions = versions.collect();
        let compiled = stored.iter().map(|it| {
            let compiled = it.compile().map(Arc::new);
            (it.name.clone(), compiled)
        });
        let calendars = Arc::new(compiled.collect());
        *locked(&self.calendars) = Compiled {
            versions,
            calendars,
        };
        Ok(())
    }

    /// [`Self::refresh`], if one of these definitions needs it.
    pub async fn refresh_for(
        &self,
        store: &dyn Store,
        mut definitions: impl Iterator<Item = &StoredDefinition>,
    ) -> store::Result<()> {
        let needs = |it: &StoredDefinition| it.read().is_ok_and(Definition::uses_calendars);
        if definitions.any(needs) {
            return self.refresh(store).await;
        }
        Ok(())
    }

    /// The zone of this IANA name.
    pub fn get(&self, tz: &str) -> Result<Arc<Zone>, Unfit> {
        let mut known = locked(&self.known);
        if let Some(zone) = known.get(tz) {
            return Ok(Arc::clone(zone));
        }
        let zone = Arc::new(build(tz)?);
        known.insert(tz.to_owned(), Arc::clone(&zone));
        Ok(zone)
    }

    /// A definition, ready to be planned by.
    pub fn ready(&self, name: &ScheduleName, definition: Definition) -> Result<Ready, Unfit> {
        Ready::new(name, definition, self)
    }

    /// A stored definition, ready to be planned by.
    pub fn ready_stored(
        &self,
        name: &ScheduleName,
        stored: &StoredDefinition,
    ) -> Result<Ready, Unfit> {
        let definition = stored.read().map_err(Clone::clone)?;
        self.ready(name, definition.clone())
    }

    /// The first slot that fires if nothing changes. The first that is not decided may be another:
    /// while a schedule is paused none fires, none once it is parked or removed, and none that a
    /// calendar leaves out.
    pub fn next_firing(&self, schedule: &Schedule) -> Option<Timestamp> {
        let next = schedule.next_at?;
        let from = match &schedule.state {
            State::Active => next,
            State::Paused(pause) => next.max(pause.until?),
            State::Parked { .. } | State::Removed { .. } | State::Done { .. } => return None,
        };
        let leaves_out = |it: &Definition| it.uses_calendars() || !it.quiet.is_empty();
        let leaves_out = schedule.definition.read().is_ok_and(leaves_out);
        if from == next && !leaves_out {
            return Some(next);
        }
        let ready = self.ready_stored(&schedule.name, &schedule.definition);
        ready.ok()?.next_firing_from(from)
    }
}

/// Whether the days are the same, whatever else was noted of them.
fn same(known: &[CalendarVersion], stored: &[CalendarVersion]) -> bool {
    let key = |it: &CalendarVersion| (it.name.clone(), it.version);
    known.len() == stored.len() && known.iter().map(key).eq(stored.iter().map(key))
}

fn build(tz: &str) -> Result<Zone, Unfit> {
    if tz == "UTC" {
        return Ok(Zone::utc());
    }
    let unknown = || Unfit::Zone { tz: tz.to_owned() };
    // What is not shaped like a zone's name must not reach the file system as a path.
    let shaped = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
    if tz.is_empty() || tz.len() > 64 || !tz.chars().all(shaped) {
        return Err(unknown());
    }
    TimeZone::get(tz).map(Zone::new).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use almanack_core::{
        plan::{Origin, Pause, ScheduleId},
        target::Target,
    };

    use super::*;

    fn schedule(state: State, next_at: Option<Timestamp>) -> Schedule {
        let url = "http://x/".to_owned();
        let definition = Definition::new("@hourly", Target::webhook(url));
        Schedule {
            id: ScheduleId(1),
            name: ScheduleName::parse("x").unwrap(),
            origin: Origin::Api,
            definition: definition.into(),
            revision: 1,
            version: 1,
            state,
            next_at,
            waits_since: None,
            look_at: None,
            last: None,
            beside: Vec::new(),
            runs: 0,
            created_at: Timestamp::UNIX_EPOCH,
            changed_at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn only_what_will_fire_is_reported_as_next() {
        let at = |text: &str| -> Timestamp { text.parse().unwrap() };
        let (eight, since) = (at("2026-01-01T08:00:00Z"), Timestamp::UNIX_EPOCH);
        let paused = |until: Option<&str>| {
            State::Paused(Pause {
                since,
                until: until.map(at),
                note: None,
                by: "anna".to_owned(),
            })
        };
        let reason = "x".to_owned().into();
        for (state, next) in [
            (State::Active, Some("2026-01-01T08:00:00Z")),
            (paused(None), None),
            (
                paused(Some("2026-01-01T07:30:00Z")),
                Some("2026-01-01T08:00:00Z"),
            ),
            (
                paused(Some("2026-01-01T08:00:00Z")),
                Some("2026-01-01T08:00:00Z"),
            ),
            (
                paused(Some("2026-01-01T10:00:00Z")),
                Some("2026-01-01T10:00:00Z"),
            ),
            (
                paused(Some("2026-01-01T10:00:01Z")),
                Some("2026-01-01T11:00:00Z"),
            ),
            (State::Parked { since, reason }, None),
            (State::Removed { since }, None),
            (State::Done { since }, None),
        ] {
            let text = format!("{state:?}");
            let found = Zones::default().next_firing(&schedule(state.clone(), Some(eight)));
            assert_eq!(found, next.map(at), "{text}");
            assert_eq!(Zones::default().next_firing(&schedule(state, None)), None);
        }
    }

    #[test]
    fn a_zone_is_built_once_and_a_strange_name_is_refused() {
        let zones = Zones::default();
        let first = zones.get("Europe/Berlin").unwrap();
        assert!(Arc::ptr_eq(&first, &zones.get("Europe/Berlin").unwrap()));
        for tz in ["", "Europe/Atlantis", "../../etc/passwd", "Europe/Berlin\0"] {
            let refused = zones.get(tz).unwrap_err();
            assert_eq!(refused, Unfit::Zone { tz: tz.to_owned() }, "{tz:?}");
        }
    }
}
