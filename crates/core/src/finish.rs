//! What an attempt's outcome does to its task.
//!
//! The same function ends attempts that answered, attempts whose node died (the keeper decides for
//! it) and attempts handed back by a node that is shutting down. Every ending shows the term of its
//! claim; the store ignores one whose term is no longer the newest or whose task is no longer
//! RUNNING, and only adds it to the history (RS-07).

use jiff::{SignedDuration, Timestamp};

use crate::{
    backoff::{Backoff, next_wait},
    event::outgoing::LooseEvent,
    task::{ClaimedTask, Expiry, NewTask, Status, TaskId, Term, retries_left},
    time::{LATEST, in_words, to_micros},
};

/// Longest detail kept of an attempt, in bytes: an error message or an answer, not a log.
pub const DETAIL_BYTES_MAX: usize = 500;

/// How often a task comes back after its node vanished, where its own retries are not more. Nodes
/// die of deployments, reclaimed machines and power, during whatever they happen to call, so this
/// is no verdict about the task, and `max_retry` would be spent by a bad day. It is bounded anyway:
/// a task that takes its node with it must come to an end, with leases of 30 s after ten minutes.
pub const EXPIRIES_MAX: u32 = 20;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// It took effect, or had already taken effect.
    Done {
        /// What the other side answered.
        detail: Option<String>,
    },
    /// It is to be tried again at a time that it chooses; not a failure.
    Again {
        at: Timestamp,
        /// Whether the history records this attempt. Work that repeats for ever and keeps its own
        /// record says no: a row each time would grow without end.
        on_record: bool,
    },
    /// What it handed over is being worked on; it is looked at again then. Not a failure, and not
    /// the end (DP-19).
    Working {
        at: Timestamp,
        /// What is worked on.
        detail: String,
        /// Whether the history records this attempt: the one that handed it over, not the looks.
        on_record: bool,
    },
    /// It failed in a way that may pass.
    Retry {
        error: String,
        /// The wait that the other side requested, if it did.
        retry_after: Option<SignedDuration>,
    },
    /// It was refused for good.
    GiveUp { error: String },
    /// It was not tried: it had expired before it could start (WK-06). Does not count as an attempt.
    Expired,
    /// Its node vanished and the lease passed; counts as an attempt (RS-08), but uses up no retry.
    LeaseExpired,
    /// Its node is shutting down; does not count as an attempt.
    HandedBack,
    /// It was not tried: what it needs is busy with others. Does not count as an attempt, and the
    /// history does not record it.
    NotNow {
        /// When to come again.
        at: Timestamp,
        why: &'static str,
    },
}

impl Outcome {
    /// It worked, with something to say.
    pub fn done(detail: impl Into<String>) -> Self {
        Self::Done {
            detail: Some(detail.into()),
        }
    }

    /// It is tried again, by the usual waits.
    pub fn retry(error: impl Into<String>) -> Self {
        Self::Retry {
            error: error.into(),
            retry_after: None,
        }
    }

    /// It is tried again, after this wait at the soonest.
    pub fn retry_after(wait: SignedDuration, error: impl Into<String>) -> Self {
        Self::Retry {
            error: error.into(),
            retry_after: Some(wait),
        }
    }

    /// It fails for good.
    pub fn give_up(error: impl Into<String>) -> Self {
        Self::GiveUp {
            error: error.into(),
        }
    }

    /// It goes on at another time, and that is nothing to record.
    pub fn again(at: Timestamp) -> Self {
        Self::Again {
            at,
            on_record: false,
        }
    }

    /// The name used in the history, the metrics and the logs.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    fn detail(&self) -> Option<String> {
        let text = match self {
            Self::Done { detail } => detail.clone()?,
            Self::Retry { error, .. } | Self::GiveUp { error } => error.clone(),
            Self::LeaseExpired => "the node that ran it stopped answering".to_owned(),
            Self::NotNow { why, .. } => (*why).to_owned(),
            Self::Working { detail, .. } => detail.clone(),
            // The task says when: see `finish`.
            Self::Again { .. } | Self::HandedBack | Self::Expired => return None,
        };
        Some(shorten(&text))
    }
}

/// The end of one attempt, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    pub task_id: TaskId,
    /// The claim it ends.
    pub term: Term,
    /// The task's status afterwards.
    pub status: Status,
    /// The task's attempt count afterwards.
    pub attempt: u32,
    /// How many of those attempts lost their nodes.
    pub expiries: u32,
    /// When it is (or was) to be tried.
    pub execute_at: Timestamp,
    /// Whether it waits for that time afterwards.
    pub waits: bool,
    /// When it expires afterwards.
    pub expires_at: Option<Timestamp>,
    /// Whether it was tried at all. A task that ended untried has no last attempt to describe.
    pub tried: bool,
    /// Whether the history records the attempt.
    pub on_record: bool,
    /// The attempt's detail.
    pub detail: Option<String>,
    /// The attempt itself, for the history.
    pub ended: EndedAttempt,
    /// Its event deliveries: written with the ending, or not at all if the ending is late.
    pub event_tasks: Vec<NewTask>,
    /// Its events that are delivered together with those of other endings; written likewise.
    pub loose_events: Vec<LooseEvent>,
}

impl Finish {
    /// A task that ended keeps its last attempt in its own row; any other attempt needs a separate
    /// row, because the task's columns are about to describe the next one, or none.
    pub fn needs_attempt_row(&self) -> bool {
        self.on_record && (self.waits || !self.tried)
    }

    /// The same ending with less in it, for a store that refuses the whole: without the detail,
    /// then without event deliveries, too.
    pub fn with_less(&self) -> [Self; 2] {
        let unsaid = Self {
            detail: Some("the database refused what the attempt said".to_owned()),
            ..self.clone()
        };
        let unreported = Self {
            event_tasks: Vec::new(),
            loose_events: Vec::new(),
            ..unsaid.clone()
        };
        [unsaid, unreported]
    }

    /// Whether events are written with it.
    pub fn has_events(&self) -> bool {
        !self.event_tasks.is_empty() || !self.loose_events.is_empty()
    }

    /// Whether it leaves the task as it was claimed, but for the success.
    pub fn only_succeeds(&self) -> bool {
        self.status == Status::Success && self.tried && !self.waits
    }

    /// Whether the task is over, well or badly.
    pub fn is_final(&self) -> bool {
        !self.waits
    }
}

/// One attempt that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedAttempt {
    /// Which attempt, from 1.
    pub attempt: u32,
    /// When it was due.
    pub due_at: Timestamp,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub outcome: &'static str,
}

/// Decides what `outcome` makes of a claimed task. `jitter` is 64 random bits.
pub fn finish(
    task: &ClaimedTask,
    outcome: &Outcome,
    backoff: &Backoff,
    now: Timestamp,
    jitter: u64,
) -> Finish {
    // A node that died before it could end what had expired changes nothing about it.
    let untried = *outcome == Outcome::LeaseExpired && task.expiry.is_over(task.started_at);
    let outcome = if untried { &Outcome::Expired } else { outcome };
    let next = after(task, outcome, backoff, now, jitter);
    Finish {
        task_id: task.id,
        term: task.term,
        status: next.status,
        attempt: next.attempt,
        expiries: next.expiries,
        execute_at: next
            .try_at
            .map_or(task.execute_at, |at| next.expiry.bound(at)),
        waits: next.try_at.is_some(),
        expires_at: next.expiry.at,
        tried: *outcome != Outcome::Expired,
        on_record: !matches!(
            outcome,
            Outcome::Again {
                on_record: false,
                ..
            } | Outcome::Working {
                on_record: false,
                ..
            } | Outcome::NotNow { .. }
        ),
        detail: match outcome {
            Outcome::Expired => Some(expired(task)),
            outcome => outcome.detail(),
        },
        ended: EndedAttempt {
            attempt: task.attempt,
            due_at: task.execute_at,
            started_at: task.started_at,
            finished_at: now.max(task.started_at),
            outcome: outcome.name(),
        },
        event_tasks: Vec::new(),
        loose_events: Vec::new(),
    }
}

struct After {
    status: Status,
    attempt: u32,
    expiries: u32,
    try_at: Option<Timestamp>,
    expiry: Expiry,
}

fn after(
    task: &ClaimedTask,
    outcome: &Outcome,
    backoff: &Backoff,
    now: Timestamp,
    jitter: u64,
) -> After {
    let (attempt, expiries) = (task.attempt, task.expiries);
    let ends = |status| After {
        status,
        attempt,
        expiries,
        try_at: None,
        expiry: task.expiry,
    };
    // What the task itself has failed at.
    let failures = attempt.saturating_sub(expiries);
    match outcome {
        Outcome::Done { .. } => ends(Status::Success),
        Outcome::GiveUp { .. } => ends(Status::Fail),
        Outcome::Again { at, .. } | Outcome::Working { at, .. } => {
            let at = to_micros((*at).max(now));
            After {
                status: Status::Init,
                attempt: 0,
                expiries: 0,
                try_at: Some(at),
                expiry: task.expiry.moved_to(at),
            }
        }
        Outcome::Expired => After {
            attempt: attempt.saturating_sub(1),
            ..ends(Status::Fail)
        },
        Outcome::HandedBack => untried(task, task.execute_at),
        Outcome::NotNow { at, .. } => untried(task, to_micros((*at).max(now))),
        Outcome::Retry { .. } if !retries_left(failures, task.max_retry) => ends(Status::Fail),
        Outcome::Retry { retry_after, .. } => {
            let wait = next_wait(backoff, failures, *retry_after, jitter);
            let try_at = to_micros(now.saturating_add(wait).unwrap_or(LATEST));
            After {
                status: Status::Fail,
                attempt,
                expiries,
                try_at: Some(try_at),
                expiry: task.expiry,
            }
        }
        // The lease itself was the wait.
        Outcome::LeaseExpired => {
            let expiries = expiries.saturating_add(1);
            let comes_back = retries_left(expiries, EXPIRIES_MAX.max(task.max_retry));
            After {
                status: Status::Fail,
                attempt,
                expiries,
                try_at: comes_back.then_some(now),
                expiry: task.expiry,
            }
        }
    }
}

/// As if this attempt had not been begun.
fn untried(task: &ClaimedTask, try_at: Timestamp) -> After {
    let attempt = task.attempt.saturating_sub(1);
    let status = if attempt == 0 {
        Status::Init
    } else {
        Status::Fail
    };
    After {
        status,
        attempt,
        expiries: task.expiries,
        try_at: Some(try_at),
        expiry: task.expiry,
    }
}

/// What is said about a task that was not tried in time.
fn expired(task: &ClaimedTask) -> String {
    match task.expiry.at {
        Some(at) => format!("expired: was to start before {}", in_words(at)),
        None => "expired".to_owned(),
    }
}

/// What outside says is kept short and printable. A NUL, for one, is refused by PostgreSQL in any
/// text, and an ending that cannot be written would be tried for ever.
pub(crate) fn shorten(text: &str) -> String {
    let unprintable = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let mut text = text.replace(unprintable, "\u{fffd}");
    if text.len() > DETAIL_BYTES_MAX {
        let fits = DETAIL_BYTES_MAX - '…'.len_utf8();
        text.truncate(text.floor_char_boundary(fits));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
