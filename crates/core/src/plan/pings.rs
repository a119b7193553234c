//! Pings out: whom a schedule calls when a firing starts, succeeds or fails (DP-23).
//!
//! Each call is a task of kind [`PING_DELIVERY`], tried a few times and then over: a service that
//! does not answer neither delays nor fails the firing. The call of a start is put when the first
//! attempt begins, that of an end is written with the end itself. INVARIANT: `Debug` shows which
//! addresses there are, never the addresses: whoever knows one can speak for the job.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Unfit,
    firing::{DISPATCH, Firing},
};
use crate::{
    finish::{Finish, Outcome},
    target::check_address_text,
    task::{
        ClaimedTask, Expiry, Identity, Invalid, NewTask, Payload, Priority, Revision, Status, Tags,
    },
};

/// The kind of tasks that call others about firings.
pub const PING_DELIVERY: &str = "PING_DELIVERY";
/// Longest address, in bytes.
pub const ADDRESS_BYTES_MAX: usize = 2_000;
/// So often a call is tried again: what is reported is of no use an hour later.
const RETRIES: u32 = 5;

/// Whom to call about firings. `{env:NAME}` and `{file:/PATH}` in an address stand for secrets.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Pings {
    /// Called when the first attempt begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schema(example = "https://hc-ping.com/{env:BACKUP_KEY}/start")
    )]
    pub start: Option<String>,
    /// Called when the firing has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<String>,
    /// Called when the firing has failed for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

names! {
    /// What is reported.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Phase {
        Start = "start",
        Success = "success",
        Failure = "failure",
    }
}

/// One call, as its task carries it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingCall {
    pub phase: Phase,
    /// Subject of the firing that it is about.
    pub firing: String,
    pub pings: Pings,
}

impl fmt::Debug for Pings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given = Phase::ALL
            .into_iter()
            .filter(|phase| self.address(*phase).is_some());
        f.debug_list().entries(given).finish()
    }
}

impl Pings {
    /// Whether nobody is called.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whom to call about this.
    pub fn address(&self, phase: Phase) -> Option<&str> {
        match phase {
            Phase::Start => self.start.as_deref(),
            Phase::Success => self.success.as_deref(),
            Phase::Failure => self.failure.as_deref(),
        }
    }

    /// All that are given, and what each is called about.
    pub fn addresses(&self) -> impl Iterator<Item = (Phase, &str)> {
        Phase::ALL
            .into_iter()
            .filter_map(|phase| Some((phase, self.address(phase)?)))
    }

    pub(super) fn check(&self) -> Result<(), Unfit> {
        for phase in Phase::ALL {
            let fits = |address: &str| {
                address.len() <= ADDRESS_BYTES_MAX
                    && split(address).is_some_and(|parts| {
                        let (first, plain) = (parts.first(), text_of(&parts));
                        matches!(first, Some(Part::Text(_))) && check_address_text(&plain)
                    })
            };
            if !self.address(phase).is_none_or(fits) {
                return Err(Unfit::Address(phase.as_str()));
            }
        }
        Ok(())
    }
}

/// Calls an address about a firing.
#[async_trait]
pub trait PingSender: Send + Sync {
    /// One try; what comes back in the outcome never holds the address.
    async fn send(&self, address: &str) -> Outcome;
}

/// A part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    Text(&'a str),
    /// A reference to a secret: `env:NAME`, `file:/PATH`.
    Secret(&'a str),
}

/// An address taken apart; `None` if a brace is open or holds no reference. Its host has no
/// reference in it, so that it is known whom a secret is for.
pub fn split(address: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = address;
    while let Some((before, behind)) = rest.split_once('{') {
        let (reference, after) = behind.split_once('}')?;
        let named = reference
            .strip_prefix("env:")
            .or(reference.strip_prefix("file:/"))?;
        if named.is_empty() || named.contains(|c: char| c.is_control() || c == '{') {
            return None;
        }
        parts.extend([Part::Text(before), Part::Secret(reference)]);
        rest = after;
    }
    parts.push(Part::Text(rest));
    let host_ends = |text: &str| {
        text.split_once("://")
            .is_some_and(|(_, at)| at.contains('/'))
    };
    match parts.first() {
        Some(Part::Text(first)) if parts.len() == 1 || host_ends(first) => Some(parts),
        _ => None,
    }
}

fn text_of(parts: &[Part<'_>]) -> String {
    let text = |part: &Part<'_>| match part {
        Part::Text(text) => (*text).to_owned(),
        Part::Secret(_) => "x".to_owned(),
    };
    parts.iter().map(text).collect()
}

impl PingCall {
    /// Reads what a task of this kind carries.
    pub fn read(payload: &Payload) -> Option<Self> {
        serde_json::from_str(payload.as_str()).ok()
    }

    /// The firing that it is about.
    pub fn firing(&self) -> Option<Identity> {
        Identity::parse(&self.firing, DISPATCH).ok()
    }

    /// The call of the firing's start, which comes before that of its end.
    pub fn before(&self) -> Option<Identity> {
        let starts = self.phase != Phase::Start && self.pings.start.is_some();
        starts.then(|| identity(&self.firing, Phase::Start).ok())?
    }
}

/// The call that a firing's beginning requests, if it does.
pub fn start_call(task: &ClaimedTask, firing: &Firing, now: Timestamp) -> Option<NewTask> {
    call(task, firing, Phase::Start, now)
}

/// The call that an ending requests: none unless it ends a firing.
pub fn end_call(task: &ClaimedTask, finish: &Finish) -> Option<NewTask> {
    if !finish.is_final() || task.identity.kind.as_str() != DISPATCH {
        return None;
    }
    // Most firings call nobody: a look at the text is cheaper than reading it.
    if !task.payload.as_str().contains("\"pings\"") {
        return None;
    }
    let phase = match finish.status {
        Status::Success => Phase::Success,
        Status::Fail => Phase::Failure,
        Status::Init | Status::Running | Status::Cancelled => return None,
    };
    let firing = Firing::read(&task.payload).ok()?;
    call(task, &firing, phase, finish.ended.finished_at)
}

fn call(task: &ClaimedTask, firing: &Firing, phase: Phase, at: Timestamp) -> Option<NewTask> {
    firing.pings.address(phase)?;
    let subject = task.identity.subject.as_str();
    let call = PingCall {
        phase,
        firing: subject.to_owned(),
        pings: firing.pings.clone(),
    };
    Some(NewTask {
        identity: identity(subject, phase).ok()?,
        status: Status::Init,
        execute_at: crate::time::to_micros(at),
        payload: Payload::of(&call).ok()?,
        callback_url: None,
        call_options: None,
        share_key: None,
        expiry: Expiry::NEVER,
        priority: Priority::LOW,
        max_retry: RETRIES,
        revision: Revision::NONE,
        tags: Tags::NONE,
        origin: format!("schedule {}", firing.schedule),
        replaces: None,
    })
}

fn identity(firing: &str, phase: Phase) -> Result<Identity, Invalid> {
    Identity::parse(&format!("{phase}:{firing}"), PING_DELIVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(address: &str) -> bool {
        let pings = Pings {
            success: Some(address.to_owned()),
            ..Pings::default()
        };
        pings.check().is_ok()
    }

    #[test]
    fn dp_23_only_addresses_that_can_be_called_are_taken() {
        let long = format!("https://x/{}", "a".repeat(ADDRESS_BYTES_MAX));
        for (address, fits) in [
            ("https://hc-ping.com/5f0e", true),
            ("http://10.0.0.1:8000/ping/{env:KEY}/start", true),
            ("https://x/{file:/run/secrets/key}", true),
            ("https://{env:HOST}/x", false),
            ("{env:ADDRESS}", false),
            ("https://x/{env:KEY", false),
            ("https://x/{key}", false),
            ("https://x/{env:}", false),
            ("https://x/{file:relative}", false),
            ("https://user:secret@x/", false),
            ("ftp://x/", false),
            ("https://x/a b", false),
            ("", false),
            (long.as_str(), false),
        ] {
            assert_eq!(checked(address), fits, "{address}");
        }
    }

    #[test]
    fn dp_23_an_address_is_never_shown_by_debug() {
        let pings = Pings {
            start: Some("https://hc-ping.com/5f0e".to_owned()),
            ..Pings::default()
        };
        assert_eq!(format!("{pings:?}"), "[Start]");
    }
}
