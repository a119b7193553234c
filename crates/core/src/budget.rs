//! Request budgets: how many requests may still be made, counted where they leave.
//!
//! A caller that promises to spend so many requests cannot keep the promise by counting its own
//! calls: one call may follow redirects or try again, another may never leave. So the request
//! budget is handed along to the one HTTP client, which takes from it for every hop and refuses
//! when all is spent (ED-08). What a language model charges is noted in the same request budget,
//! because it is requested in the same step.
//!
//! A request budget can be part of another: what is taken from it is taken from both, so that those
//! who spend side by side from one budget each know what they spent.
//!
//! INVARIANT: `left` and `spent` together never exceed what the request budget began with.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};

/// A fixed number of requests, shared by everything that spends from the same request budget.
#[derive(Debug)]
pub struct Budget {
    within: Option<Arc<Self>>,
    left: AtomicU32,
    spent: AtomicU32,
    model_requests: AtomicU32,
    tokens_in: AtomicU64,
    tokens_out: AtomicU64,
}

/// What was spent from a request budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Spend {
    /// Requests that left.
    pub requests: u32,
    /// Of these, requests that a language model answered.
    #[serde(skip)]
    pub model_requests: u32,
    /// Tokens it read.
    pub tokens_in: u64,
    /// Tokens it wrote.
    pub tokens_out: u64,
}

/// All is spent; nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget of requests is spent")]
pub struct Spent;

impl Budget {
    /// A request budget of `requests`.
    pub fn new(requests: u32) -> Arc<Self> {
        Self::filled(requests, None)
    }

    /// A part of another request budget: it holds as much, and takes from both.
    pub fn within(whole: &Arc<Self>) -> Arc<Self> {
        Self::filled(u32::MAX, Some(Arc::clone(whole)))
    }

    /// A part of another request budget that holds no more than `requests`: what overlaps does not
    /// spend what belongs to the others.
    pub fn part(whole: &Arc<Self>, requests: u32) -> Arc<Self> {
        Self::filled(requests, Some(Arc::clone(whole)))
    }

    fn filled(requests: u32, within: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self {
            within,
            left: AtomicU32::new(requests),
            spent: AtomicU32::new(0),
            model_requests: AtomicU32::new(0),
            tokens_in: AtomicU64::new(0),
            tokens_out: AtomicU64::new(0),
        })
    }

    /// Takes one request out of the request budget.
    pub fn take(&self) -> Result<Ticket<'_>, Spent> {
        let whole = self.within.as_deref().map(Self::take).transpose()?;
        let less = |left: u32| left.checked_sub(1);
        let taken = self
            .left
            .try_update(Ordering::SeqCst, Ordering::SeqCst, less);
        if taken.is_err() {
            whole.into_iter().for_each(Ticket::give_back);
            return Err(Spent);
        }
        Ok(Ticket {
            from: Some(self),
            whole: whole.map(Box::new),
        })
    }

    /// Requests that may still be made; those under way are not among them.
    pub fn left(&self) -> u32 {
        let left = self.left.load(Ordering::SeqCst);
        self.within
            .as_ref()
            .map_or(left, |whole| left.min(whole.left()))
    }

    /// Requests that left.
    pub fn spent(&self) -> u32 {
        self.spent.load(Ordering::SeqCst)
    }

    /// Notes what a language model charged for one answer.
    pub fn charge(&self, tokens_in: u64, tokens_out: u64) {
        if let Some(whole) = &self.within {
            whole.charge(tokens_in, tokens_out);
        }
        self.model_requests.fetch_add(1, Ordering::SeqCst);
        self.tokens_in.fetch_add(tokens_in, Ordering::SeqCst);
        self.tokens_out.fetch_add(tokens_out, Ordering::SeqCst);
    }

    /// What was spent so far.
    pub fn spend(&self) -> Spend {
        Spend {
            requests: self.spent(),
            model_requests: self.model_requests.load(Ordering::SeqCst),
            tokens_in: self.tokens_in.load(Ordering::SeqCst),
            tokens_out: self.tokens_out.load(Ordering::SeqCst),
        }
    }
}

/// Permission for one request. It counts as spent unless it is given back: a caller stopped in the
/// middle of a request does not know whether it left.
#[derive(Debug)]
pub struct Ticket<'a> {
    from: Option<&'a Budget>,
    whole: Option<Box<Ticket<'a>>>,
}

impl Ticket<'_> {
    /// The request did not leave.
    pub fn give_back(mut self) {
        if let Some(whole) = self.whole.take() {
            whole.give_back();
        }
        if let Some(budget) = self.from.take() {
            budget.left.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if let Some(budget) = self.from {
            budget.spent.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_08_parts_of_a_request_budget_spend_from_the_whole() {
        let whole = Budget::new(3);
        let (one, other) = (Budget::within(&whole), Budget::within(&whole));
        drop(one.take().unwrap());
        drop(other.take().unwrap());
        other.take().unwrap().give_back();
        drop(other.take().unwrap());
        assert_eq!(one.take().unwrap_err(), Spent, "the other spent it");
        one.charge(5, 1);
        assert_eq!((one.spent(), other.spent(), whole.spent()), (1, 2, 3));
        assert_eq!(
            (one.left(), whole.left(), whole.spend().tokens_in),
            (0, 0, 5)
        );
    }

    #[test]
    fn ed_08_a_request_budget_gives_so_many_and_no_more() {
        let budget = Budget::new(2);
        drop(budget.take().unwrap());
        budget.take().unwrap().give_back();
        assert_eq!((budget.left(), budget.spent()), (1, 1));
        let under_way = budget.take().unwrap();
        assert_eq!(budget.take().unwrap_err(), Spent);
        drop(under_way);
        budget.charge(120, 30);
        let spend = Spend {
            requests: 2,
            model_requests: 1,
            tokens_in: 120,
            tokens_out: 30,
        };
        assert_eq!(budget.spend(), spend);
    }
}
