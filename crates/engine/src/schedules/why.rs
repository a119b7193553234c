//! Gathering the facts behind `almanack why`: what the ledger keeps, and what was in force.

use almanack_core::{
    lang::{Lang, Say},
    plan::{
        ByHand, Definition, Edit, Facts, Origin, Ready, Schedule, ScheduleName, Slot, State, Unfit,
        Verdict, slot_identity, why,
    },
    say,
    store::LedgerPage,
    task::{Task, TaskId},
    words,
};
use jiff::{SignedDuration, Timestamp};

use super::{Error, Schedules};
use crate::kinds::cancelled;

/// Edits looked through for the rule that was in force.
pub(super) const EDITS_MAX: usize = 1_000;

/// Why a slot did or did not fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub sentence: String,
    /// Whether the instant is a slot of the schedule at all.
    pub is_slot: bool,
    /// What became of it, if it has been decided.
    pub verdict: Option<Verdict>,
    pub row: Option<Slot>,
    pub firing: Option<Task>,
}

impl Schedules {
    /// Answers from stored facts what became of the slot at `at`.
    pub async fn why(
        &self,
        name: &ScheduleName,
        at: Timestamp,
        lang: Lang,
    ) -> Result<Answer, Error> {
        let found = self.load_any(name).await?;
        let schedule = found.ok_or_else(|| Error::Unknown { name: name.clone() })?;
        let earlier = self.row_before(&schedule, at).await?;
        let row = earlier.clone().filter(|row| row.last_at >= at);
        let edits = self.store.load_edits(schedule.id, EDITS_MAX).await?;
        let in_force = in_force(&edits, row.as_ref(), at);
        let ready = match self.rule_of(&schedule, in_force) {
            Ok(ready) => ready,
            Err(Error::Unfit(unfit)) => return Ok(cannot_be_computed(&schedule, at, &unfit, lang)),
            Err(error) => return Err(error),
        };
        let is_decided = schedule.next_at.is_none_or(|next| at < next) && at <= self.clock.now();
        // Where slots are counted from pings, nobody knows their instants: the last one is meant.
        let (at, row) = match &earlier {
            Some(last) if ready.is_counted_from_pings() && is_decided && row.is_none() => {
                (last.last_at, earlier.clone())
            }
            _ => (at, row),
        };
        let is_slot = ready.matches(at);
        let row = row.filter(|_| is_slot);
        let (at, firing) = if is_slot {
            (at, self.firing_at(&schedule, at).await?)
        } else {
            self.fired_by_hand_at(&schedule, at).await?
        };
        let ids: Vec<TaskId> = firing.iter().map(|task| task.id).collect();
        let followed = self.store.load_followed(&ids).await?.pop();
        let cancelled = match &firing {
            Some(firing) => cancelled(&*self.store, firing).await?,
            None => None,
        };
        let rule = rule_words(name, &ready, lang);
        let excluded = ready.exclusion(at);
        let facts = Facts {
            at,
            rule: &rule,
            is_slot,
            excluded: excluded.as_deref(),
            neighbours: (ready.previous_before(at), ready.next_after(at)),
            created_at: schedule.created_at,
            in_force,
            state: &schedule.state,
            next_at: schedule.next_at,
            waits_since: schedule.waits_since,
            row: row.as_ref(),
            earlier_kept: earlier.is_some(),
            firing: firing.as_ref(),
            followed: followed.as_ref(),
            cancelled: cancelled.as_ref(),
            delay: ready.delay_of(at),
            is_monitor: ready.is_monitor(),
            now: self.clock.now(),
        };
        Ok(Answer {
            sentence: why(&facts, lang),
            is_slot,
            verdict: row.as_ref().map(|row| row.verdict),
            row,
            firing,
        })
    }

    /// The newest ledger row that begins at or before an instant. If there is one, nothing after it
    /// is forgotten: retention takes the oldest first.
    pub(super) async fn row_before(
        &self,
        schedule: &Schedule,
        at: Timestamp,
    ) -> Result<Option<Slot>, Error> {
        let just_after = at.saturating_add(SignedDuration::from_micros(1));
        let page = LedgerPage {
            before: just_after.unwrap_or(at),
            limit: 1,
        };
        Ok(self.store.load_slots(schedule.id, page).await?.pop())
    }

    async fn firing_at(&self, schedule: &Schedule, at: Timestamp) -> Result<Option<Task>, Error> {
        let identity = slot_identity(&schedule.name, at)?;
        Ok(self.store.load_current(&[identity]).await?.pop().flatten())
    }

    /// The firing that was requested at an instant, or within the second of a whole one: that is
    /// what people are shown of its time.
    async fn fired_by_hand_at(
        &self,
        schedule: &Schedule,
        at: Timestamp,
    ) -> Result<(Timestamp, Option<Task>), Error> {
        let is_whole = at.subsec_nanosecond() == 0;
        let within = if is_whole {
            SignedDuration::from_secs(1)
        } else {
            SignedDuration::from_micros(1)
        };
        let page = LedgerPage {
            before: at.saturating_add(within).unwrap_or(at),
            limit: 2,
        };
        let found = self.store.load_fired_by_hand(&schedule.name, at, page);
        let found = found.await?.into_iter();
        let mut manual = found.filter(|it| it.verdict == ByHand::Manual);
        let Some(fired) = manual.next() else {
            return Ok((at, None));
        };
        let task = self.store.load_current(&[fired.identity]).await?;
        Ok((fired.slot_at, task.into_iter().flatten().next()))
    }

    /// What the schedule was planned by after an edit; by what it is now if that edit is not known.
    pub(super) fn rule_of(&self, schedule: &Schedule, edit: Option<&Edit>) -> Result<Ready, Error> {
        let stored = edit.map_or(&schedule.definition, |edit| &edit.definition);
        Ok(self.zones.ready_stored(&schedule.name, stored)?)
    }
}

/// The schedule, and every expression with its zone.
fn rule_words(name: &ScheduleName, ready: &Ready, lang: Lang) -> String {
    let Definition {
        expression,
        tz,
        also,
        ..
    } = &ready.definition;
    let rule = |expression: &str, tz: &str| {
        say!(lang, "`{expression}` in {tz}", "`{expression}`，时区 {tz}")
    };
    let mut rules = vec![rule(expression, tz)];
    rules.extend(
        also.iter()
            .map(|it| rule(&it.expression, it.tz.as_ref().unwrap_or(tz))),
    );
    let rules = rules.join(lang.pick(", ", "；"));
    say!(lang, "`{name}` ({rules})", "`{name}`（{rules}）")
}

/// Whether it is a slot at all is unknown, and why is what the requester needs to hear.
fn cannot_be_computed(schedule: &Schedule, at: Timestamp, unfit: &Unfit, lang: Lang) -> Answer {
    let since = match &schedule.state {
        State::Parked { since, .. } => {
            say!(
                lang,
                "; it has been parked since {since}",
                "；自 {since} 起被搁置"
            )
        }
        _ => String::new(),
    };
    let (path, unfit) = (unfit.path(), unfit.say(lang));
    let remedy = words! { lang, schedule.origin;
        Origin::File => "correct it in the configuration file", "请在配置文件中更正";
        Origin::Dispatch => "correct its line in the DISPATCH file", "请在 DISPATCH 文件中更正该行";
        Origin::Api => "correct it with `almanack schedule put`", "请用 `almanack schedule put` 更正";
    };
    Answer {
        sentence: say!(lang;
            "{at} is undecided: the schedule cannot be computed ({unfit}){since}. It needs a valid `{path}`: {remedy}.",
            "{at} 尚未决定：该日程无法计算（{unfit}）{since}。它需要有效的 `{path}`：{remedy}。"),
        is_slot: false,
        verdict: None,
        row: None,
        firing: None,
    }
}

/// The newest edit that a row was planned by, or else that came before the instant.
pub(super) fn in_force<'a>(
    edits: &'a [Edit],
    row: Option<&Slot>,
    at: Timestamp,
) -> Option<&'a Edit> {
    edits.iter().rev().find(|edit| match row {
        Some(row) => edit.revision <= row.revision,
        None => edit.at < at,
    })
}
