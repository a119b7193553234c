//! Rate limits: a window of one hour for each caller and each resource.
//!
//! A window opens with the first request that counts and ends an hour later, regardless of later
//! requests. A request is charged on arrival, so that of many at once no more pass than there is
//! room for; one that is answered 304 gets its charge back, as at GitHub.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a window lasts.
const WINDOW: SignedDuration = SignedDuration::from_hours(1);

/// A separately counted resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Core,
    Graphql,
}

impl Resource {
    /// Its name in `x-ratelimit-resource`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Graphql => "graphql",
        }
    }
}

/// A window's owner and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account<'a> {
    /// The window's name: usually the token's.
    pub name: &'a str,
    pub limit: u32,
    pub resource: Resource,
}

/// A caller's limits, as in the `x-ratelimit-…` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub limit: u32,
    pub used: u32,
    /// When the window ends.
    pub reset_at: Timestamp,
    pub resource: Resource,
}

impl Standing {
    pub fn remaining(&self) -> u32 {
        self.limit.saturating_sub(self.used)
    }
}

#[derive(Debug, Clone, Copy)]
struct Window {
    used: u32,
    reset_at: Timestamp,
}

#[derive(Debug, Default)]
pub struct Limits(BTreeMap<(String, Resource), Window>);

impl Limits {
    /// Counts one request, or refuses it if none is left.
    pub fn charge(&mut self, account: Account<'_>, now: Timestamp) -> Result<Standing, Standing> {
        let window = self.window(account, now);
        if window.used >= account.limit {
            return Err(standing(account, *window));
        }
        window.used += 1;
        Ok(standing(account, *window))
    }

    /// Returns one request, unless its window has ended since.
    pub fn refund(&mut self, account: Account<'_>, charged: Standing, now: Timestamp) -> Standing {
        let window = self.window(account, now);
        if window.reset_at == charged.reset_at {
            window.used = window.used.saturating_sub(1);
        }
        standing(account, *window)
    }

    pub fn look(&mut self, account: Account<'_>, now: Timestamp) -> Standing {
        standing(account, *self.window(account, now))
    }

    /// Sets the remaining requests in the present window.
    pub fn leave(&mut self, account: Account<'_>, remaining: u32, now: Timestamp) {
        self.window(account, now).used = account.limit.saturating_sub(remaining);
    }

    /// The present window; a new one if the last has ended.
    fn window(&mut self, account: Account<'_>, now: Timestamp) -> &mut Window {
        let new = Window {
            used: 0,
            // Whole seconds, because the header cannot say more.
            reset_at: Timestamp::from_second((now + WINDOW).as_second()).unwrap_or(now),
        };
        let key = (account.name.to_owned(), account.resource);
        let window = self.0.entry(key).or_insert(new);
        if window.reset_at <= now {
            *window = new;
        }
        window
    }
}

fn standing(account: Account<'_>, window: Window) -> Standing {
    Standing {
        limit: account.limit,
        used: window.used.min(account.limit),
        reset_at: window.reset_at,
        resource: account.resource,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: Account<'_> = Account {
        name: "chain",
        limit: 2,
        resource: Resource::Core,
    };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn a_window_ends_an_hour_after_its_first_request() {
        let mut limits = Limits::default();
        assert_eq!(limits.charge(ACCOUNT, at(0)).unwrap().remaining(), 1);
        assert_eq!(limits.charge(ACCOUNT, at(3000)).unwrap().remaining(), 0);
        let refused = limits.charge(ACCOUNT, at(3599)).unwrap_err();
        assert_eq!((refused.remaining(), refused.reset_at), (0, at(3600)));
        assert_eq!(limits.charge(ACCOUNT, at(3600)).unwrap().remaining(), 1);
    }

    #[test]
    fn a_refund_counts_only_in_its_own_window() {
        let mut limits = Limits::default();
        let charged = limits.charge(ACCOUNT, at(0)).unwrap();
        assert_eq!(limits.refund(ACCOUNT, charged, at(1)).used, 0);
        let charged = limits.charge(ACCOUNT, at(2)).unwrap();
        limits.charge(ACCOUNT, at(3600)).unwrap();
        assert_eq!(limits.refund(ACCOUNT, charged, at(3601)).used, 1);
    }

    #[test]
    fn resources_and_callers_are_counted_separately() {
        let mut limits = Limits::default();
        limits.leave(ACCOUNT, 0, at(0));
        let graphql = Account {
            resource: Resource::Graphql,
            ..ACCOUNT
        };
        let other = Account {
            name: "guard",
            ..ACCOUNT
        };
        assert!(limits.charge(ACCOUNT, at(0)).is_err());
        assert!(limits.charge(graphql, at(0)).is_ok());
        assert!(limits.charge(other, at(0)).is_ok());
    }
}
