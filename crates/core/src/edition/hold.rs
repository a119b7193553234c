//! Holds: a finished edition that waits before anything of it leaves (ED-39, ED-42).
//!
//! ```text
//!   document rendered ──► waiting ──► approved: delivered as any other
//!                            │  ▲
//!                            │  └─ corrected: a new revision waits from then on
//!                            ├────► rejected by a person: nothing leaves
//!                            ├────► nobody answered by `until`: `on_silence` decides
//!                            └────► below its quality standard: a better document, no hold
//! ```
//!
//! A hold is data of an edition that is `aggregating`, not a state: everything that is known of the
//! edition stays as it is while people look at it. INVARIANT: no part is sent while the hold of its
//! edition is not approved ([`Hold::lets_out`]), whoever asks. The hold belongs to the newest
//! document; a new document gets a new hold, so nobody approves what they have not seen.

use jiff::{SignedDuration, Timestamp, civil::Time, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// Whose decision it is when nobody answered in time.
pub const SILENCE: &str = "silence";

names! {
    /// Why an edition is held.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HoldReason {
        /// A person must approve every edition of this kind.
        Approval = "approval",
        /// It is below its quality standard: it goes out when it has become good enough, or when a
        /// person publishes it as it is (ED-39).
        Quality = "quality",
    }
}

names! {
    /// What happens to a held edition when its time comes and nobody has decided.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum OnSilence {
        /// It is published.
        Publish = "publish",
        /// It is not published.
        #[default]
        Drop = "drop",
    }
}

names! {
    /// A decision about a held edition.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[cfg_attr(feature = "schema", schema(as = HoldVerdict))]
    pub enum Verdict {
        Approved = "approved",
        Rejected = "rejected",
    }
}

/// A decision, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = HoldDecision))]
pub struct Decision {
    pub verdict: Verdict,
    /// Who decided; `silence` if nobody did in time.
    pub by: String,
    pub at: Timestamp,
}

/// Why an edition waits, and what was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Hold {
    pub reason: HoldReason,
    /// Since when it waits. Identifies the wait: what was asked about another one is void.
    pub since: Timestamp,
    /// When `on_silence` takes effect, or when it is held against its quality standard again; null:
    /// it waits until a person decides.
    pub until: Option<Timestamp>,
    /// What happens then.
    #[serde(default)]
    pub on_silence: OnSilence,
    /// The decision; null while it waits.
    #[serde(default)]
    pub decision: Option<Decision>,
}

impl Hold {
    /// A hold that waits for a person.
    pub fn new(reason: HoldReason, now: Timestamp) -> Self {
        Self {
            reason,
            since: now,
            until: None,
            on_silence: OnSilence::default(),
            decision: None,
        }
    }

    /// Whether nothing is decided yet.
    pub fn is_waiting(&self) -> bool {
        self.decision.is_none()
    }

    /// Whether the edition may be sent.
    pub fn lets_out(&self) -> bool {
        let decision = self.decision.as_ref();
        decision.is_some_and(|it| it.verdict == Verdict::Approved)
    }

    /// Whether it was decided that the edition is not sent.
    pub fn is_rejected(&self) -> bool {
        !self.is_waiting() && !self.lets_out()
    }

    /// Whether that was decided because nobody answered.
    pub fn is_dropped(&self) -> bool {
        let by_silence = |it: &Decision| it.by == SILENCE;
        self.is_rejected() && self.decision.as_ref().is_some_and(by_silence)
    }

    /// Whether it waits for an instant after which it needs nobody.
    pub fn ends_by_itself(&self) -> bool {
        self.is_waiting() && self.until.is_some()
    }

    /// Whether nobody has decided although the time has come.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.is_waiting() && self.until.is_some_and(|until| until <= now)
    }

    /// The same with a decision.
    pub(super) fn decided(self, verdict: Verdict, by: &str, at: Timestamp) -> Self {
        let by = by.to_owned();
        Self {
            decision: Some(Decision { verdict, by, at }),
            ..self
        }
    }

    /// The hold of a document that replaces the held one. A person made it: what had been approved
    /// stays approved, by its author; what waited or was rejected waits, no longer than before.
    pub(super) fn of_next(self, by: &str, now: Timestamp) -> Self {
        let next = Self {
            since: now,
            until: self.until.filter(|until| *until > now),
            decision: None,
            ..self.clone()
        };
        if self.lets_out() {
            return next.decided(Verdict::Approved, by, now);
        }
        next
    }

    /// The hold of an edition that a person takes up again: a rejected one waits once more, for as
    /// long as it takes.
    pub(super) fn taken_up(self, now: Timestamp) -> Self {
        if self.is_rejected() {
            return Self {
                since: now,
                until: None,
                decision: None,
                ..self
            };
        }
        self
    }
}

/// How editions are approved, as the operator wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Approval {
    /// When it ends without a person; none: never.
    pub deadline: Option<Deadline>,
    pub on_silence: OnSilence,
}

/// When a hold ends without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// At the next such time of day, in the edition's zone.
    By(Time),
    /// After so long.
    Within(SignedDuration),
}

impl Approval {
    /// The hold of an edition that is finished at `now`.
    pub fn hold(&self, zone: &TimeZone, now: Timestamp) -> Hold {
        let until = match self.deadline {
            None => None,
            Some(Deadline::Within(wait)) => now.saturating_add(wait).ok(),
            Some(Deadline::By(time)) => next_at(time, zone, now),
        };
        Hold {
            until,
            on_silence: self.on_silence,
            ..Hold::new(HoldReason::Approval, now)
        }
    }
}

/// The first instant after `now` at which clocks show `time`; where that time is skipped, as much
/// later as they were moved.
fn next_at(time: Time, zone: &TimeZone, now: Timestamp) -> Option<Timestamp> {
    let today = zone.to_datetime(now).date();
    let at = |day: jiff::civil::Date| {
        let at = day.to_datetime(time).to_zoned(zone.clone());
        at.ok().map(|at| at.timestamp()).filter(|at| *at > now)
    };
    at(today).or_else(|| at(today.tomorrow().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn ed_42_a_hold_ends_at_the_next_such_time_or_after_so_long() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let by = |hour, minute| Some(Deadline::By(jiff::civil::time(hour, minute, 0, 0)));
        let within = Some(Deadline::Within(SignedDuration::from_hours(2)));
        for (deadline, now, until) in [
            (None, "2026-01-05T05:00:00Z", None),
            (
                by(7, 0),
                "2026-01-05T05:00:00Z",
                Some("2026-01-05T06:00:00Z"),
            ),
            // Finished too late for today: nobody could have answered.
            (
                by(7, 0),
                "2026-01-05T06:00:00Z",
                Some("2026-01-06T06:00:00Z"),
            ),
            // 02:30 does not exist on the day on which clocks are put forward.
            (
                by(2, 30),
                "2026-03-29T00:00:00Z",
                Some("2026-03-29T01:30:00Z"),
            ),
            (within, "2026-01-05T05:00:00Z", Some("2026-01-05T07:00:00Z")),
        ] {
            let approval = Approval {
                deadline,
                on_silence: OnSilence::Publish,
            };
            let hold = approval.hold(&zone, at(now));
            assert_eq!(hold.until, until.map(at), "{deadline:?} at {now}");
            assert!(hold.is_waiting() && !hold.lets_out());
        }
    }

    #[test]
    fn ed_42_a_new_document_is_not_approved_by_what_was_said_of_the_one_before() {
        let now = at("2026-01-05T05:00:00Z");
        let later = at("2026-01-05T05:10:00Z");
        let waiting = Hold {
            until: Some(at("2026-01-05T06:00:00Z")),
            ..Hold::new(HoldReason::Approval, now)
        };
        let next = waiting.clone().of_next("ada", later);
        assert!(next.is_waiting() && next.since == later && next.until == waiting.until);
        let rejected = waiting.clone().decided(Verdict::Rejected, "ada", now);
        assert!(rejected.clone().of_next("ada", later).is_waiting());
        assert!(rejected.taken_up(later).is_waiting());
        let approved = waiting.decided(Verdict::Approved, "ada", now);
        let next = approved.of_next("eve", later);
        assert_eq!(next.decision.map(|it| it.by).as_deref(), Some("eve"));
    }
}
