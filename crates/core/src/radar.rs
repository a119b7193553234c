//! The radar: what the coming hours will start, and where too much starts at once.
//!
//! Waiting tasks and the slots of schedules are added up per minute, for each kind and for each
//! host that is called. A second in which at least so many things start is a *herd*: a service sees
//! nothing, then all of them. A herd is dissolved by a spread: each schedule waits its own part of
//! a splay, each task is moved by its own part of the same time, both drawn from their names, so
//! that everyone who computes it computes the same. The proposed splay is the shortest round one
//! that keeps what starts in any second well below a herd.
//!
//! Nothing here is a promise: schedules change, tasks are requested, retries happen. What is
//! overdue is not counted: it starts as soon as there is room.

mod applied;
mod herd;
mod load;
mod planned;
mod spread;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::{
    source::courtesy::host_of,
    store::{Coming, ComingTasks},
    task::Kind,
};

pub use applied::{AppliedSpread, Managed, Refused};
pub use herd::{Herd, Member};
pub use load::{Load, Peak};
pub use planned::{Planned, PlannedSlot, Window, fired_by, planned};
pub use spread::{SPLAYS_S, Spread, offset_of};

/// How far the radar looks, by default and at most.
pub const HOURS_DEFAULT: u32 = 24;
pub const HOURS_MAX: u32 = 48;
/// How many starts in one second are a herd, by default.
pub const HERD_DEFAULT: u64 = 20;
/// Most kinds, and most hosts, that are shown.
const LOADS_MAX: usize = 50;
/// Most herds that are shown.
const HERDS_MAX: usize = 50;

/// What is known of the coming hours.
#[derive(Debug)]
pub struct Known<'a> {
    pub from: Timestamp,
    pub until: Timestamp,
    /// What waits.
    pub coming: &'a Coming,
    /// What will fire.
    pub planned: &'a [Planned],
    /// How many schedules are not in `planned`, or not with all their slots.
    pub schedules_cut: u64,
    /// Where tasks of a kind go that name no address.
    pub addresses: &'a BTreeMap<Kind, String>,
}

/// The load of the coming hours, and its herds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Radar {
    /// The current minute.
    pub from: Timestamp,
    pub until: Timestamp,
    /// How many starts in one second are a herd.
    pub herd_min: u64,
    /// Load per kind, largest first; Almanack's own kinds last.
    pub kinds: Vec<Load>,
    /// Load per host that is called, largest first.
    pub hosts: Vec<Load>,
    /// Seconds in which many things start, soonest first.
    pub herds: Vec<Herd>,
    /// What is not in it.
    pub missing: Missing,
}

/// What a radar does not show. Every part of it is bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Missing {
    /// Kinds with too many waiting tasks: they are counted only up to a time.
    pub tasks: Vec<Cut>,
    /// How many schedules are not counted, or not with all their slots.
    pub schedules: u64,
    /// How many further kinds there are.
    pub kinds: usize,
    /// How many further hosts there are.
    pub hosts: usize,
    /// How many further herds there are.
    pub herds: usize,
}

impl Missing {
    /// Whether it shows everything.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A kind of which not all waiting tasks are counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RadarCut))]
pub struct Cut {
    pub kind: Kind,
    /// From here on tasks of this kind are missing.
    pub from: Timestamp,
}

/// Things of one sort that start in one second.
#[derive(Debug, Clone)]
struct Start<'a> {
    at: Timestamp,
    kind: &'a Kind,
    host: Option<&'a str>,
    what: What<'a>,
}

#[derive(Debug, Clone, Copy)]
enum What<'a> {
    Tasks(u64),
    Slot(&'a Planned, Timestamp),
}

impl Start<'_> {
    fn count(&self) -> u64 {
        match self.what {
            What::Tasks(tasks) => tasks,
            What::Slot(..) => 1,
        }
    }
}

/// Adds up what is known. At least `herd_min` starts in one second are a herd.
pub fn read(known: &Known<'_>, herd_min: u64) -> Radar {
    let hosts = Hosts::of(known);
    let starts = starts(known, &hosts);
    let (kinds, kinds_missing) = load::of(known.from, &starts, load::By::Kind, LOADS_MAX);
    let (hosts, hosts_missing) = load::of(known.from, &starts, load::By::Host, LOADS_MAX);
    let (herds, herds_missing) = herd::find(&starts, herd_min, HERDS_MAX);
    let cut = known.coming.cut.iter().map(|(kind, from)| Cut {
        kind: kind.clone(),
        from: *from,
    });
    Radar {
        from: known.from,
        until: known.until,
        herd_min,
        kinds,
        hosts,
        herds,
        missing: Missing {
            tasks: cut.collect(),
            schedules: known.schedules_cut,
            kinds: kinds_missing,
            hosts: hosts_missing,
            herds: herds_missing,
        },
    }
}

/// What starts at one second, as a herd of any size; `None` if nothing does. Further starts around
/// it must be known, too: what is spread meets them.
pub fn herd_at(known: &Known<'_>, at: Timestamp, herd_min: u64) -> Option<Herd> {
    let hosts = Hosts::of(known);
    let starts = starts(known, &hosts);
    herd::at(&starts, whole_second(at), herd_min)
}

/// The second that an instant is in.
pub fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_microsecond().div_euclid(1_000_000)).unwrap_or(at)
}

/// The minute that an instant is in.
pub fn whole_minute(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_microsecond().div_euclid(60_000_000) * 60).unwrap_or(at)
}

/// One second.
pub const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// The host behind each address, cut out once.
struct Hosts<'a> {
    by_address: BTreeMap<&'a str, String>,
    by_kind: BTreeMap<&'a Kind, String>,
}

impl<'a> Hosts<'a> {
    fn of(known: &Known<'a>) -> Self {
        let named = known
            .coming
            .tasks
            .iter()
            .filter_map(|it| it.address.as_deref());
        let named = named.collect::<std::collections::BTreeSet<&str>>();
        let cut = |address: &'a str| Some((address, host_of(address)?));
        let by_kind = known.addresses.iter();
        Self {
            by_address: named.into_iter().filter_map(cut).collect(),
            by_kind: by_kind
                .filter_map(|(kind, address)| Some((kind, host_of(address)?)))
                .collect(),
        }
    }

    fn of_tasks(&self, tasks: &ComingTasks) -> Option<&str> {
        let host = match &tasks.address {
            Some(address) => self.by_address.get(address.as_str()),
            None => self.by_kind.get(&tasks.kind),
        };
        host.map(String::as_str)
    }

    fn of_schedule<'b>(&'b self, planned: &'b Planned) -> Option<&'b str> {
        let own = planned.host.as_deref();
        own.or_else(|| self.by_kind.get(&planned.kind).map(String::as_str))
    }
}

/// All starts, soonest first.
fn starts<'a>(known: &Known<'a>, hosts: &'a Hosts<'_>) -> Vec<Start<'a>> {
    let tasks = known.coming.tasks.iter().map(|it| Start {
        at: it.at,
        kind: &it.kind,
        host: hosts.of_tasks(it),
        what: What::Tasks(it.tasks),
    });
    let slots = known.planned.iter().flat_map(|schedule| {
        let host = hosts.of_schedule(schedule);
        schedule.slots.iter().map(move |it| Start {
            at: whole_second(it.due_at),
            kind: &schedule.kind,
            host,
            what: What::Slot(schedule, it.slot),
        })
    });
    let mut starts: Vec<Start<'a>> = tasks.chain(slots).collect();
    starts.sort_by_key(|start| start.at);
    starts
}
