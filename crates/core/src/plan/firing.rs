//! A firing: what a DISPATCH task carries.
//!
//! Everything its attempt needs is in the payload, so that a change of the schedule never changes
//! what an earlier slot fires at, and the history shows what was really fired.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Ready, Retry, ScheduleName, pings::Pings};
use crate::{
    follow::RUN_TIMEOUT_DEFAULT,
    json,
    lang::reader,
    target::Target,
    task::{Expiry, Identity, Invalid, NewTask, Payload, Priority, Revision, Status, Tags},
};

/// The kind of every firing.
pub const DISPATCH: &str = "DISPATCH";

/// What may leave the store of the detail of an attempt of this kind. What a command printed may be
/// a secret: of a firing only how it ended is shown ("exit code 3"), which is the part before the
/// first colon of its first line.
#[must_use]
pub fn shareable_detail<'a>(kind: &str, detail: &'a str) -> &'a str {
    if kind != DISPATCH {
        return detail;
    }
    let line = detail.lines().next().unwrap_or_default();
    line.split(": ")
        .next()
        .unwrap_or_default()
        .trim_end_matches(':')
}

/// The window ends a firing's tries, and their number only where the schedule has one: what people
/// may request of other tasks would end them after less than an hour.
const TRIES_MAX: u32 = 1_000_000;

/// What made a schedule fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    Schedule,
    Manual,
    /// A person, for a slot of the past.
    Backfill,
}

/// One firing, as it is stored and as targets see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Firing {
    pub schedule: String,
    /// The slot it fires for: when it should have happened.
    pub nominal_at: Timestamp,
    /// What made it fire.
    pub trigger: Trigger,
    /// Whether the slot had been missed.
    pub caught_up: bool,
    /// No attempt starts after this (DP-12).
    pub retry_until: Timestamp,
    /// Whether a newer firing of the schedule cancels this one while it runs.
    #[serde(default)]
    pub gives_way: bool,
    /// How long its work is followed.
    #[serde(
        default = "run_timeout",
        skip_serializing_if = "is_usual",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::required"
    )]
    pub run_timeout: SignedDuration,
    /// How its attempts follow each other.
    #[serde(default, skip_serializing_if = "Retry::is_default")]
    pub retry: Retry,
    /// How long one attempt may take, if not as long as the node lets.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::duration::optional"
    )]
    pub timeout: Option<SignedDuration>,
    /// How many firings of its schedule run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firings_max: Option<u32>,
    pub target: Target,
    /// Whom to call about it.
    #[serde(default, skip_serializing_if = "Pings::is_empty")]
    pub pings: Pings,
}

fn run_timeout() -> SignedDuration {
    RUN_TIMEOUT_DEFAULT
}

fn is_usual(run_timeout: &SignedDuration) -> bool {
    *run_timeout == RUN_TIMEOUT_DEFAULT
}

/// The identity of a slot's firing: the once-only key `(schedule, slot)` (DP-05, DP-06).
pub fn slot_identity(schedule: &ScheduleName, slot: Timestamp) -> Result<Identity, Invalid> {
    Identity::parse(&format!("schedule:{schedule}@{slot}"), DISPATCH)
}

/// The identity of a firing by hand; `at` is when it was requested.
pub fn manual_identity(schedule: &ScheduleName, at: Timestamp) -> Result<Identity, Invalid> {
    Identity::parse(&format!("schedule:{schedule}@manual-{at}"), DISPATCH)
}

/// A firing to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFiring {
    pub identity: Identity,
    pub execute_at: Timestamp,
    pub nominal_at: Timestamp,
    /// What made it fire.
    pub trigger: Trigger,
    /// Whether the slot had been missed.
    pub caught_up: bool,
}

impl NewFiring {
    /// The payload its attempts will read.
    pub fn firing(&self, schedule: &ScheduleName, ready: &Ready) -> Firing {
        // How soon the next slot comes after a request by hand is chance.
        let slot = match self.trigger {
            Trigger::Manual => ready.next_after(self.nominal_at).unwrap_or(self.nominal_at),
            Trigger::Schedule | Trigger::Backfill => self.nominal_at,
        };
        let retry_for = ready.retry_for(slot);
        let definition = &ready.definition;
        Firing {
            schedule: schedule.to_string(),
            nominal_at: self.nominal_at,
            trigger: self.trigger,
            caught_up: self.caught_up,
            retry_until: later(self.execute_at, retry_for),
            gives_way: definition.overlap == super::Overlap::CancelRunning,
            run_timeout: definition.run_timeout.unwrap_or(RUN_TIMEOUT_DEFAULT),
            retry: definition.retry,
            timeout: definition.timeout,
            firings_max: definition.firings_max,
            target: definition.target.clone(),
            pings: definition.pings.clone(),
        }
    }

    /// The task to insert.
    pub fn task(&self, schedule: &ScheduleName, ready: &Ready) -> Result<NewTask, Invalid> {
        let firing = self.firing(schedule, ready);
        Ok(NewTask {
            identity: self.identity.clone(),
            status: Status::Init,
            execute_at: self.execute_at,
            payload: firing.payload()?,
            callback_url: None,
            call_options: None,
            share_key: None,
            expiry: Expiry::NEVER,
            priority: Priority::new(i64::from(ready.definition.priority))?,
            max_retry: firing.retry.count.unwrap_or(TRIES_MAX),
            revision: Revision::NONE,
            tags: Tags::NONE,
            origin: format!("schedule {schedule}"),
            replaces: None,
        })
    }
}

impl Firing {
    /// The text a task carries.
    pub fn payload(&self) -> Result<Payload, Invalid> {
        Payload::of(self)
    }

    /// Reads what a DISPATCH task carries.
    pub fn read(payload: &Payload) -> Result<Self, Invalid> {
        serde_json::from_str(payload.as_str())
            .map_err(|error| Invalid::Payload(json::Unfit::Syntax(reader::of_syntax(&error))))
    }
}

fn later(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.saturating_add(by).unwrap_or(crate::time::LATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_printed_is_in_no_event() {
        let rows = [
            ("exit code 3", "exit code 3"),
            ("exit code 3: password=hunter2", "exit code 3"),
            ("exit code 3: one: two\nhunter2", "exit code 3"),
            ("exit code 3: \nhunter2", "exit code 3"),
            ("exit code 3: …unter2", "exit code 3"),
            ("ended by signal: 9 (SIGKILL): hunter2", "ended by signal"),
            (
                "did not end within 5s, stopped: hunter2",
                "did not end within 5s, stopped",
            ),
            ("HTTP 204", "HTTP 204"),
            ("", ""),
        ];
        for (said, expected) in rows {
            assert_eq!(shareable_detail(DISPATCH, said), expected, "{said}");
            assert_eq!(shareable_detail("SOURCE_CHECK", said), said);
        }
    }
}
