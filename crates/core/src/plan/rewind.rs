//! Taking a schedule back to the present, after a clock that was ahead had planned it (DP-24).
//!
//! Such a clock leaves a cursor in the future and ledger rows of slots that have not come. No node
//! would look at the schedule again before then. Rewound, it is as if nothing from now on had been
//! decided: those rows go, and the first of their slots is the next. A slot whose firing exists
//! does not fire again anyway: its identity is taken (DP-05).

use jiff::{SignedDuration, Timestamp};

use super::{Ready, Schedule, Slot, State, look_at};

/// A cursor so little ahead is another node's, whose clock is a moment faster.
pub const AHEAD_MIN: SignedDuration = SignedDuration::from_mins(1);

/// A schedule taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewound {
    /// The row with its cursor in the present.
    pub schedule: Schedule,
    /// Ledger rows from this slot on go.
    pub from: Timestamp,
}

/// Whether slots that have not come are behind the cursor.
pub fn is_ahead(schedule: &Schedule, ready: &Ready, now: Timestamp) -> bool {
    let used_up = ready.runs_left(schedule.runs) == Some(0);
    if used_up || matches!(schedule.state, State::Parked { .. }) {
        return false;
    }
    let coming = now.saturating_add(AHEAD_MIN).ok();
    let coming = coming.and_then(|at| ready.next_after(at));
    coming.is_some_and(|slot| schedule.next_at.is_none_or(|next| slot < next))
}

/// Takes a schedule back, if it is ahead. `newest` is the newest ledger row that begins at or
/// before `now`: one that reaches into the future was decided by the wrong clock, and goes whole.
pub fn rewind(
    schedule: &Schedule,
    ready: &Ready,
    newest: Option<&Slot>,
    now: Timestamp,
) -> Option<Rewound> {
    if !is_ahead(schedule, ready, now) {
        return None;
    }
    let reaching = newest.filter(|row| row.last_at > now);
    let from = reaching.map(|row| row.slot_at);
    let from = from.or_else(|| ready.next_after(now))?;
    let mut rewound = schedule.clone();
    rewound.next_at = Some(from);
    rewound.waits_since = None;
    if let State::Active | State::Done { .. } = schedule.state {
        rewound.state = State::Active;
        rewound.look_at = Some(look_at(ready, from));
    }
    Some(Rewound {
        schedule: rewound,
        from,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{
        Verdict,
        tests::{ready, schedule},
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn row(from: i64, to: i64) -> Slot {
        Slot {
            slot_at: at(from),
            last_at: at(to),
            slots: 1,
            verdict: Verdict::Fired,
            detail: None,
            revision: 1,
            decided_at: at(to),
        }
    }

    #[test]
    fn dp_24_only_a_cursor_that_is_ahead_is_taken_back() {
        let ready = ready("@10s", "{}");
        let now = at(1_000_000);
        for (next, back, why) in [
            (Some(1_000_000), None, "due now"),
            (Some(1_000_010), None, "the next slot"),
            (Some(1_000_060), None, "a faster node's"),
            (Some(1_086_400), Some(1_000_010), "a day ahead"),
            (None, Some(1_000_010), "after the last slot there is"),
        ] {
            let mut found = schedule(&ready, now);
            found.next_at = next.map(at);
            let rewound = rewind(&found, &ready, Some(&row(999_990, 999_990)), now);
            assert_eq!(rewound.map(|it| it.from), back.map(at), "{why}");
        }
    }

    #[test]
    fn dp_24_a_row_that_reaches_into_the_future_goes_whole() {
        let ready = ready("@10s", "{}");
        let mut found = schedule(&ready, at(0));
        found.next_at = Some(at(1_086_400));
        found.waits_since = Some(at(1_086_300));
        let now = at(1_000_000);
        let rewound = rewind(&found, &ready, Some(&row(999_980, 1_086_390)), now).unwrap();
        assert_eq!(rewound.from, at(999_980));
        assert_eq!(rewound.schedule.next_at, Some(at(999_980)));
        assert_eq!(rewound.schedule.look_at, Some(at(999_980)), "due at once");
        assert_eq!(rewound.schedule.waits_since, None);
    }
}
