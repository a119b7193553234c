//! The store's side of paces that all nodes share: permits under a lease, and one pace.
//!
//! A node does not take and return single permits: it reports how many it has, and requests more.
//! So a lost reply does no harm. What the database then believes is more than the node has, never
//! less, and the node's next report corrects it. What [`crate::host_pace::shared`] decides, every
//! store must decide.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};

use super::Result;

/// What a node reports about one key, and requests of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermitRequest {
    /// Which one: `host:example.org`, `kind:ARTICLE_PUBLISH`.
    pub limit: String,
    /// Permits that the node has now.
    pub permits: usize,
    /// Further permits it requests; none to report only how many it has.
    pub wanted: usize,
    /// Permits there are, for all nodes together.
    pub at_once: usize,
    /// Between two entries of any visitor; zero where there is no pace. Where there is one, at most
    /// one further permit is granted at a time.
    pub gap: SignedDuration,
    /// No entry before: the other side said so.
    pub hold_until: Option<Timestamp>,
}

/// Who requests, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// Which run of which process: random, so that no two are the same.
    pub name: String,
    pub now: Timestamp,
    /// Until when its permits are kept without another report.
    pub lease_until: Timestamp,
}

/// The answer to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermitGrant {
    /// Further permits granted, at most as many as were requested.
    pub granted: usize,
    /// When pace and other side let the next one in. Where nothing was granted although this has
    /// passed, all permits are taken.
    pub free_at: Timestamp,
}

/// Permits that all nodes share.
#[async_trait]
pub trait PermitStore: Send + Sync {
    /// Records what a visitor reports about its keys and grants what it requests, as far as there
    /// is room; answers in the order of the requests. Every key may be named once. INVARIANT: of
    /// one key, the permits of visitors whose lease has not passed are never more than the
    /// `at_once` they entered by. A report that is older than the visitor's last (by its lease)
    /// changes nothing. A visitor that dies keeps its permits until its lease has passed.
    async fn request_permits(
        &self,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>>;

    /// Forgets keys that were not requested since `before`, except those that are being left alone
    /// at `now`; returns how many.
    async fn prune_permits(&self, before: Timestamp, now: Timestamp) -> Result<usize>;
}
