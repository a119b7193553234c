//! Compares the slot ledger of a chaos run with the schedule's expression.

use almanack_core::plan::{Slot, Verdict as Became};
use almanack_lab::chaos::report::SlotFigures;
use jiff::Timestamp;

/// Compares a ledger with the slots of an expression. Exactly one row must cover every slot.
pub(super) fn account(schedule: &str, expected: &[Timestamp], ledger: &[Slot]) -> SlotFigures {
    let mut figures = SlotFigures {
        schedule: schedule.to_owned(),
        slots: expected.len() as u64,
        ..SlotFigures::default()
    };
    for slot in expected {
        let covers = |row: &&Slot| (row.slot_at..=row.last_at).contains(slot);
        let mut rows = ledger.iter().filter(covers);
        match (rows.next(), rows.next()) {
            (None, _) => figures.missing += 1,
            (Some(_), Some(_)) => figures.doubled += 1,
            (Some(row), None) => match row.verdict {
                Became::Fired | Became::Pinged => figures.fired += 1,
                Became::CaughtUp => figures.caught_up += 1,
                Became::Skipped(reason) => {
                    *figures
                        .skipped
                        .entry(reason.as_str().to_owned())
                        .or_default() += 1;
                }
            },
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use almanack_core::plan::Reason;

    use super::*;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_second(s).unwrap()
    }

    fn row(from: i64, until: i64, verdict: Became) -> Slot {
        Slot {
            slot_at: at(from),
            last_at: at(until),
            slots: (until - from).unsigned_abs() + 1,
            verdict,
            detail: None,
            revision: 1,
            decided_at: at(until),
        }
    }

    fn slots(seconds: std::ops::Range<i64>) -> Vec<Timestamp> {
        seconds.map(at).collect()
    }

    #[test]
    fn a_ledger_that_covers_every_slot_once_misses_and_doubles_nothing() {
        let ledger = [
            row(1, 1, Became::Fired),
            row(2, 3, Became::Skipped(Reason::TooLate)),
            row(4, 4, Became::CaughtUp),
        ];
        let figures = account("x", &slots(1..5), &ledger);
        assert_eq!((figures.slots, figures.fired, figures.caught_up), (4, 1, 1));
        assert_eq!(figures.skipped["too_late"], 2);
        assert_eq!((figures.missing, figures.doubled), (0, 0));
    }

    #[test]
    fn a_slot_left_out_and_a_slot_reported_twice_are_found() {
        let ledger = [row(1, 1, Became::Fired), row(1, 1, Became::CaughtUp)];
        let figures = account("x", &slots(1..3), &ledger);
        assert_eq!((figures.missing, figures.doubled), (1, 1));
    }
}
