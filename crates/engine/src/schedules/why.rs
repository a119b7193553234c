//! Gathering the facts behind `almanack why`.

use almanack_core::{
    plan::{
        Definition, Edit, Facts, Ready, Schedule, ScheduleName, Slot, State, Verdict,
        slot_identity, why,
    },
    store::LedgerPage,
    task::Task,
};
use jiff::{SignedDuration, Timestamp};

use super::{Error, Schedules};

/// Edits looked through for the rule that was in force.
const EDITS_MAX: usize = 1_000;

/// Why a slot did or did not fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In one sentence.
    pub sentence: String,
    /// Whether the instant is a slot of the schedule at all.
    pub is_slot: bool,
    /// What became of it, if it has been decided.
    pub verdict: Option<Verdict>,
    /// Its ledger row.
    pub row: Option<Slot>,
    /// Its firing.
    pub firing: Option<Task>,
}

impl Schedules {
    /// Answers from stored facts what became of the slot at `at`.
    pub async fn why(&self, name: &ScheduleName, at: Timestamp) -> Result<Answer, Error> {
        let found = self.load_any(name).await?;
        let schedule = found.ok_or_else(|| Error::Unknown { name: name.clone() })?;
        let row = self.row_at(&schedule, at).await?;
        let edits = self.store.load_edits(schedule.id, EDITS_MAX).await?;
        let ready = self.rule_of(&schedule, &edits, row.as_ref(), at)?;
        let is_slot = ready.matches(at);
        let firing = self.firing_at(&schedule, at).await?;
        let row = row.filter(|_| is_slot);
        let firing = firing.filter(|_| is_slot);
        let rule = format!(
            "`{name}` (`{}` in {})",
            ready.definition.expression, ready.definition.tz
        );
        let sentence = why(Facts {
            at,
            rule: &rule,
            is_slot,
            neighbours: (ready.previous_before(at), ready.next_after(at)),
            created_at: schedule.created_at,
            state: &schedule.state,
            waits_since: schedule.waits_since,
            row: row.as_ref(),
            firing: firing.as_ref(),
            now: self.clock.now(),
        });
        Ok(Answer {
            sentence,
            is_slot,
            verdict: row.as_ref().map(|row| row.verdict),
            row,
            firing,
        })
    }

    /// The ledger row that covers an instant.
    async fn row_at(&self, schedule: &Schedule, at: Timestamp) -> Result<Option<Slot>, Error> {
        let just_after = at.saturating_add(SignedDuration::from_micros(1));
        let page = LedgerPage {
            before: just_after.unwrap_or(at),
            limit: 1,
        };
        let mut rows = self.store.load_slots(schedule.id, page).await?;
        Ok(rows.pop().filter(|row| row.last_at >= at))
    }

    async fn firing_at(&self, schedule: &Schedule, at: Timestamp) -> Result<Option<Task>, Error> {
        let identity = slot_identity(&schedule.name, at)?;
        Ok(self.store.load_current(&[identity]).await?.pop().flatten())
    }

    /// What the schedule was planned by: the revision of the row, or the one in force at the instant.
    fn rule_of(
        &self,
        schedule: &Schedule,
        edits: &[Edit],
        row: Option<&Slot>,
        at: Timestamp,
    ) -> Result<Ready, Error> {
        let in_force = |edit: &&Edit| match row {
            Some(row) => edit.revision <= row.revision,
            None => edit.at < at,
        };
        let json = match edits.iter().rev().find(in_force) {
            Some(edit) if !matches!(schedule.state, State::Removed { .. }) || row.is_some() => {
                &edit.definition
            }
            _ => &schedule.definition,
        };
        let definition = Definition::from_json(json)?;
        Ok(self.zones.ready(&schedule.name, definition)?)
    }
}
