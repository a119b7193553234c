//! A cap on how many firings of one schedule run at once, in all nodes together.
//!
//! Each firing is a visitor of its own in the schedule's limit, with one permit or none, so there
//! is nothing to count and a reply that is lost costs one lease. Whatever made the schedule fire,
//! its slots, a person or a backfill, waits here alike. A firing whose work is followed keeps its
//! permit to the end of the work (DP-19): every look renews it.
//!
//! INVARIANT: an attempt runs only while its permit is kept. A node that dies keeps it until its
//! lease has passed, as it keeps the claim. Work that nobody looks at for longer than a lease is
//! counted again with the next look, and until then there may be one more than the cap.

use std::convert::Infallible;

use almanack_core::{
    finish::Outcome,
    plan::Firing,
    store::{self, PermitRequest, Visitor},
    task::ClaimedTask,
};
use jiff::SignedDuration;

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
        task: &ClaimedTask,
    ) -> Option<Self> {
        Some(Self {
            handler,
            limit: format!("schedule:{}", firing.schedule),
            at_once: usize::try_from(firing.firings_max?).unwrap_or(usize::MAX),
            visitor: format!("firing:{}", task.id),
        })
    }

    /// Whether there is room.
    pub(super) async fn enter(&self) -> store::Result<bool> {
        self.report(0, 1).await.map(|granted| granted > 0)
    }

    /// Keeps the permit for as long as it is awaited. A store that does not answer is asked again:
    /// the claim is in the same danger, and its loss ends the attempt.
    pub(super) async fn keep(&self) -> Infallible {
        loop {
            self.handler
                .sleeper
                .until(later(self.handler.clock.now(), KEEP_EVERY))
                .await;
            self.renew().await;
        }
    }

    /// Keeps the permit while the work goes on.
    pub(super) async fn follow(&self, looked: &Outcome) {
        match looked {
            Outcome::Working { .. } | Outcome::NotNow { .. } => self.renew().await,
            _ => self.leave().await,
        }
    }

    async fn renew(&self) {
        if let Err(error) = self.report(1, 0).await {
            tracing::warn!(error = error.chain(), "could not keep a firing's permit");
        }
    }

    /// Makes room. If the store does not hear of it, the lease does.
    pub(super) async fn leave(&self) {
        if let Err(error) = self.report(0, 0).await {
            tracing::warn!(
                error = error.chain(),
                "could not give back a firing's permit"
            );
        }
    }

    async fn report(&self, permits: usize, wanted: usize) -> store::Result<usize> {
        let now = self.handler.clock.now();
        let visitor = Visitor {
            name: self.visitor.clone(),
            now,
            lease_until: later(now, LEASE),
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
