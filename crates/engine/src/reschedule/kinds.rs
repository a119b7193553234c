//! Which kinds are accepted: those with a known handler, and a limited number of others.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use almanack_core::{
    pace::KindLine,
    reschedule::{Put, Request},
    share::ShareBy,
    task::{Expires, Kind, Task},
    work::Deliver,
};

use super::Error;
use crate::pace::Paces;

/// Which kinds have a known handler.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    /// Kinds with a handler or a configured address.
    pub configured: BTreeSet<Kind>,
    /// Of these, those whose tasks workers take: they need no callback and refuse one.
    pub pulled: BTreeSet<Kind>,
    /// Where tasks of a kind go that name no address.
    pub addresses: BTreeMap<Kind, String>,
    /// Default retries of a kind's tasks, where that differs from the general default.
    pub max_retry: BTreeMap<Kind, u32>,
    /// Default expiry of a kind's tasks, in seconds after their time.
    pub expires_after_s: BTreeMap<Kind, u32>,
    /// How fast kinds may start.
    pub paces: Paces,
    /// Kinds whose tasks take turns.
    pub share_by: ShareBy,
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
    /// A kind of which nothing is known yet but what is configured.
    pub fn line(&self, kind: &Kind) -> KindLine {
        let deliver = if self.pulled.contains(kind) {
            Deliver::Pull
        } else {
            Deliver::Push
        };
        let (pace, share_by) = (self.paces.0.get(kind), self.share_by.0.get(kind));
        KindLine::new(kind.clone(), deliver, pace, share_by)
    }

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

    /// A new task gets its kind's own number of retries and expiry; a task that exists keeps what
    /// it has.
    pub(super) fn with_defaults<'a>(
        &self,
        request: &'a Request,
        row: Option<&Task>,
    ) -> Cow<'a, Request> {
        let (Request::Put(put), None) = (request, row) else {
            return Cow::Borrowed(request);
        };
        let kind = &put.identity.kind;
        let max_retry = self.max_retry.get(kind).copied();
        let expires = self.expires_after_s.get(kind).copied().map(Expires::After);
        let (max_retry, expires) = (put.max_retry.or(max_retry), put.expires.or(expires));
        if (max_retry, expires) == (put.max_retry, put.expires) {
            return Cow::Borrowed(request);
        }
        Cow::Owned(Request::Put(Put {
            max_retry,
            expires,
            ..put.clone()
        }))
    }

    pub(super) fn check(&self, request: &Request, row: Option<&Task>) -> Result<(), Error> {
        let Request::Put(put) = request else {
            return Ok(());
        };
        if put.callback_url.is_some() && self.pulled.contains(&put.identity.kind) {
            let kind = put.identity.kind.clone();
            return Err(Error::Pulled { kind });
        }
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
