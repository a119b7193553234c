//! Allowances: how many requests somebody may still make, counted where they leave.
//!
//! A caller that promises to spend so many requests cannot keep the promise by counting its own calls: one
//! call may follow redirects, another may never leave. The client counts, and refuses when all is spent.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::Error;

/// So many requests, and no more. Shared by whoever spends from the same purse.
#[derive(Debug)]
pub struct Allowance {
    left: AtomicU32,
    spent: AtomicU32,
}

impl Allowance {
    /// A purse of `requests`.
    pub fn new(requests: u32) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicU32::new(requests),
            spent: AtomicU32::new(0),
        })
    }

    /// Requests that may still be made; those under way are not among them.
    pub fn left(&self) -> u32 {
        self.left.load(Ordering::SeqCst)
    }

    /// Requests that left.
    pub fn spent(&self) -> u32 {
        self.spent.load(Ordering::SeqCst)
    }
}

/// Permission for one request. It counts as spent unless it is given back: whoever is stopped in the
/// middle of a request does not know whether it left.
pub(super) struct Ticket<'a>(Option<&'a Allowance>);

/// Takes one request out of the purse; without a purse there is no limit.
pub(super) fn take(allowance: Option<&Allowance>) -> Result<Ticket<'_>, Error> {
    if let Some(allowance) = allowance {
        let less = |left: u32| left.checked_sub(1);
        let taken = allowance
            .left
            .try_update(Ordering::SeqCst, Ordering::SeqCst, less);
        taken.map_err(|_| Error::Spent)?;
    }
    Ok(Ticket(allowance))
}

impl Ticket<'_> {
    /// The request did not leave.
    pub(super) fn give_back(mut self) {
        if let Some(allowance) = self.0.take() {
            allowance.left.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some(allowance) = self.0 {
            allowance.spent.fetch_add(1, Ordering::SeqCst);
        }
    }
}
