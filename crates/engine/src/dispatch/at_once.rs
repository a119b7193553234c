//! A cap on how many firings of one schedule run at once, in all nodes together.
//!
//! Each firing is a visitor of its own in the schedule's limit, with one permit or none, so there
//! is nothing to count and a reply that is lost costs one lease. Whatever made the schedule fire,
//! its slots, a person or a backfill, waits here alike. A firing whose work is followed keeps its
//! permit to the end of the work (DP-19): the hand-over and every look keep it until the next look.
//!
//! INVARIANT: an attempt runs only while its permit is kept. A node that dies keeps it until its
//! lease has passed, as it keeps the claim. Work whose look is overdue by more than a lease is
//! counted again with that look, and until then there may be one more than the cap.

use std::convert::Infallible;

use almanack_core::{
    finish::Outcome,
    follow::LOOK_LATEST,
    plan::Firing,
    store::{self, PermitRequest, Visitor},
    task::TaskId,
};
use jiff::{SignedDuration, Timestamp};

use super::DispatchHandler;
use crate::wake::later;

/// How long a permit holds without a word.
const LEASE: SignedDuration = SignedDuration::from_secs(30);
/// How often it is kept.
const KEEP_EVERY: SignedDuration = SignedDuration::from_secs(10);

/// One firing among those of its schedule.
pub(super) struct Seat<'a> {
    handler: &'a DispatchHandler,
    limit: String,
    at_once: usize,
    visitor: String,
}

impl<'a> Seat<'a> {
    /// None where the schedule has no cap.
    pub(super) fn of(
        handler: &'a DispatchHandler,
        firing: &Firing,
        task_id: TaskId,
    ) -> Option<Self> {
        Some(Self {
            handler,
            limit: format!("schedule:{}", firing.schedule),
            at_once: usize::try_from(firing.firings_max?).unwrap_or(usize::MAX),
            visitor: format!("firing:{task_id}"),
        })
    }

    /// Whether there is room.
    pub(super) async fn enter(&self) -> store::Result<bool> {
        let lease_until = later(self.handler.clock.now(), LEASE);
        let granted = self.report(0, 1, lease_until).await?;
        Ok(granted > 0)
    }

    /// Keeps the permit for as long as it is awaited. A store that does not answer is asked again:
    /// the claim is in the same danger, and its loss ends the attempt.
    pub(super) async fn keep(&self) -> Infallible {
        loop {
            let now = self.handler.clock.now();
            self.handler.sleeper.until(later(now, KEEP_EVERY)).await;
            self.hold(self.handler.clock.now()).await;
        }
    }

    /// Keeps the permit until the next look at the work, or gives it back if there is none.
    pub(super) async fn follow(&self, looked: &Outcome) {
        match looked {
            Outcome::Working { at, .. } | Outcome::NotNow { at, .. } => self.hold(*at).await,
            _ => self.leave().await,
        }
    }

    /// Holds the permit for a lease longer than `until`.
    async fn hold(&self, until: Timestamp) {
        if let Err(error) = self.report(1, 0, later(until, LEASE)).await {
            tracing::warn!(error = error.chain(), "could not keep a firing's permit");
        }
    }

    /// Makes room. If the store does not hear of it, the lease does.
    ///
    /// A report with an older lease than the last one changes nothing, and a report or a person may
    /// end work just after a look, so the lease shown is as long as a look can have held the permit.
    /// Only where the other side had asked to be left alone for longer does the lease make room.
    pub(super) async fn leave(&self) {
        let held_until = later(self.handler.clock.now(), LOOK_LATEST);
        if let Err(error) = self.report(0, 0, later(held_until, LEASE)).await {
            tracing::warn!(
                error = error.chain(),
                "could not give back a firing's permit"
            );
        }
    }

    async fn report(
        &self,
        permits: usize,
        wanted: usize,
        lease_until: Timestamp,
    ) -> store::Result<usize> {
        let visitor = Visitor {
            name: self.visitor.clone(),
            now: self.handler.clock.now(),
            lease_until,
        };
        let ask = PermitRequest {
            limit: self.limit.clone(),
            permits,
            wanted,
            at_once: self.at_once,
            gap: SignedDuration::ZERO,
            hold_until: None,
        };
        let answers = self.handler.store.request_permits(&visitor, &[ask]).await?;
        Ok(answers.first().map_or(0, |answer| answer.granted))
    }
}
