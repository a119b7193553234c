//! Each verdict, held against its cause.

use std::collections::BTreeMap;

use almanack_core::plan::{CatchUp, OnResume, Overlap, Reason, Slot, Verdict};
use jiff::{SignedDuration, Timestamp};

use super::{
    super::{
        chronicle::Pages,
        rule::{is_left_out, spread},
    },
    eras::{Era, Life},
};

/// What is no later than this was not missed.
const PROMPT: SignedDuration = SignedDuration::from_secs(15);
/// How long before a slot a node must have been there, and how long after it.
const AROUND: SignedDuration = SignedDuration::from_secs(5);
const HALF_A_DAY: SignedDuration = SignedDuration::from_hours(12);

pub(super) struct Judge<'a> {
    pub(super) name: &'a str,
    pub(super) pages: &'a Pages,
    pub(super) life: &'a Life,
    pub(super) skew: SignedDuration,
    pub(super) rows: &'a [Slot],
}

impl Judge<'_> {
    pub(super) fn judge(&self, slot: Timestamp, row: &Slot) -> Result<(), String> {
        let judged = match self.life.era_of(slot) {
            Some(era) => self.judge_in(slot, row, era),
            None => Err("it belongs to no definition".to_owned()),
        };
        judged.map_err(|why| {
            let (name, verdict, decided) = (self.name, row.verdict.as_str(), row.decided_at);
            format!("{name}: {slot} is {verdict} (decided {decided}), but {why}")
        })
    }

    fn judge_in(&self, slot: Timestamp, row: &Slot, era: &Era) -> Result<(), String> {
        let splay = spread(&era.definition);
        let left_out = is_left_out(&era.definition, slot);
        if left_out || row.verdict == Verdict::Skipped(Reason::Excluded) {
            let excluded = row.verdict == Verdict::Skipped(Reason::Excluded);
            holds(excluded, "a calendar or quiet hours leave it out")?;
            return holds(left_out, "nothing leaves it out");
        }
        let paused = self.life.pause_of(slot);
        let resumed = row.verdict == Verdict::CaughtUp
            && era.definition.on_resume == OnResume::Latest
            && self.ends_a_pause(slot, splay);
        if paused.is_some() && row.verdict != Verdict::Skipped(Reason::Paused) && !resumed {
            return Err("the schedule was paused".to_owned());
        }
        let late = row.decided_at.duration_since(slot);
        if late.is_negative() {
            return Err("that is early".to_owned());
        }
        match row.verdict {
            Verdict::Fired => self.fired(slot, row, era),
            Verdict::Pinged | Verdict::Skipped(Reason::NoPing | Reason::NeverPinged) => {
                Err("is no schedule's verdict".to_owned())
            }
            Verdict::CaughtUp if resumed => Ok(()),
            Verdict::CaughtUp => self.caught_up(slot, row, era),
            Verdict::Skipped(Reason::Paused) => {
                holds(self.nearly_paused(slot, splay), "it had not been paused")
            }
            Verdict::Skipped(Reason::Overlap) => self.overlaps(row, era),
            Verdict::Skipped(Reason::Changed) => holds(
                self.life.edited_at.contains(&row.decided_at),
                "nothing was changed then",
            ),
            Verdict::Skipped(Reason::Cancelled) => {
                Err("no one can cancel a firing before it exists".to_owned())
            }
            Verdict::Skipped(reason) => {
                self.missed(slot, row, era)?;
                self.by_policy(reason, slot, row, era)
            }
        }
    }

    /// A slot that its splay kept back until the pause counts as paused too.
    fn nearly_paused(&self, slot: Timestamp, splay: SignedDuration) -> bool {
        let mut pauses = self.life.pauses.iter();
        pauses.any(|pause| pause.from < slot + splay && slot <= pause.to)
    }

    /// Whether it is the last slot of a pause.
    fn ends_a_pause(&self, slot: Timestamp, splay: SignedDuration) -> bool {
        let fires = |(slot, era): &&(Timestamp, usize)| {
            !is_left_out(&self.life.eras[*era].definition, *slot)
        };
        let next = self.life.slots.iter().filter(fires).map(|(slot, _)| *slot);
        let next = next.filter(|later| *later > slot).min();
        let mut pauses = self.life.pauses.iter();
        pauses.any(|pause| {
            pause.from < slot + splay && slot <= pause.to && next.is_none_or(|next| next > pause.to)
        })
    }

    fn fired(&self, slot: Timestamp, row: &Slot, era: &Era) -> Result<(), String> {
        let late = row.decided_at.duration_since(slot);
        let prompt = late <= PROMPT.min(self.grace(slot, era)) + spread(&era.definition);
        holds(
            prompt || self.waited(slot, row),
            "it was late and is not called so",
        )
    }

    fn caught_up(&self, slot: Timestamp, row: &Slot, era: &Era) -> Result<(), String> {
        self.missed(slot, row, era)?;
        if self.waited(slot, row) {
            return Ok(());
        }
        let late = row.decided_at.duration_since(slot);
        holds(
            era.definition.catch_up != CatchUp::None,
            "its policy catches up nothing",
        )?;
        let in_grace = late <= self.grace(slot, era) + spread(&era.definition);
        holds(in_grace, "that was later than its grace")
    }

    /// Whether it could not have been decided in time: no node was there, or it had to wait.
    fn missed(&self, slot: Timestamp, row: &Slot, era: &Era) -> Result<(), String> {
        let late = row.decided_at.duration_since(slot);
        holds(late > PROMPT.min(self.grace(slot, era)), "it was in time")?;
        let there = self.pages.covered(
            slot - AROUND,
            slot + spread(&era.definition) + PROMPT - self.skew,
        );
        holds(
            !there || self.waited(slot, row),
            "a node was there to plan it all the while",
        )
    }

    fn by_policy(
        &self,
        reason: Reason,
        slot: Timestamp,
        row: &Slot,
        era: &Era,
    ) -> Result<(), String> {
        let policy = era.definition.catch_up;
        // Whether or not the last run came before them.
        let newer = era.named(slot, row.decided_at.min(era.to));
        let newer = newer
            .iter()
            .filter(|other| !is_left_out(&era.definition, **other));
        let newer = newer.count();
        match reason {
            Reason::TooLate => {
                let late = row.decided_at.duration_since(slot);
                holds(late > self.grace(slot, era), "it was within its grace")
            }
            Reason::NotCaughtUp => holds(
                policy == CatchUp::None || (policy == CatchUp::Latest && newer > 0),
                "its policy catches it up",
            ),
            _ => holds(
                policy == CatchUp::All && newer >= era.definition.max_catch_up as usize,
                "the cap was not reached",
            ),
        }
    }

    fn overlaps(&self, row: &Slot, era: &Era) -> Result<(), String> {
        holds(
            era.definition.overlap != Overlap::Allow,
            "its policy allows that",
        )?;
        let Some(running) = row.detail.as_deref() else {
            let fired = |other: &&Slot| other.verdict.is_fired();
            let same_look = |other: &&Slot| other.decided_at == row.decided_at;
            let mut fired = self.rows.iter().filter(same_look).filter(fired);
            return holds(fired.next().is_some(), "nothing fired in that moment");
        };
        let mut births = self.pages.births.iter().filter(|b| b.subject == running);
        let live = births.any(|birth| {
            let ended = birth.ended_at.map(|ended| ended + self.skew);
            birth.at - self.skew <= row.decided_at
                && ended.is_none_or(|ended| ended >= row.decided_at)
        });
        // A backfill's firing is known to the store alone.
        let backfilled = !self.pages.births.iter().any(|b| b.subject == running);
        holds(live || backfilled, "its predecessor had ended")
    }

    /// Nothing catches up more than its policy allows in one look.
    pub(super) fn judge_looks(&self) -> Result<(), String> {
        let mut looks: BTreeMap<Timestamp, usize> = BTreeMap::new();
        let caught_up = self
            .rows
            .iter()
            .filter(|row| row.verdict == Verdict::CaughtUp);
        for row in caught_up {
            let Some(era) = self.life.era_of(row.slot_at) else {
                continue;
            };
            let count = looks.entry(row.decided_at).or_default();
            *count += 1;
            let most = match era.definition.catch_up {
                CatchUp::All => era.definition.max_catch_up as usize,
                CatchUp::None | CatchUp::Latest => 1,
            };
            // The end of a pause, and a slot that waited, are not the policy's.
            if *count > most + 2 {
                let name = self.name;
                return Err(format!(
                    "{name}: {count} were caught up at {}",
                    row.decided_at
                ));
            }
        }
        Ok(())
    }

    fn waited(&self, slot: Timestamp, row: &Slot) -> bool {
        let to = row.decided_at + self.skew;
        self.pages.waited(self.name, slot - self.skew, to)
    }

    /// How late a slot may fire: as was asked, or half the gap, from a quarter of a minute to half
    /// a day.
    fn grace(&self, slot: Timestamp, era: &Era) -> SignedDuration {
        if let Some(grace) = era.definition.grace {
            return grace;
        }
        if era.definition.catch_up == CatchUp::All {
            return HALF_A_DAY;
        }
        let ahead = slot + SignedDuration::from_hours(24 * 70);
        let next = self
            .next_in(slot, era)
            .or_else(|| era.named(slot, ahead).first().copied());
        let gap = next.map_or(HALF_A_DAY * 2, |next| next.duration_since(slot));
        (gap / 2).clamp(PROMPT, HALF_A_DAY)
    }

    fn next_in(&self, slot: Timestamp, era: &Era) -> Option<Timestamp> {
        let after = self.life.slots.partition_point(|(other, _)| *other <= slot);
        let (next, _) = self.life.slots.get(after)?;
        (*next <= era.to).then_some(*next)
    }
}

fn holds(condition: bool, otherwise: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(otherwise.to_owned())
    }
}
