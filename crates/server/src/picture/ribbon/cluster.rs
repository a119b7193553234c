//! Joins marks that are too close to each other.
//!
//! A lane may contain a handful of firings or a check every minute, and a page has room for a few
//! hundred marks. Marks are joined along the lane: first equal ones that would overlap, then, while
//! there are too many, equal ones farther apart, and at last unequal ones.
//!
//! What must stay true: every mark is in exactly one cluster, clusters keep the order of their
//! marks, there are never more than allowed, and planned marks are joined with past ones only as a
//! last resort.

use crate::picture::prelude::*;

/// Equal marks closer than this are always joined.
const NEAR: f64 = 3.0;

/// A positioned mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    /// Its end; equal to its start if it is an instant.
    pub(super) end: f64,
    pub(super) outcome: Outcome,
    /// Which of the lane's marks it is.
    pub(super) index: usize,
}

/// Marks shown as one: never empty, in order of their start.
pub(super) type Cluster = Vec<Point>;

pub(super) fn counts(cluster: &[Point]) -> Counts {
    cluster.iter().map(|point| point.outcome).collect()
}

/// Which neighbours may be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kin {
    /// Of the same outcome.
    Equal,
    /// Both planned, or neither.
    SameSide,
    Any,
}

/// Distance and rule, in the order tried.
const LEVELS: [(f64, Kin); 12] = [
    (NEAR, Kin::Equal),
    (6.0, Kin::Equal),
    (12.0, Kin::Equal),
    (24.0, Kin::Equal),
    (48.0, Kin::Equal),
    (96.0, Kin::Equal),
    (12.0, Kin::SameSide),
    (24.0, Kin::SameSide),
    (48.0, Kin::SameSide),
    (96.0, Kin::SameSide),
    (f64::INFINITY, Kin::SameSide),
    (f64::INFINITY, Kin::Any),
];

/// Joins marks until there are at most `most` clusters.
pub(super) fn join(mut points: Vec<Point>, most: usize) -> Vec<Cluster> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.index.cmp(&b.index)));
    let mut clusters = Vec::new();
    for (near, kin) in LEVELS {
        clusters = join_at(&points, near, kin);
        if clusters.len() <= most.max(1) {
            break;
        }
    }
    clusters
}

fn join_at(points: &[Point], near: f64, kin: Kin) -> Vec<Cluster> {
    let joined = |a: &Point, b: &Point| b.x - a.x < near && related(a.outcome, b.outcome, kin);
    points.chunk_by(joined).map(<[Point]>::to_vec).collect()
}

fn related(a: Outcome, b: Outcome, kin: Kin) -> bool {
    match kin {
        Kin::Equal => a == b,
        Kin::SameSide => (a == Outcome::Planned) == (b == Outcome::Planned),
        Kin::Any => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points() -> impl Strategy<Value = Vec<Point>> {
        let point = (
            0.0..850.0_f64,
            0.0..50.0_f64,
            prop::sample::select(Outcome::ALL.to_vec()),
        );
        prop::collection::vec(point, 0..400).prop_map(|points| {
            let points = points.into_iter().enumerate();
            points
                .map(|(index, (x, length, outcome))| Point {
                    x,
                    end: x + length,
                    outcome,
                    index,
                })
                .collect()
        })
    }

    fn at(x: f64, outcome: Outcome) -> Point {
        Point {
            x,
            end: x,
            outcome,
            index: 0,
        }
    }

    fn sizes(points: &[(f64, Outcome)], most: usize) -> Vec<usize> {
        let points = points.iter().map(|(x, outcome)| at(*x, *outcome)).collect();
        join(points, most).iter().map(Vec::len).collect()
    }

    #[test]
    fn near_and_equal_marks_become_one() {
        use Outcome::{Done, Failed, Planned};
        for (why, points, most, expected) in [
            ("nothing", &[][..], 9, &[][..]),
            ("near and equal", &[(1.0, Done), (3.9, Done)], 9, &[2]),
            ("not near", &[(1.0, Done), (4.0, Done)], 9, &[1, 1]),
            (
                "not equal",
                &[(1.0, Done), (2.0, Failed), (3.0, Done)],
                9,
                &[1, 1, 1],
            ),
            ("a chain", &[(1.0, Done), (3.0, Done), (5.0, Done)], 9, &[3]),
            (
                "too many: wider",
                &[(0.0, Done), (50.0, Done), (200.0, Done)],
                2,
                &[2, 1],
            ),
            (
                "too many: the past",
                &[(0.0, Done), (5.0, Failed), (9.0, Planned)],
                2,
                &[2, 1],
            ),
            (
                "too many: all",
                &[(0.0, Done), (5.0, Failed), (9.0, Planned)],
                1,
                &[3],
            ),
        ] {
            assert_eq!(sizes(points, most), expected, "{why}");
        }
    }

    proptest! {
        #[test]
        fn no_mark_is_lost_and_none_counted_twice(points in points(), most in 1..60_usize) {
            let clusters = join(points.clone(), most);
            prop_assert!(clusters.len() <= most);
            let mut indexes: Vec<usize> = clusters.iter().flatten().map(|p| p.index).collect();
            indexes.sort_unstable();
            prop_assert_eq!(indexes, (0..points.len()).collect::<Vec<_>>());
            let total: usize = clusters.iter().map(|cluster| counts(cluster).total()).sum();
            prop_assert_eq!(total, points.len());
        }

        #[test]
        fn clusters_keep_the_order_of_their_marks(points in points(), most in 1..60_usize) {
            let clusters = join(points, most);
            prop_assert!(clusters.iter().all(|cluster| !cluster.is_empty()));
            let places = clusters.iter().flatten().map(|point| point.x);
            prop_assert!(places.is_sorted());
        }
    }
}
