//! Which kinds are accepted: those with a known handler, and a limited number of others.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use almanack_core::{
    reschedule::{Put, Request},
    task::{Kind, Task},
};

use super::Error;

/// Which kinds have a known handler.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    /// Kinds with a handler or a configured address.
    pub configured: BTreeSet<Kind>,
    /// Default retries of a kind's tasks, where that differs from the general default.
    pub max_retry: BTreeMap<Kind, u32>,
    /// Whether a kind that is not configured is accepted even without a callback address.
    pub accept_any: bool,
    /// Of how many kinds that are not configured tasks may wait; `None` leaves it open.
    pub waiting_max: Option<usize>,
}

/// The kinds for which there is no room.
#[derive(Default)]
pub(super) struct CrowdedOut {
    pub(super) kinds: BTreeSet<Kind>,
    pub(super) limit: usize,
}

impl CrowdedOut {
    pub(super) fn check(&self, request: &Request) -> Result<(), Error> {
        let (kind, limit) = (&request.identity().kind, self.limit);
        match request {
            Request::Put(_) if self.kinds.contains(kind) => Err(Error::TooManyKinds {
                kind: kind.clone(),
                limit,
            }),
            _ => Ok(()),
        }
    }
}

impl Kinds {
    /// The requested kinds that are neither configured nor known to wait.
    pub(super) fn unknown_of(
        &self,
        requests: &[&Request],
        known: &BTreeSet<Kind>,
    ) -> BTreeSet<Kind> {
        let puts = requests
            .iter()
            .filter(|request| matches!(request, Request::Put(_)));
        let kinds = puts.map(|request| &request.identity().kind);
        let unknown = kinds.filter(|kind| !self.configured.contains(kind) && !known.contains(kind));
        unknown.cloned().collect()
    }

    /// A new task gets its kind's own number of retries; a task that exists keeps what it has.
    pub(super) fn with_default_retries<'a>(
        &self,
        request: &'a Request,
        row: Option<&Task>,
    ) -> Cow<'a, Request> {
        match (request, row) {
            (Request::Put(put), None) if put.max_retry.is_none() => {
                let max_retry = self.max_retry.get(&put.identity.kind).copied();
                match max_retry {
                    Some(_) => Cow::Owned(Request::Put(Put {
                        max_retry,
                        ..put.clone()
                    })),
                    None => Cow::Borrowed(request),
                }
            }
            _ => Cow::Borrowed(request),
        }
    }

    pub(super) fn check(&self, request: &Request, row: Option<&Task>) -> Result<(), Error> {
        let Request::Put(put) = request else {
            return Ok(());
        };
        let has_address =
            put.callback_url.is_some() || row.is_some_and(|row| row.callback_url.is_some());
        if has_address || self.accept_any || self.configured.contains(&put.identity.kind) {
            return Ok(());
        }
        let known = self.configured.iter().cloned().collect();
        Err(Error::UnknownKind {
            kind: put.identity.kind.clone(),
            known,
        })
    }
}
