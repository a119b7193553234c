//! How a claim's slots are shared among the lanes that have work.
//!
//! A lane is one kind at one priority. Higher priorities are served first; lanes of one priority
//! share what is left evenly, so that one kind's backlog cannot starve another. PostgreSQL does the
//! same inside its claim statement ([`crate::claim::postgres::CLAIM_POSTGRES`]).

use almanack_core::task::Kind;

/// A lane with due work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) kind: String,
    pub(crate) priority: i32,
}

/// How many tasks to take from each lane, highest priority first. Lanes may have fewer: the taker
/// stops when the slots are used up. A kind with a limit is served from its highest lane alone, so
/// that its lanes together cannot pass the limit; the next claim, which follows at once while
/// anything is due, serves the next lane.
pub(crate) fn shares(
    mut lanes: Vec<Lane>,
    slots: usize,
    limits: &[(Kind, usize)],
) -> Vec<(Lane, usize)> {
    let limit = |kind: &str| limits.iter().find(|(limited, _)| limited.as_str() == kind);
    let room = |kind: &str| limit(kind).map_or(slots, |(_, room)| *room);
    lanes.retain(|lane| room(&lane.kind) > 0);
    lanes.sort_by(|a, b| (b.priority, &a.kind).cmp(&(a.priority, &b.kind)));
    let mut served: Vec<String> = Vec::new();
    lanes.retain(|lane| {
        let first = !served.contains(&lane.kind);
        served.push(lane.kind.clone());
        first || limit(&lane.kind).is_none()
    });
    let peers = |lane: &Lane| {
        lanes
            .iter()
            .filter(|other| other.priority == lane.priority)
            .count()
    };
    let shares: Vec<usize> = lanes
        .iter()
        .map(|lane| (slots / peers(lane)).max(1).min(room(&lane.kind)))
        .collect();
    lanes.into_iter().zip(shares).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(kind: &str, priority: i32) -> Lane {
        Lane {
            kind: kind.to_owned(),
            priority,
        }
    }

    #[test]
    fn higher_priorities_come_first_and_equals_share_evenly() {
        let lanes = vec![lane("A", 5), lane("B", 5), lane("C", 9)];
        let shared = shares(lanes, 10, &[]);
        let expected = vec![(lane("C", 9), 10), (lane("A", 5), 5), (lane("B", 5), 5)];
        assert_eq!(shared, expected);
    }

    #[test]
    fn a_full_kind_is_stepped_over_and_leaves_its_share_to_the_others() {
        let limits = [
            (Kind::parse("A").unwrap(), 0),
            (Kind::parse("B").unwrap(), 2),
        ];
        let shared = shares(vec![lane("A", 5), lane("B", 5), lane("C", 5)], 10, &limits);
        assert_eq!(shared, vec![(lane("B", 5), 2), (lane("C", 5), 5)]);
    }

    #[test]
    fn a_limited_kind_is_served_from_its_highest_lane_alone() {
        let limits = [(Kind::parse("A").unwrap(), 3)];
        let shared = shares(vec![lane("A", 5), lane("A", 7), lane("B", 5)], 10, &limits);
        assert_eq!(shared, vec![(lane("A", 7), 3), (lane("B", 5), 10)]);
    }

    #[test]
    fn every_lane_gets_at_least_one_when_there_are_more_lanes_than_slots() {
        let lanes = (0..9).map(|n| lane(&format!("K{n}"), 5)).collect();
        assert!(shares(lanes, 4, &[]).iter().all(|(_, share)| *share == 1));
    }
}
