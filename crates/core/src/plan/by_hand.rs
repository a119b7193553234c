//! Firings that people asked for, beside the slots of the ledger.
//!
//! The ledger records what a schedule did; a firing by hand or of a backfill is a task alone. Who
//! looks at a schedule's slots wants to see both, in the order of the times they fired for.

use jiff::Timestamp;
use serde::Serialize;

use super::{ScheduleName, Slot, slot_identity};
use crate::task::Identity;

/// What a subject has before the time of a manual firing.
const MANUAL: &str = "manual-";

names! {
    /// What kind of request made a firing.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ByHand {
        /// A firing at the time of the request.
        Manual = "manual",
        /// A slot of the past.
        Backfilled = "backfilled",
    }
}

/// A firing that a person asked for, as a row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FiredByHand {
    #[serde(skip)]
    pub identity: Identity,
    /// The slot of a backfill, or when a manual firing was requested.
    pub slot_at: Timestamp,
    /// The same.
    pub last_at: Timestamp,
    /// One.
    pub slots: u64,
    /// Which of the two.
    pub verdict: ByHand,
    /// Who requested it.
    pub by: String,
    /// When it was requested.
    pub decided_at: Timestamp,
}

impl FiredByHand {
    /// Reads what a firing's subject says; `None` if it is none of the schedule's.
    pub fn read(
        schedule: &ScheduleName,
        identity: Identity,
        by: String,
        decided_at: Timestamp,
    ) -> Option<Self> {
        let at = identity.subject.as_str().strip_prefix("schedule:")?;
        let at = at.strip_prefix(schedule.as_str())?.strip_prefix('@')?;
        let (verdict, at) = match at.strip_prefix(MANUAL) {
            Some(at) => (ByHand::Manual, at),
            None => (ByHand::Backfilled, at),
        };
        let slot_at = at.parse().ok()?;
        Some(Self {
            identity,
            slot_at,
            last_at: slot_at,
            slots: 1,
            verdict,
            by,
            decided_at,
        })
    }
}

/// The subjects of a schedule's firings at `from` or later and before `before`, as ranges of text:
/// of slots, and of manual firings. Whole seconds: a little more is in them, and nothing less.
pub fn subject_ranges(
    schedule: &ScheduleName,
    from: Timestamp,
    before: Timestamp,
) -> [(String, String); 2] {
    // Behind every digit, and before every letter.
    const END: &str = ":";
    let second = |at: Timestamp| {
        let is_written = (0..253_402_207_200).contains(&at.as_second());
        is_written.then(|| at.strftime("%Y-%m-%dT%H:%M:%S").to_string())
    };
    let next = before.saturating_add(jiff::SignedDuration::from_secs(1));
    let to = second(next.unwrap_or(Timestamp::MAX)).unwrap_or(END.to_owned());
    let from = second(from).unwrap_or_default();
    ["", MANUAL].map(|sort| {
        let range = |at: &str| format!("schedule:{schedule}@{sort}{at}");
        (range(&from), range(&to))
    })
}

/// A row of what people are shown of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum LedgerRow {
    Slot(Slot),
    ByHand(FiredByHand),
}

impl LedgerRow {
    /// The slot, or the first of several.
    pub fn at(&self) -> Timestamp {
        match self {
            Self::Slot(slot) => slot.slot_at,
            Self::ByHand(fired) => fired.slot_at,
        }
    }

    /// The firing that came of it, if one did.
    pub fn firing(&self, schedule: &ScheduleName) -> Option<Identity> {
        match self {
            Self::Slot(slot) if slot.verdict.is_fired() => {
                slot_identity(schedule, slot.slot_at).ok()
            }
            Self::Slot(_) => None,
            Self::ByHand(fired) => Some(fired.identity.clone()),
        }
    }
}

/// Rows of the ledger and firings by hand in one order, newest first: a page of them, and whether
/// others follow. What fired for one and the same time stays on one page.
pub fn merged(slots: Vec<Slot>, by_hand: Vec<FiredByHand>, page: usize) -> (Vec<LedgerRow>, bool) {
    let slots = slots.into_iter().map(LedgerRow::Slot);
    let mut rows: Vec<LedgerRow> = slots
        .chain(by_hand.into_iter().map(LedgerRow::ByHand))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.at()));
    let last = rows.get(page.saturating_sub(1)).map(LedgerRow::at);
    let kept = last.map_or(rows.len(), |last| {
        rows.iter().take_while(|row| row.at() >= last).count()
    });
    let more = rows.len() > kept;
    rows.truncate(kept);
    (rows, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Verdict, manual_identity};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_767_600_000 + second).unwrap()
    }

    fn name() -> ScheduleName {
        ScheduleName::parse("nightly").unwrap()
    }

    #[test]
    fn a_subject_says_what_was_fired_by_hand() {
        let read = |identity| FiredByHand::read(&name(), identity, "ada".into(), at(9));
        let slot = read(slot_identity(&name(), at(0)).unwrap()).unwrap();
        assert_eq!((slot.verdict, slot.slot_at), (ByHand::Backfilled, at(0)));
        let manual = read(manual_identity(&name(), at(1)).unwrap()).unwrap();
        assert_eq!((manual.verdict, manual.slot_at), (ByHand::Manual, at(1)));
        let other = ScheduleName::parse("nightly-2").unwrap();
        assert_eq!(read(slot_identity(&other, at(0)).unwrap()), None);
    }

    #[test]
    fn ranges_of_subjects_hold_every_firing_of_a_time() {
        let half = at(5) + jiff::SignedDuration::from_millis(500);
        for (from, before) in [
            (at(0), at(10)),
            (half, at(10)),
            (at(0), half),
            (Timestamp::MIN, Timestamp::MAX),
        ] {
            let [slots, manual] = subject_ranges(&name(), from, before);
            for time in [at(0), at(5), half, at(9), at(11), at(100_000_000)] {
                let holds = |range: &(String, String), identity: Identity| {
                    let subject = identity.subject.as_str();
                    range.0.as_str() <= subject && subject < range.1.as_str()
                };
                let slot = slot_identity(&name(), time).unwrap();
                let by_hand = manual_identity(&name(), time).unwrap();
                let is_asked = from <= time && time < before;
                assert!(holds(&slots, slot.clone()) || !is_asked, "{slot:?}");
                assert!(holds(&manual, by_hand.clone()) || !is_asked, "{by_hand:?}");
                assert!(!holds(&slots, by_hand) && !holds(&manual, slot));
            }
        }
    }

    #[test]
    fn dp_16_pages_of_slots_and_firings_by_hand_lose_none() {
        let slot = |second| Slot {
            slot_at: at(second),
            last_at: at(second),
            slots: 1,
            verdict: Verdict::Fired,
            detail: None,
            revision: 1,
            decided_at: at(second),
        };
        let hand = |second| {
            let identity = slot_identity(&name(), at(second)).unwrap();
            FiredByHand::read(&name(), identity, "ada".into(), at(99)).unwrap()
        };
        let slots: Vec<Slot> = [50, 40, 30, 20].map(slot).into();
        let by_hand: Vec<FiredByHand> = [45, 40, 31, 30, 10].map(hand).into();
        for page in 1..10 {
            let mut before = Timestamp::MAX;
            let mut seen = 0;
            loop {
                let rest = |at: &Timestamp| *at < before;
                let slots = slots.iter().filter(|it| rest(&it.slot_at)).cloned();
                let by_hand = by_hand.iter().filter(|it| rest(&it.slot_at)).cloned();
                let (rows, more) = merged(slots.collect(), by_hand.collect(), page);
                assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row.at())));
                seen += rows.len();
                if !more {
                    break;
                }
                before = rows.last().unwrap().at();
            }
            assert_eq!(seen, 9, "pages of {page}");
        }
    }
}
