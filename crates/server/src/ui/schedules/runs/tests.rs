//! Slots unrolled and joined.

use std::sync::Arc;

use almanack_core::{
    plan::{Definition, Reason},
    schedule::Zone,
    target::Target,
};

use super::*;

fn hourly() -> Ready {
    let target = Target::webhook("https://example.org/");
    let name = ScheduleName::parse("x").unwrap();
    let definition = Definition::new("0 * * * *", target);
    Ready::new(&name, definition, &Arc::new(Zone::utc())).unwrap()
}

fn at(hour: i64) -> Timestamp {
    Timestamp::from_second(1_767_600_000 + hour * 3_600).unwrap()
}

fn row(first: i64, last: i64, slots: u64, verdict: Verdict) -> Slot {
    Slot {
        slot_at: at(first),
        last_at: at(last),
        slots,
        verdict,
        detail: None,
        revision: 1,
        decided_at: at(last),
    }
}

#[test]
fn rows_are_unrolled_into_slots_and_no_more_than_are_shown() {
    let paused = Verdict::Skipped(Reason::Paused);
    let rows = [
        row(5, 5, 1, Verdict::Fired),
        row(2, 4, 3, paused),
        row(1, 1, 1, Verdict::Fired),
    ];
    let ready = hourly();
    let slots: Vec<_> = unroll(&rows, Some(&ready))
        .iter()
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(slots, [at(5), at(4), at(3), at(2), at(1)]);
    let long = [row(0, 719_999, 720_000, paused)];
    let slots = unroll(&long, Some(&ready));
    assert_eq!((slots.len(), slots[0].0), (SHOWN, at(719_999)));
    let unknown = unroll(&rows, None);
    assert_eq!(unknown.len(), 3, "without a rule, one for each row");
}

#[test]
fn what_is_no_longer_kept_is_said_to_be_so() {
    let paused = Verdict::Skipped(Reason::Paused);
    let became = |verdict| became(Lang::English, verdict, None);
    let reason = words::reason(Lang::English, Reason::Paused);
    assert_eq!(became(paused), (Outcome::Skipped, Some(reason)));
    let deleted = Some("its firing was deleted by retention");
    assert_eq!(became(Verdict::Fired), (Outcome::Unknown, deleted));
}

#[test]
fn a_spread_is_of_lengths_that_were_measured() {
    let of = |seconds: &[i64]| {
        let lengths = seconds.iter().map(|s| SignedDuration::from_secs(*s));
        spread(lengths).map(|[half, most]| (half.as_secs(), most.as_secs()))
    };
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[7]), Some((7, 7)));
    assert_eq!(of(&[4, 1, 3, 2]), Some((2, 4)));
    let hundred: Vec<i64> = (1..=100).collect();
    assert_eq!(of(&hundred), Some((50, 95)));
}

#[test]
fn the_interval_is_the_shortest_gap_ahead() {
    assert_eq!(
        interval(&hourly(), at(0)),
        Some(SignedDuration::from_hours(1))
    );
}
