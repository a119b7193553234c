//! What is counted of a schedule, a monitor or an edition.
//!
//! A slot counts once its outcome is known: a firing when its work ended, a ping when it came, a
//! slot that nobody planned in time or that no ping met as failed. What was left out on purpose
//! (a pause, a holiday, an overlap, a cancelled firing) does not count, and neither does a firing
//! whose task retention has deleted.

use std::collections::BTreeMap;

use almanack_core::edition::{EditionName, State as EditionState};
use almanack_core::follow::CourseOutcome;
use almanack_core::plan::{Reason, Schedule, Slot, Verdict, slot_identity};
use almanack_core::store::{EditionFilter, LedgerPage};
use almanack_core::task::Identity;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{DAYS, Day, Days, day_of};
use crate::prelude::*;
use crate::schedules::view::courses_of;

/// Ledger rows of one schedule that one count reads, and how many at once. A schedule that fires
/// more often has fewer days on the page after a start; they become more while the node runs.
const ROWS_MAX: usize = 5_000;
const ROWS_AT_ONCE: usize = 500;

/// What succeeded and failed on each day.
#[derive(Debug, Default)]
pub(super) struct Counted {
    days: BTreeMap<Date, [u64; 2]>,
    /// Whether the newest that counts succeeded.
    pub(super) latest: Option<bool>,
}

impl Counted {
    pub(super) fn add(&mut self, on: Date, succeeded: bool, times: u64) {
        let day = self.days.entry(on).or_default();
        day[usize::from(!succeeded)] += times;
    }

    pub(super) fn day(&self, on: Date) -> Day {
        let [succeeded, failed] = self.days.get(&on).copied().unwrap_or_default();
        Day {
            on,
            succeeded,
            failed,
        }
    }
}

/// What became of the slots from `from` on.
pub(super) async fn schedule(state: &AppState, schedule: &Schedule, from: Date) -> Result<Counted> {
    let mut counted = Counted::default();
    let mut before = Timestamp::MAX;
    for _ in 0..ROWS_MAX / ROWS_AT_ONCE {
        let page = LedgerPage {
            before,
            limit: ROWS_AT_ONCE,
        };
        let rows = state.store.load_slots(schedule.id, page).await?;
        let outcomes = outcomes(state, schedule, &rows).await?;
        for (row, outcome) in rows.iter().zip(outcomes) {
            let Some(succeeded) = outcome else { continue };
            counted.latest.get_or_insert(succeeded);
            for (on, times) in by_day(row) {
                if on >= from {
                    counted.add(on, succeeded, times);
                }
            }
        }
        match rows.last() {
            Some(last) if rows.len() == ROWS_AT_ONCE && day_of(last.slot_at) >= from => {
                before = last.slot_at;
            }
            _ => break,
        }
    }
    Ok(counted)
}

/// Whether each of the rows succeeded; `None` for what does not count.
async fn outcomes(
    state: &AppState,
    schedule: &Schedule,
    rows: &[Slot],
) -> Result<Vec<Option<bool>>> {
    let fired = || rows.iter().filter(|row| row.verdict.is_fired());
    let identity = |row: &Slot| slot_identity(&schedule.name, row.slot_at);
    let identities: Vec<Identity> = fired().map(identity).collect::<Result<_, _>>()?;
    let tasks = state.store.load_current(&identities).await?;
    let slots = fired().map(|row| row.slot_at);
    let mut courses = courses_of(state, slots, &tasks).await?.into_iter();
    let outcomes = rows.iter().map(|row| {
        let is_fired = row.verdict.is_fired();
        let course = is_fired.then(|| courses.next().flatten()).flatten();
        outcome(row, course.map(|course| course.outcome))
    });
    Ok(outcomes.collect())
}

fn outcome(row: &Slot, course: Option<CourseOutcome>) -> Option<bool> {
    match (row.verdict, course) {
        // A ping that reported a failure left a note.
        (Verdict::Pinged, _) => Some(row.detail.is_none()),
        (Verdict::Fired | Verdict::CaughtUp, Some(CourseOutcome::Done)) => Some(true),
        (Verdict::Fired | Verdict::CaughtUp, Some(CourseOutcome::Failed))
        | (
            Verdict::Skipped(
                Reason::TooLate | Reason::NotCaughtUp | Reason::OverCap | Reason::NoPing,
            ),
            _,
        ) => Some(false),
        _ => None,
    }
}

/// The slots of a row by day. Between its first and its last one they are taken to be evenly
/// spaced, so a row of a million slots costs no more than its days.
fn by_day(row: &Slot) -> Vec<(Date, u64)> {
    let (first, last) = (row.slot_at.as_microsecond(), row.last_at.as_microsecond());
    let until = |us: i64| match us {
        _ if us >= last => row.slots,
        _ if us < first => 0,
        _ => {
            let (passed, gaps) = (i128::from(us - first), i128::from(row.slots) - 1);
            let whole = passed * gaps / i128::from(last - first) + 1;
            u64::try_from(whole).unwrap_or(0)
        }
    };
    let mut days = Vec::new();
    let mut counted = 0;
    let mut on = day_of(row.slot_at);
    while counted < row.slots {
        let Ok(next) = on.tomorrow() else { break };
        let Ok(midnight) = next.to_zoned(TimeZone::UTC) else {
            break;
        };
        let passed = until(midnight.timestamp().as_microsecond() - 1);
        days.push((on, passed - counted));
        (counted, on) = (passed, next);
    }
    days
}

/// An edition counts once readers have it, or once it is clear that they will not.
pub(super) async fn edition(state: &AppState, name: EditionName, days: &Days) -> Result<Counted> {
    let filter = EditionFilter {
        name: Some(name),
        limit: usize::try_from(DAYS).unwrap_or_default(),
        ..EditionFilter::default()
    };
    let mut counted = Counted::default();
    for line in state.store.list_editions(&filter).await? {
        let edition = line.edition;
        let succeeded = match edition.archived_from.unwrap_or(edition.state) {
            EditionState::Published => true,
            EditionState::Empty => false,
            _ if edition.state == EditionState::Archived => false,
            _ => continue,
        };
        counted.latest.get_or_insert(succeeded);
        if (days.first..=days.today).contains(&edition.id.date) {
            counted.add(edition.id.date, succeeded, 1);
        }
    }
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(first: &str, last: &str, slots: u64, verdict: Verdict) -> Slot {
        let at = |text: &str| text.parse().unwrap();
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
    fn a_row_of_many_slots_is_counted_on_their_days() {
        let missed = Verdict::Skipped(Reason::NoPing);
        for (first, last, slots, expected) in [
            (
                "2026-01-05T08:00:00Z",
                "2026-01-05T08:00:00Z",
                1,
                vec![("2026-01-05", 1)],
            ),
            (
                "2026-01-05T22:00:00Z",
                "2026-01-06T01:00:00Z",
                4,
                vec![("2026-01-05", 2), ("2026-01-06", 2)],
            ),
            (
                "2026-01-02T09:00:00Z",
                "2026-01-05T09:00:00Z",
                2,
                vec![
                    ("2026-01-02", 1),
                    ("2026-01-03", 0),
                    ("2026-01-04", 0),
                    ("2026-01-05", 1),
                ],
            ),
            // A second-by-second schedule that slept from noon to noon.
            (
                "2026-01-05T12:00:00Z",
                "2026-01-06T11:59:59Z",
                86_400,
                vec![("2026-01-05", 43_200), ("2026-01-06", 43_200)],
            ),
        ] {
            let days = by_day(&row(first, last, slots, missed));
            let days: Vec<_> = days.iter().map(|(on, n)| (on.to_string(), *n)).collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(on, n)| ((*on).to_owned(), *n))
                .collect();
            assert_eq!(days, expected, "{first} to {last}");
        }
    }

    #[test]
    fn only_what_is_known_and_was_meant_to_happen_counts() {
        use CourseOutcome::{Cancelled, Done, Failed, Retrying, Running, Waiting};
        let at = "2026-01-05T08:00:00Z";
        let counts = |verdict, course| outcome(&row(at, at, 1, verdict), course);
        for (course, expected) in [
            (Some(Done), Some(true)),
            (Some(Failed), Some(false)),
            (Some(Waiting), None),
            (Some(Running), None),
            (Some(Retrying), None),
            (Some(Cancelled), None),
            (None, None),
        ] {
            assert_eq!(counts(Verdict::Fired, course), expected, "{course:?}");
        }
        for reason in Reason::ALL {
            let missed = matches!(
                reason,
                Reason::TooLate | Reason::NotCaughtUp | Reason::OverCap | Reason::NoPing
            );
            let expected = missed.then_some(false);
            assert_eq!(
                counts(Verdict::Skipped(reason), None),
                expected,
                "{reason:?}"
            );
        }
        let mut failed = row(at, at, 1, Verdict::Pinged);
        assert_eq!(outcome(&failed, None), Some(true));
        failed.detail = Some("failed".to_owned());
        assert_eq!(outcome(&failed, None), Some(false));
    }
}
