//! Monitors: jobs that Almanack does not run, and the pings by which they say that they ran.
//!
//! A monitor is a schedule whose target is a ping ([`crate::target::Target::Ping`]): its slots are
//! the times at which a ping is expected, and planner, ledger, `why`, pauses and alerts are those
//! of every schedule (DP-23). What a schedule's row does not say is here: what was last heard.
//!
//! ```text
//!              first ping             next_at passes         next_at + grace passes
//!     new ───────────────► up ──────────────────► late ──────────────────► down
//!                          ▲ ◄──────── ping ───────┘                         │
//!                          └──────────────────────── ping ───────────────────┘
//!     a ping of `fail`, or a `start` that no end follows within the grace: down at once
//! ```
//!
//! INVARIANT: a ping and the verdict that it is missing are writes of the same row under the same
//! version, so one of them comes first, and the other sees it.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Definition, Ready, Schedule, State, Unfit};
use crate::target::Target;

/// Longest body that is kept with a ping, in bytes.
pub const PING_BODY_BYTES_MAX: usize = 100_000;
/// Pings kept of each monitor.
pub const PINGS_KEPT: u64 = 100;

names! {
    /// What a ping reports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PingKind {
        /// The job has done its work.
        Success = "success",
        /// The job has begun.
        Start = "start",
        /// The job has failed.
        Fail = "fail",
        /// Something to be kept, and nothing else.
        Log = "log",
    }
}

names! {
    /// What is known of a monitor now.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MonitorStatus {
        /// No ping has come yet, so none is expected.
        New = "new",
        Up = "up",
        /// The job has begun and not ended.
        Started = "started",
        /// A ping is expected and has not come; its grace has not passed.
        Late = "late",
        Down = "down",
        Paused = "paused",
    }
}

names! {
    /// Why a monitor is down.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DownCause {
        /// No ping came in time.
        NoPing = "no_ping",
        /// The job reported that it failed.
        Failed = "failed",
        /// The job began and did not end within the grace.
        Overran = "overran",
    }
}

/// Since when a monitor is down, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MonitorDown))]
pub struct Down {
    pub since: Timestamp,
    pub cause: DownCause,
    /// The facts, for people.
    pub detail: String,
}

/// A run that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = MonitorRun))]
pub struct Started {
    pub at: Timestamp,
    /// Which run, where the job says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rid: Option<String>,
}

/// What was last heard of a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Monitor {
    /// How many pings came, of any kind.
    pub pings: u64,
    /// When the job last ended, well or badly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ping_at: Option<Timestamp>,
    /// Which of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_ping: Option<PingKind>,
    /// How long that run took, where its start was reported.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "4m 12s"))]
    pub last_took: Option<SignedDuration>,
    /// The run under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Started>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down: Option<Down>,
}

/// A ping as it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub kind: PingKind,
    /// Where the job reported its exit status.
    pub exit_status: Option<u8>,
    /// Which run, where the job says so.
    pub rid: Option<String>,
    /// The HTTP method.
    pub method: String,
    /// What was sent along, cut to [`PING_BODY_BYTES_MAX`].
    pub body: Option<String>,
}

/// A ping as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Ping {
    /// Counts the pings of its monitor, from 1.
    pub number: u64,
    pub at: Timestamp,
    pub kind: PingKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rid: Option<String>,
    /// How long the run took that ended with it.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "jiff::fmt::serde::duration::friendly::compact::optional"
    )]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, example = "4m 12s"))]
    pub took: Option<SignedDuration>,
    /// The HTTP method.
    pub method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// What a write says about a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitorWrite {
    /// What is known afterwards.
    pub monitor: Monitor,
    /// Why it was down before, if it was: whether it goes down or comes up is reported.
    pub down_before: Option<Down>,
    /// The ping that was heard, if one was.
    pub ping: Option<Ping>,
}

impl MonitorWrite {
    /// The same after an earlier part of the same write.
    #[must_use]
    pub fn after(self, earlier: Option<Self>) -> Self {
        match earlier {
            Some(earlier) => Self {
                down_before: earlier.down_before,
                ..self
            },
            None => self,
        }
    }
}

impl Monitor {
    /// What is known of it at `now`; what no node has decided yet counts by its time.
    pub fn status(&self, schedule: &Schedule, ready: &Ready, now: Timestamp) -> MonitorStatus {
        if matches!(schedule.state, State::Paused(_)) {
            return MonitorStatus::Paused;
        }
        if self.down.is_some()
            || self
                .overruns_at(schedule, ready)
                .is_some_and(|at| at <= now)
        {
            return MonitorStatus::Down;
        }
        if self.started.is_some() {
            return MonitorStatus::Started;
        }
        let expected = self.last_ping_at.and(schedule.next_at);
        match (self.last_ping_at, expected) {
            (None, _) => MonitorStatus::New,
            (_, Some(slot)) if ready.deadline(slot) <= now => MonitorStatus::Down,
            (_, Some(slot)) if slot <= now => MonitorStatus::Late,
            _ => MonitorStatus::Up,
        }
    }

    /// When the run under way will have taken longer than the grace.
    pub(super) fn overruns_at(&self, schedule: &Schedule, ready: &Ready) -> Option<Timestamp> {
        let started = self.started.as_ref()?;
        let slot = schedule.next_at.unwrap_or(started.at);
        started.at.saturating_add(ready.grace(slot)).ok()
    }

    /// Hears a ping at `at`, as Healthchecks does: a start begins a run, an end of the same run (or
    /// of none in particular) ends it, and only an end says whether the job is well.
    pub(super) fn hear(&mut self, arrival: &Arrival, at: Timestamp) -> Ping {
        self.pings += 1;
        let mut took = None;
        match arrival.kind {
            PingKind::Log => {}
            PingKind::Start => {
                let rid = arrival.rid.clone();
                self.started = Some(Started { at, rid });
            }
            PingKind::Success | PingKind::Fail => {
                took = self.end_run(arrival, at);
                self.last_took = took;
                self.last_ping = Some(arrival.kind);
                // Nodes' clocks differ by moments: what was heard later is not forgotten.
                self.last_ping_at = self.last_ping_at.max(Some(at));
                self.judge(arrival, at);
            }
        }
        Ping {
            number: self.pings,
            at,
            kind: arrival.kind,
            exit_status: arrival.exit_status,
            rid: arrival.rid.clone(),
            took,
            method: arrival.method.clone(),
            body: arrival.body.clone(),
        }
    }

    /// Ends the run under way; how long it took, if it is the one that is reported.
    fn end_run(&mut self, arrival: &Arrival, at: Timestamp) -> Option<SignedDuration> {
        let started = self.started.as_ref()?;
        if started.rid == arrival.rid {
            let took = at.duration_since(started.at).max(SignedDuration::ZERO);
            self.started = None;
            return Some(took);
        }
        if arrival.kind == PingKind::Fail || arrival.rid.is_none() {
            self.started = None;
        }
        None
    }

    fn judge(&mut self, arrival: &Arrival, at: Timestamp) {
        match (arrival.kind, &self.down) {
            (PingKind::Fail, None) => {
                let detail = format!("the job reported a failure at {at}{}", exit(arrival));
                self.goes_down(at, DownCause::Failed, detail);
            }
            // What it is down for already is what the alert says.
            (PingKind::Fail, Some(_)) => {}
            _ => self.down = None,
        }
    }

    /// Notes that it is down, unless it already is.
    pub(super) fn goes_down(&mut self, since: Timestamp, cause: DownCause, detail: String) {
        self.down.get_or_insert(Down {
            since,
            cause,
            detail,
        });
    }
}

/// ` (exit status 3)`, where the job said so.
pub(super) fn exit(arrival: &Arrival) -> String {
    let status = arrival.exit_status;
    status.map_or_else(String::new, |status| format!(" (exit status {status})"))
}

impl Definition {
    /// Whether it waits for pings and fires nothing.
    pub fn is_monitor(&self) -> bool {
        matches!(self.target, Target::Ping { .. })
    }

    /// A monitor fires nothing: what is about firings would be ignored.
    pub(super) fn check_monitor(&self) -> Result<(), Unfit> {
        let plain = Self::new("", self.target.clone());
        let about_firings = [
            ("move", self.moves != plain.moves),
            ("runs", self.runs != plain.runs),
            ("jitter", self.jitter != plain.jitter),
            ("catch_up", self.catch_up != plain.catch_up),
            ("max_catch_up", self.max_catch_up != plain.max_catch_up),
            ("catch_up_pace", self.catch_up_pace != plain.catch_up_pace),
            ("overlap", self.overlap != plain.overlap),
            ("splay", self.splay != plain.splay),
            ("on_resume", self.on_resume != plain.on_resume),
            ("retry_for", self.retry_for != plain.retry_for),
            ("retry", self.retry != plain.retry),
            ("timeout", self.timeout != plain.timeout),
            ("firings_max", self.firings_max != plain.firings_max),
            ("run_timeout", self.run_timeout != plain.run_timeout),
            ("priority", self.priority != plain.priority),
            ("pings", self.pings != plain.pings),
        ];
        let given = about_firings.into_iter().find(|(_, given)| *given);
        let given = given.filter(|_| self.is_monitor());
        given.map_or(Ok(()), |(what, _)| Err(Unfit::NotForMonitors(what)))
    }
}

impl Ready {
    /// Whether it waits for pings and fires nothing.
    pub fn is_monitor(&self) -> bool {
        self.definition.is_monitor()
    }

    /// Whether a slot is a period after the last ping, rather than a time of its own.
    pub fn is_counted_from_pings(&self) -> bool {
        self.period.is_some()
    }

    /// When a ping that was expected at `slot` is missing.
    pub fn deadline(&self, slot: Timestamp) -> Timestamp {
        slot.saturating_add(self.grace(slot))
            .unwrap_or(crate::time::LATEST)
    }
}
