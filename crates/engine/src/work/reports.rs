//! What workers say about tasks they hold: extend, finish, release.

use std::{collections::BTreeSet, sync::Arc};

use almanack_core::{
    finish::Outcome,
    locked,
    store::{self, ClaimId, Finished, TakenTask},
    task::{ClaimedTask, Status, Term},
    time::Clock,
    work::{ExtendedTask, HeldTask, LeaseResult, ReportResult, ReportedTask, SESSION},
};
use jiff::{SignedDuration, Timestamp};

use super::{Error, Work};
use crate::{
    endings::{Ending, Writing},
    wake::later,
};

/// How often claims are forgotten that may be over, and how many wait for that at most.
const FORGET_EVERY: SignedDuration = SignedDuration::from_secs(1);
const FORGET_MAX: usize = 1_000;

/// Claims that may be over.
#[derive(Default)]
pub(super) struct EndedClaims {
    claims: BTreeSet<ClaimId>,
    forgotten_at: Timestamp,
}

impl Work {
    /// Extends the leases that these tasks are under. One that has passed, or whose task is no
    /// longer this attempt's, is lost.
    pub async fn extend(
        &self,
        tasks: &[HeldTask],
        lease: SignedDuration,
    ) -> Result<Vec<ExtendedTask>, Error> {
        let found = self.load(tasks.iter()).await?;
        let now = self.ports.clock.now();
        let lease_until = later(now, lease);
        let claim_of = |held: &HeldTask, taken: &Option<TakenTask>| {
            let taken = taken.as_ref().filter(|it| it.task.term == held.term);
            taken.and_then(|it| it.claim_id)
        };
        let held: Vec<(&HeldTask, Option<ClaimId>)> = tasks
            .iter()
            .zip(&found)
            .map(|(held, taken)| (held, claim_of(held, taken)))
            .collect();
        let claims: BTreeSet<ClaimId> = held.iter().filter_map(|(_, claim)| *claim).collect();
        let claims: Vec<ClaimId> = claims.into_iter().collect();
        let store = &self.ports.store;
        let extended = store.extend_claims(&claims, now, lease_until).await?;
        let answer = |(held, claim): (&HeldTask, Option<ClaimId>)| {
            let holds = claim.is_some_and(|claim| extended.contains(&claim));
            ExtendedTask {
                task_id: held.task_id,
                term: held.term,
                result: if holds {
                    LeaseResult::Extended
                } else {
                    LeaseResult::Lost
                },
                lease_until: holds.then_some(lease_until),
            }
        };
        Ok(held.into_iter().map(answer).collect())
    }

    /// Ends attempts as their workers report. Fenced by the term: a late report changes nothing but
    /// the history. Repeating a call is harmless.
    pub async fn report(
        &self,
        reports: Vec<(HeldTask, Outcome)>,
    ) -> Result<Vec<ReportedTask>, Error> {
        let found = self.load(reports.iter().map(|(held, _)| held)).await?;
        let now = self.ports.clock.now();
        let mut answers: Vec<ReportedTask> = reports.iter().map(|(held, _)| late(*held)).collect();
        let (mut places, mut endings) = (Vec::new(), Vec::new());
        for (place, ((held, outcome), taken)) in reports.into_iter().zip(found).enumerate() {
            let taken = taken.filter(|taken| self.may_report(taken, held.term));
            let Some(TakenTask { task, claim_id, .. }) = taken else {
                continue;
            };
            places.push(place);
            endings.push(Ending {
                claim_id: claim_id.unwrap_or(ClaimId(0)),
                task: Arc::new(ClaimedTask {
                    term: held.term,
                    ..task
                }),
                outcome,
            });
        }
        let written = self.write(&endings, now).await?;
        for (place, answer) in places.into_iter().zip(written) {
            if answer == Some(Finished::Applied) {
                answers[place].result = ReportResult::Applied;
            }
        }
        Ok(answers)
    }

    async fn load(
        &self,
        held: impl Iterator<Item = &HeldTask>,
    ) -> Result<Vec<Option<TakenTask>>, Error> {
        let ids: Vec<_> = held.map(|held| held.task_id).collect();
        Ok(self.ports.store.load_taken(&ids, SESSION).await?)
    }

    /// Whether a report of this term may reach the store: it ends an attempt under a worker's claim,
    /// or it is late and about a kind that workers take.
    fn may_report(&self, taken: &TakenTask, term: Term) -> bool {
        let newest = taken.task.term;
        if taken.claim_id.is_some() && term == newest {
            return true;
        }
        let is_past = term < newest || (term == newest && taken.status != Status::Running);
        is_past
            && self
                .check(std::slice::from_ref(&taken.task.identity.kind))
                .is_ok()
    }

    pub(super) async fn write(
        &self,
        endings: &[Ending],
        now: Timestamp,
    ) -> store::Result<Vec<Option<Finished>>> {
        let finishes = endings
            .iter()
            .map(|ending| self.endings.decide(ending, now));
        let mut writing = Writing::of(finishes.collect());
        writing.run(&*self.ports.store).await?;
        let answers = {
            let mut measures = locked(&self.measures);
            self.endings.note(endings, writing, &mut measures, now)
        };
        let written = endings.iter().zip(&answers);
        let applied = written.filter(|(_, answer)| **answer == Some(Finished::Applied));
        self.forget(applied.map(|(ending, _)| ending.claim_id), now)
            .await;
        Ok(answers)
    }

    /// Notes claims that may be over, and forgets those that are, now and then.
    async fn forget(&self, claims: impl Iterator<Item = ClaimId>, now: Timestamp) {
        let claims: Vec<ClaimId> = {
            let mut ended = locked(&self.ended);
            ended.claims.extend(claims);
            let since = now.duration_since(ended.forgotten_at).abs();
            if since < FORGET_EVERY && ended.claims.len() < FORGET_MAX {
                return;
            }
            ended.forgotten_at = now;
            std::mem::take(&mut ended.claims).into_iter().collect()
        };
        if claims.is_empty() {
            return;
        }
        if let Err(error) = self.ports.store.release_ended_claims(&claims).await {
            let error = error.chain();
            tracing::debug!(error, "could not forget claims; their leases will expire");
        }
    }
}

fn late(held: HeldTask) -> ReportedTask {
    ReportedTask {
        task_id: held.task_id,
        term: held.term,
        result: ReportResult::Late,
    }
}
