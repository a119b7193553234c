//! Seconds in which many things start.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{Start, What, spread, spread::Spread};
use crate::{plan::ScheduleName, reserved, task::Kind};

/// Most members of a herd, and most schedules of a member, that are shown.
const MEMBERS_MAX: usize = 20;

/// A second in which many things start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Herd {
    pub at: Timestamp,
    /// How many things start in this second.
    pub count: u64,
    /// In how many seconds of the window the same members start together, this one included.
    pub times: u64,
    /// What starts, largest first, at most 20.
    pub members: Vec<Member>,
    /// What would dissolve it; absent if nothing in it can be moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// What starts in a herd: of one kind, at one host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = HerdMember))]
pub struct Member {
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How many waiting tasks.
    pub tasks: u64,
    /// How many schedules.
    pub schedules: u64,
    /// Their names, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<ScheduleName>,
}

/// Starts per second.
pub(super) type Seconds = BTreeMap<Timestamp, u64>;

/// The soonest `limit` herds, and how many more there are. Herds of the same members are one: what
/// dissolves the first dissolves the others.
pub(super) fn find(starts: &[Start<'_>], herd_min: u64, limit: usize) -> (Vec<Herd>, usize) {
    let seconds = per_second(starts);
    let mut herds: Vec<Herd> = Vec::new();
    let mut known: BTreeMap<Vec<Member>, usize> = BTreeMap::new();
    let mut missing = 0;
    for together in starts.chunk_by(|a, b| a.at == b.at) {
        let count: u64 = together.iter().map(Start::count).sum();
        if count < herd_min.max(2) {
            continue;
        }
        let members = members(together);
        match known.get(&members) {
            Some(place) => herds[*place].times += 1,
            None if herds.len() < limit => {
                known.insert(members.clone(), herds.len());
                herds.push(herd(together, members, &seconds, herd_min));
            }
            None => missing += 1,
        }
    }
    (herds, missing)
}

/// What starts at one second, however much it is.
pub(super) fn at(starts: &[Start<'_>], at: Timestamp, herd_min: u64) -> Option<Herd> {
    let first = starts.partition_point(|start| start.at < at);
    let together = starts[first..].chunk_by(|a, b| a.at == b.at).next()?;
    let is_there = together.first().is_some_and(|start| start.at == at);
    is_there.then(|| {
        let seconds = per_second(starts);
        // Whoever asks for it calls it a herd.
        let count = together.iter().map(Start::count).sum();
        herd(together, members(together), &seconds, herd_min.min(count))
    })
}

fn per_second(starts: &[Start<'_>]) -> Seconds {
    let mut seconds = Seconds::new();
    for start in starts {
        *seconds.entry(start.at).or_default() += start.count();
    }
    seconds
}

fn herd(
    together: &[Start<'_>],
    mut members: Vec<Member>,
    seconds: &Seconds,
    herd_min: u64,
) -> Herd {
    let at = together.first().map_or(Timestamp::MIN, |start| start.at);
    members.truncate(MEMBERS_MAX);
    Herd {
        at,
        count: together.iter().map(Start::count).sum(),
        times: 1,
        members,
        spread: spread::propose(&movable(at, together), seconds, herd_min),
    }
}

/// What of a second can be moved.
fn movable<'a>(at: Timestamp, together: &[Start<'a>]) -> spread::Movable<'a> {
    let mut movable = spread::Movable {
        at,
        ..spread::Movable::default()
    };
    for start in together {
        match start.what {
            What::Slot(schedule, slot) => movable.slots.push((schedule, slot)),
            What::Tasks(tasks) if reserved::is_reserved(start.kind) => movable.fixed += tasks,
            What::Tasks(tasks) => movable.tasks += tasks,
        }
    }
    movable
}

fn members(together: &[Start<'_>]) -> Vec<Member> {
    let mut members: BTreeMap<(&Kind, Option<&str>), Member> = BTreeMap::new();
    for start in together {
        let member = members
            .entry((start.kind, start.host))
            .or_insert_with(|| Member {
                kind: start.kind.clone(),
                host: start.host.map(str::to_owned),
                tasks: 0,
                schedules: 0,
                names: Vec::new(),
            });
        match start.what {
            What::Tasks(tasks) => member.tasks += tasks,
            What::Slot(schedule, _) => {
                member.schedules += 1;
                if member.names.len() < MEMBERS_MAX {
                    member.names.push(schedule.name.clone());
                }
            }
        }
    }
    let mut members: Vec<Member> = members.into_values().collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.tasks + member.schedules));
    members
}
