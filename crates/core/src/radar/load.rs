//! Starts per minute.

use std::{cmp::Reverse, collections::BTreeMap};

use jiff::Timestamp;
use serde::Serialize;

use super::Start;
use crate::{reserved, task::Kind};

/// What a kind or a host has to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RadarLoad))]
pub struct Load {
    /// The kind or the host.
    pub name: String,
    /// Whether it is a kind of Almanack's own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub internal: bool,
    /// How many things start.
    pub total: u64,
    /// The busiest minute.
    pub peak: Peak,
    /// Minutes in which something starts: how many minutes after `from`, and how many starts.
    pub minutes: Vec<(u32, u64)>,
}

/// The busiest minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RadarPeak))]
pub struct Peak {
    pub at: Timestamp,
    /// How many things start in this minute.
    pub count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Kind,
    Host,
}

/// The largest `limit` loads, and how many more there are.
pub(super) fn of(
    from: Timestamp,
    starts: &[Start<'_>],
    by: By,
    limit: usize,
) -> (Vec<Load>, usize) {
    let mut by_name: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
    for start in starts {
        let name = match by {
            By::Kind => Some(start.kind.as_str()),
            By::Host => start.host,
        };
        let minute = u32::try_from(start.at.duration_since(from).as_mins());
        if let (Some(name), Ok(minute)) = (name, minute) {
            *by_name.entry(name).or_default().entry(minute).or_default() += start.count();
        }
    }
    let loads = by_name.into_iter();
    let mut loads: Vec<Load> = loads
        .filter_map(|(name, minutes)| load(from, name, by, minutes))
        .collect();
    loads.sort_by_key(|load| (load.internal, Reverse(load.total)));
    let missing = loads.len().saturating_sub(limit);
    loads.truncate(limit);
    (loads, missing)
}

fn load(from: Timestamp, name: &str, by: By, minutes: BTreeMap<u32, u64>) -> Option<Load> {
    // Of several that are alike, the first.
    let busiest = minutes
        .iter()
        .max_by_key(|(at, count)| (**count, Reverse(**at)));
    let (minute, count) = busiest?;
    let after = jiff::SignedDuration::from_mins(i64::from(*minute));
    let is_own = |kind: Kind| reserved::is_reserved(&kind);
    Some(Load {
        name: name.to_owned(),
        internal: by == By::Kind && Kind::parse(name).is_ok_and(is_own),
        total: minutes.values().sum(),
        peak: Peak {
            at: from.saturating_add(after).unwrap_or(from),
            count: *count,
        },
        minutes: minutes.into_iter().collect(),
    })
}
