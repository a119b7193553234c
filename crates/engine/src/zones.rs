//! Time zones by name, each built once.
//!
//! A zone is a table of some hundred changes of the clocks, made from the zone database. Schedules are
//! many and zones are few, so all schedules of a zone share one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use almanack_core::{
    plan::{Definition, Ready, ScheduleName, Unfit},
    schedule::Zone,
};
use jiff::tz::TimeZone;

/// The zones asked for so far.
#[derive(Debug, Default)]
pub struct Zones {
    known: Mutex<BTreeMap<String, Arc<Zone>>>,
}

impl Zones {
    /// The zone of this IANA name.
    pub fn get(&self, tz: &str) -> Result<Arc<Zone>, Unfit> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(zone) = known.get(tz) {
            return Ok(Arc::clone(zone));
        }
        let zone = Arc::new(build(tz)?);
        known.insert(tz.to_owned(), Arc::clone(&zone));
        Ok(zone)
    }

    /// A definition, ready to be planned by.
    pub fn ready(&self, name: &ScheduleName, definition: Definition) -> Result<Ready, Unfit> {
        let zone = self.get(&definition.tz)?;
        Ready::new(name, definition, zone)
    }

    /// A stored definition, ready to be planned by.
    pub fn ready_from_json(&self, name: &ScheduleName, json: &str) -> Result<Ready, Unfit> {
        self.ready(name, Definition::from_json(json)?)
    }
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
    use super::*;

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
