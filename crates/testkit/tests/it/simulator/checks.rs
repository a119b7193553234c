//! What must hold once everything has come to rest.
//!
//! The [`Witness`](super::witness::Witness) checks every step; these checks read the whole story
//! from its end: from the receipts requesters hold, the calls the service got, and the store's
//! history.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    event::outgoing,
    history::Attempt,
    store::{HistoryPage, Records, Store},
    task::{Identity, Status, TaskId, Term},
};
use jiff::Timestamp;

use super::{
    authors::Notes,
    model::{Accepted, Model, Row},
    service::Seen,
};

type Checked = Result<(), String>;

/// Everything a check can look at.
pub(super) struct Story<'a> {
    pub(super) model: &'a Model,
    pub(super) notes: &'a Notes,
    pub(super) seen: &'a [Seen],
    /// What the subscriber heard, if there is one.
    pub(super) heard: Option<BTreeSet<String>>,
    pub(super) records: BTreeMap<Identity, Records>,
}

/// Reads the history of every identity.
pub(super) async fn load_records(
    store: &dyn Store,
    identities: Vec<Identity>,
) -> Result<BTreeMap<Identity, Records>, String> {
    let mut all = BTreeMap::new();
    for identity in identities {
        let records = store.load_history(&identity, HistoryPage::WHOLE).await;
        all.insert(identity, records.map_err(|error| error.to_string())?);
    }
    Ok(all)
}

impl Story<'_> {
    pub(super) fn check(&self) -> Checked {
        for identity in self.records.keys() {
            self.last_intent_was_kept(identity)?;
        }
        self.receipts_were_true()?;
        self.keyed_calls_took_effect_once()?;
        self.streams_ended_with_their_last_event()?;
        self.decisions_are_in_the_history()?;
        self.claims_are_in_the_history()?;
        self.calls_had_a_claim()?;
        self.starts_kept_their_pace()?;
        self.model.operations.check()?;
        match &self.heard {
            Some(heard) => self.every_end_was_reported(heard),
            None => Ok(()),
        }
    }

    /// RS-06. An earlier change was superseded by a later one; the last one must have been kept.
    fn last_intent_was_kept(&self, identity: &Identity) -> Checked {
        let about = |a: &&Accepted| a.identity == *identity && a.changes();
        let Some(last) = self.model.accepted.iter().rfind(about) else {
            return Ok(());
        };
        let carrier = last.carrier;
        let Some(row) = self.model.rows.get(&carrier) else {
            return Err(format!("{last:?} has no row"));
        };
        let later = &self.model.taken[last.claims_before..];
        let tries: Vec<_> = later.iter().filter(|t| t.task_id == carrier).collect();
        if !last.sets_time() {
            let kept = row.status == Status::Cancelled && tries.is_empty();
            return if kept {
                Ok(())
            } else {
                Err(format!(
                    "a withdrawal was swallowed: {last:?}, the row is {row:?}"
                ))
            };
        }
        // That none of them was early is checked when they start.
        let was_tried = !tries.is_empty();
        // What a delivery said is asked of the subscriber, not of the service.
        let is_done = outgoing::is_reporting(&identity.kind)
            || self.answered(carrier, row.term) == Some("done");
        let kept = match row.status {
            Status::Success => was_tried && is_done,
            Status::Fail => was_tried && !row.is_live(),
            _ => false,
        };
        if kept {
            Ok(())
        } else {
            Err(format!(
                "a change of time was swallowed: {last:?}, the row is {row:?}, tried {tries:?}"
            ))
        }
    }

    fn answered(&self, task_id: TaskId, term: Term) -> Option<&'static str> {
        let seen = self
            .seen
            .iter()
            .find(|s| (s.task_id, s.term) == (task_id, term));
        seen?.answered
    }

    /// RS-14: a receipt names a decision, and the history says the same about it.
    fn receipts_were_true(&self) -> Checked {
        for answered in &self.notes.answered {
            let receipt = &answered.receipt;
            let same = |a: &Accepted| {
                (a.id, a.rule, a.carrier) == (receipt.decision, receipt.rule, receipt.task_id)
                    && a.origin == answered.origin
                    && a.identity == answered.identity
            };
            if !self.model.accepted.iter().any(same) {
                return Err(format!("nothing happened that {answered:?} could be about"));
            }
        }
        Ok(())
    }

    /// RS-14: however often a keyed call was repeated.
    fn keyed_calls_took_effect_once(&self) -> Checked {
        for origin in &self.notes.keyed {
            let mut identities: Vec<&Identity> = Vec::new();
            for accepted in self.model.accepted.iter().filter(|a| a.origin == *origin) {
                if identities.contains(&&accepted.identity) {
                    return Err(format!("{origin} took effect twice: {accepted:?}"));
                }
                identities.push(&accepted.identity);
            }
        }
        Ok(())
    }

    /// RS-10: no other client touched these, so their last event holds, unless the task was done
    /// first.
    fn streams_ended_with_their_last_event(&self) -> Checked {
        for (identity, last) in &self.notes.delivered {
            let id = self.model.current.get(identity);
            let row = id.and_then(|id| self.model.rows.get(id));
            if !row.is_some_and(|row| row.revision == *last || row.status == Status::Success) {
                return Err(format!(
                    "{identity} got events up to {last:?} and ended as {row:?}"
                ));
            }
        }
        Ok(())
    }

    /// RS-13.
    fn decisions_are_in_the_history(&self) -> Checked {
        for accepted in self.model.accepted.iter().filter(|a| a.id.number > 0) {
            let decisions = &self.records[&accepted.identity].decisions;
            let found = decisions.iter().find(|d| d.id == accepted.id);
            let same = |d: &almanack_core::history::Decision| {
                (d.rule, d.execute_at, &d.origin)
                    == (accepted.rule, accepted.execute_at, &accepted.origin)
            };
            if !found.is_some_and(same) {
                return Err(format!("the history has {found:?} for {accepted:?}"));
            }
        }
        let recorded: usize = self.records.values().map(|r| r.decisions.len()).sum();
        let made: u32 = self.model.rows.values().map(|row| row.decisions).sum();
        if recorded == made as usize {
            Ok(())
        } else {
            Err(format!(
                "the history has {recorded} decisions, {made} were made"
            ))
        }
    }

    /// RS-08 and RS-13: every attempt is recorded, by its own row or by its task's.
    fn claims_are_in_the_history(&self) -> Checked {
        for taken in &self.model.taken {
            let (id, term) = (taken.task_id, taken.term);
            let row = &self.model.rows[&id];
            let attempts = &self.records[&row.identity].attempts;
            let is_it = |a: &Attempt| (a.task_id, a.term) == (id, term);
            let put_off = self.model.put_off.contains(&(id, term));
            if row.term != term && !put_off && !attempts.iter().any(is_it) {
                return Err(format!(
                    "the history does not have task {id} under term {}",
                    term.0
                ));
            }
        }
        Ok(())
    }

    /// WK-05: in no stretch, however long or short, did more of a kind or a key start than its rate
    /// and its burst allow, by the times of the claims.
    fn starts_kept_their_pace(&self) -> Checked {
        let mut starts: BTreeMap<&str, Vec<Timestamp>> = BTreeMap::new();
        for seen in self.seen {
            if let Some((bucket, _)) = &seen.paced {
                starts.entry(bucket).or_default().push(seen.claimed_at);
            }
        }
        let rate_of = |bucket: &str| {
            let paced = self.seen.iter().filter_map(|seen| seen.paced.as_ref());
            paced
                .clone()
                .find(|(name, _)| name == bucket)
                .map(|(_, rate)| *rate)
        };
        for (bucket, mut times) in starts {
            times.sort_unstable();
            let Some(rate) = rate_of(bucket) else {
                continue;
            };
            for (first, from) in times.iter().enumerate() {
                for (last, until) in times.iter().enumerate().skip(first) {
                    let gaps = until.duration_since(*from).as_micros() / i128::from(rate.gap_us());
                    let most = i128::from(rate.burst()) + gaps;
                    let begun = last - first + 1;
                    if i128::try_from(begun).unwrap_or(i128::MAX) > most {
                        return Err(format!(
                            "{begun} of {bucket} started from {from} to {until}, of {most} allowed"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Every task that ended was delivered once to the subscriber, nothing else was, and all of it
    /// was heard.
    fn every_end_was_reported(&self, heard: &BTreeSet<String>) -> Checked {
        let event_tasks = |row: &&Row| row.identity.kind.as_str() == outgoing::KIND;
        let ended = |row: &Row| matches!(row.status, Status::Success | Status::Fail);
        let rows = self.model.rows.iter();
        let ends: BTreeSet<String> = rows
            .filter(|(_, row)| !event_tasks(row) && ended(row) && !row.is_live())
            .map(|(id, row)| format!("task-{id}-{}", row.term.0))
            .collect();
        let written = &self.model.events;
        if *written != ends {
            let missing: Vec<_> = ends.symmetric_difference(written).collect();
            return Err(format!("delivered and ended differ in {missing:?}"));
        }
        let mut reporting = self.model.rows.values().filter(event_tasks);
        if let Some(row) = reporting.find(|row| row.status != Status::Success) {
            return Err(format!("an event was never delivered: {row:?}"));
        }
        if *heard != ends {
            let missing: Vec<_> = ends.symmetric_difference(heard).collect();
            return Err(format!("heard and ended differ in {missing:?}"));
        }
        Ok(())
    }

    /// The service is only ever called under a claim.
    fn calls_had_a_claim(&self) -> Checked {
        for seen in self.seen {
            let claimed =
                |t: &super::model::Taken| (t.task_id, t.term) == (seen.task_id, seen.term);
            if !self.model.taken.iter().any(claimed) {
                return Err(format!("{seen:?} was called without a claim"));
            }
        }
        Ok(())
    }
}
