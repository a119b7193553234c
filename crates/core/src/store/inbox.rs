//! The store's side of the inbox (WK-03).

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use super::Result;
use crate::{
    inbox::{InboxAnswer, InboxEntry, InboxNumber, InboxRequest},
    reschedule::Change,
    task::Task,
};

/// What is to become of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InboxVerdict {
    /// This, on the row that the decision saw.
    Apply(Box<Change>),
    /// Nothing, for this reason; for good.
    Refuse(String),
    /// Nothing yet: it is taken again later.
    Leave,
}

/// Decides what becomes of requests.
#[async_trait]
pub trait InboxDecider: Send + Sync {
    /// Decides about each, given its identity's current row or why that cannot be read; answers in
    /// the order asked. The store waits with a transaction open: nothing slow belongs here.
    async fn decide(&self, asked: Vec<(InboxRequest, Result<Option<Task>>)>) -> Vec<InboxVerdict>;

    /// When that is.
    fn now(&self) -> Timestamp;
}

/// What one bite took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxTaken {
    /// Requests that were found.
    pub found: usize,
    /// What was answered.
    pub answered: Vec<(InboxRequest, InboxAnswer)>,
    /// Requests of functions that are newer than this program, if nothing else was found.
    pub newer: usize,
}

/// Requests that were written in others' transactions.
#[async_trait]
pub trait InboxStore: Send + Sync {
    /// Takes up to `limit` requests that wait, lowest number first, has them decided, carries the
    /// decisions out and writes the answers, in one transaction: a node that dies has taken all of
    /// it or nothing. Several nodes take different requests at once. Of one identity, only the
    /// first that waits is taken. A change that was lost to another writer leaves its request
    /// waiting; one that the database refuses is answered with its reason. Requests written by
    /// functions that are newer than this program are left to newer nodes.
    async fn take_inbox(&self, decider: Arc<dyn InboxDecider>, limit: usize) -> Result<InboxTaken>;

    /// One request, and its answer.
    async fn load_inbox(&self, number: InboxNumber) -> Result<Option<InboxEntry>>;

    /// Deletes up to `limit` requests that were answered before `before`, oldest first; returns how
    /// many.
    async fn prune_inbox(&self, before: Timestamp, limit: usize) -> Result<usize>;
}
