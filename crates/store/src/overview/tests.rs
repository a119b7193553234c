//! Which claims the latest ends are looked for under.

use almanack_core::{
    store::TaskLine,
    task::{Identity, Kind, Status, Subject, TaskId},
};
use jiff::Timestamp;
use proptest::prelude::*;

use super::{Latest, soonest};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn line(id: i64, kind: &str, second: i64) -> TaskLine {
    let identity = Identity {
        subject: Subject::parse(&format!("s:{id}")).unwrap(),
        kind: Kind::parse(kind).unwrap(),
    };
    TaskLine {
        id: TaskId(id),
        identity,
        status: Status::Success,
        execute_at: at(0),
        due_at: Some(at(second)),
        attempt: 1,
        max_retry: 3,
        origin: String::new(),
        node: None,
        detail: None,
        created_at: at(0),
        started_at: Some(at(0)),
        finished_at: Some(at(second)),
    }
}

proptest! {
    /// Stopping where there is no room any more misses nothing, in whatever order the ends of a
    /// claim come.
    #[test]
    fn the_latest_ends_are_those_of_all_claims(
        claims in prop::collection::vec((1_i64..50, prop::collection::vec(0_i64..50, 0..4)), 0..20),
        limit in 0_usize..10,
    ) {
        let mut claims = claims;
        claims.sort_by_key(|(lease, _)| std::cmp::Reverse(*lease));
        let mut id = 0;
        let mut under = |lease: i64, ends: &[i64]| -> Vec<TaskLine> {
            let ends = ends.iter().map(|end| {
                id += 1;
                line(id, "K", end % lease)
            });
            ends.collect()
        };
        let claims: Vec<(i64, Vec<TaskLine>)> = claims
            .iter()
            .map(|(lease, ends)| (*lease, under(*lease, ends)))
            .collect();
        let mut latest = Latest::new(limit);
        for (lease, lines) in &claims {
            if !latest.has_room(at(*lease)) {
                break;
            }
            latest.add(lines.clone());
        }
        let mut all: Vec<TaskLine> = claims.into_iter().flat_map(|(_, lines)| lines).collect();
        all.sort_by_key(|line| std::cmp::Reverse((line.finished_at, line.id)));
        all.truncate(limit);
        let ends = |lines: Vec<TaskLine>| -> Vec<_> {
            lines.into_iter().map(|line| line.finished_at).collect()
        };
        prop_assert_eq!(ends(latest.into_lines()), ends(all));
    }
}

#[test]
fn a_claim_met_twice_is_reported_once() {
    let mut latest = Latest::new(5);
    latest.add(vec![line(1, "K", 9), line(2, "K", 8)]);
    latest.add(vec![line(2, "K", 8)]);
    assert_eq!(latest.into_lines().len(), 2);
}

#[test]
fn the_soonest_of_each_kind_are_reported_in_one_order() {
    let found = vec![
        line(1, "A", 3),
        line(2, "A", 1),
        line(3, "B", 2),
        line(4, "A", 2),
    ];
    let ids: Vec<i64> = soonest(found, 2).iter().map(|line| line.id.0).collect();
    assert_eq!(ids, [2, 3, 4]);
}
